/** Every family of receivers behind the same gate: what the driver of each must stand with its simulator, and what may leave. */
import { distance, isMsm, referencePoint } from 'rtk-base/gnss'
import t, { type Test } from 'tap'
import { definePlugin } from '../../../runtime/plugin.js'
import { type RtcmFrame, rtcmStream } from '../../../schemas/services.js'
import { few, gateOnly, type ReceiverDevice, receiverConformance, type TestStation } from '../../harness/index.js'
import { Bench } from '../../harness/receiver/bench.js'
import { shippedPlugin } from '../../harness/shipped.js'
import type { Definition } from './survey-in-rig.js'

t.setTimeout(900_000)

interface Family {
  readonly name: string
  readonly driver: string
  readonly simulator: string
  readonly options: Record<string, unknown>
  /** A command that no base can be made without, as the simulator's `nak` takes it. */
  readonly refused: string
  readonly reports: readonly ('antenna' | 'jam' | 'spoof')[]
  readonly seesNoShort?: boolean
}

const families: readonly Family[] = [
  {
    ...{ name: 'ZED-F9P', driver: 'gnss-zed', simulator: 'simulated-receiver', options: { boot: 'rover' } },
    ...{ refused: 'CFG-TMODE-MODE', reports: ['antenna', 'jam', 'spoof'] },
  },
  {
    ...{ name: 'ZED-X20P', driver: 'gnss-zed', simulator: 'simulated-receiver' },
    options: { boot: 'rover', module: 'ZED-X20P' },
    ...{ refused: 'CFG-TMODE-MODE', reports: ['antenna', 'jam', 'spoof'] },
  },
  {
    ...{ name: 'UM980', driver: 'gnss-unicore', simulator: 'simulated-um980', options: {} },
    ...{ refused: 'MODE', reports: [] },
  },
  {
    ...{ name: 'LG290P', driver: 'gnss-quectel', simulator: 'simulated-lg290p', options: {} },
    ...{ refused: 'PQTMCFGRCVRMODE', reports: [] },
  },
  {
    ...{ name: 'mosaic', driver: 'gnss-septentrio', simulator: 'simulated-mosaic', options: {} },
    ...{ refused: 'setPVTMode', reports: ['antenna', 'jam', 'spoof'], seesNoShort: true },
  },
]

const simulate = (station: TestStation | undefined) => async (text: string) => {
  const { status, text: answer } = (await station?.station.command(`sim=${text}`, { source: 'plugin' })) ?? {}
  if (status !== 200) throw new Error(`sim=${text}: ${answer}`)
}

/** The simulated receiver, by its command. */
function deviceOf({ refused, reports, seesNoShort = false }: Family): ReceiverDevice {
  let sim: (text: string) => Promise<void> = async () => {}
  const faults: Pick<ReceiverDevice, 'antenna' | 'jam' | 'spoof'> = {
    antenna: (status) => sim(`antenna ${status}`),
    jam: (on) => sim(`jam ${on ? 30 : 'off'}`),
    spoof: (on) => sim(`spoof ${on ? 2 : 1}`),
  }
  return {
    seesNoShort,
    begin(station) {
      sim = simulate(station)
    },
    connect: () => sim('replug'),
    disconnect: () => sim('unplug'),
    silence: (on) => sim(`silence ${on ? 'on' : 'off'}`),
    restart: () => sim('restart'),
    refuse: (on) => sim(`nak ${on ? refused : 'off'}`),
    wrongReference: (on) => sim(`wrong-1005 ${on ? 1 : 'off'}`),
    ...Object.fromEntries(reports.map((name) => [name, faults[name]])),
  }
}

const definitionOf = async (name: string) => (await shippedPlugin(name)) as unknown as Definition

/** A base of the family, with a rover that keeps what it gets. */
async function baseOf(t: Test, family: Family, seed = 1) {
  const sent: RtcmFrame[] = []
  const rover = definePlugin({
    name: 'rover',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [rtcmStream],
    setup: () => {},
    start: (ctx) => {
      const take = (frame: RtcmFrame) => sent.push(frame) > 0
      const subscription = ctx.services.use(rtcmStream).subscribe({ via: 'tcp', name: 'rover', ip: '192.0.2.1', take })
      ctx.defer(() => subscription.close())
    },
  })
  const bench = await Bench.create(
    await definitionOf(family.driver),
    deviceOf(family),
    { port: 'simulator' },
    {
      plugins: { [family.simulator]: [await definitionOf(family.simulator), { ...family.options, seed }], rover },
      variant: { changes: { 'gnss-survey-mintime': 15, 'gnss-survey-accuracy': 5 } },
    },
  )
  t.teardown(() => bench.station.stop())
  const observed = () => sent.some(({ type }) => isMsm(type))
  return { bench, sent, sim: simulate(bench.station), observed }
}

for (const family of families) {
  t.test(family.name, { skip: family.driver === 'gnss-zed' && gateOnly }, async (t) => {
    t.test('stands what every receiver plugin must', async (t) =>
      t.resolves(
        receiverConformance(await definitionOf(family.driver), deviceOf(family), {
          options: { port: 'simulator' },
          surroundings: { plugins: { [family.simulator]: [await definitionOf(family.simulator), family.options] } },
        }),
      ),
    )

    t.test('a position in its flash never leaves; it is a base again after whatever happens to its line', async (t) => {
      const { bench, sent, sim, observed } = await baseOf(t, family)
      t.ok(await bench.within(60, () => bench.receiver.fix?.ok), 'it has a position')
      const here = bench.receiver.fix?.position
      if (!here) return
      await sim('flash fixed 100 0 0')
      await sim('restart')
      t.ok(await bench.within(300, observed), 'a base')
      const noneOfFlash = (what: string) => {
        const places = sent.flatMap(({ bytes }) => referencePoint(bytes)?.arp ?? [])
        t.ok(
          places.every((arp) => distance(arp, here) < 20),
          `none is that of the flash: ${what}`,
        )
        sent.length = 0
      }
      noneOfFlash('its start')
      const again = async (what: string, limit_s = 240) => {
        t.ok(await bench.within(limit_s, observed), `a base again: ${what}`)
      }
      for (const [what, happen] of [
        ['a restart', () => sim('restart')],
        [
          'its plug',
          async () => {
            await sim('unplug')
            await bench.seconds(20)
            await sim('replug')
          },
        ],
        [
          'a silence',
          async () => {
            await sim('silence on')
            await bench.seconds(30)
            await sim('silence off')
          },
        ],
        ['the plugin is replaced', async () => void (await bench.station.reload(family.driver))],
        ['damaged frames', () => sim('corrupt 40')],
      ] as const) {
        await happen()
        await bench.seconds(1)
        noneOfFlash(what)
        await again(what)
      }
      noneOfFlash('the end')
    })

    t.test('no observation leaves later than 4 s after the antenna is 5 cm away', async (t) => {
      const moves = [0.05, 9, 0.5, 100].flatMap((size_m) => [0, 6].map((over_s) => ({ size_m, over_s })))
      for (const [seed, { size_m, over_s }] of few(1, moves).entries()) {
        const { bench, sent, sim, observed } = await baseOf(t, family, seed + 1)
        t.ok(await bench.within(300, observed), 'a base')
        await bench.seconds(45)
        await sim(`move ${0.6 * size_m} ${-0.8 * size_m} 0 ${over_s}`)
        const away_s = Math.max(1, Math.ceil((over_s * 0.05) / size_m))
        let last_s = 0
        for (let second = 1; second <= away_s + 30; second++) {
          sent.length = 0
          await bench.seconds(1)
          if (observed()) last_s = second
        }
        t.ok(last_s - away_s <= 4, `${size_m} m over ${over_s} s: ${last_s - away_s} s`)
        await bench.station.stop()
      }
    })
  })
}
