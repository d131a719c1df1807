import { sendFile } from 'rtk-base/page'
import type { ClientBundle, ClientFile, PluginContext } from 'rtk-base/plugin'
import { bytes } from 'rtk-base/schemas'
import type { Panel, StationPage } from 'rtk-base/services'

/** Characters: the title is shown in the navigation. */
const longestTitle = 40

/** The panels of other plugins: their list for pages, and their files. */
export class Panels implements StationPage {
  readonly #ctx: PluginContext
  #all: readonly Panel[] = []

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Plugins are not type-checked when they are loaded. */
  add({ plugin, title, module }: Panel): () => void {
    if (typeof title !== 'string' || title.trim() === '' || title.length > longestTitle)
      throw new Error(`panel ${JSON.stringify(title)}: its title has 1 to ${longestTitle} characters`)
    if (!isBundle(module))
      throw new Error(`panel "${title}": its module is not the result of an import that ends with ?client`)
    const other = this.#all.find((one) => one.plugin === plugin)
    if (other) throw new Error(`panel "${title}": a plugin has one panel, and "${other.title}" is there already`)
    const { entry, styles, files } = module
    // A copy: later changes by the plugin do not reach the page.
    const panel = { plugin, title, module: { entry, styles: [...styles], files: [...files] } }
    this.#all = [...this.#all, panel]
    return () => {
      this.#all = this.#all.filter((one) => one !== panel)
    }
  }

  /** As a page gets it. The name of the entry changes with its content: so does the text when a plugin was reloaded with another one. */
  get text(): string {
    return JSON.stringify(
      this.#all.map(({ plugin, title, module: { entry, styles } }) => ({ plugin, title, entry, styles })),
    )
  }

  register(): void {
    this.#ctx.http.route({
      method: 'GET',
      url: '/ui/panels/:plugin/:name',
      schema: { summary: "A file of a plugin's panel", response: { 200: bytes('*/*') } },
      handler: (request, reply) => {
        const { plugin, name } = request.params as { plugin: string; name: string }
        const panel = this.#all.find((one) => one.plugin === plugin)
        return sendFile(
          request,
          reply,
          panel?.module.files.find((file) => file.name === name),
        )
      },
    })
  }
}

function isBundle(module: Partial<ClientBundle> | undefined): module is ClientBundle {
  const { entry, styles, files } = module ?? {}
  if (!Array.isArray(styles) || !Array.isArray(files)) return false
  const names = files.map((file: Partial<ClientFile> | undefined) => file?.name)
  const isFile = (name: unknown) => typeof name === 'string' && names.includes(name)
  return isFile(entry) && styles.every(isFile)
}
