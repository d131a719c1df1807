import { definePlugin } from 'rtk-base/plugin'
import { device, rawData, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { addAntennaRoutes } from './antenna-routes.js'
import { AntennaTable, antennaIn, largestTable_bytes } from './antennas.js'
import { Archive } from './archive.js'
import { folderOn } from './bounds.js'
import { ownAntenna, stationFacts } from './facts.js'
import { Options } from './options.js'
import { RawPush } from './push.js'
import { pushSettings } from './push-settings.js'
import { RawRecorder } from './recorder.js'
import { RinexConverter } from './rinex.js'
import { addRoutes } from './routes.js'

const tidy_ms = 600_000
const mega = 1_048_576

/** The raw data archive: the receiver's observations of the last days, for RINEX and for positions that can be proved. */
export default definePlugin({
  name: 'raw',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device, station],
  provides: [rawData],
  options: Options,

  setup(ctx, { size_mb = 1024, days = 30, free_mb, disk = '', push_ca = '', push_kbit_s = 512, push_late_h = 24 }) {
    const isOn = ctx.config.define('raw-en', Type.Integer({ minimum: 0, maximum: 1 }), {
      default: 0,
      title: 'Record raw data',
    })
    const marker = ctx.config.define(
      'raw-marker',
      Type.String({ maxLength: 60, pattern: '^[\\x20-\\x7e]*$', description: 'Empty: the serial number' }),
      { default: '', title: 'Raw data: name of the point (marker)' },
    )
    const settings = pushSettings(ctx, { ca: push_ca, rate_kbit_s: push_kbit_s })
    // The bounds are those of the archive, which also deletes: the quota is never what refuses.
    const own = () => ctx.dataDir('main', { quota_bytes: 2 * size_mb * mega }).path
    const archive = new Archive({
      path: async () => (disk === '' ? own() : folderOn(disk, own())),
      bounds: { size_bytes: size_mb * mega, free_bytes: free_mb && free_mb * mega, days },
      clock: ctx.clock,
      onTrouble(text) {
        // What is not asked for cannot fail.
        ctx.errors.while('raw-not-written', isOn.get() === 1 && text !== undefined && { reason: text })
      },
      onDelete: (hour) => push.heardDeleted(hour),
    })
    const push = new RawPush({
      ctx,
      archive,
      target: () => (isOn.get() === 1 ? settings.target() : undefined),
      late_ms: push_late_h * 3_600_000,
    })
    const recorder = new RawRecorder(ctx, archive)
    const apply = () => {
      recorder.isOn = isOn.get() === 1
      if (isOn.get() !== 1) ctx.errors.while('raw-not-written', false)
      ctx.status(isOn.get() === 1 ? 'records while observations come' : 'off')
    }
    ctx.config.onChange([isOn.name], apply)
    ctx.config.onChange([isOn.name, ...settings.names], () => push.apply())
    const table = new AntennaTable(
      () => ctx.dataDir('antennas', { quota_bytes: 3 * largestTable_bytes }).path,
      () => ctx.services.use(device).utc_ms() || ctx.clock.now(),
      (text) => ctx.log.warn(`the table of antennas is not used: ${text}. Upload the ANTEX file again`),
    )
    const converter = new RinexConverter(ctx, archive, async () => {
      const { serial, type } = ownAntenna(ctx)
      const antennas = type === '' ? undefined : await table.read()
      const isCalibrated = antennas && antennaIn(antennas, type, serial) !== undefined
      return { station: stationFacts(ctx, marker.get(), isCalibrated), isCalibrated }
    })
    addRoutes({
      ctx,
      archive,
      converter,
      marker: () => marker.get() || ctx.services.use(station).serial,
      progress: () => ({ recording: recorder.isRecording, epochs: recorder.epochs }),
      push,
    })
    addAntennaRoutes(ctx, table)
    ctx.services.provide(rawData, {
      rinex: (from_ms, to_ms, preset) => converter.whole(from_ms, to_ms, preset),
      notes: (from_ms, to_ms) => archive.notes(from_ms, to_ms),
    })
    return { archive, recorder, push, apply, isOn }
  },

  start(ctx, _handoff, { apply, archive, isOn, push, recorder }) {
    apply()
    recorder.start()
    const tidy = () => {
      if (isOn.get() === 1) void archive.tidy(ctx.services.use(device).utc_ms())
    }
    tidy()
    ctx.timers.every(tidy_ms, tidy)
    push.start()
  },

  async stop(_reason, { archive, push }) {
    await push.stop()
    await archive.close()
  },
})
