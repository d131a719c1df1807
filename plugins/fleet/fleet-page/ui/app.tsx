import { useEffect } from 'preact/hooks'
import { isStarting, loginWanted } from '../../../../runtime/lib/page/ui/http.js'
import { figure } from '../../../../runtime/lib/page/ui/i18n.js'
import { Choices } from '../../../../runtime/lib/page/ui/parts/choices.js'
import { Icon } from '../../../../runtime/lib/page/ui/parts/icon.js'
import { Later } from '../../../../runtime/lib/page/ui/parts/loaded.js'
import { Outlet } from '../../../../runtime/lib/page/ui/parts/outlet.js'
import { about, inContact, isLoaded, listen, me, readSelf, stationOf, stations } from './fleet/live.js'
import { t } from './i18n/index.js'
import { entryHere, menu } from './pages/index.js'
import { serialHere } from './place.js'

const loadLogin = async () => {
  const { Login } = await import('../../../../runtime/lib/page/ui/parts/login.js')
  const done = () => {
    listen()
    void readSelf().catch(() => {})
  }
  return () => <Login isEnded={me.value !== undefined} done={done} />
}

/** After the end of a session the page stays behind the login, with all entered values. */
export function App() {
  const isAsked = loginWanted.value !== ''
  return (
    <>
      {isAsked && <Later load={loadLogin} />}
      {(!isAsked || me.value) && (
        <div class="page fleet" hidden={isAsked}>
          <Page />
        </div>
      )}
    </>
  )
}

function Page() {
  const { path, load, title } = entryHere()
  const serial = serialHere()
  const heading = stationOf(serial)?.name || serial || t(title)
  useEffect(() => {
    document.title = `${heading} · ${t('fleet.name')}`
  }, [heading])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('#content h1')?.focus()}>
        {t('app.skip')}
      </button>
      <header>
        <div class="top">
          <span class="top-mark">
            <Icon name="antenna" />
          </span>
          <p class="top-name">
            <a href="#/overview">{t('fleet.name')}</a>
            <span>{isLoaded.value && t('fleet.size', { count: figure(stations.value.length, 0) })}</span>
          </p>
        </div>
      </header>
      <nav class="groups" aria-label={t('app.menu')}>
        <ul>
          {menu().map(({ icon, path: to, title: text }) => (
            <li key={to}>
              <a class="group" href={`#/${to}`} aria-current={to === path ? 'page' : undefined}>
                <Icon name={icon} />
                {t(text)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="frame">
        {!inContact.value && (
          <p class="notice" role={isStarting.value ? 'status' : 'alert'}>
            {t(isStarting.value ? 'fleet.starting' : 'fleet.noContact')}
          </p>
        )}
        {me.value?.role === 'viewer' && <p class="notice">{t('login.viewer')}</p>}
        <Outlet of={`${path} ${serial}`} load={load} title={heading} />
        <Choices text={about.value ? `${me.value?.user ?? ''} rtk-base ${about.value.version}`.trim() : ''} />
      </div>
    </>
  )
}
