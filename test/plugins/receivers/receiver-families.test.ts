/** Every family of receivers behind the same gate: what the driver of each must stand with its simulator, and what may leave. */
import { distance, isMsm, referencePoint } from 'rtk-base/gnss'
import t from 'tap'
import { Random } from '../../../runtime/lib/simulation/index.js'
import type { BytePort } from '../../../schemas/byte-port.js'
import { gateOnly, receiverConformance, sample } from '../../harness/index.js'
import { baseOf, definitionOf, deviceOf, families } from './receiver-rig.js'

// A day of each family is minutes of computing.
t.setTimeout(3_600_000)

/** The family whose bases go through everything in each run; those of the others only through what their own driver decides. */
const whole = 'UM980'

for (const family of families) {
  const isWhole = family.name === whole
  const ofStation = { skip: !isWhole && gateOnly }
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

    t.test(
      'a service that ends anywhere in its configuration leaves no receiver that it cannot make a base',
      async (t) => {
        const { bench, sent, observed, status } = await baseOf(t, family)
        t.ok(await bench.within(300, observed), 'a base')
        const after_ms = [50, 150, 250, 400, 800, 1_600, 2_400, 3_200, 4_800]
        const ends = (['acquire', 'fixed'] as const).flatMap((before) =>
          after_ms.map((rest_ms) => ({ before, rest_ms })),
        )
        for (const { before, rest_ms } of ends.filter((_, at) => at % sample(isWhole ? 9 : 18, 1, 6) === 0)) {
          t.match(await bench.station.station.command('start-survey-in', { source: 'plugin' }), { status: 200 })
          // It becomes a rover at once, and a base when the survey is over.
          if (before === 'fixed') {
            t.ok(await bench.within(120, () => status() === 'survey'), 'it surveys')
            while (status() === 'survey') await bench.station.clock.advance(50)
          }
          await bench.station.clock.advance(rest_ms)
          await bench.station.reload(family.driver)
          await bench.seconds(10)
          sent.length = 0
          t.ok(await bench.within(240, observed), `ended ${rest_ms} ms into the way to ${before}`)
        }
      },
    )

    t.test(
      'a day in typical noise raises no alarm and writes no flash; then a move of 5 cm is held',
      ofStation,
      async (t) => {
        const minutes = sample(2, 24 * 60, 5)
        t.comment(`${minutes} min`)
        const { bench, sent, sim, observed, flashWrites } = await baseOf(t, family)
        t.ok(await bench.within(300, observed), 'a base')
        await sim('noise typical')
        const before = flashWrites()
        const holds: string[] = []
        for (let minute = 0; minute < minutes; minute++) {
          sent.length = 0
          await bench.seconds(60)
          const count = sent.filter(({ type }) => type === 1077 || type === 1074).length
          if (count < 59) holds.push(`${count} epochs in minute ${minute}`)
        }
        t.strictSame(holds, [])
        t.strictSame(bench.station.device.errors(), [])
        t.equal(flashWrites(), before)
        await sim('move 0.04 0 0.03 0')
        await bench.seconds(4)
        sent.length = 0
        await bench.seconds(20)
        t.notOk(observed())
      },
    )

    t.test('a line that cuts everything into pieces and adds noise', async (t) => {
      const { bench, sent, sim, observed, port } = await baseOf(t, family)
      const random = new Random(7)
      const below = (most: number) => Math.floor(most * random.uniform())
      const line = port() as { open: BytePort['open'] }
      const open = line.open.bind(line)
      line.open = (baud, sink) =>
        open(baud, {
          ...sink,
          data(bytes) {
            if (below(50) === 0) sink.data(Uint8Array.from({ length: 1 + below(40) }, () => below(256)))
            for (let at = 0; at < bytes.length; ) {
              const piece = bytes.subarray(at, at + 1 + below(60))
              sink.data(piece)
              at += piece.length
            }
          },
        })
      await sim('unplug')
      await bench.seconds(5)
      await sim('replug')
      t.ok(await bench.within(600, observed), 'a base')
      sent.length = 0
      await bench.seconds(60)
      const observations = sent.filter(({ type }) => isMsm(type))
      t.ok(observations.length > 60, `${observations.length} observations in a minute`)
      t.ok(bench.receiver.corruptRtcm > 0, 'some were damaged')
      t.strictSame(
        bench.station.lines.filter(({ level }) => Number(level) >= 50),
        [],
        'nothing failed',
      )
    })

    t.test('without phases its ranges show where the antenna is', ofStation, async (t) => {
      const { bench, sim, observed } = await baseOf(t, family, 1, { phases: { enabled: false } })
      t.ok(await bench.within(300, observed), 'a base')
      await bench.seconds(240)
      const codes = () => bench.station.device.errors().map(({ code }) => code)
      const away_m = () => Number(bench.station.field('gnss.pos.delta'))
      t.notOk(codes().includes('gnss-unwatched'), codes().join())
      t.ok(away_m() > 0 && away_m() < 4, `${away_m()} m from the reference`)
      await sim('move 18 -24 0 0')
      t.ok(await bench.within(60, () => codes().includes('gnss-moved')), `${away_m()} m: ${codes().join()}`)
    })

    t.test('no observation leaves later than 4 s after the antenna is 5 cm away', ofStation, async (t) => {
      const moves = [0.05, 9, 0.5, 100].flatMap((size_m) => [0, 6].map((over_s) => ({ size_m, over_s })))
      for (const [seed, { size_m, over_s }] of moves.slice(0, sample(1, moves.length, 2)).entries()) {
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

t.test(
  'an LG290P that does not keep its settings: its flash is spared, and a person is told',
  { skip: gateOnly },
  async (t) => {
    const [family] = families.filter(({ name }) => name === 'LG290P')
    if (!family) return t.fail('no LG290P')
    const { bench, sent, sim, flashWrites } = await baseOf(t, family)
    await sim('ignore PQTMCFGSVIN')
    await bench.seconds(3_000)
    const writes = flashWrites()
    t.ok(writes > 2 && writes <= 20, `${writes} writes in 50 min`)
    t.strictSame(sent, [], 'no base')
    await bench.within(120, () =>
      bench.station.device.errors().some(({ text }) => text.includes('its flash is spared')),
    )
    t.match(
      bench.station.device.errors().map((error) => error.text),
      [/its flash is spared after 20 saves within 6 h, for \d+ min/],
    )
  },
)

t.test('an LG290P that does not hear the command to restart is not taken for restarted', async (t) => {
  const [family] = families.filter(({ name }) => name === 'LG290P')
  if (!family) return t.fail('no LG290P')
  // Over USB its line would go.
  const { bench, observed, port } = await baseOf(t, { ...family, options: { ...family.options, usb: false } })
  const line = port() as { write: BytePort['write'] }
  const write = line.write.bind(line)
  let unheard = 0
  line.write = (bytes) => {
    if (unheard === 2 || !Buffer.from(bytes).includes('PQTMSRR')) return write(bytes)
    unheard++
    return true
  }
  t.ok(await bench.within(300, observed), 'a base')
  t.equal(unheard, 2, 'the command was lost twice')
})
