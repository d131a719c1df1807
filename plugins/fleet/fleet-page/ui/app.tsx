import { useEffect } from 'preact/hooks'
import { isStarting } from '../../../../runtime/lib/page/ui/http.js'
import { figure } from '../../../../runtime/lib/page/ui/i18n.js'
import { Icon } from '../../../../runtime/lib/page/ui/parts/icon.js'
import { Outlet } from '../../../../runtime/lib/page/ui/parts/outlet.js'
import { Shell } from '../../../../runtime/lib/page/ui/parts/shell.js'
import { about, inContact, isLoaded, listen, me, readSelf, stationOf, stations } from './fleet/live.js'
import { t } from './i18n/index.js'
import { entryHere, menu } from './pages/index.js'
import { serialHere } from './place.js'

const begin = () => {
  listen()
  void readSelf().catch(() => {})
}

export function App() {
  const { path, load, title } = entryHere()
  const serial = serialHere()
  const heading = stationOf(serial)?.name || serial || t(title)
  useEffect(() => {
    document.title = `${heading} · ${t('fleet.name')}`
  }, [heading])
  return (
    <Shell
      class="fleet"
      text={about.value ? `${me.value?.user ?? ''} rtk-base ${about.value.version}`.trim() : ''}
      isKnown={me.value !== undefined}
      listen={begin}
      header={
        <div class="top">
          <span class="top-mark">
            <Icon name="antenna" />
          </span>
          <p class="top-name">
            <a href="#/overview">{t('fleet.name')}</a>
            <span>{isLoaded.value && t('fleet.size', { count: figure(stations.value.length, 0) })}</span>
          </p>
        </div>
      }
      navigation={
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
      }
    >
      {!inContact.value && (
        <p class="notice" role={isStarting.value ? 'status' : 'alert'}>
          {t(isStarting.value ? 'fleet.starting' : 'fleet.noContact')}
        </p>
      )}
      <Outlet of={`${path} ${serial}`} load={load} title={heading} />
    </Shell>
  )
}
