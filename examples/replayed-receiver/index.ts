import { definePlugin } from 'rtk-base/plugin'
import { EcefShape } from 'rtk-base/schemas'
import { receiver } from 'rtk-base/services'
import { Type } from 'typebox'
import { type Kept, replayedReceiver } from './receiver.js'
import { faults } from './recording.js'

const number = Type.Number()
const Before = Type.Unsafe<Kept>(
  Type.Object({
    ...{ bootedAt_ms: number, beganAt_ms: number },
    target: Type.Union([
      Type.Object({ mode: Type.Literal('rover') }),
      Type.Object({ mode: Type.Literal('fixed'), arp: EcefShape, acc_m: number }),
    ]),
  }),
)

/** A base that replays a recording, with faults by script and by command: the receiver of a third party. */
export default definePlugin({
  name: 'replayed-receiver',
  version: '1.0.0',
  api: '^1.0.0',
  provides: [receiver],
  options: Type.Object({ script: Type.String({ minLength: 1, description: 'Path of receiver.json' }) }),

  setup(ctx, { script }) {
    const device = replayedReceiver(ctx, script)
    ctx.services.provide(receiver, device.receiver)
    const words = [...faults, 'well', 'restart'] as const
    const usage = `replay=${words.join('|')}`
    ctx.action({
      name: 'replay',
      summary: `${usage}: faults of the receiver`,
      input: { word: Type.Union(words.map((word) => Type.Literal(word))) },
      usage,
      run({ input: { word } }) {
        device.tell(word)
        return `replay: ${word}`
      },
    })
    return device
  },

  start(ctx, handoff, device) {
    Object.assign(device.kept, handoff.get('kept', Before))
    ctx.timers.every(1_000, () => device.second())
  },

  stop: (_reason, device) => [['kept', device.kept]],
})
