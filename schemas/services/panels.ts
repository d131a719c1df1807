/** Provided by the runtime: the panels that plugins added with `ctx.ui.panel`, for the plugin that serves the page of the station. */
import type { ClientBundle } from '../client-bundle.js'
import { defineService } from '../token.js'

export interface Panel {
  /** The plugin that it belongs to; a plugin has at most one. */
  readonly plugin: string
  readonly title: string
  readonly module: ClientBundle
}

export interface Panels {
  /** Those of the plugins that run now. */
  list(): readonly Panel[]
}
export const panels = defineService<Panels>('panels')
