import fc from 'fast-check'
import t from 'tap'
import {
  decodeLegacy,
  encodeFrame,
  encodeLegacy,
  encodeMsm,
  isObservation,
  type Legacy,
  LegacyEncoder,
  type LegacySatellite,
  legacyConstellation,
  legacyLock,
  type MsmObservation,
  type MsmToEncode,
} from '../../runtime/lib/gnss/index.js'

const range_m = 22_000_000
const gps = { type: 1077, stationId: 7, epochTime: 345_600_000, multiple: false }
const glonass = { ...gps, type: 1087, epochTime: 4 * 2 ** 27 + 10_782_000 }
const signal = (satellite: number, signal: number, more: Partial<MsmObservation> = {}): MsmObservation => ({
  ...{ satellite, signal, pseudorange_m: range_m, phase_m: range_m + 1, lock: 704, cnr_dbhz: 45 },
  ...more,
})
/** What becomes of one epoch. */
const made = (...messages: MsmToEncode[]): Legacy[] =>
  new LegacyEncoder().epoch(messages.map((msm) => encodeMsm(msm))).flatMap((frame) => decodeLegacy(frame) ?? [])
/** What becomes of the L1 C/A, and perhaps an L2, of GPS satellite 5. */
const one = (l1: Partial<MsmObservation> = {}, ...others: MsmObservation[]): LegacySatellite | undefined =>
  made({ ...gps, observations: [signal(5, 2, l1), ...others] })[0]?.satellites[0]
const near = (value = Number.NaN, expected: number, tolerance: number) => Math.abs(value - expected) <= tolerance

t.test('the layouts: every value comes back, at the places of the standard', (t) => {
  const satellite = {
    ...{ satellite: 32, l1Code: 1, l1Range_m: 299_792.46, l1Phase_m: -262.1435, l1Lock: 127, modulus: 255 },
    ...{ l1Cnr_dbhz: 63.75, l2Code: 3, l2Range_m: -163.82, l2Phase_m: 262.1435, l2Lock: 1, l2Cnr_dbhz: 0.25 },
  }
  const head = { stationId: 4095, synchronous: true, smoothing: false, smoothingInterval: 5 }
  const l1l2: Legacy = { ...head, type: 1004, epochTime: 604_799_999, satellites: [satellite, satellite] }
  const frame = encodeLegacy(l1l2)
  t.strictSame(decodeLegacy(frame), l1l2)
  t.equal(frame.length, 6 + Math.ceil((64 + 2 * 125) / 8))
  t.equal((frame[9] >> 1) & 1, 1, 'the synchronous flag at bit 54')
  const slot = { ...satellite, channel: 20, l1Range_m: 599_584.92, modulus: 127 }
  const ofGlonass: Legacy = { ...head, type: 1012, epochTime: 86_400_999, satellites: [slot] }
  t.strictSame(decodeLegacy(encodeLegacy(ofGlonass)), ofGlonass)
  t.equal(encodeLegacy(ofGlonass).length, 6 + Math.ceil((61 + 130) / 8))
  t.equal(decodeLegacy(frame.subarray(0, 30)), undefined, 'too short')
  t.throws(() => encodeLegacy({ ...l1l2, satellites: Array(32).fill(satellite) }), RangeError)
  t.end()
})

t.test('message numbers of observations before MSM', (t) => {
  const all = Array.from({ length: 4096 }, (_, type) => type)
  t.strictSame(
    all.filter((type) => legacyConstellation(type) === 'GPS'),
    [1001, 1002, 1003, 1004],
  )
  t.strictSame(
    all.filter((type) => legacyConstellation(type) === 'GLONASS'),
    [1009, 1010, 1011, 1012],
  )
  t.ok(isObservation(1077) && isObservation(1012) && !isObservation(1005) && !isObservation(1230))
  t.end()
})

t.test('an epoch: times, flags and header as in the MSM', (t) => {
  const [first, second, ...more] = made(
    { ...gps, multiple: true, observations: [signal(5, 2), signal(5, 10)], smoothing: true, smoothingInterval: 3 },
    { ...glonass, observations: [signal(3, 2)], info: { 3: 12 } },
  )
  t.match(first, { type: 1004, stationId: 7, epochTime: 345_600_000, synchronous: true })
  t.match(first, { smoothing: true, smoothingInterval: 3 })
  t.match(second, { type: 1012, stationId: 7, epochTime: 10_782_000, synchronous: false, smoothing: false })
  t.match(second?.satellites, [{ satellite: 3, channel: 12 }])
  t.strictSame(more, [])
  t.equal(made({ ...gps, multiple: true, observations: [signal(5, 2)] })[0]?.synchronous, false, 'alone it is the last')
  const frames = [encodeMsm({ ...gps, observations: [signal(5, 2)] })]
  t.strictSame(
    new LegacyEncoder().epoch(frames, (type) => type !== 1004),
    [],
    'only wanted messages',
  )
  t.end()
})

t.test('pseudoranges and phases: to 1 cm and 0.25 mm over the whole range', (t) => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.001, max: 254.9, noNaN: true }),
      fc.double({ min: -280, max: 280, noNaN: true }),
      fc.double({ min: -1100, max: 1100, noNaN: true }),
      (range_ms, l2_m, phase_m) => {
        const pseudorange_m = range_ms * 299_792.458
        const l2 = { pseudorange_m: pseudorange_m + l2_m, phase_m: pseudorange_m + phase_m }
        const msm = encodeMsm(
          { ...gps, observations: [signal(5, 2, { pseudorange_m, phase_m: pseudorange_m + 0.7 }), signal(5, 10, l2)] },
          { outOfRange: 'invalid' },
        )
        const found = decodeLegacy(new LegacyEncoder().epoch([msm])[0] ?? new Uint8Array(0))?.satellites[0]
        if (!found) return false
        const sent_m = found.modulus * 299_792.458 + found.l1Range_m
        const l2Phase_m = sent_m + found.l2Phase_m
        const rollover_m = (1500 * 299_792_458) / 1_227_600_000
        const rolled = (pseudorange_m + phase_m - l2Phase_m) / rollover_m
        return (
          near(sent_m, pseudorange_m, 0.0105) &&
          near(sent_m + found.l1Phase_m, pseudorange_m + 0.7, 0.000_33) &&
          (Math.abs(l2_m) > 163.8 || near(sent_m + found.l2Range_m, pseudorange_m + l2_m, 0.0105)) &&
          (Math.abs(l2_m) < 163.84 || found.l2Range_m === -163.84) &&
          // Too far for the MSM itself.
          (found.l2Phase_m === -262.144 ||
            (near(rolled, Math.round(rolled), 1e-6) && (Math.abs(phase_m) > 262.1 || Math.round(rolled) === 0)))
        )
      },
    ),
    { numRuns: 500 },
  )
  t.match(one({ pseudorange_m: 254.5 * 299_792.458, phase_m: undefined }), { modulus: 254, l1Phase_m: -262.144 })
  t.match(one({ pseudorange_m: undefined }), undefined, 'an L1 pseudorange is needed')
  t.equal(one({ cnr_dbhz: 63.9375 })?.l1Cnr_dbhz, 63.75)
  t.equal(one({ cnr_dbhz: 41.3125 })?.l1Cnr_dbhz, 41.25)
  t.end()
})

t.test('a phase beyond the range is moved by 1500 cycles of its own wavelength', (t) => {
  const l1_m = (1500 * 299_792_458) / 1_575_420_000
  const l2_m = (1500 * 299_792_458) / (1_246_000_000 - 7 * 437_500)
  for (const [phase_m, moved_m] of [
    [262.13, 262.13],
    [263, 263 - l1_m],
    [-262.13, -262.13],
    [-263, l1_m - 263],
    [600, 600 - 2 * l1_m],
    [-800, 2 * l1_m - 800],
  ]) {
    const found = one({ phase_m: range_m + phase_m })?.l1Phase_m
    t.ok(near(found, moved_m, 0.011), `${phase_m}: ${found}, not ${moved_m}`)
  }
  const phase = { phase_m: range_m + 300 }
  const observations = [signal(10, 2, phase), signal(10, 9, phase)]
  const [message] = made({ ...glonass, observations, info: { 10: 0 } })
  t.ok(near(message?.satellites[0].l2Phase_m, 300 - l2_m, 0.011), 'GLONASS channel -7')
  const g1_m = (1500 * 299_792_458) / (1_602_000_000 - 7 * 562_500)
  t.ok(near(message?.satellites[0].l1Phase_m, 300 - g1_m, 0.011), 'and its L1')
  t.match(message?.satellites, [{ modulus: 36, l1Range_m: 414_943.02 }], 'of 599,584.916 m')
  t.end()
})

t.test('signals: C/A on L1, then the L2 that old rovers know best', (t) => {
  const l2 = (...signals: number[]) => one({}, ...signals.map((number) => signal(5, number)))
  t.match(l2(), { l1Code: 0, l2Code: 0, l2Range_m: -163.84, l2Phase_m: -262.144, l2Lock: 0, l2Cnr_dbhz: 0 })
  for (const [signals, code] of [
    [[8, 9, 10, 15, 16, 17], 3],
    [[9, 16], 1],
    [[17], 0],
    [[16], 0],
    [[15], 0],
    [[8], 0],
  ] as const) {
    t.match(l2(...signals), { l2Code: code, l2Range_m: 0 }, `${signals}`)
  }
  t.match(l2(22, 23, 24, 11), { l2Range_m: -163.84 }, 'neither L5 nor 2Y')
  t.strictSame(made({ ...gps, observations: [signal(5, 3), signal(5, 4), signal(5, 10)] }), [], 'without C/A')
  const ofGlonass = (...signals: number[]) =>
    made({ ...glonass, observations: [2, ...signals].map((number) => signal(3, number)), info: { 3: 12 } })[0]
  t.match(ofGlonass(8, 9)?.satellites, [{ l2Code: 1 }])
  t.match(ofGlonass(8)?.satellites, [{ l2Code: 0, l2Range_m: 0 }])
  t.end()
})

t.test('GLONASS channels: of MSM5 and 7, then kept for MSM4, or of 1020; without one a satellite is left out', (t) => {
  const encoder = new LegacyEncoder()
  const slots = (type: number, info?: Record<number, number>) => {
    const observations = [3, 4, 24, 25].map((slot) => signal(slot, 2, { lock: 10 }))
    const frames = [encodeMsm({ ...glonass, type, observations, ...(info && { info }) })]
    const found = encoder.epoch(frames).flatMap((frame) => decodeLegacy(frame)?.satellites ?? [])
    return found.map(({ satellite, channel }) => [satellite, channel])
  }
  t.strictSame(slots(1084), [])
  t.strictSame(slots(1087, { 3: 12, 4: 15, 24: 14, 25: 1 }), [[3, 12]], 'unknown, reserved, no slot of 1012')
  t.strictSame(slots(1085, { 4: 13 }), [
    [3, 12],
    [4, 13],
  ])
  const payload = new Uint8Array(45)
  payload.set([0x3f, 0xc0 | (24 >> 2), ((24 & 3) << 6) | (9 << 1)])
  encoder.learn(encodeFrame(payload))
  encoder.learn(encodeFrame(payload.subarray(0, 20)))
  t.strictSame(slots(1084), [
    [3, 12],
    [4, 13],
    [24, 9],
  ])
  t.end()
})

t.test('more than 31 satellites come in two messages, a split constellation in one', (t) => {
  const half = (from: number) => Array.from({ length: 16 }, (_, index) => signal(from + index, 2))
  const messages = made(
    { ...gps, multiple: true, observations: half(1) },
    { ...gps, multiple: true, observations: half(17) },
    { ...gps, multiple: true, epochTime: 1, observations: half(17) },
    { ...gps, multiple: true, observations: half(40) },
    { ...glonass, observations: [signal(3, 2)], info: { 3: 1 } },
  )
  t.strictSame(
    messages.map(({ type, synchronous, satellites }) => [type, synchronous, satellites.length]),
    [
      [1004, true, 31],
      [1004, true, 1],
      [1012, false, 1],
    ],
  )
  t.end()
})

t.test('lock classes: DF013 has the start of each range', (t) => {
  for (const [seconds, indicator] of [
    [0, 0],
    [0.999, 0],
    [1, 1],
    [23, 23],
    [24, 24],
    [25.9, 24],
    [26, 25],
    [71.9, 47],
    [72, 48],
    [76, 49],
    [168, 72],
    [176, 73],
    [360, 96],
    [376, 97],
    [744, 120],
    [776, 121],
    [936, 126],
    [937, 127],
    [1e9, 127],
  ]) {
    t.equal(legacyLock(seconds * 1000), indicator, `${seconds} s`)
  }
  t.end()
})

/** The lock indicators of one signal over epochs a second apart: MSM's lock, or other fields; null: the signal is absent. */
function locks(type: number, epochs: (number | Partial<MsmObservation> | null)[], interval_ms = 1_000): number[] {
  const encoder = new LegacyEncoder()
  return epochs.map((given, index) => {
    const more = typeof given === 'number' ? { lock: given } : given
    const observations = [signal(5, 2, { lock: 9 }), ...(more ? [signal(5, 10, more)] : [])]
    const msm = encodeMsm({ ...gps, type, epochTime: gps.epochTime + index * interval_ms, observations })
    return decodeLegacy(encoder.epoch([msm])[0] ?? new Uint8Array(0))?.satellites[0]?.l2Lock ?? -1
  })
}

t.test('locks: one that lasts never decreases, a loss always does', (t) => {
  // DF402: 2^(n + 4) ms. DF407: 288 is 8.2 s, 352 is 33 s, 480 is 0.5 Mms.
  t.strictSame(
    locks(1074, [0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15]),
    [0, 0, 1, 2, 4, 8, 16, 28, 44, 62, 83, 106, 106],
  )
  t.strictSame(locks(1077, [64, 288, 352, 353, 353]), [0, 8, 28, 28, 28])
  t.strictSame(locks(1074, [10, 9, 10]), [16, 8, 16], 'a loss')
  t.strictSame(locks(1077, [353, 352, 352]), [28, 27, 28], 'a loss within a class of DF013')
  t.strictSame(locks(1074, [0, 0, 0]), [0, 0, 0])
  t.strictSame(locks(1077, [700, 704, 10]), [127, 127, 0])
  t.strictSame(locks(1074, [6, 10], 60_000), [1, 0], 'a lock shorter than the interval')
  t.strictSame(locks(1077, [352, 352, 352], 30_000), [28, 28, 28])
  t.strictSame(locks(1074, [10, { lock: 10, signal: 17 }, 10]), [16, 15, 14], 'another signal')
  t.strictSame(locks(1074, [10, null, 10, null, 9, 10]), [16, 0, 16, 0, 0, 16], 'absent in between')
  t.strictSame(locks(1074, [10, { lock: 10, phase_m: undefined }, 11]), [16, 0, 28])
  t.strictSame(locks(1074, [10, { lock: 10, halfCycle: true }, 10, 10]), [16, 0, 0, 16], 'half cycles may jump')
  t.end()
})

t.test('locks: another MSM kind, and a day or a week that ends', (t) => {
  const encoder = new LegacyEncoder()
  const lock = (type: number, epochTime: number, lock: number) => {
    const msm = encodeMsm({ ...gps, type, epochTime, observations: [signal(5, 2, { lock })] })
    return decodeLegacy(encoder.epoch([msm])[0] ?? new Uint8Array(0))?.satellites[0]?.l1Lock
  }
  t.equal(lock(1077, 604_798_000, 384), 44, '65.5 s')
  t.equal(lock(1077, 604_799_000, 384), 44)
  t.equal(lock(1074, 0, 12), 44, 'MSM4 says 65.5 s to 131 s')
  t.equal(lock(1077, 1_000, 383), 43, 'a loss')
  t.equal(lock(1074, 2_000, 11), 43, 'coarser, no loss')
  t.end()
})

t.test('hostile frames: no exception, no frame that cannot be read, bounded', (t) => {
  const encoder = new LegacyEncoder()
  fc.assert(
    fc.property(
      fc.constantFrom(1004, 1012, 1020, 1071, 1073, 1074, 1075, 1076, 1077, 1084, 1085, 1086, 1087, 1097),
      fc.uint8Array({ minLength: 2, maxLength: 400 }),
      fc.uint8Array({ minLength: 2, maxLength: 400 }),
      (type, first, second) => {
        const frames = [first, second].map((payload) => {
          payload.set([type >> 4, ((type & 15) << 4) | (payload[1] & 15)])
          return encodeFrame(payload)
        })
        for (const frame of frames) encoder.learn(frame)
        return encoder.epoch(frames).every((frame) => decodeLegacy(frame) !== undefined && frame.length <= 1029)
      },
    ),
    { numRuns: 2_000 },
  )
  t.strictSame(encoder.epoch([]), [])
  t.strictSame(encoder.epoch([new Uint8Array(0), Uint8Array.of(0xd3, 0, 0, 1, 2, 3)]), [])
  t.end()
})
