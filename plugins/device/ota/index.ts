import { readRecordSync } from 'rtk-base/files'
import { definePlugin, type PluginContext } from 'rtk-base/plugin'
import { bundleInstaller, device, firmwareInstaller, pluginUpdates, updateErrors } from 'rtk-base/services'
import { Type } from 'typebox'
import { addActions, addCheck } from './actions.js'
import { VersionCheck } from './check.js'
import { Download } from './download.js'
import type { ImageTrial } from './image-trial.js'
import { UpdateMemory } from './memory.js'
import { judgeRunning } from './running-version.js'
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

    addActions(ctx, updates, () => state.trial)
    const address = ctx.config.define('update-url', UrlSchema, { default: '', title: 'Updates: newest version' })
    const check = new VersionCheck(ctx, {
      memory,
      largest_bytes: bytesOf(limit_mb),
      address: () => address.get(),
      ca: () => pemOf(ca),
      fits: (manifest) => updates.check(manifest),
    })
    addCheck(ctx, check, bundles)
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
    const { memory, signs, updates } = state
    signs.watch()
    const failed = await memory.failed()
    if (failed) updates.progress.showGivenUp(failed)
    await judgeRunning(ctx, state, {
      trialBegun_ms: handoff.get('trialBegun_ms', Type.Number()),
      wasRebooting: handoff.get('rebooting', Type.Boolean()),
    })
  },

  stop: (_reason, { updates, trial }) => [
    ['rebooting', updates.state === 'rebooting'],
    ['trialBegun_ms', trial?.begun_ms],
  ],
})

/** The download folder, including a partial file and its marker. */
const folderOf = (ctx: PluginContext, limit_mb: number) =>
  ctx.dataDir('incoming', { quota_bytes: bytesOf(limit_mb + 1) }).path

const pemOf = (ca: string) => (ca === '' || ca.startsWith('-----BEGIN ') ? ca : readRecordSync(ca))
