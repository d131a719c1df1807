import { isFileInWay } from 'rtk-base/files'
import { definePlugin } from 'rtk-base/plugin'
import { device, logs, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { offerReading } from './reading.js'
import { FlightRecorder } from './recorder.js'
import { lastWeek } from './report.js'
import { RecordRing } from './ring.js'

const segments = 32
/** The flight record: history of gate, procedure, receiver, links and uplinks, statistics per minute, and why no RTCM was sent. */
export default definePlugin({
  name: 'record',
  version: '1.0.0',
  api: '^1.0.0',
  report: async (folder) => ({ 'record.jsonl': await lastWeek(folder()) }),
  needs: [device, station, logs],
  options: Type.Object(
    { size_mb: Type.Integer({ default: 4, minimum: 1, maximum: 256, description: 'Maximum disk usage' }) },
    { additionalProperties: false },
  ),

  setup(ctx, { size_mb = 4 }) {
    const segment_bytes = Math.floor((size_mb * 1_048_576) / segments)
    const ring = new RecordRing(ctx, {
      // The files, and the lines that still go into a full one.
      dir: () => ctx.dataDir('main', { quota_bytes: (size_mb + 1) * 1_048_576 + segment_bytes }),
      segments,
      segment_bytes,
      head: () => recorder.head(),
      trouble(error) {
        const values = error && { reason: error.message, ...(isFileInWay(error) && { file: true }) }
        ctx.errors.while('record-not-written', values)
      },
    })
    const recorder = new FlightRecorder(ctx, ring)
    offerReading(ctx, ring, recorder)
    ctx.hooks.onChange.tap(({ source, values }) =>
      recorder.note('change', `${[...values.keys()].join(', ')} (${source})`),
    )
    ctx.hooks.onSystemCommand.tap(({ name, shown, source }) => {
      if (name !== 'why-no-rtcm') recorder.note('command', `${shown} (${source})`)
      return undefined
    })
    return { ring, recorder }
  },

  start(_ctx, handoff, { ring, recorder }) {
    ring.start()
    recorder.start(handoff.get('offset_ms', Type.Number()))
  },

  async stop(reason, { ring, recorder }) {
    if (reason !== 'reload') recorder.stopping(reason)
    await ring.stop()
    return [['offset_ms', recorder.offset_ms]]
  },
})
