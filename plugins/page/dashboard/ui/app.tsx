import { Outlet } from '../../../../runtime/lib/page/ui/parts/outlet.js'
import { Shell } from '../../../../runtime/lib/page/ui/parts/shell.js'
import { loadPageTexts, t } from './i18n/index.js'
import { loadOf } from './pages/load.js'
import { TrialBar } from './parts/bars.js'
import { Header } from './shell/header.js'
import { Groups, placeHere, places, Tabs } from './shell/navigation.js'
import { Search } from './shell/search.js'
import { VerdictBar } from './shell/verdict-bar.js'
import { hello, isOutdated, listen, panels } from './station/live.js'

function Here() {
  const { path, title } = placeHere(places()) ?? {}
  const heading = title ?? t(panels.value ? 'app.pageMissing' : 'app.connecting')
  return (
    <Outlet of={path} load={path === undefined ? undefined : loadOf(path)} also={loadPageTexts} title={heading}>
      <VerdictBar />
    </Outlet>
  )
}

export function App() {
  return (
    <Shell
      header={<Header />}
      navigation={<Groups />}
      text={hello.value ? `${hello.value.serial} · rtk-base ${hello.value.version}` : ''}
      isKnown={hello.value !== undefined}
      listen={listen}
    >
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
      <Here />
      <Search />
    </Shell>
  )
}
