import { useCallback, useState } from 'preact/hooks'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { type Loaded, useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'

export interface Page<T> {
  readonly rows: readonly T[]
  /** Nothing follows. */
  readonly isLast: boolean
}

export interface Pages<T> extends Loaded<Page<T>> {
  /** Opens one page more. */
  more(): Promise<void>
}

/**
 * A list that is read page by page. Reading it again reads the pages that were opened, and shows the former rows until then: a list
 * that somebody has opened stays open, whatever changes.
 * @param read the page after this row; undefined: the first one
 */
export function usePages<T>(read: (after: T | undefined) => Promise<Page<T>>): Pages<T> {
  const [opened, setOpened] = useState(1)
  const load = useCallback(async (): Promise<Page<T>> => {
    const rows: T[] = []
    for (let n = 0; n < opened; n++) {
      const page = await read(rows.at(-1))
      rows.push(...page.rows)
      if (page.isLast) return { rows, isLast: true }
    }
    return { rows, isLast: false }
  }, [read, opened])
  return { ...useLoaded(load), more: async () => setOpened(opened + 1) }
}

/** A button for the next page, as long as there is one. */
export function More<T>({ of, label }: { of: Pages<T>; label: string }) {
  const submission = useSubmit(async () => {
    await of.more()
    return ''
  })
  if (of.value === undefined || of.value.isLast) return null
  return (
    <Form isForReaders label={label} submission={submission}>
      {null}
    </Form>
  )
}
