import { definePlugin } from 'rtk-base/plugin'
import { ErrorValuesShape } from 'rtk-base/schemas'
import { receiver as receiverToken, rtcmGate, rtcmStream, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { GatedStream } from './stream.js'

/** Handed over on a reload. */
const HeldReason = Type.Object({ code: Type.String(), values: Type.Optional(ErrorValuesShape), text: Type.String() })

/** The RTCM stream of the station: the gate in front, epochs and bounded subscribers behind it. */
export default definePlugin({
  name: 'rtcm',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [receiverToken, station],
  provides: [rtcmStream, rtcmGate],
  options: Type.Object({
    queue_bytes: Type.Integer({
      default: 65_536,
      minimum: 4_096,
      maximum: 16_777_216,
      description: 'Queue limit per subscriber; a slow subscriber loses its oldest epochs beyond it',
    }),
  }),

  setup(ctx, { queue_bytes }) {
    const stream = new GatedStream(ctx, queue_bytes)
    ctx.services.provide(rtcmStream, stream)
    ctx.services.provide(rtcmGate, stream.gate)
    ctx.info.block('gnss.rtcm', { runtime: () => stream.block(), config: () => ({ antenna: stream.antenna() }) })
    return stream
  },

  async start(ctx, handoff, stream) {
    stream.resumeCount(handoff.get('received', Type.Integer({ minimum: 0 })) ?? 0)
    ctx.on(ctx.services.use(station).onCountersReset, () => stream.resumeCount(0))
    const held = handoff.get('held', HeldReason)
    if (held) stream.gate.resume(held)
    ctx.status(`closed: ${stream.reason?.text}`)
    await stream.connect(ctx.services.use(receiverToken))
  },

  stop: (_reason, stream) => [
    ['received', stream.received],
    ['held', stream.gate.heldReason],
  ],
})
