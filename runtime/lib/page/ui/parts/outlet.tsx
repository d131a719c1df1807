import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../i18n.js'

/** The page of the address. Its heading takes the focus when another one is opened, so that it is read aloud. */
export function Outlet(props: {
  /** Tells pages apart. */
  of: string | undefined
  /** Stable as long as the page is the same. A promise: its code is loaded when it is opened. */
  load: (() => Promise<FunctionComponent> | FunctionComponent) | undefined
  /** Loads the needs of pages whose code is loaded when they are opened. */
  also?: () => Promise<void>
  title: string
  /** Above the heading. */
  children?: ComponentChildren
}) {
  const { also, children, load, of, title } = props
  const [shown, setShown] = useState<{ of: string; Page?: FunctionComponent; trouble?: string }>({ of: '' })
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    if (of === undefined || load === undefined) return
    const page = load()
    Promise.all([page, page instanceof Promise && also?.()]).then(
      ([Page]) => setShown({ of, Page }),
      (error: unknown) => setShown({ of, trouble: String(error) }),
    )
    if (isFirst.current) isFirst.current = false
    else heading.current?.focus()
  }, [of, load, also])
  const { Page, trouble } = shown.of === of ? shown : { Page: undefined, trouble: undefined }
  return (
    <main id="content">
      {children}
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {trouble && <p class="trouble">{t('app.failed', { why: trouble })}</p>}
      {Page && <Page />}
    </main>
  )
}
