/** What is made of single messages, in the order and at the times in which a receiver may send them. */

import t from 'tap'
import { ReportedCorrections } from '../../../plugins/receivers/gnss/corrections.js'
import { RadioWatch } from '../../../plugins/receivers/gnss/radio-watch.js'
import { SignalWatch } from '../../../plugins/receivers/gnss/signal-watch.js'
import { apply } from '../../../plugins/receivers/gnss-zed/configure/apply.js'
import { Configurator, type Known } from '../../../plugins/receivers/gnss-zed/configure/configurator.js'
import { RestartWatch } from '../../../plugins/receivers/gnss-zed/configure/restart-watch.js'
import { whoIsThere } from '../../../plugins/receivers/gnss-zed/configure/who.js'
import { EpochAssembler, fixOfPvt } from '../../../plugins/receivers/gnss-zed/facts/epoch.js'
import { type FactEvents, ReceiverFacts } from '../../../plugins/receivers/gnss-zed/facts/receiver-facts.js'
import { SatelliteAssembler } from '../../../plugins/receivers/gnss-zed/facts/satellites.js'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import { decodeGga, encodeMsm, type Gga } from '../../../runtime/lib/gnss/index.js'
import type { ReceiverFix, SatelliteEpoch, SatelliteResidual } from '../../../schemas/services.js'
import { errorsOf, into } from '../../harness/standing-errors.js'
import { f9p, scripted, wantedOf } from './zed-plan.js'

const payload = (hex: string) => ubx.payloadOf(Uint8Array.from(Buffer.from(hex.replace(/\s/g, ''), 'hex')))
const of = <L extends ubx.Layout>(layout: L, values: ubx.Encodable<L>) =>
  ubx.decode(layout, ubx.encode(layout, values)) as ubx.Decoded<L>
const here = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }

// ── an epoch ────────────────────────────────────────────────────────────────────────────────────────────────────────

const wholePvt = {
  ...{ year: 2026, month: 11, day: 21, hour: 3, min: 4, sec: 5, validDate: true, validTime: true, fullyResolved: true },
  ...{ fixType: 3, gnssFixOK: true, numSV: 21, lat_deg: 52, lon_deg: 4, height_m: 50, hMSL_m: 8, hAcc_m: 3, vAcc_m: 4 },
}
const pvtAt = (iTOW_ms: number, more = {}) => of(ubx.navPvt, { iTOW_ms, ...wholePvt, ...more })
const ecefAt = (iTOW_ms: number, more = {}) =>
  of(ubx.navHpPosEcef, { iTOW_ms, x_m: here.x, y_m: here.y, z_m: here.z, pAcc_m: 0.5, ...more })
const llhAt = (iTOW_ms: number, more = {}) =>
  of(ubx.navHpPosLlh, { iTOW_ms, lat_deg: 52, lon_deg: 4, height_m: 51, hMSL_m: 7, hAcc_m: 0.6, vAcc_m: 0.8, ...more })
const statusAt = (iTOW_ms: number, more = {}) => of(ubx.navStatus, { iTOW_ms, gpsFix: 3, gpsFixOk: true, ...more })
const gga = (quality: number): Gga => {
  const body = `GNGGA,030405.00,5200.0000000,N,00400.0000000,E,${quality},12,0.7,8.000,M,42.000,M,,`
  const sum = [...body].reduce((x, c) => x ^ c.charCodeAt(0), 0)
  const sentence = `$${body}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`
  return decodeGga(Buffer.from(sentence)) as Gga
}

function epochs() {
  const fixes: ReceiverFix[] = []
  return { fixes, assembler: new EpochAssembler((fix) => fixes.push(fix)) }
}

t.test('an epoch is one fix', async (t) => {
  t.test(
    'whole with NAV-PVT and NAV-HPPOSECEF, in either order; what comes late of it makes no second one',
    async (t) => {
      const { fixes, assembler } = epochs()
      assembler.pvt(pvtAt(1000), 10)
      t.equal(fixes.length, 0)
      assembler.hpEcef(ecefAt(1000), 20)
      t.equal(fixes.length, 1)
      t.match(fixes[0], { position: here, fix: '3d', ok: true, acc_m: 0.5, arrival_ms: 10, satellitesUsed: 21 })
      assembler.status(statusAt(1000), 30)
      assembler.hpLlh(llhAt(1000), 40)
      assembler.hpEcef(ecefAt(1000), 50)
      assembler.pvt(pvtAt(1000), 60)
      assembler.endOfEpoch(1000)
      assembler.tick(10_000)
      t.equal(fixes.length, 1)
      assembler.hpEcef(ecefAt(2000), 1010)
      assembler.pvt(pvtAt(2000), 1020)
      t.equal(fixes.length, 2)
    },
  )

  t.test('ended by NAV-EOE of it, by the next epoch, or after 300 ms', async (t) => {
    const { fixes, assembler } = epochs()
    assembler.pvt(pvtAt(1000), 0)
    assembler.endOfEpoch(999)
    t.equal(fixes.length, 0)
    assembler.endOfEpoch(1000)
    t.equal(fixes.length, 1)
    assembler.pvt(pvtAt(2000), 1000)
    assembler.pvt(pvtAt(3000), 2000)
    t.equal(fixes.length, 2)
    assembler.tick(2299)
    t.equal(fixes.length, 2)
    assembler.tick(2300)
    t.equal(fixes.length, 3)
  })

  t.test('the finest valid position counts', async (t) => {
    const place = (more: { pvt?: object; ecef?: object; llh?: object }) => {
      const { fixes, assembler } = epochs()
      if (more.pvt) assembler.pvt(pvtAt(1000, more.pvt), 0)
      if (more.llh) assembler.hpLlh(llhAt(1000, more.llh), 0)
      if (more.ecef) assembler.hpEcef(ecefAt(1000, more.ecef), 0)
      assembler.endOfEpoch(1000)
      return fixes[0]
    }
    t.match(place({ pvt: {}, llh: {}, ecef: {} }), { position: here, acc_m: 0.5, geoidSeparation_m: 44 })
    t.match(place({ pvt: {}, llh: {}, ecef: { invalidEcef: true } }), { alt: 51, acc_m: 1 })
    t.match(place({ pvt: {}, llh: { invalidLlh: true } }), { alt: 50, acc_m: 5 })
    t.match(place({ pvt: {} }), { alt: 50, acc_m: 5, geoidSeparation_m: 42 })
    for (const none of [{ invalidLlh: true }, { fixType: 0 }]) {
      t.match(place({ pvt: none }), { ok: false, position: { x: 0, y: 0, z: 0 }, acc_m: Number.POSITIVE_INFINITY })
    }
    t.match(place({ pvt: { fixType: 0 }, llh: {}, ecef: {} }), { ok: false, fix: 'none', position: { x: 0 } })
    t.match(place({ ecef: {} }), { ok: true, fix: '3d', position: here }, 'a position alone is one')
    t.match(place({ pvt: { gnssFixOK: false }, ecef: {} }), { ok: false, position: here })
  })

  t.test('NAV-STATUS alone is none; with a position it says what kind of fix', async (t) => {
    const { fixes, assembler } = epochs()
    assembler.status(statusAt(1000), 0)
    assembler.endOfEpoch(1000)
    t.equal(fixes.length, 0)
    for (const [i, [status, fix, ok]] of (
      [
        [{ gpsFix: 5 }, 'time', true],
        [{ gpsFix: 3, carrSoln: 1 }, 'rtk-float', true],
        [{ gpsFix: 3, carrSoln: 2, gpsFixOk: false }, 'rtk-fixed', false],
      ] as const
    ).entries()) {
      assembler.status(statusAt(i, status), 0)
      assembler.hpEcef(ecefAt(i), 0)
      assembler.endOfEpoch(i)
      t.match(fixes.at(-1), { fix, ok })
    }
    for (const [fixType, fix] of ['none', 'dead-reckoning', '2d', '3d', '3d-dr', 'time'].entries()) {
      t.equal(fixOfPvt(pvtAt(0, { fixType }), 0).fix, fix)
    }
  })

  t.test('its time is that of the receiver once it has resolved date, time and leap seconds', async (t) => {
    const t_s = Date.UTC(2026, 10, 21, 3, 4, 5) / 1000
    t.equal(fixOfPvt(pvtAt(0), 7).t, t_s)
    t.equal(fixOfPvt(pvtAt(0, { nano_ns: -250_000_000 }), 7).t, t_s - 0.25)
    for (const lacks of [{ validDate: false }, { validTime: false }, { fullyResolved: false }]) {
      t.equal(fixOfPvt(pvtAt(0, lacks), 7).t, 0, JSON.stringify(lacks))
    }
    t.match(fixOfPvt(pvtAt(0, { diffSoln: true }), 7), {
      corrected: true,
      arrival_ms: 7,
      geoidSeparation_m: 42,
      ok: true,
    })
    t.match(fixOfPvt(pvtAt(0, { gnssFixOK: false }), 7), { ok: false, corrected: false })
  })

  t.test('GGA is one while UBX has carried no position for 3 s', async (t) => {
    const { fixes, assembler } = epochs()
    assembler.pvt(pvtAt(1000), 5000)
    assembler.endOfEpoch(1000)
    assembler.gga(gga(1), 7999)
    t.equal(fixes.length, 1)
    assembler.gga(gga(1), 8000)
    t.equal(fixes.length, 2)
    t.match(fixes[1], { t: 0, fix: '3d', ok: true, geoidSeparation_m: 42, satellitesUsed: 12, corrected: false })
    t.ok(Math.abs((fixes[1]?.alt ?? 0) - 50) < 1e-6, 'the height above the ellipsoid')
    t.equal(fixes[1]?.acc_m, Number.POSITIVE_INFINITY, 'nobody says how exact')
    assembler.status(statusAt(9000, { gpsFix: 5 }), 9000)
    assembler.gga(gga(1), 11_999)
    t.equal(fixes.at(-1)?.fix, 'time', 'for NMEA a base is an ordinary fix')
    assembler.gga(gga(1), 12_000)
    t.equal(fixes.at(-1)?.fix, '3d', 'a NAV-STATUS of 3 s ago says nothing')
  })

  t.test('the quality of GGA is the kind of fix', async (t) => {
    const expected = ['none', '3d', '3d', 'none', 'rtk-fixed', 'rtk-float', 'dead-reckoning', 'time', 'none'] as const
    for (const [quality, fix] of expected.entries()) {
      const { fixes, assembler } = epochs()
      assembler.gga(gga(quality), 0)
      t.match(fixes[0], { fix, ok: fix !== 'none', corrected: [2, 4, 5].includes(quality) }, `quality ${quality}`)
    }
    const { fixes, assembler } = epochs()
    assembler.gga(gga(2), 0)
    assembler.hpEcef(ecefAt(1000), 10)
    assembler.endOfEpoch(1000)
    t.match(
      fixes[1],
      { fix: '3d', corrected: true, geoidSeparation_m: 42, satellitesUsed: 12 },
      'what UBX does not say',
    )
  })
})

// ── satellites ──────────────────────────────────────────────────────────────────────────────────────────────────────

const sat = 'b56201352c00007099140103000000072dfb670185ff5f0902000615213d0c002d0012080000031e00a50000000021000000bb96'
const sig = `b5620143380000709914000300000007000085ff2d070401290000000000000703001b0026050000100000000000061502092d0021
  0401022100000000 00853a`.replace(/\s/g, '')

t.test('satellites and their signals are put together by epoch', async (t) => {
  const seen: SatelliteEpoch[] = []
  const assembler = new SatelliteAssembler((epoch) => seen.push(epoch))
  const satellites = ubx.decode(ubx.navSat, payload(sat))?.blocks ?? []
  const signals = ubx.decode(ubx.navSig, payload(sig))?.blocks ?? []
  assembler.navSat(345_600_000, satellites, 5)
  assembler.navSig(345_599_000, signals)
  t.equal(seen.length, 0, 'signals of another epoch')
  assembler.navSig(345_600_000, signals)
  t.match(seen, [{ tow_ms: 345_600_000, arrival_ms: 5, hasSignals: true }])
  t.match(seen[0]?.satellites, [
    {
      ...{
        constellation: 'gps',
        satellite: 7,
        azimuth_deg: 359,
        elevation_deg: -5,
        cno_dbhz: 45,
        locked: true,
        used: true,
      },
      signals: [
        { signal: 'L1', cno_dbhz: 45, residual_m: -12.3, locked: true, used: true },
        { signal: 'L2', cno_dbhz: 38, residual_m: 2.7, locked: true, used: true },
      ],
    },
    {
      ...{ constellation: 'glonass', satellite: 21, azimuth_deg: 12, elevation_deg: 61, locked: false, used: false },
      signals: [{ signal: 'L2', cno_dbhz: 33, residual_m: 4.5, locked: false, used: false }],
    },
    { constellation: 'beidou', satellite: 30, azimuth_deg: undefined, elevation_deg: undefined, signals: [] },
  ])
  t.equal(seen[0]?.satellites.length, 3)
  assembler.navSig(345_600_000, signals)
  assembler.endOfEpoch(345_600_000)
  t.equal(seen.length, 1, 'once')
  assembler.navSat(1000, satellites, 1000)
  assembler.endOfEpoch(999)
  assembler.tick(1299)
  t.equal(seen.length, 1)
  assembler.tick(1300)
  t.match(seen[1], { tow_ms: 1000, hasSignals: false })
  assembler.navSat(2000, satellites, 2000)
  assembler.navSat(
    3000,
    satellites.map((block) => ({ ...block, gnssId: 4 })),
    3000,
  )
  t.equal(seen[2]?.tow_ms, 2000, 'the next epoch ends it')
  assembler.endOfEpoch(3000)
  t.same(seen[3]?.satellites, [], 'a system that means nothing to us')
  const edge = (elev_deg: number, quality: number) => {
    assembler.navSat(4000, [{ ...(satellites[0] as (typeof satellites)[0]), elev_deg, quality }], 0)
    assembler.endOfEpoch(4000)
    return seen.at(-1)?.satellites[0]
  }
  t.match(edge(-90, 5), { elevation_deg: -90, locked: true })
  t.match(edge(91, 4), { elevation_deg: undefined, azimuth_deg: undefined, locked: false })
})

/** Facts that report to nobody but to these. */
function factsOf(events: Partial<FactEvents>) {
  const ignore = () => {}
  const nobody = { fix: ignore, secondFix: ignore, residuals: ignore, satellites: ignore, antenna: ignore }
  const others = { interference: ignore, spoofing: ignore, correction: ignore, identity: ignore, time: ignore }
  return new ReceiverFacts({ ...nobody, ...others, uptime: ignore, text: ignore, ...events })
}

t.test('the time of NAV-TIMEGPS counts when week, time of week and leap seconds are all valid', async (t) => {
  const times: unknown[] = []
  const facts = factsOf({ time: (unix_s: number) => times.push(unix_s) })
  // Week 2400, 345,600,000 ms, 18 leap seconds, the flags: u-blox F9 interface description, NAV-TIMEGPS.
  const timeGps = (valid: string) => payload(`b562 0120 1000 00709914 00000000 6009 12 ${valid} 0a000000 0000`)
  for (const valid of ['00', '01', '03', '05', '06']) facts.ubx(0x01, 0x20, timeGps(valid), 0)
  t.same(times, [])
  facts.ubx(0x01, 0x20, timeGps('07'), 0)
  t.same(times, [1_767_830_382])
})

t.test('an epoch tells the time when it knows it', async (t) => {
  const told: unknown[] = []
  const facts = factsOf({ time: (unix_s) => told.push(unix_s), fix: ({ t: time }) => told.push({ fix: time }) })
  const epoch = (iTOW_ms: number, more: object) => {
    facts.ubx(0x01, 0x07, ubx.encode(ubx.navPvt, { iTOW_ms, ...wholePvt, ...more } as never), 0)
    const end = Buffer.alloc(4)
    end.writeUInt32LE(iTOW_ms)
    facts.ubx(0x01, 0x61, end, 0)
  }
  epoch(1_000, { validTime: false })
  epoch(2_000, {})
  const now = Date.UTC(2026, 10, 21, 3, 4, 5) / 1_000
  t.same(told, [{ fix: 0 }, now, { fix: now }])
})

t.test('corrections of SBAS alone are told from those of a base', async (t) => {
  const fixes: ReceiverFix[] = []
  const facts = factsOf({ fix: (fix) => fixes.push(fix) })
  const epoch = (iTOW_ms: number, flags: number, diffSoln = true) => {
    // One satellite, and its flags.
    const satellites = Buffer.alloc(20)
    satellites.writeUInt32LE(iTOW_ms, 0)
    satellites.set([1, 1], 4)
    satellites.writeUInt32LE(flags, 16)
    facts.ubx(0x01, 0x35, satellites, 0)
    facts.ubx(0x01, 0x07, ubx.encode(ubx.navPvt, { iTOW_ms, ...wholePvt, diffSoln } as never), 0)
    facts.ubx(0x01, 0x61, Buffer.from(satellites.subarray(0, 4)), 0)
    return fixes.at(-1)
  }
  const [sbas, rtcm] = [1 << 16, 1 << 17]
  t.match(epoch(1000, sbas), { corrected: true, sbas: true })
  t.notOk(epoch(2000, sbas | rtcm)?.sbas)
  t.notOk(epoch(3000, rtcm)?.sbas)
  t.notOk(epoch(4000, 0)?.sbas, 'unknown is not SBAS')
  t.notOk(epoch(5000, sbas, false)?.sbas)
  t.equal(fixes.length, 5)
})

t.test('the residuals of NAV-SAT are those of its bytes', async (t) => {
  const residuals: (readonly SatelliteResidual[])[] = []
  const epochs: SatelliteEpoch[] = []
  const facts = factsOf({ residuals: (list) => residuals.push(list), satellites: (epoch) => epochs.push(epoch) })
  facts.ubx(0x01, 0x35, payload(sat), 0)
  t.match(residuals, [
    [
      { constellation: 'gps', satellite: 7, azimuth_deg: 359, elevation_deg: -5, residual_m: -12.3, used: true },
      { constellation: 'glonass', satellite: 21, residual_m: 4.5, used: false },
      { constellation: 'beidou', satellite: 30, residual_m: 0, used: false },
    ],
  ])
  facts.ubx(0x01, 0x61, payload('b56201610400007099148388'), 0)
  t.equal(epochs[0]?.satellites.length, 3)
})

// ── the air around the antenna ──────────────────────────────────────────────────────────────────────────────────────

const status = (spoofing: number) =>
  payload(`b5620103100000709914050f02${['00', '08', '10', '18'][spoofing]}6b6e0000108dd2030000`)
/** What a watch hears of messages at their times. */
function watched() {
  const watch = new RadioWatch()
  let now_ms = 0
  const facts = factsOf({
    interference: (bands) => watch.takeBands(bands, now_ms),
    spoofing: (state) => watch.takeSpoofing(state, now_ms),
  })
  const hear = (cls: number, id: number) => (bytes: Uint8Array, at_ms: number) => {
    now_ms = at_ms
    facts.ubx(cls, id, bytes, at_ms)
  }
  return { watch, monRf: hear(0x0a, 0x38), monHw: hear(0x0a, 0x09), navStatus: hear(0x01, 0x03) }
}

t.test('spoofing by the bytes of NAV-STATUS: after 3 s, until a minute after its last sign', async (t) => {
  const names = ['unknown', 'none', 'indicated', 'multiple']
  for (const [state, name] of names.entries()) {
    const { watch, navStatus } = watched()
    navStatus(status(state), 0)
    t.equal(watch.spoofing(9999), name)
    t.equal(watch.spoofing(10_000), 'unknown', 'what was said 10 s ago is not known any more')
    navStatus(status(state), 2999)
    t.notOk(watch.spoofed)
    navStatus(status(state), 3000)
    t.equal(watch.spoofed, state >= 2)
    watch.tick(12_999)
    watch.tick(62_999)
    t.equal(watch.spoofed, state >= 2)
    watch.tick(63_000)
    t.notOk(watch.spoofed, 'also of a receiver that says no more')
  }
})

t.test('interference by the bytes of MON-RF, of MON-HW where there is none', async (t) => {
  const rf =
    payload(`b5620a383400000200000002020104030201000000005000ff0f0afd64046e00000001030400040302010000000051008813c8
    fc65056f0000005de0`)
  const hw = payload(`b5620a093c00000000000000000000000000000000005300ff0703020d00000000000000000000000000000000000000
    0000004d000000000000000000000000000007af`)
  const { watch, monRf, monHw } = watched()
  t.same(watch.bands(0), [])
  monRf(rf, 0)
  t.same(watch.bands(9999), [
    { band: 'L1', jamming: 'warning', indicator: 10, agc: 50, noise: 80 },
    { band: 'L2', jamming: 'critical', indicator: 200, agc: 61, noise: 81 },
  ])
  t.equal(watch.jamming(0), 'critical')
  t.equal(new RadioWatch().jamming(0), 'unknown')
  monRf(rf, 4999)
  t.notOk(watch.jammed)
  monRf(rf, 5000)
  t.ok(watch.jammed)
  t.same(
    watch.worst.map(({ band }) => band),
    ['L2'],
  )
  monHw(hw, 14_999)
  t.equal(watch.bands(14_999).length, 2, 'MON-RF came less than 10 s ago')
  t.same(watch.bands(15_000), [], 'and says nothing after 10 s')
  watch.tick(34_999)
  t.ok(watch.jammed)
  watch.tick(35_000)
  t.notOk(watch.jammed, '30 s after the last sign')
  monHw(hw, 40_000)
  t.same(watch.bands(40_000), [{ band: 'L1', jamming: 'critical', indicator: 77, agc: 25, noise: 83 }])
  const none = watched()
  none.monRf(Uint8Array.of(0, 0, 0, 0), 0)
  none.monHw(hw, 0)
  t.equal(none.watch.bands(0).length, 1, 'a MON-RF without a band does not count')
})

// ── signals and corrections ─────────────────────────────────────────────────────────────────────────────────────────

/** One GPS MSM7 with `count` satellites; DF407 of MSM7 grows with the time in lock. */
const msm = (count: number, lock: number, cnr_dbhz = 45) =>
  encodeMsm({
    ...{ type: 1077, stationId: 0, epochTime: 0, multiple: false },
    observations: Array.from({ length: count }, (_, i) => ({
      ...{ satellite: i + 1, signal: 2, pseudorange_m: 22_000_000, phaseRange_m: 22_000_000, lock, cnr_dbhz },
    })),
  })

t.test('the share of lost locks: of strong signals, in the last five minutes, from 500 observations on', async (t) => {
  const watch = new SignalWatch()
  watch.begin(0)
  let at_ms = 0
  const second = (lock: number, cnr_dbhz?: number) => {
    watch.rtcm(1077, msm(20, lock, cnr_dbhz), at_ms)
    at_ms += 1000
  }
  for (let i = 0; i < 25; i++) second(100 + i)
  second(1)
  t.equal(watch.slips(at_ms - 1000), 20 / 500)
  const few = new SignalWatch()
  for (let i = 0; i < 25; i++) few.rtcm(1077, msm(20, i === 24 ? 1 : 100 + i), i * 1000)
  t.equal(few.slips(24_000), 0, '480 are too few')
  t.same(watch.troubles(at_ms), [], 'and 500 too few to judge by')
  for (let i = 0; i < 130; i++) second(i % 20 === 0 ? 1 : 100 + i)
  t.match(watch.troubles(at_ms), [/^many signals lose lock/])
  for (let i = 0; i < 130; i++) second(300)
  t.match(watch.troubles(at_ms), [/^many signals lose lock/], 'until it is less than half as often')
  for (let i = 0; i < 300; i++) second(400)
  t.same(watch.troubles(at_ms), [])
  t.equal(watch.slips(at_ms), 0)
  const weak = new SignalWatch()
  for (let i = 0; i < 200; i++) weak.rtcm(1077, msm(20, i % 2 === 0 ? 1 : 500, 30), i * 1000)
  t.equal(weak.slips(200_000), 0, 'weak ones break by themselves')
  const gone = new SignalWatch()
  for (let i = 0; i < 60; i++) gone.rtcm(1077, msm(20, 600), i * 1000)
  gone.rtcm(1077, msm(20, 1), 59_000 + 10_001)
  t.equal(gone.slips(70_000), 0, 'a satellite that was away for more than 10 s has no lock to lose')
})

t.test('what is missing is told by constellation and by band, after five minutes', async (t) => {
  const watch = new SignalWatch()
  watch.begin(0)
  watch.expect(new Map([['gps', ['L1', 'L2']]]), 0)
  const second = (at_ms: number) => watch.rtcm(1077, msm(5, 100), at_ms)
  for (let at_ms = 0; at_ms < 299_000; at_ms += 1000) second(at_ms)
  t.same(watch.troubles(299_999), [])
  second(300_000)
  t.match(watch.troubles(300_000), [/^no signal of the L2 band for minutes/])
  t.match(watch.report(300_000), [{ name: 'gps', expected: ['L1', 'L2'], seen: ['L1'] }])
  t.match(watch.report(310_000), [{ name: 'gps', seen: [] }], 'what was received 10 s ago is not seen')
  t.same(watch.troubles(359_999).length, 1)
  t.match(watch.troubles(360_000), [/^no satellite is received/], 'a minute without any')
  second(361_000)
  t.same(watch.troubles(361_000), [], 'everything has its time to come back')
})

t.test('corrections by the bytes of the receiver: what it took, of which station, how old', async (t) => {
  const corrections = new ReportedCorrections()
  let now_ms = 0
  const facts = factsOf({ correction: (station) => corrections.count(station, now_ms) })
  const hear = (id: number, bytes: Uint8Array, at_ms: number) => {
    now_ms = at_ms
    facts.ubx(0x02, id, bytes, at_ms)
  }
  t.match(corrections.block(0, 30), { count: 0, remote: '' })
  hear(0x32, payload('b562023208000204 0300d20435040000'), 1000)
  hear(0x32, payload('b562023208000205 0300d20435045595'), 2000)
  t.match(
    corrections.block(11_000, 30),
    { count: 1, packets: 1, remote: 'station 1234', age: 10 },
    'one that failed is none',
  )
  hear(0x34, payload('b56202340c0001000000a1a4090635040300 0000'), 12_000)
  hear(0x34, payload('b56202340c0001000000c1a4090635040300f39e'), 13_000)
  hear(0x34, payload('b56202340c0001000000a2a4090635040300 0000'), 14_000)
  t.match(corrections.block(14_000, 30), { count: 2, age: 2 }, 'neither is one with an error, or of another protocol')
})

// ── the configuration ───────────────────────────────────────────────────────────────────────────────────────────────

t.test('only what the receiver took and holds counts as written', async (t) => {
  const { timers, dialog, settle, store } = scripted()
  const pairs: ubx.ConfigPair[] = [
    [ubx.keyId('CFG-RATE-NAV'), 3],
    [ubx.keyId('CFG-RATE-TIMEREF'), 0],
    [ubx.keyId('CFG-NAVSPG-DYNMODEL'), 2],
  ]
  store.ignored.add(ubx.keyId('CFG-RATE-TIMEREF'))
  const applied = await settle(apply(dialog, timers, [{ name: 'rates', pairs, required: false }]))
  t.match(applied, { written: 2, refused: ['CFG-RATE-TIMEREF'], unexpected: ['CFG-RATE-TIMEREF'] })
  t.same(applied.differences.length, 3)
  t.match(applied.differences[0], 'CFG-RATE-NAV was 1, not 3')
  t.match(await settle(apply(dialog, timers, [{ name: 'rates', pairs, required: false, mayLack: true }])), {
    ...{ written: 0, refused: ['CFG-RATE-TIMEREF'], unexpected: [] },
  })
})

/** A configurator on a scripted receiver, with what it reports. @param baud of its line; 0: unknown, or none */
function configured(port: Known['port'] = 'USB', baud = 0) {
  const script = scripted()
  const errors = new Map<string, string>()
  const lines: { level: string; fields: Record<string, unknown> }[] = []
  const line = (level: string) => (fields: Record<string, unknown>) => lines.push({ level, fields })
  const ctx = {
    timers: script.timers,
    log: { info: line('info'), warn: line('warn'), debug: line('debug') },
    errors: errorsOf('gnss-zed', into(errors)),
  }
  const options = {
    ...{ raiseBaud: false, secondFix: false, otherPorts: 'off' as const, signalPlan: 'keep' as const },
    antenna: { power: 'keep', shortDetection: 'keep', openDetection: 'keep', powerDown: 'keep', recovery: 'keep' },
  } as const
  const line_ = { baud, setBaud: async () => {}, write: () => true }
  const configurator = new Configurator(ctx as never, script.dialog, line_, options, () => 30)
  const known: Known = { port, firmware: f9p }
  return { ...script, errors, lines, configurator, known }
}
const rover = wantedOf({ mode: 'rover' })
const fixedAt = (x: number) => wantedOf({ mode: 'fixed', arp: { ...here, x }, acc_m: 0.02 })
const fixed = fixedAt(here.x)

t.test('a receiver that does not answer was not changed by somebody', async (t) => {
  const { configurator, known, settle, state, errors } = configured()
  await settle(configurator.configure(fixed, known, () => true))
  t.equal(await settle(configurator.verify(fixed, known, false)), '')
  state.silent = true
  t.equal(await settle(configurator.verify(fixed, known, false)), '', 'nobody knows')
  t.equal(await settle(configurator.read()), undefined)
  t.equal(await settle(configurator.expectedSignals()), undefined)
  state.silent = false
  t.notOk(errors.has('receiver-changed'))
  t.match(await settle(configurator.verify(rover, known, false)), /time mode was changed/)
  t.match(await settle(configurator.verify(fixedAt(here.x + 0.0001), known, false)), /time mode was changed/)
})

t.test(
  'a key that was rejected is reported, told in the log, and not asked for again until the next configuration',
  async (t) => {
    const { configurator, known, settle, store, errors, lines } = configured()
    const sbas = ubx.keyId('CFG-SIGNAL-SBAS_ENA')
    store.ignored.add(sbas)
    t.match(await settle(configurator.configure(fixed, known, () => true)), { refused: ['CFG-SIGNAL-SBAS_ENA'] })
    t.notOk(errors.has('receiver-config'))
    t.strictSame(configurator.rejected, ['CFG-SIGNAL-SBAS_ENA'])
    t.match(lines.find(({ level }) => level === 'warn')?.fields, { refused: ['CFG-SIGNAL-SBAS_ENA'] })
    store.ignored.delete(sbas)
    t.equal(await settle(configurator.verify(fixed, known, false)), '')
    t.equal(store.get(sbas), 1, 'not by a look')
    t.notOk(errors.has('receiver-changed'))
    t.match(await settle(configurator.configure(fixed, known, () => true)), { written: 1, refused: [] })
    t.equal(store.get(sbas), 0)
    t.strictSame(configurator.rejected, [])
  },
)

t.test('a serial line that carries less than the receiver sends is reported, and NAV-SIG is left out', async (t) => {
  for (const [port, baud, sendsSignals, reported] of [
    ['UART1', 115_200, 1, undefined],
    ['UART1', 38_400, 0, undefined],
    ['UART1', 9_600, 0, /^the line carries 9600 baud, .* (1[1-9]\d|2\d\d) % of that/],
    ['UART2', 9_600, 0, /^the line carries 9600 baud/],
    ['UART1', 0, 1, undefined],
    ['USB', 9_600, 1, undefined],
  ] as const) {
    const { configurator, known, settle, store, errors } = configured(port, baud)
    await settle(configurator.configure(fixed, known, () => true))
    t.equal(store.get(ubx.keyId(`CFG-MSGOUT-UBX_NAV_SIG_${port}`)) ?? 0, sendsSignals, `${port} ${baud}`)
    if (reported) t.match(errors.get('receiver-config'), reported)
    else t.notOk(errors.has('receiver-config'), `${port} ${baud}`)
  }
})

t.test('a restart while it is configured is no success', async (t) => {
  const { configurator, known, settle, errors } = configured()
  await t.rejects(settle(configurator.configure(fixed, known, () => false)), {
    code: 'RTK_ERR_UNAVAILABLE',
    message: /restarted meanwhile/,
  })
  t.match(errors.get('receiver-config'), /restarted meanwhile; no RTCM is sent until/)
  await t.rejects(settle(configurator.configure(fixed, undefined, () => true)), { message: /does not answer/ })
  t.match(await settle(configurator.configure(fixed, known, () => true)), { refused: [] })
  t.notOk(errors.has('receiver-config'))
})

t.test('its own port is the one whose count rises by a question, not one that a radio writes to', async (t) => {
  const ask = async (reports: [portId: number, rxBytes: number][][]) => {
    let look = 0
    const version = ubx.encode(ubx.monVer, { swVersion: '', blocks: [{ extension: 'PROTVER=27.31' }] })
    return whoIsThere({
      async poll(layout: { name: string }) {
        if (layout.name === 'MON-VER') return version
        if (layout.name !== 'MON-COMMS') return undefined
        const blocks = (reports[look++] ?? []).map(([portId, rxBytes]) => ({ portId, rxBytes }))
        return ubx.encode(ubx.monComms, { blocks })
      },
    } as never)
  }
  const [uart1, uart2, usb] = [0x0100, 0x0201, 0x0300]
  const before: [number, number][] = [
    [uart1, 100],
    [uart2, 5000],
    [usb, 70],
  ]
  const after = (...by: number[]) => before.map(([id, bytes], i): [number, number] => [id, bytes + (by[i] ?? 0)])
  t.equal((await ask([before, after(8, 500, 0)]))?.port, 'UART1')
  t.equal((await ask([before, after(0, 2, 8)]))?.port, 'USB', 'a radio may write less than a question has')
  t.equal((await ask([before, after(0, 8, 14)]))?.port, 'UART2')
  t.equal((await ask([before, before]))?.port, undefined, 'none rises')
  t.equal((await ask([[], before]))?.port, undefined, 'one look is none')
  t.match((await ask([before, after(8)]))?.firmware, { nav2: true })
  t.equal(await whoIsThere({ poll: async () => undefined } as never), undefined)
})

t.test('the clock of a receiver may be a second off, and its messages 8 s', async (t) => {
  const watch = new RestartWatch()
  watch.status(10_000, 0)
  t.equal(watch.status(9000, 1), undefined)
  t.match(watch.status(7999, 2), /clock started again/)
  const ended = new RestartWatch()
  ended.status(2 ** 32 - 1000, 0)
  t.equal(ended.status(5000, 11_000), undefined, 'its 32 bits are over: 5 s of play')
  ended.status(2 ** 32 - 1000, 20_000)
  t.match(ended.status(5000, 31_001), /clock/)
  const silent = new RestartWatch()
  silent.expect(1000)
  t.equal(silent.missing(false, 9000), undefined)
  t.match(silent.missing(false, 9001), /missing/)
  t.equal(silent.missing(false, 17_001), undefined)
  t.match(silent.missing(false, 17_002), /missing/)
  silent.epoch(17_002)
  t.equal(silent.missing(false, 20_000), undefined)
})
