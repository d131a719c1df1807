/**
 * Every page: its place in the address, its title, and where its code is. All but the first are loaded when one of them is opened. Four groups;
 * pages for experts are listed on one page of the last.
 */
import type { FunctionComponent } from 'preact'
import type { IconName } from '../../../../runtime/lib/page/ui/parts/icon.js'
import { placeFrom } from '../../../../runtime/lib/page/ui/place.js'
import type { TextKey } from '../i18n/index.js'
import { StatusPage } from './status.js'

const further = () => import('./further.js')

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
      { path: 'timeline', title: 'page.timeline', load: async () => (await further()).TimelinePage },
      { path: 'errors', title: 'page.errors', load: async () => (await further()).ErrorsPage },
      { path: 'guide', title: 'page.guide', load: async () => (await further()).GuidePage },
    ],
  },
  {
    title: 'group.position',
    icon: 'position',
    pages: [
      { path: 'positions', title: 'page.positions', load: async () => (await further()).PositionsPage },
      { path: 'survey', title: 'page.survey', load: async () => (await further()).SurveyPage },
      { path: 'sky', title: 'page.sky', load: async () => (await further()).SkyPage },
    ],
  },
  {
    title: 'group.outputs',
    icon: 'outputs',
    pages: [
      { path: 'links', title: 'page.links', load: async () => (await further()).LinksPage },
      { path: 'rovers', title: 'page.rovers', load: async () => (await further()).RoversPage },
      { path: 'rtcm', title: 'page.rtcm', load: async () => (await further()).RtcmPage },
    ],
  },
  {
    title: 'group.device',
    icon: 'device',
    pages: [
      { path: 'network', title: 'page.network', load: async () => (await further()).NetworkPage },
      { path: 'access', title: 'page.access', load: async () => (await further()).AccessPage },
      { path: 'update', title: 'page.update', load: async () => (await further()).UpdatePage },
      {
        path: 'maintenance',
        title: 'page.maintenance',
        load: async () => (await further()).MaintenancePage,
      },
      { path: 'settings', title: 'page.settings', load: async () => (await further()).SettingsPage },
      { path: 'logs', title: 'page.logs', load: async () => (await further()).LogsPage },
      { path: 'expert', title: 'page.expert', load: async () => (await further()).ExpertPage },
      {
        path: 'procedure',
        title: 'page.procedure',
        load: async () => (await further()).ProcedurePage,
        isExpert: true,
      },
      {
        path: 'commands',
        title: 'page.commands',
        load: async () => (await further()).CommandsPage,
        isExpert: true,
      },
      {
        path: 'plugins',
        title: 'page.plugins',
        load: async () => (await further()).PluginsPage,
        isExpert: true,
      },
      { path: 'more', title: 'page.more', load: async () => (await further()).MorePage, isExpert: true },
    ],
  },
]

export const place = placeFrom('status')
