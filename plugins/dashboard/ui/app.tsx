import { type FunctionComponent, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Language, language, languages, loadPageTexts, setLanguage, t } from './i18n/index.js'
import { SessionButton, TrialBar } from './parts/bars.js'
import { Later } from './parts/loaded.js'
import { Header } from './shell/header.js'
import { Groups, placeHere, places, Tabs } from './shell/navigation.js'
import { Search } from './shell/search.js'
import { VerdictBar } from './shell/verdict-bar.js'
import { loginWanted } from './station/api.js'
import { hello, isOutdated, panels } from './station/live.js'
import { setTheme, type Theme, theme, themes } from './theme.js'

const loadLogin = async () => (await import('./parts/login.js')).Login

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

function Choices() {
  return (
    <footer class="choices">
      <span>{hello.value && `${hello.value.serial} · rtk-base ${hello.value.version}`}</span>
      <label>
        {t('app.theme')}
        <select value={theme.value} onChange={({ currentTarget }) => setTheme(currentTarget.value as Theme)}>
          {themes.map((one) => (
            <option key={one} value={one}>
              {t(`app.theme.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('app.language')}
        <select
          value={language.value}
          onChange={({ currentTarget }) => void setLanguage(currentTarget.value as Language)}
        >
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <SessionButton />
    </footer>
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
        <Choices />
      </div>
      <Search />
    </>
  )
}

export function mount(root: HTMLElement): void {
  root.replaceChildren()
  render(<App />, root)
}
