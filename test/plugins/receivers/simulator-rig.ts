/** The whole GNSS path on the simulated receiver: what `npm start` shows. */
import type { Test } from 'tap'
import { Value } from 'typebox/value'
import gnssZed from '../../../plugins/receivers/gnss-zed/index.js'
import surveyIn from '../../../plugins/reference/survey-in/index.js'
import rtcm from '../../../plugins/rtcm/rtcm/index.js'
import rtcmIn from '../../../plugins/rtcm/rtcm-in/index.js'
import receiverSimulator from '../../../plugins/simulated/simulated-receiver/index.js'
import { decodeRtcm } from '../../../runtime/lib/gnss/index.js'
import { definePlugin } from '../../../runtime/plugin.js'
import { GnssInfo } from '../../../schemas/info/gnss.js'
import {
  type Ecef,
  type RtcmFrame,
  type RtcmStream,
  rtcmStream,
  type SimulatedReceiver,
  simulatedReceiver,
} from '../../../schemas/services.js'
import { createTestStation, ManualClock } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { type Definition, quick } from '../reference/survey-in-rig.js'

export type SimulatorRig = Awaited<ReturnType<typeof setUp>>

/** @param options of the simulated receiver, change parameters beside those of a quick survey-in, and more plugins */
export async function setUp(
  t: Test,
  options: {
    simulator?: object
    changes?: object
    rtcm?: object
    survey?: object
    plugins?: Record<string, unknown>
    /** More options of gnss-zed. */
    zed?: object
    /** What is stored already. */
    store?: MemoryStore
    serial?: string
    data?: string
  } = {},
) {
  const clock = new ManualClock()
  const store = options.store ?? new MemoryStore()
  const sent: RtcmFrame[] = []
  let simulated: SimulatedReceiver | undefined
  let stream: RtcmStream | undefined
  const probe = definePlugin({
    name: 'probe',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [rtcmStream, simulatedReceiver],
    setup: () => undefined,
    start(ctx) {
      simulated = ctx.services.use(simulatedReceiver)
      const take = (frame: RtcmFrame) => sent.push(frame) > 0
      stream = ctx.services.use(rtcmStream)
      stream.subscribe({ via: 'test', name: 'probe', ip: '', take })
    },
  })
  const station = await createTestStation({
    ...(options.data !== undefined && { data: options.data }),
    clock,
    store,
    variant: {
      changes: { ...quick, ...options.changes },
      ...(options.serial !== undefined && { serial: options.serial }),
    },
    plugins: {
      'simulated-receiver': [receiverSimulator as unknown as Definition, { boot: 'rover', ...options.simulator }],
      'gnss-zed': [
        gnssZed as unknown as Definition,
        {
          ...{ port: 'simulator', rtcm: options.rtcm ?? {} },
          ...options.zed,
        },
      ],
      rtcm: rtcm as unknown as Definition,
      'survey-in': [surveyIn as unknown as Definition, { initial_s: 10, ...options.survey }],
      'rtcm-in': rtcmIn as unknown as Definition,
      probe: probe as unknown as Definition,
      ...(options.plugins as Record<string, Definition>),
    },
  })
  t.teardown(() => station.stop())
  const field = (path: string) => station.field(`gnss.${path}`)
  const check = () => {
    const { gnss } = station.station.document()
    return [...Value.Errors(GnssInfo, gnss)].map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  return {
    station,
    clock,
    store,
    sent,
    field,
    /** Where the block is not as documented. */
    check,
    get simulated() {
      if (!simulated) throw new Error('the probe does not run')
      return simulated
    },
    get stream() {
      if (!stream) throw new Error('the probe does not run')
      return stream
    },
    /** The positions in the 1005 that left. */
    arps: () =>
      sent.flatMap(({ bytes }): Ecef[] => {
        const message = decodeRtcm(bytes)
        return message?.type === 1005 ? [{ x: message.x, y: message.y, z: message.z }] : []
      }),
    change: (values: Record<string, unknown>) => station.station.change(values, { source: 'http' }),
    command: (text: string) => station.station.command(text, { source: 'console' }),
    async seconds(count: number) {
      for (let i = 0; i < count; i++) await clock.advance(1000)
    },
    async until(condition: () => unknown, limit_s: number): Promise<number> {
      for (let i = 0; i <= limit_s; i++) {
        if (condition()) return i
        await clock.advance(1000)
      }
      throw new Error(`not within ${limit_s} s: ${String(condition)}; ${JSON.stringify(field(''))}`)
    },
  }
}
