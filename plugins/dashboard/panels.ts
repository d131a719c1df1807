import type { PluginContext } from 'rtk-base/plugin'
import { bytes } from 'rtk-base/schemas'
import { panels } from 'rtk-base/services'
import { sendFile } from '../../runtime/lib/page/pages.js'

/** The panels of other plugins (`ctx.ui.panel`): their list for pages, and their files. */
export class PanelFiles {
  readonly #ctx: PluginContext

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** As a page gets it. The name of the entry changes with its content: so does the text when a plugin was reloaded with another one. */
  get text(): string {
    const list = this.#ctx.services.use(panels).list()
    return JSON.stringify(
      list.map(({ plugin, title, module: { entry, styles } }) => ({ plugin, title, entry, styles })),
    )
  }

  register(): void {
    this.#ctx.http.route({
      method: 'GET',
      url: '/ui/panels/:plugin/:name',
      schema: { summary: "A file of a plugin's panel", response: { 200: bytes('*/*') } },
      handler: (request, reply) => {
        const { plugin, name } = request.params as { plugin: string; name: string }
        const panel = this.#ctx.services
          .use(panels)
          .list()
          .find((one) => one.plugin === plugin)
        return sendFile(
          request,
          reply,
          panel?.module.files.find((file) => file.name === name),
        )
      },
    })
  }
}
