/** The simulated receiver, spoken to over its byte stream alone. */
import fc from 'fast-check'
import t from 'tap'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import type { ReceiverOptions } from '../../../plugins/simulated/simulated-receiver/options.js'
import { SimulatedZed } from '../../../plugins/simulated/simulated-receiver/receiver.js'
import { RemoteBase } from '../../../plugins/simulated/simulated-receiver/remote-base.js'
import {
  decodeGga,
  decodeMsm,
  decodeRtcm,
  distance,
  ecefToGeodetic,
  enu,
  type Frame,
  Framer,
  geodeticToEcef,
  gpsTow_ms,
  isMsm,
  moreFollows,
  referenceDifference,
  roundEcef,
  sameEcef,
  sameReference,
  toTenthMm,
} from '../../../runtime/lib/gnss/index.js'
import { lowest_deg, ReceiverLine } from '../../../runtime/lib/simulation/index.js'
import { valgetKey } from '../../gnss/support/ubx-receiver.js'
import { ManualClock } from '../../harness/index.js'

const key = ubx.keyId
const usb = (message: ubx.OutputMessage) => ubx.messageOutKey(message, 'USB')

/** A receiver with a host that frames what comes and can ask. */
async function simulate(options: Partial<ReceiverOptions> = {}, clock = new ManualClock()) {
  const timers = { after: (ms: number, fn: () => void) => clock.timer(ms, fn), every: () => () => {} }
  const edges = { clock, timers }
  const receiver = new SimulatedZed(
    {
      seed: 7,
      lat: 52,
      lon: 4,
      alt: 50,
      boot: 'fixed',
      wiring: 'USB',
      module: 'ZED-F9P',
      uniqueId: 'ABCDEF0123',
      geoidSeparation_m: 44.568,
      nmea: false,
      ...options,
    },
    edges,
  )
  const port = new ReceiverLine(receiver, edges)
  const frames: Frame[] = []
  const closings: string[] = []
  const framer = new Framer({ onFrame: (frame) => frames.push(frame) })
  const open = (baud = 38_400) =>
    port.open(baud, {
      data: (chunk) => framer.push(chunk, clock.monotonic()),
      closed: (reason) => closings.push(reason),
    })
  await open()
  port.device.powerOn()
  const seconds = async (count: number) => {
    for (let i = 0; i < count; i++) await clock.advance(1000)
  }
  return {
    clock,
    port,
    zed: port.device,
    frames,
    framer,
    closings,
    open,
    seconds,
    /** What comes in the next seconds. */
    async during(count: number) {
      frames.length = 0
      await seconds(count)
      return [...frames]
    },
    /** The UBX messages that answer a request. */
    async ask(request: Uint8Array) {
      frames.length = 0
      port.write(request)
      await clock.advance(10)
      return frames
        .filter((frame) => frame.kind === 'ubx')
        .map(({ cls, id, bytes }) => ({ cls, id, payload: ubx.payloadOf(bytes) }))
    },
  }
}
type Simulation = Awaited<ReturnType<typeof simulate>>

function messages<L extends ubx.Layout>(frames: readonly Frame[], layout: L): ubx.Decoded<L>[] {
  return frames.flatMap((frame) => {
    if (frame.kind !== 'ubx' || frame.cls !== layout.cls || frame.id !== layout.id) return []
    const values = ubx.decode(layout, ubx.payloadOf(frame.bytes))
    return values ? [values] : []
  })
}
const rtcmTypes = (frames: readonly Frame[]) => frames.flatMap((frame) => (frame.kind === 'rtcm' ? [frame.type] : []))
const rtcmFrames = (frames: readonly Frame[], type: number) =>
  frames.flatMap((frame) => (frame.kind === 'rtcm' && frame.type === type ? [frame.bytes] : []))

async function set(simulation: Simulation, pairs: ubx.ConfigPair[], layers = 1): Promise<'ACK' | 'NAK' | 'nothing'> {
  const [answer] = await simulation.ask(ubx.valset(pairs, layers))
  return !answer ? 'nothing' : answer.id === ubx.ackAck.id ? 'ACK' : 'NAK'
}
async function get(simulation: Simulation, keys: number[], layer: ubx.LayerName, position = 0) {
  const answers = await simulation.ask(ubx.valgetPoll(keys, layer, position))
  const values = answers.find(({ cls, id }) => ubx.messageKey(cls, id) === valgetKey)
  return { values: values && ubx.decodeValget(values.payload)?.values, last: answers.at(-1) }
}

t.test('sends nothing but valid frames, each epoch in the order of a real one', async (t) => {
  const simulation = await simulate()
  await simulation.seconds(10)
  const frames = await simulation.during(10)
  t.equal(simulation.framer.stats.garbage_bytes, 0)
  const types = rtcmTypes(frames)
  t.same(types.slice(types.indexOf(1074), types.indexOf(1074) + 4), [1074, 1084, 1094, 1124])
  t.equal(types.filter((type) => type === 1005).length, 10)
  t.equal(types.filter((type) => type === 1230).length, 1, '1230 at every tenth epoch')
  t.equal(types[types.indexOf(1230) - 1], 1124)
  t.equal(types[types.indexOf(1230) + 1], 1005)
  for (const frame of frames) {
    if (frame.kind === 'rtcm' && isMsm(frame.type))
      t.equal(moreFollows(frame.bytes), frame.type !== 1124, `${frame.type}`)
  }
  t.equal(messages(frames, ubx.navPvt).length, 10)
})

t.test('sends 1230 as an F9P does: two signals, aligned, eight bytes', async (t) => {
  const simulation = await simulate()
  const [bias] = rtcmFrames(await simulation.during(15), 1230)
  t.equal(bias?.length, 3 + 8 + 3)
  t.same(bias && decodeRtcm(bias), {
    type: 1230,
    stationId: 0,
    biasesAligned: false,
    biases_m: { l1ca: 0, l2ca: 0 },
  })
})

t.test('an X20P has no GLONASS, another UART2, and refuses what it lacks', async (t) => {
  const simulation = await simulate({ module: 'ZED-X20P', boot: 'rover', wiring: 'UART2' })
  const out = (message: ubx.OutputMessage) => ubx.messageOutKey(message, 'UART2')
  for (const message of [1084, 1087, 1230, '4072.0', 'RXM-RTCM', 'NAV2-PVT', 'MON-HW'] as const) {
    t.equal(await set(simulation, [[out(message), 1]]), 'NAK', `${message}`)
  }
  t.equal(await set(simulation, [[key('CFG-NAV2-OUT_ENABLED'), 1]]), 'NAK')
  t.equal(
    await set(simulation, [
      [out(1074), 1],
      [out('NAV-SAT'), 1],
      [out('RXM-COR'), 1],
    ]),
    'ACK',
  )
  const [version] = await simulation.ask(ubx.poll(ubx.monVer))
  t.match(version && ubx.decodeIdentity(version.payload), { module: 'ZED-X20P', protocol: '50.10' })
  const [comms] = await simulation.ask(ubx.poll(ubx.monComms))
  const ports = ubx.decode(ubx.monComms, comms?.payload ?? new Uint8Array())?.blocks.map(({ portId }) => portId)
  t.ok(ports?.includes(0x0200) && !ports.includes(0x0201))
  const [sat] = messages(await simulation.during(3), ubx.navSat)
  t.ok((sat?.blocks.length ?? 0) > 10)
  t.notOk(sat?.blocks.some(({ gnssId }) => gnssId === 6))
})

t.test('the second solution goes on where the antenna truly is', async (t) => {
  const simulation = await simulate()
  await set(simulation, [[usb('NAV2-PVT'), 1]])
  t.equal(messages(await simulation.during(5), ubx.nav2Pvt).length, 0, 'it must be switched on')
  await set(simulation, [[key('CFG-NAV2-OUT_ENABLED'), 1]])
  await simulation.seconds(60)
  simulation.zed.model.move(0, 1000, 0)
  const frames = await simulation.during(2)
  const [second] = messages(frames, ubx.nav2Pvt)
  t.match(second, { fixType: 3, carrSoln: 0 })
  t.ok(Math.abs((second?.lat_deg ?? 0) - 52 - 0.00899) < 1e-4)
  t.match(messages(frames, ubx.navPvt)[0], { fixType: 5, lat_deg: 52 })
})

t.test('a fixed base echoes its reference, says time only, and sends it in 1005', async (t) => {
  const simulation = await simulate()
  await simulation.seconds(10)
  const frames = await simulation.during(1)
  const [pvt] = messages(frames, ubx.navPvt)
  t.match(pvt, { fixType: 5, pDOP: 99.99, lat_deg: 52, lon_deg: 4, height_m: 50, fullyResolved: true, year: 2026 })
  t.equal(pvt?.hMSL_m, 5.432)
  const [ecef] = messages(frames, ubx.navHpPosEcef)
  const arp = decodeRtcm(rtcmFrames(frames, 1005)[0])
  t.match(arp, { type: 1005, x: 3925405.8088, y: 274491.1138, z: 5002842.746 })
  t.match(ecef, { x_m: 3925405.8088, y_m: 274491.1138, z_m: 5002842.746 })
  simulation.zed.model.move(10, 0, 0)
  const moved = await simulation.during(2)
  t.match(decodeRtcm(rtcmFrames(moved, 1005)[0]), { x: 3925405.8088 }, 'also when the antenna is elsewhere')
})

t.test('its 1005 is truncated to 0.1 mm, as that of a real one', async (t) => {
  // A place where 0.1 mm gets lost in the sum of the two parts of a coordinate.
  const place = { lat: 31.2, lon: 4, alt: 50 }
  const simulation = await simulate(place)
  await simulation.seconds(5)
  const frames = await simulation.during(2)
  const entered = roundEcef(geodeticToEcef(place))
  const [echo] = messages(frames, ubx.navHpPosEcef)
  t.ok(echo && sameEcef({ x: echo.x_m, y: echo.y_m, z: echo.z_m }, entered), 'the position in UBX is as entered')
  const [frame] = rtcmFrames(frames, 1005)
  const arp = frame && decodeRtcm(frame)
  if (arp?.type !== 1005) return t.fail('no 1005')
  t.equal(toTenthMm(arp.x), toTenthMm(entered.x) - 1)
  t.equal(toTenthMm(arp.y), toTenthMm(entered.y))
  t.equal(referenceDifference(frame, { arp: entered }), undefined, 'and still the reference')
})

/** The phases of an epoch, by satellite and signal, in metres; and the lock indicators. */
function phases(frames: readonly Frame[]): Map<string, { phase_m: number; lock: number; halfCycle: boolean }>[] {
  const epochs: Map<string, { phase_m: number; lock: number; halfCycle: boolean }>[] = []
  for (const frame of frames) {
    const msm = frame.kind === 'rtcm' && isMsm(frame.type) ? decodeMsm(frame.bytes) : undefined
    if (!msm) continue
    if (msm.type === 1074 || msm.type === 1077) epochs.push(new Map())
    for (const { satellite, signal, phase_m, lock, halfCycle } of msm.observations) {
      if (phase_m === undefined || lock === undefined) continue
      epochs
        .at(-1)
        ?.set(`${Math.floor(msm.type / 10)} ${satellite} ${signal}`, { phase_m, lock, halfCycle: halfCycle === true })
    }
  }
  return epochs
}

/** The third differences of all phases less their median in each epoch. */
function thirdDifferences(epochs: ReturnType<typeof phases>): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (let i = 3; i < epochs.length; i++) {
    const now = [...epochs[i].keys()].flatMap((id) => {
      const [a, b, c, d] = [3, 2, 1, 0].map((back) => epochs[i - back].get(id)?.phase_m)
      if (a === undefined || b === undefined || c === undefined || d === undefined) return []
      return [{ id, value: d - 3 * c + 3 * b - a }]
    })
    const sorted = now.map(({ value }) => value).sort((p, q) => p - q)
    const median = sorted[sorted.length >> 1]
    for (const { id, value } of now) found.set(id, [...(found.get(id) ?? []), value - median])
  }
  return found
}
const rms = (values: readonly number[]) => Math.sqrt(values.reduce((sum, v) => sum + v * v, 0) / values.length)

t.test('the phases are as noisy as those of real receivers', async (t) => {
  for (const [noise, least, most] of [
    ['quiet', 0.0014, 0.0022],
    ['obstructed', 0.003, 0.006],
  ] as const) {
    const simulation = await simulate({ noise })
    await simulation.seconds(20)
    const differences = [...thirdDifferences(phases(await simulation.during(60))).values()].flat()
    // Slips are none of it.
    const phase_m = rms(differences.filter((value) => Math.abs(value) < 0.08)) / Math.sqrt(20)
    t.ok(differences.length > 1000 && phase_m > least && phase_m < most, `${noise}: ${phase_m.toFixed(4)} m`)
  }
})

t.test('the code is as noisy as that of real receivers', async (t) => {
  for (const [noise, least, most] of [
    ['quiet', 0.5, 1.5],
    ['typical', 3, 6.5],
    ['obstructed', 11, 28],
  ] as const) {
    const simulation = await simulate({ noise })
    const values: number[] = []
    for (let hour = 0; hour < 8; hour++) {
      const [sat] = messages(await simulation.during(20), ubx.navSat).slice(-1)
      const used = sat?.blocks.filter(({ used }) => used) ?? []
      for (const constellation of new Set(used.map(({ gnssId }) => gnssId))) {
        const residuals = used.filter(({ gnssId }) => gnssId === constellation).map(({ prRes_m }) => prRes_m)
        const median = residuals.toSorted((p, q) => p - q)[residuals.length >> 1]
        values.push(...residuals.map((residual) => residual - median))
      }
      simulation.zed.powerOff()
      await simulation.clock.advance(3_600_000)
      simulation.zed.powerOn()
    }
    t.ok(rms(values) > least && rms(values) < most, `${noise}: ${rms(values).toFixed(1)} m`)
  }
})

t.test('what a code position does not know of: multipath of the day before, ionosphere, hours', async (t) => {
  const far: Record<string, number> = {}
  for (const noise of ['quiet', 'typical', 'obstructed'] as const) {
    const simulation = await simulate({ noise, boot: 'rover' })
    await set(simulation, [[usb('NAV-HPPOSECEF'), 1]])
    const apart: number[] = []
    for (let part = 0; part < 24; part++) {
      await simulation.seconds(60)
      const [position] = messages(await simulation.during(1), ubx.navHpPosEcef)
      if (position)
        apart.push(distance({ x: position.x_m, y: position.y_m, z: position.z_m }, simulation.zed.model.truth))
      simulation.zed.powerOff()
      await simulation.clock.advance(3_540_000)
      simulation.zed.powerOn()
    }
    far[noise] = rms(apart)
  }
  t.ok(far.quiet > 0.5 && far.quiet < 2.5, `quiet: ${far.quiet.toFixed(1)} m`)
  t.ok(far.typical > far.quiet * 1.1 && far.typical < 4, `typical: ${far.typical.toFixed(1)} m`)
  t.ok(far.obstructed > far.typical * 1.3 && far.obstructed < 9, `obstructed: ${far.obstructed.toFixed(1)} m`)
})

t.test('a slip is a jump by whole cycles, and the lock indicator tells; a silent one does not', async (t) => {
  const gpsL1_m = 299_792_458 / 1575.42e6
  for (const [cycles, silent] of [
    [3, false],
    [0.5, false],
    [7, true],
  ] as const) {
    const simulation = await simulate()
    await simulation.seconds(30)
    const before = await simulation.during(5)
    simulation.zed.model.slip('all', cycles, silent)
    const after = await simulation.during(1)
    const epochs = phases([...before, ...after])
    const [id] = [...epochs[0].keys()].filter((key) => key.startsWith('107 ') && key.endsWith(' 2'))
    const [a, b, c, d] = epochs.slice(-4).map((epoch) => epoch.get(id))
    if (!a || !b || !c || !d) return t.fail('the satellite is gone')
    const jump_m = d.phase_m - 3 * c.phase_m + 3 * b.phase_m - a.phase_m
    t.ok(Math.abs(jump_m - cycles * gpsL1_m) < 0.25, `by ${cycles} cycles: ${jump_m.toFixed(3)} m`)
    t.equal(d.lock < c.lock, !silent, 'lock indicator')
    t.equal(d.halfCycle, cycles === 0.5)
  }
})

t.test('loss of lock: of some, of most, and of all while the antenna is off; the lock time starts again', async (t) => {
  const simulation = await simulate()
  await simulation.seconds(60)
  const [quiet] = phases(await simulation.during(1))
  const restarted = async () => {
    const [now] = phases(await simulation.during(1))
    const lost = [...quiet.keys()].filter((id) => (now.get(id)?.lock ?? 0) < (quiet.get(id)?.lock ?? 0))
    return lost.length / quiet.size
  }
  t.equal(await restarted(), 0)
  simulation.zed.model.loseLock(2, 0)
  const few = await restarted()
  t.ok(few > 0 && few < 0.15, `${few}`)
  simulation.zed.model.loseLock('most', 5)
  t.ok((await restarted()) > 0.7)
  t.ok((messages(await simulation.during(1), ubx.navPvt).at(-1)?.numSV ?? 99) < 10, 'they are away')
  await simulation.seconds(6)
  t.ok((messages(await simulation.during(1), ubx.navPvt).at(-1)?.numSV ?? 0) > 15, 'and come back')
  simulation.zed.model.antenna = 'open'
  await simulation.seconds(3)
  t.same(phases(await simulation.during(1)), [], 'nothing is sent of an open antenna')
  simulation.zed.model.antenna = 'ok'
  await simulation.seconds(3)
  t.equal(await restarted(), 1)
})

t.test('a movement shows in the phases: a knock, a swing, a creep', async (t) => {
  const moved = async (act: (model: Simulation['zed']['model']) => void, count: number) => {
    const simulation = await simulate()
    await simulation.seconds(10)
    const before = await simulation.during(4)
    act(simulation.zed.model)
    const differences = thirdDifferences(phases([...before, ...(await simulation.during(count))]))
    const { east, north, up } = simulation.zed.model.offset
    return { rms_m: rms([...differences.values()].flat()), at: [east, north, up].map((v) => Math.round(v * 1e4) / 1e4) }
  }
  const still = await moved(() => {}, 12)
  t.ok(still.rms_m < 0.012)
  const knock = await moved((model) => model.move(0.05, 0, 0, 1), 12)
  t.ok(knock.rms_m > 1.5 * still.rms_m, `${knock.rms_m} and ${still.rms_m} m`)
  t.same(knock.at, [0.05, 0, 0])
  const swing = await moved((model) => model.sway({ east: 0, north: 0.02, up: 0 }, 3.7, 8), 12)
  t.ok(swing.rms_m > 0.02)
  t.same(swing.at, [0, 0, 0], 'it comes back')
  const creep = await moved((model) => model.move(0, 0, 1.2, 600), 12)
  t.ok(creep.rms_m < 0.012, 'a steady creep has no third difference')
  t.same(creep.at, [0, 0, 0.024])
  const stopped = await moved((model) => {
    model.move(0, 0, 6, 60)
    model.stopMoving()
  }, 5)
  t.same(stopped.at, [0, 0, 0])
})

t.test('a reload of the service does not break the lock, nor stop a movement', async (t) => {
  const first = await simulate()
  await first.seconds(30)
  first.zed.model.move(0, 6, 0, 60)
  await first.seconds(10)
  const [before] = phases(await first.during(1))
  const snapshot = structuredClone(first.zed.snapshot())
  first.zed.powerOff()
  const second = await simulate({}, first.clock)
  second.zed.restore(snapshot)
  await second.seconds(5)
  const [after] = phases(await second.during(1))
  t.ok([...before.keys()].filter((id) => (after.get(id)?.lock ?? 0) >= (before.get(id)?.lock ?? 0)).length > 40)
  t.ok(second.zed.model.offset.north > 1)
})

t.test('observations, angles and times all tell of the same sky', async (t) => {
  const simulation = await simulate()
  await simulation.seconds(20)
  const frames = await simulation.during(1)
  const [sat] = messages(frames, ubx.navSat)
  t.ok((sat?.blocks.filter(({ used }) => used).length ?? 0) > 15)
  for (const [type, gnssId, constellation] of [
    [1074, 0, 'GPS'],
    [1084, 6, 'GLONASS'],
    [1094, 2, 'Galileo'],
    [1124, 3, 'BeiDou'],
  ] as const) {
    const msm = decodeMsm(rtcmFrames(frames, type)[0])
    t.ok(msm, `${type} decodes`)
    if (!msm) return
    t.equal(gpsTow_ms(constellation, msm.epochTime, 18), sat?.iTOW_ms, `${type} has the time of the epoch`)
    for (const { satellite, pseudorange_m = 0, phase_m = 0, cnr_dbhz } of msm.observations) {
      const seen = sat?.blocks.find((block) => block.gnssId === gnssId && block.svId === satellite)
      t.ok(seen && seen.cno_dbhz > 0 && seen.elev_deg >= 5, `${constellation} ${satellite} is received`)
      t.ok(pseudorange_m > 19e6 && pseudorange_m < 30e6, `${constellation} ${satellite}: ${pseudorange_m} m`)
      t.ok(Math.abs(phase_m - pseudorange_m) < 60, 'phase and code agree')
      t.ok((cnr_dbhz ?? 0) > 20)
    }
  }
})

t.test('the residuals of a moved base show the way it went', async (t) => {
  const simulation = await simulate()
  await simulation.seconds(20)
  simulation.zed.model.move(30, 0, 0)
  const [sat] = messages(await simulation.during(1), ubx.navSat)
  const east = (sat?.blocks ?? []).filter(
    ({ used, azim_deg, elev_deg }) => used && elev_deg < 50 && azim_deg > 45 && azim_deg < 135,
  )
  const west = (sat?.blocks ?? []).filter(
    ({ used, azim_deg, elev_deg }) => used && elev_deg < 50 && azim_deg > 225 && azim_deg < 315,
  )
  const mean = (blocks: typeof east) => blocks.reduce((sum, { prRes_m }) => sum + prRes_m, 0) / blocks.length
  t.ok(mean(west) - mean(east) > 20, 'nearer to the satellites in the east: shorter ranges there')
})

t.test('a rover converges to the truth, with an accuracy estimate that means it', async (t) => {
  const simulation = await simulate({ boot: 'rover' })
  await set(simulation, [[usb('NAV-HPPOSECEF'), 1]])
  const truth = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })
  const early = messages(await simulation.during(8), ubx.navHpPosEcef)
  await simulation.seconds(60)
  const late = messages(await simulation.during(600), ubx.navHpPosEcef)
  t.ok((early.find(({ invalidEcef }) => !invalidEcef)?.pAcc_m ?? 0) > 4)
  t.ok((late[0]?.pAcc_m ?? 99) < 2.5)
  const errors = late.map(({ x_m, y_m, z_m, pAcc_m }) => distance({ x: x_m, y: y_m, z: z_m }, truth) / pAcc_m)
  t.ok(errors.filter((error) => error < 3).length / errors.length > 0.95)
  t.ok(new Set(late.map(({ x_m }) => x_m)).size > 500, 'it is noisy')
})

t.test('does the same in every run with the same seed', async (t) => {
  const run = async (seed: number) => {
    const simulation = await simulate({ seed })
    return Buffer.concat((await simulation.during(5)).map(({ bytes }) => bytes)).toString('hex')
  }
  t.equal(await run(1), await run(1))
  t.not(await run(1), await run(2))
})

t.test('answers who it is', async (t) => {
  const simulation = await simulate()
  const [version] = await simulation.ask(ubx.poll(ubx.monVer))
  t.match(version && ubx.decodeIdentity(version.payload), {
    module: 'ZED-F9P',
    firmware: 'HPG 1.32',
    protocol: '27.31',
  })
  const [unique] = await simulation.ask(ubx.poll(ubx.secUniqId.layout))
  t.same(unique && ubx.secUniqId.decode(unique.payload), { version: 1, id: 'ABCDEF0123' })
  const [first] = await simulation.ask(ubx.poll(ubx.monComms))
  const [second] = await simulation.ask(ubx.poll(ubx.monComms))
  const rx = (answer: typeof first) =>
    new Map(
      ubx.decode(ubx.monComms, answer?.payload ?? new Uint8Array())?.blocks.map((port) => [port.portId, port.rxBytes]),
    )
  t.equal((rx(second).get(0x0300) ?? 0) - (rx(first).get(0x0300) ?? 0), 8, 'the poll is counted at the USB port')
  t.equal(rx(second).get(0x0100), 0)
})

t.test('refuses a whole VALSET for one bad key, and applies none of it', async (t) => {
  const simulation = await simulate()
  const rate: ubx.ConfigPair = [usb('NAV-SVIN'), 1]
  t.equal(await set(simulation, [rate, [0x20919999, 1]]), 'NAK')
  t.equal((await get(simulation, [rate[0]], 'ram')).values?.get(rate[0]), 0)
  t.equal(await set(simulation, [rate, [key('CFG-TMODE-MODE'), 9]]), 'NAK', 'a value out of range')
  simulation.zed.config.refused.add(key('CFG-ITFM-ENABLE'))
  t.equal(await set(simulation, [rate, [key('CFG-ITFM-ENABLE'), 1]]), 'NAK', 'a key that this firmware lacks')
  t.equal(await set(simulation, [rate], 0), 'NAK', 'no layer')
  t.equal(await set(simulation, [rate]), 'ACK')
  t.equal((await get(simulation, [rate[0]], 'ram')).values?.get(rate[0]), 1)
  t.equal(messages(await simulation.during(2), ubx.navSvin).length, 2)
})

t.test('keeps its layers apart: RAM is lost in a restart, BBR goes over flash over the defaults', async (t) => {
  const simulation = await simulate({ boot: 'rover' })
  const id = key('CFG-RTCM-DF003_OUT')
  const ram = async () => (await get(simulation, [id], 'ram')).values?.get(id)
  t.equal((await get(simulation, [id], 'flash')).values, undefined, 'an empty layer is refused')
  await set(simulation, [[id, 11]], ubx.layerBit.ram)
  t.equal(await ram(), 11)
  await set(simulation, [[id, 22]], ubx.layerBit.flash)
  t.equal(await ram(), 11, 'a stored value waits for the next start')
  simulation.zed.restart()
  t.equal(await ram(), 22)
  await set(simulation, [[id, 33]], ubx.layerBit.bbr)
  simulation.zed.restart()
  t.equal(await ram(), 33)
  t.equal((await get(simulation, [id], 'default')).values?.get(id), 0)
  const [deleted] = await simulation.ask(ubx.valdel([0x0fffffff], ubx.layerBit.bbr | ubx.layerBit.flash))
  t.equal(deleted?.id, ubx.ackAck.id)
  t.equal(await ram(), 33)
  simulation.zed.restart()
  t.equal(await ram(), 0)
  const [refused] = await simulation.ask(ubx.valdel([id], ubx.layerBit.ram))
  t.equal(refused?.id, ubx.ackNak.id)
})

t.test('takes a transaction as one change', async (t) => {
  const simulation = await simulate()
  const [a, b] = [key('CFG-TMODE-SVIN_MIN_DUR'), key('CFG-TMODE-SVIN_ACC_LIMIT')]
  const value = async (id: number) => (await get(simulation, [id], 'ram')).values?.get(id)
  const ids = async (frame: Uint8Array) => (await simulation.ask(frame)).map(({ id }) => id)
  t.same(await ids(ubx.valset([[a, 60]], 1, 1)), [ubx.ackAck.id])
  t.equal(await value(a), 0, 'not yet')
  t.same(await ids(ubx.valset([[b, 20_000]], 1, 3)), [ubx.ackAck.id])
  t.equal(await value(a), 60)
  t.equal(await value(b), 20_000)
  t.same(await ids(ubx.valset([[a, 1]], 1, 2)), [ubx.ackNak.id], 'nothing to continue')
})

t.test('answers wildcards in pages of 64', async (t) => {
  const simulation = await simulate()
  const group = await get(simulation, [0x0003ffff], 'ram')
  t.equal(group.values?.size, 17, 'all of CFG-TMODE')
  const first = await get(simulation, [0x0fffffff], 'default')
  const second = await get(simulation, [0x0fffffff], 'default', 64)
  t.equal(first.values?.size, 64)
  t.equal(second.values?.size, 64)
  t.equal([...(second.values?.keys() ?? [])].filter((id) => first.values?.has(id)).length, 0)
  t.equal((await get(simulation, [0x20919999], 'ram')).last?.id, ubx.ackNak.id, 'an unknown key is refused')
})

t.test('a survey-in ends when it is long and good enough, and only then sends 1005', async (t) => {
  const simulation = await simulate({ boot: 'rover' })
  await set(simulation, [
    [usb('NAV-SVIN'), 1],
    [usb(1074), 1],
    [usb(1005), 1],
  ])
  const [idle] = messages(await simulation.during(2), ubx.navSvin)
  t.match(idle, { dur_s: 0, meanAcc_m: 94868.3264, obs: 0, valid: false, active: false })
  await set(simulation, [
    [key('CFG-TMODE-SVIN_MIN_DUR'), 60],
    [key('CFG-TMODE-SVIN_ACC_LIMIT'), 30_000],
    [key('CFG-TMODE-MODE'), 1],
  ])
  const running = await simulation.during(50)
  t.match(messages(running, ubx.navSvin).at(-1), { active: true, valid: false })
  t.ok(rtcmTypes(running).includes(1074), 'observations flow meanwhile')
  t.notOk(rtcmTypes(running).includes(1005))
  await simulation.seconds(60)
  const done = await simulation.during(2)
  const survey = messages(done, ubx.navSvin).at(-1)
  t.match(survey, { active: false, valid: true })
  t.equal(survey?.obs, (survey?.dur_s ?? 0) + 1)
  const arp = decodeRtcm(rtcmFrames(done, 1005)[0])
  t.ok(arp?.type === 1005 && survey && sameReference(arp, { x: survey.x_m, y: survey.y_m, z: survey.z_m }))
})

t.test('fixed coordinates may be geodetic as well', async (t) => {
  const simulation = await simulate({ boot: 'rover' })
  await set(simulation, [
    [usb(1005), 1],
    [key('CFG-TMODE-POS_TYPE'), 1],
    [key('CFG-TMODE-LAT'), 520_000_000],
    [key('CFG-TMODE-LON'), 40_000_000],
    [key('CFG-TMODE-HEIGHT'), 5000],
    [key('CFG-TMODE-MODE'), 2],
  ])
  await simulation.seconds(5)
  const arp = decodeRtcm(rtcmFrames(await simulation.during(1), 1005)[0])
  if (arp?.type !== 1005) throw new Error('no 1005')
  t.match(ecefToGeodetic(arp), { lat: Number, lon: Number })
  t.ok(distance(arp, geodeticToEcef({ lat: 52, lon: 4, alt: 50 })) < 2e-4)
})

t.test('corrections make a rover float, then fixed, and it says which it took', async (t) => {
  const base = await simulate({ seed: 2 })
  const rover = await simulate({ boot: 'rover' })
  await set(rover, [
    [usb('NAV-PVT'), 1],
    [usb('RXM-RTCM'), 1],
  ])
  await base.seconds(5)
  await rover.seconds(5)
  const seen = new Set<number>()
  for (let second = 0; second < 40; second++) {
    const corrections = (await base.during(1)).filter(({ kind }) => kind === 'rtcm')
    for (const { bytes } of corrections) rover.port.write(bytes)
    const frames = await rover.during(1)
    for (const { carrSoln } of messages(frames, ubx.navPvt)) seen.add(carrSoln)
    if (second === 20)
      t.ok(messages(frames, ubx.rxmRtcm).some(({ msgType, msgUsed }) => msgType === 1074 && msgUsed === 2))
  }
  t.same([...seen], [0, 1, 2])
  await rover.seconds(70)
  t.match(messages(await rover.during(1), ubx.navPvt)[0], { carrSoln: 0, diffSoln: false }, 'and it forgets old ones')
})

/** A rover that takes the corrections of another base, until its fix is whole. */
async function correctedRover(wrong?: { east: number; north: number; up: number }) {
  const rover = await simulate({ boot: 'rover' })
  const edges = {
    clock: rover.clock,
    timers: {
      after: (ms: number, fn: () => void) => rover.clock.timer(ms, fn),
      every(ms: number, fn: () => void) {
        let stop = () => {}
        const again = () => {
          fn()
          stop = rover.clock.timer(ms, again)
        }
        stop = rover.clock.timer(ms, again)
        return () => stop()
      },
    },
  }
  const base = new RemoteBase(rover.zed, edges as never, (packet) => rover.port.write(packet))
  await set(rover, [
    [usb('NAV-PVT'), 1],
    [usb('NAV-HPPOSECEF'), 1],
    [key('CFG-NAV2-OUT_ENABLED'), 1],
    [usb('NAV2-PVT'), 1],
  ])
  await rover.seconds(5)
  base.send(12_000, wrong)
  /** What the position is wrong by when it is fixed; undefined: it is not. */
  const error = async () => {
    const frames = await rover.during(1)
    const [position] = messages(frames, ubx.navHpPosEcef)
    const [pvt] = messages(frames, ubx.navPvt)
    if (!position || pvt?.carrSoln !== 2) return undefined
    return enu(rover.zed.model.truth, { x: position.x_m, y: position.y_m, z: position.z_m })
  }
  const untilFixed = async () => {
    for (let second = 0; second < 60; second++) {
      const found = await error()
      if (found) return { second, ...found }
    }
    throw new Error('it is never fixed')
  }
  return { rover, base, error, untilFixed }
}
const isNear = (p: { east: number; north: number; up: number }, east: number, north: number, up: number) =>
  Math.hypot(p.east - east, p.north - north, p.up - up) < 0.1

t.test('a base with a wrong position makes a fixed position that is wrong by as much; NAV2 stays apart', async (t) => {
  const { rover, base, error, untilFixed } = await correctedRover({ east: 2, north: -1, up: 0.5 })
  t.ok(isNear(await untilFixed(), 2, -1, 0.5))
  const [second] = messages(await rover.during(1), ubx.nav2Pvt)
  t.match(second, { carrSoln: 0, diffSoln: false })
  t.ok((second?.hAcc_m ?? 0) > 0.5, 'as good as code is')
  base.send(12_000)
  await rover.seconds(3)
  t.ok(isNear((await error()) ?? { east: 9, north: 9, up: 9 }, 0, 0, 0), 'as soon as its position is right')
  base.send(undefined)
})

t.test('a wrong fix lasts until the ambiguities are fixed again: a pause, a reset, float only', async (t) => {
  const again: [string, (it: Awaited<ReturnType<typeof correctedRover>>) => Promise<unknown>][] = [
    [
      'a pause of the corrections',
      async ({ rover, base }) => {
        base.send(undefined)
        await rover.seconds(15)
        base.send(12_000)
      },
    ],
    [
      'a reset of the GNSS part',
      ({ rover }) => rover.ask(ubx.encodeFrame(ubx.cfgRst, { navBbrMask: 0, resetMode: 2 })),
    ],
    [
      'float only for a moment',
      async ({ rover }) => {
        await set(rover, [[key('CFG-NAVHPG-DGNSSMODE'), 2]])
        await rover.seconds(2)
        await set(rover, [[key('CFG-NAVHPG-DGNSSMODE'), 3]])
      },
    ],
  ]
  for (const [name, reset] of again) {
    const it = await correctedRover()
    it.rover.zed.navigation.wrongFix = { probability: 1, by: { east: 0.3, north: -0.2, up: 0.6 } }
    t.ok(isNear(await it.untilFixed(), 0.3, -0.2, 0.6), 'wrong')
    it.rover.zed.navigation.wrongFix.probability = 0
    await it.rover.seconds(30)
    t.ok(isNear(await it.untilFixed(), 0.3, -0.2, 0.6), 'and it stays so')
    await reset(it)
    t.equal(await it.error(), undefined, name)
    const right = await it.untilFixed()
    t.ok(isNear(right, 0, 0, 0), `right after ${name}`)
    t.ok(right.second > 10, 'not at once')
    it.base.send(undefined)
  }
  const it = await correctedRover()
  it.rover.zed.navigation.wrongFix = { probability: 0.5, by: { east: 1, north: 0, up: 0 } }
  let wrong = 0
  for (let round = 0; round < 12; round++) {
    if (!isNear(await it.untilFixed(), 0, 0, 0)) wrong++
    await it.rover.ask(ubx.encodeFrame(ubx.cfgRst, { navBbrMask: 0, resetMode: 2 }))
    await it.rover.seconds(1)
  }
  t.ok(wrong > 1 && wrong < 11, `${wrong} of 12`)
})

t.test('faults', async (t) => {
  t.test('antenna and interference show in MON-RF and in what is received', async (t) => {
    const simulation = await simulate()
    await simulation.seconds(5)
    simulation.zed.model.antenna = 'short'
    const shorted = await simulation.during(2)
    t.match(messages(shorted, ubx.monRf).at(-1)?.blocks[0], { antStatus: 3, antPower: 0 })
    t.match(messages(shorted, ubx.navPvt).at(-1), { fixType: 0, numSV: 0 })
    t.same(rtcmTypes(shorted), [], 'no fix, no RTCM')
    simulation.zed.model.antenna = 'ok'
    await simulation.seconds(5)
    t.ok(rtcmTypes(await simulation.during(1)).includes(1005), 'and it comes back')
    const radio = async () => {
      const [l1, l2] = messages(await simulation.during(2), ubx.monRf).at(-1)?.blocks ?? []
      return { l1, l2 }
    }
    const before = await radio()
    t.match(before, { l1: { jammingState: 0 }, l2: { jammingState: 0 } })
    simulation.zed.model.jam_db.L2 = 10
    t.match(await radio(), { l1: { jammingState: 0 }, l2: { jammingState: 0 } }, 'unknown as long as nobody asks')
    t.equal(await set(simulation, [[key('CFG-ITFM-ENABLE'), 1]]), 'ACK')
    const second = await radio()
    t.match(second, { l1: { jammingState: 1, jamInd: 8 }, l2: { jammingState: 2, jamInd: 78 } })
    simulation.zed.model.jam_db.L1 = 30
    const both = await radio()
    t.match(both, { l1: { jammingState: 3 }, l2: { jammingState: 2 } })
    t.ok((both.l1?.agcCnt ?? 0) < (before.l1?.agcCnt ?? 0) - 3000, 'the gain goes down')
    t.ok((both.l1?.noisePerMs ?? 0) > (before.l1?.noisePerMs ?? 0) + 80)
    t.match(messages(await simulation.during(2), ubx.navPvt).at(-1), { fixType: 0 }, 'critical: no fix')
  })
  t.test('interference in one band costs the signals of that band', async (t) => {
    const simulation = await simulate()
    await set(simulation, [
      [usb('NAV-SIG'), 1],
      [key('CFG-ITFM-ENABLE'), 1],
    ])
    const signals = async () => messages(await simulation.during(2), ubx.navSig).at(-1)?.blocks ?? []
    await simulation.seconds(5)
    const all = await signals()
    t.ok(all.some(({ gnssId, sigId }) => gnssId === 0 && sigId === 3))
    t.ok(all.every(({ cno_dbhz, quality }) => cno_dbhz > 20 && quality >= 4))
    simulation.zed.model.jam_db.L2 = 30
    const left = await signals()
    t.ok(left.length > 10 && left.every(({ gnssId, sigId }) => sigId === 0 || (gnssId === 3 && sigId < 2)))
    t.match(messages(await simulation.during(1), ubx.navPvt).at(-1), { fixType: 5 }, 'the first signals do')
  })
  t.test('spoofing show in NAV-STATUS', async (t) => {
    const simulation = await simulate()
    await simulation.seconds(3)
    t.match(messages(await simulation.during(1), ubx.navStatus).at(-1), { spoofDetState: 1 })
    simulation.zed.faults.spoofing = 3
    t.match(messages(await simulation.during(1), ubx.navStatus).at(-1), { spoofDetState: 3, carrSoln: 0 })
  })
  t.test('a receiver without NAV2 refuses its keys, and says that it is older', async (t) => {
    const simulation = await simulate({ nav2: false })
    t.equal(await set(simulation, [[key('CFG-NAV2-OUT_ENABLED'), 1]]), 'NAK')
    t.equal(await set(simulation, [[usb('NAV2-PVT'), 1]]), 'NAK')
    const [version] = await simulation.ask(ubx.ubxFrame(ubx.monVer.cls, ubx.monVer.id))
    t.match(version && ubx.decodeIdentity(version.payload), { firmware: 'HPG 1.13', protocol: '27.12' })
  })
  t.test('few satellites: the highest, above a mask', async (t) => {
    const simulation = await simulate({ satellites: 6, mask_deg: 20 })
    await simulation.seconds(5)
    const [sat] = messages(await simulation.during(1), ubx.navSat)
    const heard = sat?.blocks.filter(({ cno_dbhz }) => cno_dbhz > 0) ?? []
    t.equal(heard.length, 6)
    t.ok(heard.every(({ elev_deg }) => elev_deg >= 20))
    t.ok((sat?.blocks.length ?? 0) > 20, 'it knows of the others')
    simulation.zed.model.limit = { satellites: Number.POSITIVE_INFINITY, mask_deg: lowest_deg }
    await simulation.seconds(3)
    t.ok((messages(await simulation.during(1), ubx.navPvt).at(-1)?.numSV ?? 0) > 12)
  })
  t.test('unplugged it is gone, and comes back without its RAM', async (t) => {
    const simulation = await simulate()
    await set(simulation, [[usb('NAV-SVIN'), 1]])
    simulation.port.unplug()
    t.same(simulation.closings, ['ENXIO: the device vanished'])
    t.equal((await simulation.during(3)).length, 0)
    await t.rejects(simulation.open())
    simulation.port.replug()
    await simulation.open()
    const frames = await simulation.during(5)
    t.equal(messages(frames, ubx.navSvin).length, 0)
    t.ok(rtcmTypes(frames).includes(1005), 'what is in flash works again')
  })
  t.test('a wrong 1005 and damaged frames', async (t) => {
    const simulation = await simulate()
    await simulation.seconds(5)
    simulation.zed.faults.wrongReference_m = 10
    t.match(decodeRtcm(rtcmFrames(await simulation.during(1), 1005)[0]), { x: 3925415.8088 })
    simulation.zed.faults.corruptFrames = 2
    await simulation.during(2)
    t.equal(simulation.framer.stats.badChecksum.rtcm, 2)
  })
  t.test('CFG-RST restarts it as the real one does: the USB device is away for a moment', async (t) => {
    const simulation = await simulate()
    await simulation.seconds(3)
    await simulation.ask(ubx.encodeFrame(ubx.cfgRst, { navBbrMask: 0, resetMode: 1 }))
    t.equal(simulation.closings.length, 1)
    t.notOk(simulation.port.present())
    await simulation.seconds(2)
    t.ok(simulation.port.present())
    const uart = await simulate({ wiring: 'UART1' })
    await uart.seconds(3)
    await uart.ask(ubx.encodeFrame(ubx.cfgRst, { navBbrMask: 0, resetMode: 1 }))
    t.equal(uart.closings.length, 0, 'a UART only falls silent')
  })
  t.test('on a UART at another rate there is only garbage', async (t) => {
    const simulation = await simulate({ wiring: 'UART1' })
    await simulation.port.close()
    await simulation.open(115_200)
    t.equal((await simulation.during(5)).length, 0)
    t.ok(simulation.framer.stats.garbage_bytes > 0)
  })
})

t.test('NMEA, MSM7 and the rate are its configuration', async (t) => {
  const simulation = await simulate({ nmea: true })
  await set(simulation, [
    [usb(1074), 0],
    [usb(1077), 1],
    [key('CFG-RATE-MEAS'), 200],
  ])
  await simulation.seconds(5)
  const frames = await simulation.during(2)
  t.equal(rtcmFrames(frames, 1077).length, 10)
  t.equal(rtcmFrames(frames, 1074).length, 0)
  t.ok(decodeMsm(rtcmFrames(frames, 1077)[0])?.observations.every(({ rate_mps }) => Math.abs(rate_mps ?? 9999) < 1000))
  const gga = frames.filter(({ kind }) => kind === 'nmea').map(({ bytes }) => decodeGga(bytes))
  t.match(gga[0], { lat: 52, lon: 4, altMsl_m: 5.432, geoidSeparation_m: 44.568 })
})

t.test('a megabyte of the shortest frames between two epochs costs reports, not the next epoch', async (t) => {
  const rover = await simulate({ boot: 'rover' })
  await set(rover, [
    [usb('NAV-PVT'), 1],
    [usb('RXM-RTCM'), 1],
  ])
  await rover.seconds(3)
  // No data at all: preamble, length 0, CRC-24Q.
  const shortest = Buffer.from('d3000047ea4b', 'hex')
  rover.port.write(Buffer.alloc(1_000_000 - (1_000_000 % shortest.length), shortest))
  const frames = await rover.during(1)
  t.equal(messages(frames, ubx.navPvt).length, 1)
  t.equal(messages(frames, ubx.rxmRtcm).length, 256)
  const next = await rover.during(1)
  t.strictSame([messages(next, ubx.navPvt).length, messages(next, ubx.rxmRtcm).length], [1, 0])
})

t.test('whatever bytes come in, it goes on', async (t) => {
  const simulation = await simulate()
  const message = fc
    .tuple(
      fc.constantFrom(0x01, 0x05, 0x06, 0x0a, 0x27),
      fc.integer({ min: 0, max: 255 }),
      fc.uint8Array({ maxLength: 80 }),
    )
    .map(([cls, id, payload]) => ubx.ubxFrame(cls, id, payload))
  const configuration = fc
    .tuple(fc.constantFrom(0x04, 0x8a, 0x8b, 0x8c), fc.uint8Array({ maxLength: 40 }))
    .map(([id, payload]) => ubx.ubxFrame(0x06, id, payload))
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), message, configuration), (bytes) => {
      simulation.zed.input(bytes)
    }),
    { numRuns: 500 },
  )
  await simulation.seconds(5)
  simulation.zed.restart()
  t.pass('it did not throw')
})
