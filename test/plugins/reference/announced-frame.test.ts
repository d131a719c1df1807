/** The frame and epoch that a reference is announced in, whatever it was determined in. */
import t, { type Test } from 'tap'
import { decimalYear, distance, offsetEnu, roundEcef, transformed } from '../../../runtime/lib/gnss/index.js'
import { ManualClock } from '../../harness/index.js'
import { historyOf, home, quick, type Rig, setUp } from './survey-in-rig.js'

const near = roundEcef(offsetEnu(home, { east: 0.5, north: -0.5, up: 1 }))
const manual = () => ({
  'gnss-ref-manual-x': near.x,
  'gnss-ref-manual-y': near.y,
  'gnss-ref-manual-z': near.z,
  'gnss-ref-chosen': 'manual',
})
const isFixed = (rig: Rig) => () => rig.state() === 'fixed'

/** From nothing to a base that sends. */
async function fixedStation(t: Test, options: Parameters<typeof setUp>[1] = {}): Promise<Rig> {
  const rig = await setUp(t, options)
  await rig.until(() => rig.arps().length > 0, 60)
  return rig
}

const itrf = { 'gnss-ref-frame': 'IGb20', 'gnss-ref-epoch': '2026.5' }
const etrf = { 'gnss-announce-frame': 'ETRF2000' }
const announced = (rig: Rig) => rig.arps().at(-1)
const at = { position: near, frame: 'ITRF2020', epoch: 2026.5 } as const
const expected = (epoch = 2026.5) =>
  transformed(at, { frame: 'ETRF2000', epoch }, epoch === 2026.5 ? undefined : 'EURA').position
const codes = (rig: Rig) => rig.station.device.errors().map(({ code }) => code)

t.test('an entered position is transformed, and rovers get the result', async (t) => {
  const rig = await fixedStation(t)
  await rig.change({ ...manual(), ...itrf })
  await rig.until(() => rig.arps().some((arp) => distance(arp, near) < 1e-6), 60)
  t.match(await rig.change(etrf), { result: 'ok' })
  t.not(rig.state(), 'fixed', 'nothing is sent before the antenna was compared with it')
  await rig.until(() => distance(announced(rig) ?? near, expected()) < 2e-4, 60)
  t.ok(distance(expected(), near) > 0.1)
  t.match(rig.field('ref.manual'), { frame: 'ETRF2000', epoch: '2026.5' })
  t.match(rig.field('ref.announced'), { frame: 'ETRF2000', epoch: 0, plate: '' })
  t.notOk('drift' in (rig.field('ref.announced') as object), 'the plate is not known')
  t.match(await rig.change({ 'gnss-announce-epoch': 2010 }), { errors: [{ message: /needs gnss-plate/ }] })
  t.match(await rig.change({ 'gnss-announce-epoch': 2010, 'gnss-plate': 'EURA' }), { result: 'ok' })
  await rig.until(() => distance(announced(rig) ?? near, expected(2010)) < 2e-4, 60)
  t.match(rig.field('ref.announced'), { epoch: 2010, plate: 'EURA', drift: /^0\.00/ })

  const entry = (await historyOf(rig.station)).at(-1)
  t.match(entry, { frame: { epsg: 7931, name: 'ETRF2000', epoch: '2010' } })
  await rig.station.request(`/positions/${entry?.position}`, { method: 'POST' })
  await rig.until(isFixed(rig), 60)
  t.ok(distance(announced(rig) ?? near, expected(2010)) < 2e-4, 'an entry of the history is not transformed twice')
})

t.test('a frame that is not known is announced unchanged, with an error', async (t) => {
  const rig = await fixedStation(t, { changes: { ...quick, ...etrf } })
  t.notMatch(codes(rig), ['gnss-reference-frame'], 'a survey-in of metres')
  await rig.change(manual())
  await rig.until(() => rig.arps().some((arp) => distance(arp, near) < 1e-6), 60)
  t.match(rig.errors(), [/an unknown frame and is announced unchanged: it cannot be transformed to ETRF2000/])
  await rig.change({ 'gnss-ref-frame': 'town grid' })
  t.match(rig.errors(), [/in town grid and is announced unchanged/])
  await rig.change({ 'gnss-ref-frame': 'ETRF2000', 'gnss-ref-epoch': '2010' })
  t.strictSame(rig.errors(), [])
})

t.test('coordinates that the plate has carried away are reported, unless the epoch is meant', async (t) => {
  const old = { ...manual(), 'gnss-ref-frame': 'ITRF2020', 'gnss-ref-epoch': '2020.0', 'gnss-plate': 'EURA' }
  const rig = await fixedStation(t)
  await rig.change(old)
  await rig.until(() => rig.arps().some((arp) => distance(arp, near) < 1e-6), 60)
  t.match(codes(rig), ['gnss-reference-drift'])
  t.match(rig.errors(), [/ITRF2020 epoch 2020\.0, are \d+\.\d cm from those of today: the plate moves 2\d mm per year/])
  t.equal(rig.state(), 'fixed', 'a warning')
  await rig.change({ 'gnss-announce-epoch': 2020 })
  t.strictSame(codes(rig), [], 'rovers need this epoch')
  await rig.change({ 'gnss-announce-epoch': null, ...etrf })
  t.strictSame(codes(rig), [], 'this frame moves with the plate')
})

t.test('a position of the receiver is compared in the frame of the satellites', async (t) => {
  const today = decimalYear(new ManualClock().now())
  const canada = { frame: 'NAD83(CSRS)', epoch: 2010 } as const
  const arp = roundEcef(transformed({ position: home, frame: 'ITRF2020', epoch: today }, canada, 'NOAM').position)
  t.ok(distance(arp, home) > 1, `${distance(arp, home).toFixed(2)} m`)
  const entered = {
    'gnss-ref-manual-x': arp.x,
    'gnss-ref-manual-y': arp.y,
    'gnss-ref-manual-z': arp.z,
    'gnss-ref-chosen': 'manual',
    'gnss-initial-max-delta': 1,
  }
  for (const [frame, isUsed] of [
    ['', false],
    [canada.frame, true],
  ] as const) {
    const rig = await setUp(t, {
      changes: { ...quick, ...entered, 'gnss-ref-frame': frame, 'gnss-ref-epoch': '2010', 'gnss-plate': 'NOAM' },
    })
    await rig.seconds(120)
    t.equal(rig.state() === 'fixed', isUsed, frame || 'unknown')
  }
})

t.test('source and provenance of coordinates are kept until there are others', async (t) => {
  const rig = await fixedStation(t)
  await rig.change({ ...manual(), 'gnss-ref-manual-source': 'report 17', 'gnss-ref-manual-provenance': 'ppp' })
  await rig.until(() => rig.arps().some((arp) => distance(arp, near) < 1e-6), 60)
  t.match((await historyOf(rig.station)).at(-1), { provenance: 'ppp', source: 'report 17' })
  await rig.change({ 'gnss-ref-manual-x': near.x + 0.01 })
  const parameter = (wanted: string) => rig.station.station.parameters().find(({ name }) => name === wanted)?.value
  t.equal(parameter('gnss-ref-manual-source'), '')
  t.equal(parameter('gnss-ref-manual-provenance'), 'entered')
})
