/** Writes numbered lines into the ring of the flight record as fast as it takes them, until it is killed. */
import { mkdirSync } from 'node:fs'
import { lineOf } from '../../../plugins/device/record/history.js'
import { RecordRing } from '../../../plugins/device/record/ring.js'
import type { PluginContext } from '../../../runtime/plugin.js'

const [path = '', from = '0'] = process.argv.slice(2)
mkdirSync(path, { recursive: true })
const ctx = {
  clock: { monotonic: () => performance.now() },
  timers: {
    after(ms: number, fn: () => void) {
      const timer = setTimeout(fn, ms)
      return () => clearTimeout(timer)
    },
  },
} as unknown as PluginContext
const dir = { path, quota_bytes: 1e9, usage: async () => ({ bytes: 0, files: 0 }), ensureRoom: async () => {} }
const ring = new RecordRing(ctx, {
  dir: () => dir,
  segments: 8,
  segment_bytes: 16_384,
  head: () => '',
  trouble: () => {},
})
ring.start()
for (let number = Number(from); ; number += 1) {
  ring.append(lineOf({ t: number, up: number, note: { what: 'n', text: 'x'.repeat(number % 97) } }), true)
  if (number % 50 === 0) {
    await ring.idle()
    process.stdout.write(`${number}\n`)
  }
}
