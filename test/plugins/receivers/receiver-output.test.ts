/** Satellites and RTCM messages as a person chooses them: from the parameters to the receiver and back. */
import t, { type Test } from 'tap'
import gnss from '../../../plugins/receivers/gnss/index.js'
import type { Firmware } from '../../../plugins/receivers/gnss-zed/configure/firmware.js'
import { bytesPerSecond } from '../../../plugins/receivers/gnss-zed/configure/load.js'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import { changeOf } from '../../../plugins/reference/survey-in/procedure/receiver-adapter.js'
import { isMsm } from '../../../runtime/lib/gnss/index.js'
import type { ReceiverOutput, RtcmFrame } from '../../../schemas/services.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { gateOnly } from '../../harness/sample.js'
import { type Definition, setUp as setUpFake } from '../reference/survey-in-rig.js'
import { type SimulatorRig, setUp } from './simulator-rig.js'
import { f9p, planFor, x20p } from './zed-plan.js'

const options = { observationInterval_s: 2, referenceInterval_s: 5 }
const extras = { signals: true, orbits: true }

/** Keys and values of a plan by name. */
function planned(output: ReceiverOutput | undefined, firmware: Firmware = f9p): Record<string, unknown> {
  const target = { mode: 'rover' as const, ...(output && { output }) }
  const steps = planFor(target, { base: options, extras, firmware })
  return Object.fromEntries(steps.flatMap(({ pairs }) => pairs.map(([key, value]) => [ubx.keyName(key), value])))
}
const rateOf = (plan: Record<string, unknown>, type: number) => plan[`CFG-MSGOUT-RTCM_3X_TYPE${type}_USB`]

t.test('a plan without a choice is that of the options, and touches neither constellations nor mask', async (t) => {
  const plan = planned(undefined)
  t.strictSame(
    Object.keys(plan).filter((name) => /SIGNAL|MINELEV/.test(name)),
    ['CFG-SIGNAL-SBAS_ENA'],
  )
  t.strictSame(
    [1005, 1074, 1084, 1094, 1124, 1077, 1230].map((type) => rateOf(plan, type)),
    [5, 2, 2, 2, 2, 0, 10],
  )
})

t.test('a plan with a choice', async (t) => {
  t.test('switches constellations together with their messages', async (t) => {
    const plan = planned({ constellations: ['gps', 'galileo'] })
    t.match(plan, {
      'CFG-SIGNAL-GPS_ENA': 1,
      'CFG-SIGNAL-QZSS_ENA': 1,
      'CFG-SIGNAL-GAL_ENA': 1,
      'CFG-SIGNAL-BDS_ENA': 0,
      'CFG-SIGNAL-GLO_ENA': 0,
    })
    t.strictSame(
      [1074, 1094, 1084, 1124, 1230].map((type) => rateOf(plan, type)),
      [2, 2, 0, 0, 0],
      'without GLONASS no 1230',
    )
    const withoutGps = planned({ constellations: ['beidou'] })
    t.match(withoutGps, { 'CFG-SIGNAL-GPS_ENA': 0, 'CFG-SIGNAL-QZSS_ENA': 0, 'CFG-SIGNAL-BDS_ENA': 1 })
    t.equal(rateOf(withoutGps, 1074), 0)
  })

  t.test('is all in one message, because each change starts the signals afresh', async (t) => {
    const target = { mode: 'rover' as const, output: { constellations: ['gps' as const] } }
    const steps = planFor(target, { base: options, extras })
    t.equal(steps.filter(({ name }) => name === 'constellations').length, 1)
    t.match(
      steps.find(({ name }) => name === 'constellations'),
      { required: false, settle_ms: 500 },
    )
  })

  t.test('has MSM type, intervals and mask of its own', async (t) => {
    const plan = planned({
      msm: 7,
      observationInterval_s: 1,
      referenceInterval_s: 10,
      biasInterval_s: 30,
      elevationMask_deg: 15,
    })
    t.strictSame(
      [1074, 1077, 1097, 1005, 1230].map((type) => rateOf(plan, type)),
      [0, 1, 1, 10, 30],
    )
    t.equal(plan['CFG-NAVSPG-INFIL_MINELEV'], 15)
  })

  t.test('asks firmware without GLONASS for it only if a person wants it', async (t) => {
    t.notOk('CFG-SIGNAL-GLO_ENA' in planned({ constellations: ['gps'] }, x20p))
    t.equal(
      planned({ constellations: ['gps', 'glonass'] }, x20p)['CFG-SIGNAL-GLO_ENA'],
      1,
      'so that its refusal is reported',
    )
  })

  t.test('needs less of the line with fewer constellations', async (t) => {
    const load = (output: ReceiverOutput | undefined) =>
      bytesPerSecond(
        planFor({ mode: 'rover', ...(output && { output }) }, { port: 'UART1', base: options, extras }),
        'UART1',
      )
    t.ok(load({ constellations: ['gps'] }) < load(undefined))
  })
})

t.test('a change of constellations counts for more than one of messages', async (t) => {
  const chosen = (output: ReceiverOutput = {}, stationId = 1) => ({ output, stationId })
  for (const [before, now, event] of [
    [chosen(), chosen(), undefined],
    [chosen({ msm: 4 }), chosen({ msm: 4 }), undefined],
    [chosen({ msm: 4 }), chosen(), 'output changed'],
    [chosen(), chosen({ elevationMask_deg: 10 }), 'output changed'],
    [chosen({ msm: 4 }), chosen({ msm: 4 }, 2), 'output changed'],
    [chosen({ msm: 4 }), chosen({ msm: 7, constellations: ['gps'] }, 2), 'constellations changed'],
  ] as const)
    t.equal(changeOf(before, now), event)
})

// ── the simulated receiver ──────────────────────────────────────────────────────────────────────────────────────────

const msmTypes = (frames: readonly RtcmFrame[]) => [...new Set(frames.map(({ type }) => type).filter(isMsm))].sort()
const all4 = [1074, 1084, 1094, 1124]

async function base(t: Test, options: Parameters<typeof setUp>[1] = {}): Promise<SimulatorRig> {
  const rig = await setUp(t, options)
  await rig.until(() => rig.arps().length > 3, 120)
  return rig
}
/** Waits until RTCM is away and back. @returns the seconds without it, and every status on the way */
async function back(rig: SimulatorRig): Promise<{ away_s: number; seen: unknown[] }> {
  const seen = new Set<unknown>()
  const away_s = await rig.until(() => {
    seen.add(rig.field('state.status'))
    return rig.stream.open
  }, 180)
  rig.sent.length = 0
  await rig.seconds(12)
  return { away_s, seen: [...seen] }
}
const shown = async (rig: SimulatorRig) => (await rig.station.request('/receiver-output')).json()

t.test('a constellation that is switched off', { skip: gateOnly }, async (t) => {
  const rig = await base(t)
  t.strictSame(msmTypes(rig.sent), all4)
  await rig.seconds(60)
  t.match(await rig.change({ 'gnss-constellations': ['gps', 'galileo', 'beidou'] }), { result: 'ok' })
  t.equal(rig.stream.open, false, 'RTCM is held at once')
  t.match(rig.stream.reason?.text, /other constellations/)
  const { away_s, seen } = await back(rig)
  t.ok(away_s <= 60, `RTCM is back after ${away_s} s`)
  t.strictSame(seen.includes('moved'), false, 'a restart of the signals is no move')
  t.ok(seen.includes('initial'), 'the position is checked again')
  t.strictSame(msmTypes(rig.sent), [1074, 1094, 1124])
  t.notOk(
    rig.sent.some(({ type }) => type === 1230),
    'nor does its 1230 come',
  )
  t.equal(rig.simulated.value('CFG-SIGNAL-GLO_ENA'), 0)
  t.equal(rig.simulated.value('CFG-SIGNAL-GPS_ENA'), 1)
  const { constellations } = rig.field('state.rf') as { constellations: { name: string; satellites: number }[] }
  t.strictSame(
    new Set(constellations.map(({ name }) => name)),
    new Set(['beidou', 'galileo', 'gps']),
    'none is expected, none is seen',
  )
  t.strictSame(rig.station.device.errors(), [])
  t.match(await shown(rig), { model: 'ZED-F9P', now: { constellations: ['gps', 'galileo', 'beidou'], msm: 4 } })

  t.test('stays off after a restart of the receiver', async (t) => {
    rig.simulated.restart()
    await rig.until(() => !rig.stream.open, 30)
    await back(rig)
    t.strictSame(msmTypes(rig.sent), [1074, 1094, 1124])
    t.equal(rig.simulated.value('CFG-SIGNAL-GLO_ENA'), 0)
  })

  t.test('stays off after a reload of each plugin', async (t) => {
    for (const plugin of ['gnss', 'gnss-zed', 'survey-in']) {
      await rig.station.reload(plugin)
      await rig.until(() => rig.stream.open, 180)
      rig.sent.length = 0
      await rig.seconds(25)
      t.strictSame(msmTypes(rig.sent), [1074, 1094, 1124], plugin)
      t.equal(rig.simulated.value('CFG-SIGNAL-GLO_ENA'), 0, plugin)
    }
    t.strictSame(rig.station.device.errors(), [])
  })

  t.test('is switched off again if other software switches it on', async (t) => {
    rig.simulated.set('CFG-MSGOUT-RTCM_3X_TYPE1084_USB', 1)
    await rig.until(() => rig.simulated.value('CFG-MSGOUT-RTCM_3X_TYPE1084_USB') === 0, 30)
    t.match(rig.station.device.errors(), [{ code: 'receiver-changed' }])
  })

  t.test('comes back when it is switched on', async (t) => {
    await rig.change({ 'gnss-constellations': ['gps', 'glonass', 'galileo', 'beidou'] })
    const { seen } = await back(rig)
    t.notOk(seen.includes('moved'))
    t.strictSame(msmTypes(rig.sent), all4)
    t.ok(rig.sent.some(({ type }) => type === 1230))
  })
})

t.test('messages', { skip: gateOnly }, async (t) => {
  const rig = await base(t, { rtcm: { msm: 4, referenceInterval_s: 2 } })
  await rig.seconds(60)

  t.test('that are chosen go out within seconds, without another check of the position', async (t) => {
    await rig.change({
      'gnss-msm': 7,
      'gnss-reference-interval': 5,
      'gnss-bias-interval': 2,
      'gnss-elevation-mask': 20,
    })
    t.equal(rig.stream.open, false, 'no mixture of the two')
    const { away_s, seen } = await back(rig)
    t.ok(away_s <= 10, `${away_s} s`)
    t.notOk(seen.includes('initial') || seen.includes('moved'), `${seen}`)
    t.strictSame(msmTypes(rig.sent), [1077, 1087, 1097, 1127])
    t.equal(rig.simulated.value('CFG-NAVSPG-INFIL_MINELEV'), 20)
    const count = (type: number) => rig.sent.filter((frame) => frame.type === type).length
    t.ok(count(1005) >= 2 && count(1005) <= 3, `${count(1005)} of 1005 in 12 s`)
    t.equal(count(1230), 6)
    await rig.seconds(60)
    t.equal(rig.field('state.status'), 'fixed')
    t.strictSame(rig.station.device.errors(), [])
    t.match(await shown(rig), { now: { msm: 7, referenceInterval_s: 5, biasInterval_s: 2, elevationMask_deg: 20 } })
  })

  t.test('take low satellites out of the position only', async (t) => {
    const { satuse, satvis } = rig.field('state') as { satuse: number; satvis: number }
    t.ok(satuse < satvis, `${satuse} of ${satvis}`)
  })

  t.test('that come rarely do not count as missing', async (t) => {
    await rig.change({ 'gnss-msm-interval': 15, 'gnss-reference-interval': 30 })
    // The movement check takes 8 epochs to get used to rarer ones; until then each counts as a pause.
    const begun = new Set<unknown>()
    for (let i = 0; i < 8 * 15 + 60; i++) {
      await rig.seconds(1)
      begun.add(rig.field('state.status'))
    }
    t.notOk(begun.has('moved') || begun.has('fault'), `${[...begun]}`)
    const seen = new Set<unknown>()
    for (let i = 0; i < 150; i++) {
      await rig.seconds(1)
      seen.add(rig.field('state.status'))
    }
    t.strictSame([...seen], ['fixed'])
  })

  t.test('that are cleared are those of the options again', async (t) => {
    await rig.change({
      'gnss-msm': null,
      'gnss-msm-interval': null,
      'gnss-reference-interval': null,
      'gnss-bias-interval': null,
    })
    await back(rig)
    t.strictSame(msmTypes(rig.sent), all4)
    t.equal(rig.simulated.value('CFG-MSGOUT-RTCM_3X_TYPE1005_USB'), 2)
    t.equal(rig.simulated.value('CFG-MSGOUT-RTCM_3X_TYPE1230_USB'), 10)
  })
})

t.test('a variant that only has the options starts as before', async (t) => {
  const store = new MemoryStore()
  const rig = await base(t, { store, rtcm: { msm: 7, biasInterval_s: 5 } })
  t.strictSame(msmTypes(rig.sent), [1077, 1087, 1097, 1127])
  t.equal(rig.simulated.value('CFG-MSGOUT-RTCM_3X_TYPE1230_USB'), 5)
  t.equal(rig.simulated.value('CFG-NAVSPG-INFIL_MINELEV'), 10, 'as the receiver has it')
  t.match(await shown(rig), {
    now: { msm: 7, biasInterval_s: 5, constellations: ['gps', 'glonass', 'galileo', 'beidou'] },
  })
})

t.test('a key that the receiver refuses is named, and the base works without it', async (t) => {
  const rig = await base(t)
  rig.simulated.nak('CFG-SIGNAL-BDS_ENA')
  await rig.change({ 'gnss-constellations': ['gps', 'galileo'] })
  await back(rig)
  t.strictSame(rig.station.device.errors(), [])
  t.strictSame(rig.station.field('gnss.receiver.rejected'), ['CFG-SIGNAL-BDS_ENA'])
  t.strictSame(msmTypes(rig.sent), [1074, 1094], 'its observations do not go out all the same')
  t.equal(rig.simulated.value('CFG-SIGNAL-GLO_ENA'), 0, 'the others are switched')
})

t.test('a choice is refused', async (t) => {
  const rig = await base(t)
  const refused = async (values: Record<string, unknown>, text: RegExp) =>
    t.match(await rig.change(values), { result: 'failed', errors: [{ name: Object.keys(values)[0], message: text }] })
  await refused({ 'gnss-constellations': ['glonass'] }, /GLONASS alone is not enough: add GPS, Galileo or BeiDou/)
  await refused({ 'gnss-constellations': ['gps', 'gps'] }, /./)
  await refused({ 'gnss-constellations': ['navic'] }, /./)
  await refused({ 'gnss-msm': 5 }, /./)
  await refused({ 'gnss-elevation-mask': 61 }, /./)
  await refused({ 'gnss-msm-interval': 7 }, /ZED-F9P sends observations every 1, 2, 5, 10, 15, 30 s, not every 7 s/)
  t.equal(rig.stream.open, true, 'nothing was held for it')
  t.match(await rig.change({ 'gnss-constellations': ['gps'] }), { result: 'ok' }, 'one alone is a person’s decision')
})

t.test('a receiver that takes no choice', async (t) => {
  const rig = await setUpFake(t, { plugins: { gnss: gnss as unknown as Definition } })
  await rig.until(() => rig.arps().length > 3, 120)
  t.match(await rig.change({ 'gnss-msm': 7 }), {
    result: 'failed',
    errors: [{ name: 'gnss-msm', message: 'the station cannot set the MSM type of FAKE' }],
  })
  t.match(await rig.change({ 'gnss-msm': null, 'gnss-constellations': [] }), { result: 'ok' }, 'what is there already')
  t.match(await (await rig.station.request('/receiver-output')).json(), { model: 'FAKE', can: [], now: {} })
  t.notOk('output' in rig.base.receiver.target, 'nor is it given any')
})

t.test('a choice from before a receiver was changed does not reach one that does not take it', async (t) => {
  const store = new MemoryStore({ config: { 'gnss-constellations': ['gps'], 'gnss-msm': 7 } })
  const rig = await setUpFake(t, { store, plugins: { gnss: gnss as unknown as Definition } })
  await rig.until(() => rig.arps().length > 3, 120)
  t.notOk('output' in rig.base.receiver.target)
})
