/** The whole GNSS path on the simulated receiver: what `npm start` shows. */
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import gnssZed from '../../plugins/gnss-zed/index.js'
import rtcm from '../../plugins/rtcm/index.js'
import surveyIn from '../../plugins/survey-in/index.js'
import { decodeRtcm, distance } from '../../runtime/gnss/index.js'
import { definePlugin } from '../../runtime/plugin.js'
import { MemoryStore } from '../../runtime/ports/memory-store.js'
import { GnssInfo } from '../../schemas/info/gnss.js'
import {
  type Ecef,
  type RtcmFrame,
  rtcmStream,
  type SimulatedReceiver,
  simulatedReceiver,
} from '../../schemas/services.js'
import { createTestStation, ManualClock } from '../harness/index.js'
import { type Definition, quick } from './survey-in-rig.js'

async function setUp(t: Test, simulator: Record<string, unknown> = {}, store = new MemoryStore(), utc_ms?: number) {
  const clock = new ManualClock(utc_ms)
  const sent: RtcmFrame[] = []
  let simulated: SimulatedReceiver | undefined
  const probe = definePlugin({
    name: 'probe',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [rtcmStream, simulatedReceiver],
    setup: () => undefined,
    start(ctx) {
      simulated = ctx.services.use(simulatedReceiver)
      const take = (frame: RtcmFrame) => sent.push(frame) > 0
      ctx.services.use(rtcmStream).subscribe({ via: 'test', name: 'probe', ip: '', take })
    },
  })
  const station = await createTestStation({
    clock,
    store,
    variant: { changes: quick },
    plugins: {
      'gnss-zed': [gnssZed as unknown as Definition, { port: 'simulator', simulator: { boot: 'rover', ...simulator } }],
      rtcm: rtcm as unknown as Definition,
      'survey-in': [surveyIn as unknown as Definition, { initial_s: 10 }],
      probe: probe as unknown as Definition,
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
    check,
    get simulated() {
      if (!simulated) throw new Error('the probe does not run')
      return simulated
    },
    arps: () =>
      sent.flatMap(({ bytes }): Ecef[] => {
        const message = decodeRtcm(bytes)
        return message?.type === 1005 ? [{ x: message.x, y: message.y, z: message.z }] : []
      }),
    async until(condition: () => unknown, limit_s: number): Promise<number> {
      for (let i = 0; i <= limit_s; i++) {
        if (condition()) return i
        await clock.advance(1000)
      }
      throw new Error(`not within ${limit_s} s: ${String(condition)}; ${JSON.stringify(field(''))}`)
    },
  }
}

t.test('from nothing to fixed in 45 s, the document right all the way', async (t) => {
  const rig = await setUp(t)
  const seen = new Set<unknown>()
  let running = false
  const seconds = await rig.until(() => {
    t.strictSame(rig.check(), [])
    seen.add(rig.field('state.status'))
    running ||= rig.field('ref.survey.state') === 'running' && (rig.field('ref.survey.count') as number) > 5
    return rig.arps().length > 0
  }, 60)
  t.ok(seconds <= 45, `${seconds} s`)
  console.log(seconds, [...seen])
  t.ok(running)
  const { x, y, z } = rig.field('ref.survey') as Ecef
  t.strictSame(rig.arps()[0], { x, y, z })
  t.ok(distance({ x, y, z }, rig.simulated.truth) < 5)
})
