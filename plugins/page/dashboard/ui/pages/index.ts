/** Every page: its place in the address and its title. Four groups; pages for experts are listed on one page of the last. */
import type { IconName } from '../../../../../runtime/lib/page/ui/parts/icon.js'
import type { TextKey } from '../i18n/index.js'

export interface PageEntry {
  readonly path: string
  readonly title: TextKey
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
      { path: 'status', title: 'page.status' },
      { path: 'timeline', title: 'page.timeline' },
      { path: 'errors', title: 'page.errors' },
      { path: 'guide', title: 'page.guide' },
    ],
  },
  {
    title: 'group.position',
    icon: 'position',
    pages: [
      { path: 'positions', title: 'page.positions' },
      { path: 'survey', title: 'page.survey' },
      { path: 'sky', title: 'page.sky' },
    ],
  },
  {
    title: 'group.outputs',
    icon: 'outputs',
    pages: [
      { path: 'links', title: 'page.links' },
      { path: 'rovers', title: 'page.rovers' },
      { path: 'rtcm', title: 'page.rtcm' },
    ],
  },
  {
    title: 'group.device',
    icon: 'device',
    pages: [
      { path: 'network', title: 'page.network' },
      { path: 'access', title: 'page.access' },
      { path: 'update', title: 'page.update' },
      {
        path: 'maintenance',
        title: 'page.maintenance',
      },
      { path: 'settings', title: 'page.settings' },
      { path: 'logs', title: 'page.logs' },
      { path: 'expert', title: 'page.expert' },
      {
        path: 'procedure',
        title: 'page.procedure',
        isExpert: true,
      },
      {
        path: 'commands',
        title: 'page.commands',
        isExpert: true,
      },
      {
        path: 'plugins',
        title: 'page.plugins',
        isExpert: true,
      },
      { path: 'more', title: 'page.more', isExpert: true },
    ],
  },
]
