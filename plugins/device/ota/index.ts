import { readRecordSync } from 'rtk-base/files'
import { definePlugin, type PluginContext, unavailable } from 'rtk-base/plugin'
import { bundleInstaller, device, firmwareInstaller, pluginUpdates, updateErrors } from 'rtk-base/services'
import { Type } from 'typebox'
import { followBundles } from './bundle-life.js'
import { CheckedVersion, VersionCheck } from './check.js'
import { Download } from './download.js'
import { endOf, ImageTrial } from './image-trial.js'
import type { Installer } from './installer.js'
import { UpdateMemory } from './memory.js'
import { StationSigns } from './signs.js'
import { Slots } from './slots/index.js'
import { bytesOf, Updates } from './updates.js'

const Options = Type.Object(
  {
    keys: Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
      default: [],
      maxItems: 16,
      publicKeys: true,
      description: 'Public keys that may sign images: PEM texts or absolute paths of PEM files',
    }),
    limit_mb: Type.Integer({ default: 64, minimum: 1, maximum: 8_192, description: 'Largest image that is accepted' }),
    trial_min: Type.Number({
      default: 20,
      minimum: 1,
      maximum: 240,
      description: 'A new version that is not healthy by then is given up',
    }),
    healthy_s: Type.Integer({
      default: 60,
      minimum: 0,
      maximum: 3_600,
      description: 'A new version is confirmed when it was healthy for so long',
    }),
    ca: Type.String({
      default: '',
      maxLength: 65_536,
      description: 'An authority that is trusted beside the public ones: PEM text, or the absolute path of a PEM file',
    }),
  },
  { additionalProperties: false },
)

const UrlSchema = Type.String({
  maxLength: 512,
  pattern: '^(|https?://\\S+)$',
  description: 'URL (https or http) of the image of the newest version, for the check on request; empty: no check',
})

/** Updates of the service: signed images from an upload or a URL, on trial until they have proved themselves. */
export default definePlugin({
  name: 'ota',
  version: '1.0.0',
  api: '^1.0.0',
  errors: updateErrors,
  commands: ['firmware', 'ota-upgrade'],
  needs: [device, pluginUpdates],
  provides: [firmwareInstaller],
  options: Options,

  setup(ctx, options) {
    const { keys = [], limit_mb = 64, ca = '', trial_min = 20, healthy_s = 60 } = options
    const memory = new UpdateMemory(ctx, keys)
    const signs = new StationSigns(ctx)
    const bundles = () => ctx.services.find(bundleInstaller)
    const folder = () => folderOf(ctx, limit_mb)
    let slots: Slots | undefined
    const updates = new Updates(ctx, {
      memory,
      signs,
      largest_bytes: bytesOf(limit_mb),
      download: () => new Download({ fetch: ctx.fetch, folder: folder(), ca: pemOf(ca) }),
      folders: () => slots,
      bundles,
      folder,
      isTrial: () => state.trial?.over === false,
      partition: () => bundles()?.partition ?? ctx.services.use(device).partition,
      changed: () => block.changed(),
    })
    const block = ctx.info.block('base.update', () => updates.progress.fields)
    ctx.services.provide(firmwareInstaller, updates)

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
        const { trial } = state
        if (!trial || trial.over) throw unavailable('no version is on trial')
        // After the answer: it ends the service.
        ctx.timers.after(500, () => trial.giveUp('an operator asked for the version before it'))
        return 'the version before this one is started'
      },
    })
    const address = ctx.config.define('update-url', UrlSchema, { default: '', title: 'Updates: newest version' })
    const check = new VersionCheck(ctx, {
      memory,
      largest_bytes: bytesOf(limit_mb),
      address: () => address.get(),
      ca: () => pemOf(ca),
      fits: (manifest) => updates.check(manifest),
    })
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
    const limits = { hold_ms: healthy_s * 1_000, limit_ms: trial_min * 60_000 }
    const open = () => {
      const { slots: place } = ctx.services.use(device)
      slots = place && new Slots({ ...place, restart: () => ctx.services.use(device).restartService() })
      return slots
    }
    const state = { memory, signs, updates, bundles, open, limits, trial: undefined as ImageTrial | undefined }
    return state
  },

  async start(ctx, handoff, state) {
    const { memory, signs, updates, bundles, open, limits } = state
    signs.watch()
    const failed = await memory.failed()
    if (failed) updates.progress.showGivenUp(failed)
    const slots = open()
    const progress = (percent: number) => updates.progress.show(percent < 100 ? 'verifying' : 'idle', percent)
    const begun_ms = handoff.get('trialBegun_ms', Type.Number())
    const trialBy = (installer: () => Installer) =>
      new ImageTrial(ctx, { installer, memory, signs, ...limits, progress }, begun_ms)
    const begin = async (trial: ImageTrial) => {
      if (state.trial) return
      state.trial = trial
      updates.progress.show('verifying', 0)
      updates.progress.look()
      await trial.start()
    }
    let isReload = handoff.has('rebooting')
    const bundleTrial = trialBy(() => {
      const installer = bundles()
      if (!installer) throw unavailable('the plugin that installs versions is not running')
      return installer
    })
    ctx.services.watch(bundleInstaller, (installer) => {
      if (!installer) return
      const gone = new AbortController()
      const { signal } = gone
      const life = { ...limits, installer, signal, memory, signs, updates, trial: bundleTrial, begin, isReload }
      isReload = true
      // An installer that does not answer holds nothing up.
      void followBundles(ctx, life)
      return () => gone.abort()
    })
    if (bundles() || !slots) return
    // The restart that this plugin was about to make.
    if (handoff.get('rebooting', Type.Boolean())) return updates.restartSoon()
    const trial = trialBy(() => slots)
    if (ctx.services.use(device).onTrial) await begin(trial)
    else if (!handoff.has('rebooting')) await lookBack(ctx, { slots, memory, updates, trial })
  },

  stop: (_reason, { updates, trial }) => [
    ['rebooting', updates.state === 'rebooting'],
    ['trialBegun_ms', trial?.begun_ms],
  ],
})

/** At the first start of a process: the result of the last update. */
async function lookBack(
  ctx: PluginContext,
  { slots, memory, updates, trial }: { slots: Slots; memory: UpdateMemory; updates: Updates; trial: ImageTrial },
): Promise<void> {
  try {
    const pending = await memory.pending()
    // Another installer's, which tells its end when it is there.
    if (pending?.boot !== undefined) return
    // Confirmed, and then the power went.
    if (pending?.slot === slots.running) return await trial.settle()
    const givenUp = await slots.givenUp()
    if (!pending && !givenUp) return
    const end = endOf(pending, ctx.services.use(device).lastEnd, givenUp !== undefined)
    updates.progress.showGivenUp(end)
    await memory.end(end)
    if (givenUp) await slots.reported()
  } catch (error) {
    ctx.log.error({ err: error }, `how the last update ended could not be stored: ${(error as Error).message}`)
  }
}

/** The download folder, including a partial file and its marker. */
const folderOf = (ctx: PluginContext, limit_mb: number) =>
  ctx.dataDir('incoming', { quota_bytes: bytesOf(limit_mb + 1) }).path

const pemOf = (ca: string) => (ca === '' || ca.startsWith('-----BEGIN ') ? ca : readRecordSync(ca))
