/** Every page: its place in the address, its title, and where its code is. All but the first are loaded when one is opened. */
import type { FunctionComponent } from 'preact'
import type { IconName } from '../../../../../runtime/lib/page/ui/parts/icon.js'
import type { FleetRole } from '../fleet/api.js'
import { hasPart, may } from '../fleet/live.js'
import type { TextKey } from '../i18n/index.js'
import { place, serialHere } from '../place.js'
import { OverviewPage } from './overview.js'

interface PageEntry {
  readonly path: string
  readonly title: TextKey
  readonly icon: IconName
  readonly load: () => Promise<FunctionComponent> | FunctionComponent
  /** The plugin that it is about. */
  readonly part?: string
  readonly role?: FleetRole
}

const overview: PageEntry = { path: 'overview', title: 'page.overview', icon: 'overview', load: () => OverviewPage }
const pages: readonly PageEntry[] = [
  overview,
  {
    ...{ path: 'rollouts', title: 'page.rollouts', icon: 'download', part: 'fleet-rollout' },
    load: async () => (await import('./rollouts.js')).RolloutsPage,
  },
  {
    ...{ path: 'rovers', title: 'page.rovers', icon: 'rovers', part: 'fleet-caster' },
    load: async () => (await import('./rovers.js')).RoversPage,
  },
  {
    ...{ path: 'alerts', title: 'page.alerts', icon: 'degraded', part: 'alerts' },
    load: async () => (await import('./alerts.js')).AlertsPage,
  },
  {
    ...{ path: 'record', title: 'page.record', icon: 'waiting' },
    load: async () => (await import('./record.js')).RecordPage,
  },
  {
    ...{ path: 'people', title: 'page.people', icon: 'key', role: 'admin' },
    load: async () => (await import('./people.js')).PeoplePage,
  },
]
const station: PageEntry = {
  ...{ path: 'station', title: 'page.station', icon: 'antenna' },
  load: async () => (await import('./station.js')).StationPage,
}
const acceptance: PageEntry = {
  ...{ path: 'acceptance', title: 'page.acceptance', icon: 'antenna' },
  load: async () => (await import('./acceptance.js')).AcceptancePage,
}
const unknown: PageEntry = { path: '', title: 'app.pageMissing', icon: 'unknown', load: () => () => null }

/** Pages that this reader can see. */
export const menu = (): PageEntry[] =>
  pages.filter(({ part, role }) => (part === undefined || hasPart(part)) && (role === undefined || may(role)))

export function entryHere(): PageEntry {
  if (serialHere() !== '') return station
  return [...pages, acceptance].find(({ path }) => path === place.value.path) ?? unknown
}
