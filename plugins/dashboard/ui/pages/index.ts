/** Every page: its place in the address, its title, and where its code is. All but the first are loaded when they are opened. */
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
  { path: 'errors', title: 'page.errors', load: async () => (await import('./errors.js')).ErrorsPage },
  { path: 'settings', title: 'page.settings', load: async () => (await import('./settings.js')).SettingsPage },
  { path: 'commands', title: 'page.commands', load: async () => (await import('./commands.js')).CommandsPage },
  { path: 'logs', title: 'page.logs', load: async () => (await import('./logs.js')).LogsPage },
  { path: 'plugins', title: 'page.plugins', load: async () => (await import('./plugins.js')).PluginsPage },
]
