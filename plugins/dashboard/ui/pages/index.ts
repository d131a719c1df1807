/**
 * Every page: its place in the address, its title, and where its code is. All but the first are loaded when they are opened. Four groups;
 * pages for experts are listed on one page of the last.
 */
import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import type { TextKey } from '../i18n/index.js'
import type { IconName } from '../parts/icon.js'
import { StatusPage } from './status.js'

export interface PageEntry {
  readonly path: string
  readonly title: TextKey
  readonly load: () => Promise<FunctionComponent> | FunctionComponent
  /** Reached from the page for experts, and by search. */
  readonly isExpert?: boolean
}
export interface PageGroup {
  readonly title: TextKey
  readonly icon: IconName
  readonly pages: readonly PageEntry[]
}

export const groups: readonly PageGroup[] = [
  {
    title: 'group.overview',
    icon: 'overview',
    pages: [
      { path: 'status', title: 'page.status', load: () => StatusPage },
      { path: 'timeline', title: 'page.timeline', load: async () => (await import('./timeline.js')).TimelinePage },
      { path: 'errors', title: 'page.errors', load: async () => (await import('./errors.js')).ErrorsPage },
      { path: 'guide', title: 'page.guide', load: async () => (await import('./guide.js')).GuidePage },
    ],
  },
  {
    title: 'group.position',
    icon: 'position',
    pages: [
      { path: 'positions', title: 'page.positions', load: async () => (await import('./positions.js')).PositionsPage },
      { path: 'survey', title: 'page.survey', load: async () => (await import('./survey.js')).SurveyPage },
      { path: 'sky', title: 'page.sky', load: async () => (await import('./sky.js')).SkyPage },
    ],
  },
  {
    title: 'group.outputs',
    icon: 'outputs',
    pages: [
      { path: 'links', title: 'page.links', load: async () => (await import('./links.js')).LinksPage },
      { path: 'rovers', title: 'page.rovers', load: async () => (await import('./rovers.js')).RoversPage },
      { path: 'rtcm', title: 'page.rtcm', load: async () => (await import('./rtcm.js')).RtcmPage },
    ],
  },
  {
    title: 'group.device',
    icon: 'device',
    pages: [
      { path: 'network', title: 'page.network', load: async () => (await import('./network.js')).NetworkPage },
      { path: 'access', title: 'page.access', load: async () => (await import('./access.js')).AccessPage },
      { path: 'update', title: 'page.update', load: async () => (await import('./update.js')).UpdatePage },
      {
        path: 'maintenance',
        title: 'page.maintenance',
        load: async () => (await import('./maintenance.js')).MaintenancePage,
      },
      { path: 'settings', title: 'page.settings', load: async () => (await import('./settings.js')).SettingsPage },
      { path: 'logs', title: 'page.logs', load: async () => (await import('./logs.js')).LogsPage },
      { path: 'expert', title: 'page.expert', load: async () => (await import('./expert.js')).ExpertPage },
      {
        path: 'procedure',
        title: 'page.procedure',
        load: async () => (await import('./procedure.js')).ProcedurePage,
        isExpert: true,
      },
      {
        path: 'commands',
        title: 'page.commands',
        load: async () => (await import('./commands.js')).CommandsPage,
        isExpert: true,
      },
      {
        path: 'plugins',
        title: 'page.plugins',
        load: async () => (await import('./plugins.js')).PluginsPage,
        isExpert: true,
      },
      { path: 'more', title: 'page.more', load: async () => (await import('./plugins.js')).MorePage, isExpert: true },
    ],
  },
]

/** What stands behind the #: `status`, `settings?find=ntrip`. Every state of the page that is worth a link is in it. */
const placeNow = () => {
  const [path = '', query = ''] = location.hash.replace(/^#\//, '').split('?')
  return { path: path || 'status', query: new URLSearchParams(query) }
}
export const place = signal(placeNow())
addEventListener('hashchange', () => {
  place.value = placeNow()
})
