import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { Framer } from '../../runtime/lib/gnss/framer.js'
import { decodeGga } from '../../runtime/lib/gnss/nmea.js'
import { epochUtc_ms } from '../../runtime/lib/gnss/rtcm/epoch-time.js'
import {
  constellationOf,
  crc24q,
  decodeMsm,
  decodeMsmHeader,
  decodeRtcm,
  encodeFrame,
  encodeMsm,
  encodeRtcm,
  gpsTow_ms,
  isMsm,
  type Msm,
  type MsmObservation,
  messageNumber,
  moreFollows,
  msmEpochTime,
  msmType,
  type RtcmMessage,
  splitGlonassTime,
  stationId,
} from '../../runtime/lib/gnss/rtcm/messages.js'
import { carrier_hz } from '../../runtime/lib/gnss/rtcm/observed.js'
import { referenceDifference } from '../../runtime/lib/gnss/rtcm/reference-point.js'
import { captures, noCaptures, type OracleValues } from '../harness/captures.js'

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))

t.test('CRC-24Q', async (t) => {
  t.equal(crc24q(Buffer.from('123456789')), 0xcde703, 'check value')
  t.equal(crc24q(hex('D30000')), 0x47ea4b)
  t.equal(crc24q(hex('D3000047EA4B')), 0, 'over its own bytes it is 0')
  t.same(hex('D3000047EA4B'), encodeFrame(new Uint8Array(0)))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(8), (bytes, start) => {
      let crc = 0
      for (const byte of bytes.subarray(start)) {
        crc ^= byte << 16
        for (let bit = 0; bit < 8; bit++) crc = crc & 0x800000 ? (crc << 1) ^ 0x1864cfb : crc << 1
      }
      return start > bytes.length || crc24q(bytes, start) === crc
    }),
  )
  t.pass('equals the bitwise definition for any bytes')
})

const station1234 = {
  stationId: 1234,
  itrfYear: 0,
  gps: true,
  glonass: true,
  galileo: true,
  virtual: false,
  singleOscillator: false,
  quarterCycle: 0,
  x: 3925405.8088,
  y: 274491.1138,
  z: 5002842.746,
}

t.test('reference station messages', async (t) => {
  const textbook: [frame: string, message: object][] = [
    [
      'D300133ED7D30202980EDEEF34B4BD62AC0941986F33360B98',
      { type: 1005, stationId: 2003, x: 1114104.5999, y: -4850729.7108, z: 3975521.4643 },
    ],
    ['D300133ED4D2038923B9646800A39C05220BA5ED38C44E0B99', { type: 1005, ...station1234 }],
    ['D300153EE4D2038923B9646800A39C05220BA5ED38C43A98723404', { type: 1006, ...station1234, antennaHeight_m: 1.5 }],
  ]
  for (const [frame, message] of textbook) {
    const decoded = decodeRtcm(hex(frame))
    t.match(decoded, message)
    t.same(encodeRtcm(decoded as RtcmMessage), hex(frame), 'encodes to the same bytes')
    t.equal(stationId(hex(frame)), (message as { stationId: number }).stationId)
  }
  t.equal(messageNumber(hex(textbook[0][0])), 1005)
  t.throws(
    () => encodeRtcm({ type: 1005, ...station1234, x: 13_743_895.3472 }),
    RangeError,
    '2^37 tenths of a millimetre',
  )
  t.throws(() => encodeRtcm({ type: 1005, ...station1234, x: Number.NaN }), RangeError)
  t.throws(() => encodeFrame(new Uint8Array(1024)), RangeError)
  t.equal(decodeRtcm(encodeFrame(hex('3ED7D302'))), undefined, 'too short for what it says')
  t.equal(decodeRtcm(encodeFrame(hex('3FB0000000'))), undefined, 'a number without a table')
})

t.test('any reference station message survives encoding and decoding', async (t) => {
  const id = fc.nat(4095)
  const coordinate = fc.maxSafeInteger().map((n) => (n % 2 ** 37) / 10_000)
  const text = fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 31 })
  const bias = fc.option(
    fc.integer({ min: -32768, max: 32767 }).map((n) => n / 50),
    { nil: undefined },
  )
  const arp = {
    stationId: id,
    itrfYear: fc.nat(63),
    gps: fc.boolean(),
    glonass: fc.boolean(),
    galileo: fc.boolean(),
    virtual: fc.boolean(),
    singleOscillator: fc.boolean(),
    quarterCycle: fc.nat(3),
    x: coordinate,
    y: coordinate,
    z: coordinate,
  }
  const antenna = { stationId: id, antennaDescriptor: text, antennaSetupId: fc.nat(255) }
  const receiver = { receiverType: text, receiverFirmware: text, receiverSerial: text }
  const message: fc.Arbitrary<RtcmMessage> = fc.oneof(
    fc.record({ type: fc.constant(1005 as const), ...arp }),
    fc.record({ type: fc.constant(1006 as const), ...arp, antennaHeight_m: fc.nat(65535).map((n) => n / 10_000) }),
    fc.record({ type: fc.constant(1007 as const), ...antenna }),
    fc.record({ type: fc.constant(1008 as const), ...antenna, antennaSerial: text }),
    fc.record({ type: fc.constant(1033 as const), ...antenna, antennaSerial: text, ...receiver }),
    fc.record({
      type: fc.constant(1230 as const),
      stationId: id,
      biasesAligned: fc.boolean(),
      biases_m: fc.record({ l1ca: bias, l1p: bias, l2ca: bias, l2p: bias }),
    }),
  )
  fc.assert(
    fc.property(message, (message) => {
      const frame = encodeRtcm(message)
      assert.equal(crc24q(frame), 0)
      assert.equal(messageNumber(frame), message.type)
      assert.equal(stationId(frame), message.stationId)
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll('-0,', '0,'))
      assert.deepEqual(plain(decodeRtcm(frame)), plain(message))
      assert.equal(decodeRtcm(encodeFrame(frame.subarray(3, -4))), undefined, 'a byte is missing')
    }),
    { numRuns: 60 },
  )
  t.pass('holds')
})

t.test('message numbers', async (t) => {
  t.same([1070, 1071, 1074, 1077, 1078, 1080, 1087, 1094, 1137, 1138, 1005, 4072].map(isMsm), [
    false,
    true,
    true,
    true,
    false,
    false,
    true,
    true,
    true,
    false,
    false,
    false,
  ])
  const names = ['GPS', 'GLONASS', 'Galileo', 'SBAS', 'QZSS', 'BeiDou', 'NavIC'] as const
  t.same([1074, 1084, 1094, 1104, 1114, 1124, 1134].map(constellationOf), names)
  t.same(
    names.map((name) => msmType(name, 7)),
    [1077, 1087, 1097, 1107, 1117, 1127, 1137],
  )
  t.equal(constellationOf(1230), undefined)
  const private1 = encodeFrame(hex('FE800100'))
  t.equal(messageNumber(private1), 4072)
  t.equal(stationId(private1), undefined, 'its subtype is no station')
  t.equal(stationId(encodeFrame(hex('3FB00000'))), undefined, 'ephemerides have none')
  t.same([hex('D3000047EA4B'), encodeFrame(hex('3E'))].map(messageNumber), [0, 0])
})

t.test('epoch times', async (t) => {
  // The same epoch as a receiver sent it for three constellations.
  t.equal(msmEpochTime('GPS', 408_698_000, 18), 408_698_000)
  t.equal(msmEpochTime('BeiDou', 408_698_000, 18), 408_684_000)
  t.equal(msmEpochTime('GLONASS', 408_698_000, 18), 610_750_912)
  t.same(splitGlonassTime(610_750_912), { day: 4, ms: 73_880_000 })
  t.equal(msmEpochTime('BeiDou', 5000, 18), 604_791_000, 'BeiDou is still in the week before')
  t.same(splitGlonassTime(msmEpochTime('GLONASS', 0, 18)), { day: 0, ms: 10_782_000 })
  t.same(splitGlonassTime(msmEpochTime('GLONASS', 604_799_000, 18)), { day: 0, ms: 10_781_000 }, 'Sunday in Moscow')
  t.equal(gpsTow_ms('GLONASS', 7 * 2 ** 27, 18), undefined)
  fc.assert(
    fc.property(
      fc.nat(604_799_999),
      fc.constantFrom('GPS', 'GLONASS', 'BeiDou', 'Galileo'),
      (tow_ms, constellation) => {
        assert.equal(gpsTow_ms(constellation, msmEpochTime(constellation, tow_ms, 18), 18), tow_ms)
      },
    ),
  )
})

t.test('when the observations of a frame were made, and the carrier that they are of', async (t) => {
  // Thursday, 20:31:38 GPS time, as `epoch times` above; in Moscow three hours later.
  const at_ms = Date.UTC(2024, 0, 11, 17, 31, 20)
  const [tow_ms, leap_s] = [408_698_000, 18]
  const msm = (constellation: 'GPS' | 'GLONASS' | 'BeiDou', epochTime = msmEpochTime(constellation, tow_ms, leap_s)) =>
    encodeMsm({ type: msmType(constellation, 7), stationId: 1, epochTime, multiple: false, observations: [] })
  const legacy = (number: number, time: number, timeBits: number) => {
    const bits = number.toString(2).padStart(12, '0') + '0'.repeat(12) + time.toString(2).padStart(timeBits, '0')
    return encodeFrame(Uint8Array.from(bits.padEnd(64, '0').match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2)))
  }
  const moscow_ms = splitGlonassTime(msmEpochTime('GLONASS', tow_ms, leap_s)).ms
  for (const [what, frame] of [
    ['GPS', msm('GPS')],
    ['BeiDou', msm('BeiDou')],
    ['GLONASS', msm('GLONASS')],
    ['GLONASS, whose day is unknown', msm('GLONASS', 7 * 2 ** 27 + moscow_ms)],
    ['1004', legacy(1004, tow_ms, 30)],
    ['1012', legacy(1012, moscow_ms, 27)],
  ] as const)
    for (const apart_ms of [-6, -1, 0, 1, 6].map((hours) => hours * 3_600_000))
      t.equal(epochUtc_ms(frame, at_ms + apart_ms, leap_s), at_ms, `${what}, ${apart_ms} ms apart`)
  t.equal(epochUtc_ms(encodeRtcm({ type: 1005, ...station1234 }), at_ms, leap_s), undefined, 'no observations')
  t.equal(epochUtc_ms(encodeFrame(hex('43500000')), at_ms, leap_s), undefined, 'too short')

  for (const [constellation, band, channel, carrier] of [
    ['GPS', 'L1', undefined, 1_575_420_000],
    ['GPS', 'L5', undefined, 1_176_450_000],
    ['GLONASS', 'L1', undefined, 1_602_000_000],
    ['GLONASS', 'L1', -7, 1_598_062_500],
    ['GLONASS', 'L2', 6, 1_248_625_000],
    ['BeiDou', 'B1I', undefined, 1_561_098_000],
    ['GPS', 'L7', undefined, undefined],
    ['GLONASS', 'L7', 1, undefined],
  ] as const)
    t.equal(carrier_hz(constellation, band, channel), carrier, `${constellation} ${band} ${channel}`)
})

/** Resolution of ranges and rates by MSM type, metres: standard and high. */
const rangeStep_m = (msm: number) => 299_792.458 / 2 ** (msm >= 6 ? 29 : 24)
const phaseStep_m = (msm: number) => 299_792.458 / 2 ** (msm >= 6 ? 31 : 29)

const anyMsm: fc.Arbitrary<Msm> = fc
  .record({
    constellation: fc.constantFrom('GPS', 'GLONASS', 'Galileo', 'BeiDou'),
    msm: fc.constantFrom(4, 5, 6, 7),
    satellites: fc.uniqueArray(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 10 }),
    signals: fc.uniqueArray(fc.integer({ min: 1, max: 32 }), { minLength: 1, maxLength: 4 }),
    range_m: fc.double({ min: 18e6, max: 42e6, noNaN: true }),
    seed: fc.nat(1e6),
    stationId: fc.nat(4095),
    epochTime: fc.nat(604_799_999),
    multiple: fc.boolean(),
  })
  .map(({ constellation, msm, satellites, signals, range_m, seed, ...header }) => {
    const observations: MsmObservation[] = []
    satellites.forEach((satellite, i) => {
      signals.forEach((signal, k) => {
        if (k > 0 && (seed + i + k) % 3 === 0) return
        const at_m = range_m + i * 12_345.678
        observations.push({
          satellite,
          signal,
          pseudorange_m: at_m + k * 7.5,
          phase_m: at_m - k * 3.25,
          rate_mps: msm === 5 || msm === 7 ? -512.5 + i * 99.1234 + k * 0.25 : undefined,
          lock: (seed + k) % (msm >= 6 ? 1024 : 16),
          halfCycle: (seed + k) % 2 === 1,
          cnr_dbhz: 20 + ((seed + i * 3 + k) % 35),
        })
      })
    })
    return { type: msmType(constellation, msm as 4), ...header, observations } as Msm
  })

t.test('any observations survive encoding and decoding, to the resolution of their MSM', async (t) => {
  fc.assert(
    fc.property(anyMsm, fc.boolean(), (given, padToGrid) => {
      const frame = encodeMsm(given, { padToGrid })
      const msm = given.type % 10
      const header = decodeMsmHeader(frame)
      assert.equal(crc24q(frame), 0)
      for (const key of ['type', 'stationId', 'epochTime', 'multiple'] as const) assert.equal(header?.[key], given[key])
      assert.equal(moreFollows(frame), given.multiple)
      const cells = header?.cells.length ?? 0
      const satellites = header?.satellites.length ?? 0
      const signals = header?.signals.length ?? 0
      const bits =
        169 +
        satellites * (signals + (msm % 2 ? 36 : 18)) +
        (padToGrid ? satellites * signals : cells) * [48, 63, 65, 80][msm - 4]
      assert.equal(frame.length, Math.ceil(bits / 8) + 6, 'size')

      const decoded = decodeMsm(frame)?.observations ?? []
      const sorted = [...given.observations].sort((p, q) => p.satellite - q.satellite || p.signal - q.signal)
      assert.equal(decoded.length, sorted.length)
      decoded.forEach((cell, i) => {
        const want = sorted[i]
        const near = (p = Number.NaN, q = Number.NaN, step: number) => Math.abs(p - q) <= step / 2 + 1e-7
        for (const key of ['satellite', 'signal', 'lock', 'halfCycle', 'cnr_dbhz'] as const)
          assert.equal(cell[key], want[key])
        assert.ok(near(cell.pseudorange_m, want.pseudorange_m, rangeStep_m(msm)), 'pseudorange')
        assert.ok(near(cell.phase_m, want.phase_m, phaseStep_m(msm)), 'phase')
        if (want.rate_mps === undefined) assert.equal(cell.rate_mps, undefined)
        else assert.ok(near(cell.rate_mps, want.rate_mps, 0.0001), 'rate')
      })
    }),
    { numRuns: 60 },
  )
  t.pass('holds')
})

t.test('MSM as the tables of the standard lay it out', async (t) => {
  // Written field by field from RTCM 10403.3, tables 3.5-78 to -90, without the encoder of this project.
  const c_m = 299_792.458
  // DF397 74 and 81, DF398 512 and 1000, DF399 -512 and 350; DF405, DF406, DF408 and DF404 as below; cell mask 1110.
  const msm7 = hex(
    'd3003d4354d26170f24200301000400000000000200080007252887c01f47c000af0181cfd23000026ff3cb00186a0000010be8aa800ad0a01f909a5ecb4008810ab79',
  )
  const [first_ms, second_ms] = [74 + 512 / 1024, 81 + 1000 / 1024]
  const cells7 = [
    { ...{ satellite: 3, signal: 2, lock: 500, halfCycle: false, cnr_dbhz: 45, rate_mps: -511.8766 }, at_ms: first_ms },
    { ...{ satellite: 3, signal: 16, lock: 341, halfCycle: true, cnr_dbhz: 40, rate_mps: -512.1235 }, at_ms: first_ms },
    {
      ...{ satellite: 17, signal: 2, lock: 0, halfCycle: false, cnr_dbhz: 31.5625, rate_mps: 350.0017 },
      at_ms: second_ms,
    },
  ]
  const [df405, df406] = [[12_345, -23_456, 77] as const, [-100_000, 200_000, 33] as const]
  // DF397 68, DF398 3; DF400 and DF401 as below. Day of the week 4, 73,880 s of the Moscow day.
  const msm4 = hex('d3002443c007919d4701400f00000080000000002080000068801febf051df80000021c3f35f302274a9')
  const [df400, df401] = [[-321, 654] as const, [-65_536, 4_321] as const]
  const wanted: [frame: Uint8Array, header: Partial<Msm>, observations: MsmObservation[]][] = [
    [
      msm7,
      {
        type: 1077,
        stationId: 1234,
        epochTime: 408_698_000,
        multiple: true,
        iods: 0,
        clockSteering: 1,
        externalClock: 2,
      },
      cells7.map(({ at_ms, ...cell }, n) => ({
        ...cell,
        pseudorange_m: (at_ms + (df405[n] as number) / 2 ** 29) * c_m,
        phase_m: (at_ms + (df406[n] as number) / 2 ** 31) * c_m,
      })),
    ],
    [
      msm4,
      {
        ...{ type: 1084, stationId: 7, epochTime: 610_750_912, multiple: false, iods: 5 },
        ...{ clockSteering: 0, externalClock: 1, smoothing: true, smoothingInterval: 6 },
      },
      [0, 1].map((n) => ({
        ...{ satellite: 24, signal: [2, 8][n] as number, lock: [15, 9][n] as number },
        ...{ halfCycle: n === 0, cnr_dbhz: [47, 38][n] as number },
        pseudorange_m: (68 + 3 / 1024 + (df400[n] as number) / 2 ** 24) * c_m,
        phase_m: (68 + 3 / 1024 + (df401[n] as number) / 2 ** 29) * c_m,
      })),
    ],
  ]
  for (const [frame, header, observations] of wanted) {
    t.equal(crc24q(frame), 0)
    const decoded = decodeMsm(frame)
    t.match(decoded, header)
    t.equal(decoded?.observations.length, observations.length)
    for (const [n, want] of observations.entries()) {
      const { pseudorange_m = Number.NaN, phase_m = Number.NaN, ...rest } = decoded?.observations[n] ?? {}
      const { pseudorange_m: range_m, phase_m: wantedPhase_m, ...others } = want
      t.strictSame(rest, others)
      t.ok(Math.abs(pseudorange_m - (range_m as number)) < 1e-6, `${pseudorange_m}`)
      t.ok(Math.abs(phase_m - (wantedPhase_m as number)) < 1e-6, `${phase_m}`)
    }
    const info = decoded?.info && { info: { 3: 0, 17: 15 } }
    t.same(encodeMsm({ ...header, ...info, observations } as Msm), frame, 'encodes to the same bytes')
  }
  // 25 Feb 2021 was a Thursday: 17:31:20 UTC + 3 h, GPS 18 s ahead.
  const utc_ms = Date.UTC(2021, 1, 25, 17, 31, 20)
  const tow_ms = (utc_ms + 18_000 - Date.UTC(1980, 0, 6)) % 604_800_000
  t.equal(msmEpochTime('GLONASS', tow_ms, 18), 4 * 2 ** 27 + ((20 * 60 + 31) * 60 + 20) * 1000)
  t.equal(msmEpochTime('BeiDou', tow_ms, 18), (utc_ms + 4_000 - Date.UTC(2006, 0, 1)) % 604_800_000)
  t.equal(msmEpochTime('Galileo', tow_ms, 18), (utc_ms + 18_000 - Date.UTC(1999, 7, 22)) % 604_800_000)
})

t.test('MSM edges', async (t) => {
  const plain = { type: 1077, stationId: 0, epochTime: 0, multiple: false }
  const cell = (satellite: number, signal: number, pseudorange_m = 2e7): MsmObservation => ({
    satellite,
    signal,
    pseudorange_m,
  })
  const grid = (satellites: number, signals: number) =>
    Array.from({ length: satellites * signals }, (_, i) => cell(1 + (i % satellites), 1 + Math.floor(i / satellites)))
  t.equal(decodeMsmHeader(encodeMsm({ ...plain, observations: grid(32, 2) }))?.cells.length, 64)
  t.throws(() => encodeMsm({ ...plain, observations: grid(13, 5) }), RangeError, '65 pairs')
  t.throws(() => encodeMsm({ ...plain, observations: [cell(65, 1)] }), RangeError, 'satellite 65')
  t.throws(() => encodeMsm({ ...plain, type: 1078, observations: [] }), RangeError)
  t.throws(() => encodeMsm({ ...plain, observations: [cell(1, 1, 2e7), cell(1, 2, 2e7 + 700)] }), RangeError, 'apart')
  t.same(decodeMsm(encodeMsm({ ...plain, observations: [] }))?.observations, [], 'no satellite in view')
  t.same(
    decodeMsm(encodeMsm({ ...plain, observations: [{ satellite: 3, signal: 2 }] })),
    {
      ...plain,
      iods: 0,
      clockSteering: 0,
      externalClock: 0,
      smoothing: false,
      smoothingInterval: 0,
      observations: [{ satellite: 3, signal: 2, lock: 0, halfCycle: false }],
      info: { 3: 15 },
    },
    'a cell without any valid measurement',
  )
  const whole = encodeMsm({ ...plain, observations: grid(4, 2) })
  for (let size = 0; size < whole.length - 7; size++) {
    const cut = encodeFrame(whole.subarray(3, 3 + size))
    t.equal(decodeMsm(cut), undefined, `cut to ${size} bytes`)
  }
  t.equal(moreFollows(hex('D3000047EA4B')), false)
})

/** How the oracle names what is decoded here. */
const asOracle = (frame: Uint8Array): Record<string, unknown> => {
  const header = decodeMsmHeader(frame)
  if (header) {
    const glonass = constellationOf(header.type) === 'GLONASS'
    const { day, ms } = splitGlonassTime(header.epochTime)
    return {
      constellation: constellationOf(header.type),
      msmType: header.type % 10,
      stationId: header.stationId,
      epoch_raw30: header.epochTime,
      ...(glonass ? { dayOfWeek: day, timeOfDay_ms: ms } : { tow_ms: header.epochTime }),
      multipleMessage: Number(moreFollows(frame)),
      satellites: header.satellites,
      signals: header.signals,
      cells_used: header.cells.length || null,
    }
  }
  const message = decodeRtcm(frame)
  if (!message) return {}
  if (message.type === 1230) {
    const { l1ca, l1p, l2ca, l2p } = message.biases_m
    const masked = Object.entries({ L1CA: l1ca, L1P: l1p, L2CA: l2ca, L2P: l2p })
    return {
      stationId: message.stationId,
      biasIndicator: Number(message.biasesAligned),
      signalMask: masked.reduce((mask, [, bias]) => mask * 2 + (bias === undefined ? 0 : 1), 0),
      ...Object.fromEntries(
        masked.flatMap(([name, bias]) => (bias === undefined ? [] : [[`bias_${name}_0.02m`, Math.round(bias * 50)]])),
      ),
    }
  }
  if (message.type === 1005 || message.type === 1006) {
    const { type, x, y, z, virtual, ...rest } = message
    const { antennaHeight_m, ...flags } = 'antennaHeight_m' in rest ? rest : { ...rest, antennaHeight_m: undefined }
    const bits = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, Number(value)]))
    const lengths = { ecefX: x, ecefY: y, ecefZ: z, ...(type === 1006 && { antennaHeight: antennaHeight_m }) }
    return {
      ...bits,
      refStationIndicator: Number(virtual),
      ...Object.fromEntries(
        Object.entries(lengths).flatMap(([name, metres = 0]) => [
          [`${name}_m`, metres],
          [`${name}_0.1mm`, Math.round(metres * 10_000)],
        ]),
      ),
    }
  }
  const { type, antennaSetupId, ...texts } = message
  return { ...texts, setupId: antennaSetupId }
}

t.test('captures: every decoded field equals the oracle', { skip: noCaptures }, async (t) => {
  let compared = 0
  for (const { name, bytes, oracle } of captures()) {
    for (const [message, { first, last }] of Object.entries(oracle.values)) {
      // 1029 is free text, nothing that a base needs to read.
      if (!message.startsWith('RTCM-') || message === 'RTCM-1029') continue
      for (const { offset, ...want } of [first, last] satisfies OracleValues[]) {
        const frame = bytes.subarray(offset, offset + 6 + ((bytes[offset + 1] << 8) | bytes[offset + 2]))
        t.strictSame(asOracle(frame), want, `${name} ${message} at ${offset}`)
        compared++
      }
    }
  }
  t.ok(compared > 150, `${compared} messages`)
})

t.test('captures: what the station sends itself is encoded as other makers do', { skip: noCaptures }, async (t) => {
  const counts = { 1005: 0, 1006: 0, 1008: 0, 1033: 0 }
  for (const { name, bytes } of captures()) {
    const framer = new Framer({
      onFrame: (frame) => {
        if (frame.kind !== 'rtcm' || !(frame.type in counts)) return
        const message = decodeRtcm(frame.bytes) as RtcmMessage
        t.strictSame(encodeRtcm(message), frame.bytes, `${name}: ${JSON.stringify(message)}`)
        counts[frame.type as keyof typeof counts]++
      },
    })
    framer.push(bytes, 0)
    framer.flush()
  }
  t.ok(
    Object.values(counts).every((count) => count > 20),
    JSON.stringify(counts),
  )
})

t.test('captures: GGA fields equal the oracle', { skip: noCaptures }, async (t) => {
  for (const { name, bytes, oracle } of captures()) {
    const values = Object.entries(oracle.values).filter(([message]) => message === 'NMEA-GGA')
    for (const want of values.flatMap(([, { first, last }]) => [first, last])) {
      const gga = decodeGga(bytes.subarray(want.offset, bytes.indexOf(0x0a, want.offset) + 1))
      const degrees = (value: number | undefined) => (value === undefined ? null : Math.round(value * 1e9) / 1e9)
      t.strictSame(
        {
          time: gga?.time,
          lat_deg: degrees(gga?.lat),
          lon_deg: degrees(gga?.lon),
          quality: gga?.quality,
          numSV: gga?.satellitesUsed ?? null,
          hdop: gga?.hdop ?? null,
          alt_m: gga?.altMsl_m ?? null,
          geoidSep_m: gga?.geoidSeparation_m ?? null,
          diffAge_s: gga?.correctionAge_s ?? null,
          diffStation: gga?.correctionStation,
        },
        (({ offset, ...rest }) => rest)(want),
        `${name} GGA at ${want.offset}`,
      )
    }
  }
})

t.test('captures: observables agree with each other from epoch to epoch', { skip: noCaptures }, async (t) => {
  // The phase moves by its own rate, and pseudorange and phase move together, but for a few receiver clock resets.
  // u-blox F9 receivers of 2019 to 2022 send the rate with the sign turned round.
  const known: [name: string, rateSign: number][] = [
    ['gpsd_ublox-zed-f9t-rtcm3.log', -1],
    ['swiftnav_sept.rtcm', 1],
    ['swiftnav_javad.rtcm', 1],
  ]
  const all = captures()
  for (const [name, rateSign] of known) {
    const bytes = all.find((capture) => capture.name === name)?.bytes ?? new Uint8Array(0)
    const before = new Map<string, MsmObservation & { epochTime: number }>()
    let [pairs, ratesAgree, codesAgree, believable] = [0, 0, 0, 0]
    const compare = (type: number, epochTime: number, cell: MsmObservation) => {
      const key = `${type} ${cell.satellite} ${cell.signal}`
      const last = before.get(key)
      before.set(key, { ...cell, epochTime })
      if (epochTime - (last?.epochTime ?? 0) !== 1000 || (cell.lock ?? 0) < (last?.lock ?? 0)) return
      const phase_m = (cell.phase_m ?? Number.NaN) - (last?.phase_m ?? Number.NaN)
      const code_m = (cell.pseudorange_m ?? Number.NaN) - (last?.pseudorange_m ?? Number.NaN)
      const rate_mps = ((cell.rate_mps ?? Number.NaN) + (last?.rate_mps ?? Number.NaN)) / 2
      if (Number.isNaN(phase_m + code_m + rate_mps)) return
      pairs++
      if (Math.abs(phase_m - rateSign * rate_mps) < 0.5) ratesAgree++
      if (Math.abs(code_m - phase_m) < 12) codesAgree++
      const { pseudorange_m = 0, cnr_dbhz = 0 } = cell
      if (pseudorange_m > 17e6 && pseudorange_m < 43e6 && cnr_dbhz > 5 && cnr_dbhz < 64) believable++
    }
    const framer = new Framer({
      onFrame: (frame) => {
        const msm = decodeMsm(frame.bytes)
        for (const cell of msm?.observations ?? []) compare(msm?.type ?? 0, msm?.epochTime ?? 0, cell)
      },
    })
    framer.push(bytes, 0)
    t.ok(pairs > 1000, `${name}: ${pairs} pairs of epochs`)
    t.ok(ratesAgree / pairs > 0.99, `${name}: phase and rate`)
    t.ok(codesAgree / pairs > 0.99, `${name}: code and phase`)
    t.ok(believable / pairs > 0.95, `${name}: the distance and the signal of navigation satellites`)
  }
})

t.test('a 1005 agrees with the reference to 1 mm, a station ID exactly', async (t) => {
  const arp = { x: 4_444_030.8029, y: 3_085_671.1923, z: 3_366_657.919 }
  const announced = (by: Partial<typeof arp>, type: 1005 | 1006 = 1005) => {
    const { x = 0, y = 0, z = 0 } = by
    const position = { x: arp.x + x, y: arp.y + y, z: arp.z + z }
    const flags = { itrfYear: 0, gps: true, glonass: true, galileo: true, virtual: false, singleOscillator: true }
    const point = { ...flags, stationId: 7, quarterCycle: 0, ...position }
    return encodeRtcm(type === 1005 ? { type, ...point } : { type, ...point, antennaHeight_m: 0 })
  }
  t.equal(referenceDifference(announced({}), { arp, stationId: 7 }), undefined)
  t.equal(referenceDifference(announced({ x: -0.0001 }), { arp }), undefined, 'as a ZED-F9P truncates it')
  t.equal(referenceDifference(announced({ x: -0.0001, y: -0.0001, z: -0.0001 }), { arp }), undefined)
  t.equal(referenceDifference(announced({ z: 0.001 }), { arp }), undefined, 'the limit itself')
  t.equal(referenceDifference(announced({ z: 0.001 }, 1006), { arp }), undefined)
  t.match(referenceDifference(announced({ z: 0.0011 }), { arp }), {
    kind: 'position',
    values: { message: '1005', sent: /4444030.8029/ },
  })
  t.match(referenceDifference(announced({ x: -0.0011 }, 1006), { arp }), { kind: 'position' })
  t.match(
    referenceDifference(announced({ x: 0.0007, y: 0.0007, z: 0.0007 }), { arp }),
    { kind: 'position' },
    'in space',
  )
  t.same(referenceDifference(announced({}), { arp, stationId: 8 }), {
    kind: 'station-id',
    values: { message: '1005', sent: '7', wanted: '8' },
  })
})

t.test('captures: observables survive encoding and decoding unchanged', { skip: noCaptures }, async (t) => {
  let messages = 0
  for (const { name, bytes } of captures()) {
    let lost = 0
    const framer = new Framer({
      onFrame: (frame) => {
        const msm = frame.kind === 'rtcm' ? decodeMsm(frame.bytes) : undefined
        if (!msm) return
        messages++
        try {
          assert.deepEqual(decodeMsm(encodeMsm(msm)), msm)
        } catch (error) {
          if (lost++ === 0) t.error(error, name)
        }
      },
    })
    framer.push(bytes.subarray(0, 200_000), 0)
  }
  t.ok(messages > 1000, `${messages} messages`)
})
