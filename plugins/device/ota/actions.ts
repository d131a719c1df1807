/** What a person can ask for: an update by its URL, its end, the version before, and whether there is a newer one. */
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { BundleInstaller } from 'rtk-base/services'
import { Type } from 'typebox'
import { CheckedVersion, type VersionCheck } from './check.js'
import type { ImageTrial } from './image-trial.js'
import type { Updates } from './updates.js'

/** @param current trial of the running version; undefined: it was none since the start */
export function addActions(ctx: PluginContext, updates: Updates, current: () => ImageTrial | undefined): void {
  const texts = {
    firmware: 'downloads and installs an update (progress in base.update)',
    'ota-upgrade': 'same as firmware',
  }
  for (const [name, text] of Object.entries(texts)) {
    ctx.action({
      name,
      summary: `${name}=<url> ${text}`,
      input: { url: Type.String({ minLength: 1 }) },
      usage: `${name}=<https URL of a firmware image>`,
      run({ input }) {
        updates.fetch(input.url)
        return 'update started'
      },
    })
  }
  ctx.action({
    name: 'ota-cancel',
    summary: 'cancels the upload or download of an update',
    run: () => {
      updates.progress.cancel()
      return 'the update is cancelled'
    },
  })
  ctx.action({
    name: 'ota-revert',
    summary: 'gives up the version that is on trial and starts the one before it',
    run: async () => {
      const trial = current()
      if (!trial || trial.over) throw unavailable('no version is on trial')
      // After the answer: it ends the service.
      void trial.giveUp('an operator asked for the version before it', 500)
      return 'the version before this one is started'
    },
  })
}

/** @param bundles the other installer, if there is one */
export function addCheck(ctx: PluginContext, check: VersionCheck, bundles: () => BundleInstaller | undefined): void {
  ctx.http.route({
    // It makes the station call a server: no page of another site may ask for it.
    method: 'POST',
    url: '/check-update',
    config: { role: 'operator' },
    schema: {
      summary: 'Reads the version of the image at `update-url`, without installing it',
      response: { 200: CheckedVersion },
    },
    handler: async () => {
      const { title } = bundles() ?? {}
      if (title) throw unavailable(`the version of a ${title} bundle is known when it is installed, and not before`)
      return check.run()
    },
  })
}
