import type { ComponentChildren, FunctionComponent } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { loginWanted } from '../http.js'
import { t } from '../i18n.js'
import { reasonOf } from './form/submit.js'

export interface Loaded<T> {
  readonly value: T | undefined
  readonly trouble: string
  /** Never rejects; resolves when what it found, or why not, is shown. */
  again(): Promise<void>
}

/** Data requested when the page is opened, and again after a login. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [value, setValue] = useState<T>()
  const [trouble, setTrouble] = useState('')
  const again = useCallback(async () => {
    try {
      const found = await load()
      setValue(() => found)
      setTrouble('')
    } catch (error) {
      setTrouble(reasonOf(error))
    }
  }, [load])
  const isAsked = loginWanted.value !== ''
  useEffect(() => {
    if (!isAsked) void again()
  }, [again, isAsked])
  return { value, trouble, again }
}

/** Shows it, or that it is on its way, or why it does not come. */
export function Waiting<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (of.value !== undefined) return <>{children(of.value)}</>
  if (of.trouble === '') return <p class="quiet">{t('loaded.waiting')}</p>
  return (
    <p class="trouble" role="alert">
      {of.trouble}{' '}
      <button type="button" onClick={of.again}>
        {t('loaded.again')}
      </button>
    </p>
  )
}

/** A part whose code is loaded on demand: the rest of the page does not wait for it. @param props.given its own properties */
export function Later<P extends object = Record<never, never>>(props: {
  load: () => Promise<FunctionComponent<P>>
  given?: P
}) {
  const { given = {} as P, load } = props
  const [Part, setPart] = useState<FunctionComponent<P>>()
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    load().then(
      (found) => setPart(() => found),
      (error: unknown) => setTrouble(String(error)),
    )
  }, [load])
  if (trouble) return <p class="trouble">{t('app.failed', { why: trouble })}</p>
  return Part ? <Part {...given} /> : null
}
