import { type FunctionComponent, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Choices } from '../../../runtime/ui/parts/choices.js'
import { Later } from '../../../runtime/ui/parts/loaded.js'
import { loadPageTexts, t } from './i18n/index.js'
import { TrialBar } from './parts/bars.js'
import { Header } from './shell/header.js'
import { Groups, placeHere, places, Tabs } from './shell/navigation.js'
import { Search } from './shell/search.js'
import { VerdictBar } from './shell/verdict-bar.js'
import { loginWanted } from './station/api.js'
import { hello, isOutdated, listen, panels } from './station/live.js'

const loadLogin = async () => {
  const { Login } = await import('../../../runtime/ui/parts/login.js')
  return () => <Login isEnded={hello.value !== undefined} done={listen} />
}

/** The page of the address. Its heading takes the focus when another one is opened, so that it is read aloud. */
function Outlet() {
  const { path: of, load, title } = placeHere(places()) ?? {}
  const [shown, setShown] = useState<{ of: string; Page?: FunctionComponent; trouble?: string }>({ of: '' })
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    if (of === undefined || load === undefined) return
    const page = load()
    Promise.all([page, page instanceof Promise && loadPageTexts()]).then(
      ([Page]) => setShown({ of, Page }),
      (error: unknown) => setShown({ of, trouble: String(error) }),
    )
    if (isFirst.current) isFirst.current = false
    else heading.current?.focus()
  }, [of, load])
  const { Page, trouble } = shown.of === of ? shown : { Page: undefined, trouble: undefined }
  return (
    <main id="content">
      <VerdictBar />
      <h1 ref={heading} tabIndex={-1}>
        {title ?? t(panels.value ? 'app.pageMissing' : 'app.connecting')}
      </h1>
      {trouble && <p class="trouble">{t('app.failed', { why: trouble })}</p>}
      {Page && <Page />}
    </main>
  )
}

/** After the end of a session the page stays behind the login, with all entered values. */
function App() {
  const isAsked = loginWanted.value !== ''
  return (
    <>
      {isAsked && <Later load={loadLogin} />}
      {(!isAsked || hello.value) && (
        <div class="page" hidden={isAsked}>
          <Page />
        </div>
      )}
    </>
  )
}

function Page() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('#content h1')?.focus()}>
        {t('app.skip')}
      </button>
      <header>
        <Header />
      </header>
      <Groups />
      <div class="frame">
        <Tabs />
        <TrialBar />
        {isOutdated.value && (
          <p class="notice" role="alert">
            {t('app.outdated')}{' '}
            <button type="button" onClick={() => location.reload()}>
              {t('app.reload')}
            </button>
          </p>
        )}
        {hello.value?.role === 'viewer' && <p class="notice">{t('login.viewer')}</p>}
        <Outlet />
        <Choices text={hello.value ? `${hello.value.serial} · rtk-base ${hello.value.version}` : ''} />
      </div>
      <Search />
    </>
  )
}

export function mount(root: HTMLElement): void {
  root.replaceChildren()
  render(<App />, root)
}
