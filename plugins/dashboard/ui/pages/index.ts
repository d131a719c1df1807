/** Every page: its place in the address, its title, and where its code is. All but the first are loaded when they are opened. */

import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import type { TextKey } from '../i18n/index.js'
import { StatusPage } from './status.js'

export interface PageEntry {
  readonly path: string
  readonly title: TextKey
  readonly load: () => Promise<FunctionComponent> | FunctionComponent
}

export const pages: readonly PageEntry[] = [
  { path: 'status', title: 'page.status', load: () => StatusPage },
  { path: 'guide', title: 'page.guide', load: async () => (await import('./guide.js')).GuidePage },
  { path: 'survey', title: 'page.survey', load: async () => (await import('./survey.js')).SurveyPage },
  { path: 'sky', title: 'page.sky', load: async () => (await import('./sky.js')).SkyPage },
  { path: 'rtcm', title: 'page.rtcm', load: async () => (await import('./rtcm.js')).RtcmPage },
  { path: 'links', title: 'page.links', load: async () => (await import('./links.js')).LinksPage },
  { path: 'procedure', title: 'page.procedure', load: async () => (await import('./procedure.js')).ProcedurePage },
  { path: 'positions', title: 'page.positions', load: async () => (await import('./positions.js')).PositionsPage },
  { path: 'errors', title: 'page.errors', load: async () => (await import('./errors.js')).ErrorsPage },
  { path: 'network', title: 'page.network', load: async () => (await import('./network.js')).NetworkPage },
  { path: 'settings', title: 'page.settings', load: async () => (await import('./settings.js')).SettingsPage },
  { path: 'commands', title: 'page.commands', load: async () => (await import('./commands.js')).CommandsPage },
  { path: 'update', title: 'page.update', load: async () => (await import('./update.js')).UpdatePage },
  { path: 'logs', title: 'page.logs', load: async () => (await import('./logs.js')).LogsPage },
  { path: 'plugins', title: 'page.plugins', load: async () => (await import('./plugins.js')).PluginsPage },
  { path: 'more', title: 'page.more', load: async () => (await import('./plugins.js')).MorePage },
]

const pathNow = () => location.hash.replace(/^#\//, '').split('?')[0] || 'status'
export const path = signal(pathNow())
addEventListener('hashchange', () => {
  path.value = pathNow()
})
