import { render } from 'preact'
import { isReadOnly } from '../../../../runtime/lib/page/ui/http.js'
import { Choices } from '../../../../runtime/lib/page/ui/parts/choices.js'
import { Later } from '../../../../runtime/lib/page/ui/parts/loaded.js'
import { Outlet } from '../../../../runtime/lib/page/ui/parts/outlet.js'
import { loadPageTexts, t } from './i18n/index.js'
import { loadOf } from './pages/load.js'
import { TrialBar } from './parts/bars.js'
import { Header } from './shell/header.js'
import { Groups, placeHere, places, Tabs } from './shell/navigation.js'
import { Search } from './shell/search.js'
import { VerdictBar } from './shell/verdict-bar.js'
import { loginWanted } from './station/api.js'
import { hello, isOutdated, listen, panels } from './station/live.js'

const loadLogin = async () => {
  const { Login } = await import('../../../../runtime/lib/page/ui/parts/login.js')
  return () => <Login isEnded={hello.value !== undefined} done={listen} />
}

function Here() {
  const { path, title } = placeHere(places()) ?? {}
  const heading = title ?? t(panels.value ? 'app.pageMissing' : 'app.connecting')
  return (
    <Outlet of={path} load={path === undefined ? undefined : loadOf(path)} also={loadPageTexts} title={heading}>
      <VerdictBar />
    </Outlet>
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
        {isReadOnly.value && <p class="notice">{t('login.viewer')}</p>}
        <Here />
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
