/** Observations of receivers' own messages, written here by the tables of their manuals, and what happens to damaged ones. */
import fc from 'fast-check'
import t from 'tap'
import { encodeMsm, encodeRtcm, encodeUbx, gpsSeconds, msmEpochTime, msmType } from '../../runtime/lib/gnss/index.js'
import { type RinexVersion, readRaw, type StationFacts } from '../../runtime/lib/rinex/index.js'
import { MeasEpochObservations } from '../../runtime/lib/rinex/sources/meas-epoch-observations.js'
import { ObsvmObservations } from '../../runtime/lib/rinex/sources/obsvm-observations.js'
import { Random } from '../../runtime/lib/simulation/random.js'
import { measEpoch, type ObsvmRow, obsvm, type SbfFirst } from './support/receiver-frames.js'
import { readObservations } from './support/rinex-reader.js'

const light_mps = 299_792_458
const tow_ms = 522_205_000
const near_s = gpsSeconds({ week: 2419, tow_s: tow_ms / 1000 })
const station: StationFacts = {
  marker: 'ROOF',
  receiver: { type: 'UM980' },
  antenna: { type: 'TRM57971.00     NONE' },
  delta_m: { up: 0, east: 0, north: 0 },
}
const origin = { program: 'rtk-base', by: 'test', now_unix_s: 1_800_000_000 }

async function converted(parts: readonly Uint8Array[], version: RinexVersion = '3.05', near = near_s) {
  const found = await readRaw(() => parts, { near_s: near })
  if (!found) return undefined
  let text = ''
  for await (const part of found.observations(version, station, origin)) text += part
  return { found, text, read: readObservations(text) }
}

/** `G06 1C`, in the order of the message. */
const namesOf = (epoch: ReturnType<ObsvmObservations['epoch']>) =>
  epoch?.satellites.flatMap(({ number, signals, system }) =>
    signals.map(({ code }) => `${system}${String(number).padStart(2, '0')} ${code}`),
  )
const signalOf = (epoch: ReturnType<ObsvmObservations['epoch']>, name: string) =>
  epoch?.satellites
    .flatMap(({ number, signals, system }) =>
      signals.map((signal) => ({ ...signal, id: `${system}${number} ${signal.code}` })),
    )
    .find(({ id }) => id === name)

t.test('OBSVM', async (t) => {
  t.test('each signal of the manual has its code, and what is not in it is left out', async (t) => {
    const all: readonly (readonly [system: number, prn: number, expected: string, signals: readonly number[]])[] = [
      [0, 6, 'G06: 1C 1L 5I 2W 1S 5Q 2L', [0, 3, 6, 9, 11, 14, 17]],
      [1, 51, 'R14: 1C 2C 3I 3Q', [0, 5, 6, 7]],
      [2, 123, 'S23: 1C 5I', [0, 6]],
      [3, 36, 'E36: 1B 1C 5Q 7Q 6B 6C', [1, 2, 12, 17, 18, 22]],
      [4, 63, 'C63: 2I 2Q 7Q 6Q 1P 5P 7D 7I 6I 1D 5D', [0, 4, 5, 6, 8, 12, 13, 17, 21, 23, 28]],
      [5, 195, 'J03: 1C 1E 1L 1Z 5I 1S 5Q 2L 6S 6E', [0, 1, 3, 4, 6, 11, 14, 17, 21, 27]],
      [6, 9, 'I09: 5A', [6]],
      [7, 1, '', [0]],
      [0, 33, '', [0]],
      [1, 37, '', [0]],
      [4, 5, '', [31]],
    ]
    for (const [system, prn, expected, signals] of all) {
      const frame = obsvm(signals.map((signal) => ({ system, prn, signal, channel: 7 })))
      const [name = '', codes = ''] = expected.split(': ')
      const wanted = codes === '' ? [] : codes.split(' ').map((code) => `${name} ${code}`)
      t.strictSame(namesOf(new ObsvmObservations().epoch(frame)), wanted, expected || `nothing of ${system} ${prn}`)
    }
    const flagged = obsvm([
      { system: 0, prn: 6, signal: 9, l2c: true },
      { system: 4, prn: 2, signal: 0, l2c: true },
    ])
    t.strictSame(
      namesOf(new ObsvmObservations().epoch(flagged)),
      ['G06 2S', 'C02 2I'],
      'the flag of L2C is that of GPS',
    )
  })

  t.test('values, their signs, and those that are not valid', async (t) => {
    const row = { system: 0, prn: 6, signal: 0, range_m: 20_886_612.619, adr_cycles: -109_759_892.9967 }
    const values = { ...row, doppler_hz: 734.5, cno_dbhz: 50.07 }
    const epoch = new ObsvmObservations().epoch(
      obsvm([
        values,
        { ...values, prn: 7, flags: 6 },
        { ...values, prn: 8, flags: 5 },
        { ...values, prn: 9, flags: 3 },
        { ...values, prn: 10, range_m: Number.NaN, adr_cycles: Number.NaN, doppler_hz: Number.NaN, cno_dbhz: 0 },
        { ...values, system: 1, prn: 51, channel: 0 },
        { ...values, system: 1, prn: 52, channel: 20 },
      ]),
    )
    t.match(epoch, { week: 2419, tow_s: 522_205 })
    t.match(signalOf(epoch, 'G6 1C'), {
      range_m: 20_886_612.619,
      phase_cycles: 109_759_892.9967,
      doppler_hz: 734.5,
      cno_dbhz: 50.07,
      isHalf: false,
    })
    t.match(
      signalOf(epoch, 'G7 1C'),
      { range_m: 20_886_612.619, phase_cycles: undefined, doppler_hz: undefined, isHalf: false },
      'no phase lock',
    )
    t.match(signalOf(epoch, 'G8 1C'), { phase_cycles: 109_759_892.9967, isHalf: true }, 'parity is not known')
    t.match(signalOf(epoch, 'G9 1C'), { range_m: undefined, phase_cycles: 109_759_892.9967 }, 'no code lock')
    t.match(signalOf(epoch, 'G10 1C'), {
      range_m: undefined,
      phase_cycles: undefined,
      doppler_hz: undefined,
      cno_dbhz: undefined,
    })
    t.strictSame([...(epoch?.channels ?? [])], [[14, -7]], 'a frequency that GLONASS does not have is unknown')
  })

  t.test('a phase is broken if its lock time fell, or is shorter than the time since the last epoch', async (t) => {
    const observations = new ObsvmObservations()
    const isBroken = (second: number, lock_s: number, flags = 7) =>
      signalOf(
        observations.epoch(
          obsvm([{ system: 0, prn: 6, signal: 0, lock_s, flags }], { tow_ms: tow_ms + second * 1000 }),
        ),
        'G6 1C',
      )?.isBroken
    t.equal(isBroken(0, 100), false)
    t.equal(isBroken(1, 101), false)
    t.equal(isBroken(2, 0.01), true, 'tracked anew')
    t.equal(isBroken(3, 1.01), false)
    t.equal(isBroken(4, 0, 6), false, 'without a phase there is no break')
    t.equal(isBroken(14, 5), true, 'tracked for 5 of 11 seconds')
    t.equal(isBroken(15, 6), false)
  })
})

t.test('MeasEpoch', async (t) => {
  t.test('each signal of the manual has its code, and what is not in it is left out', async (t) => {
    const all: readonly (readonly [id: number, expected: string, signals: readonly number[]])[] = [
      [3, 'G03: 1C 1W 2W 2L 5Q 1L', [0, 1, 2, 3, 4, 5]],
      [183, 'J03: 1C 2L 5Q 6L 1L 1Z 1E 5P', [6, 7, 26, 27, 32, 33, 38, 39]],
      [38, 'R01: 1C 1P 2P 2C 3Q', [8, 9, 10, 11, 12]],
      [63, 'R25: 1C', [8]],
      [71, 'E01: 1C 6C 5Q 7Q 8Q', [17, 19, 20, 21, 22]],
      [120, 'S20: 1C 5I', [24, 25]],
      [198, 'S41: 1C', [24]],
      [141, 'C01: 1P 5P 2I 7I 6I 7D', [13, 14, 28, 29, 30, 34]],
      [223, 'C41: 2I', [28]],
      [191, 'I01: 5A', [15]],
      [216, 'I08: 5A', [15]],
      [62, '', [8]],
      [188, '', [6]],
      [107, '', [23]],
      [37, '', [0]],
      [3, '', [8]],
      [3, '', [16]],
      [246, '', [0]],
    ]
    for (const [id, expected, [first = 0, ...others]] of all) {
      const frame = measEpoch([
        { id, signal: first, info: 8 << 3, others: others.map((signal) => ({ signal, info: 8 << 3 })) },
      ])
      const [name = '', codes = ''] = expected.split(': ')
      const wanted = codes === '' ? [] : codes.split(' ').map((code) => `${name} ${code}`)
      t.strictSame(namesOf(new MeasEpochObservations().epoch(frame)), wanted, expected || `nothing of ${id}`)
    }
    const e6b = measEpoch([{ id: 71, signal: 19 }], { flags: 64 })
    t.strictSame(namesOf(new MeasEpochObservations().epoch(e6b)), ['E01 6B'])
  })

  t.test('values: in full, and as differences with both signs', async (t) => {
    const first: SbfFirst = {
      ...{
        id: 45,
        signal: 8,
        code: 19_701_966_949,
        doppler: 15_917_290,
        carrier: -1_234_567,
        cno: 152,
        lock: 800,
        info: (13 << 3) | 4,
      },
      others: [
        { signal: 11, code: 2_620, carrier: 654_321, doppler: -12_345, cno: 147, lock: 254, info: 0 },
        { signal: 10, code: -70_001, carrier: 0, doppler: 65_537, cno: 255, lock: 3, info: 4 },
      ],
    }
    const epoch = new MeasEpochObservations().epoch(
      measEpoch([first, { id: 1, signal: 2, cno: 100 }], { tow_ms: 141_548_250 }),
    )
    t.match(epoch, { week: 2426, tow_s: 141_548.25 })
    t.strictSame([...(epoch?.channels ?? [])], [[8, 5]])
    const [l1_hz, l2_hz] = [1602e6 + 5 * 562_500, 1246e6 + 5 * 437_500]
    const cycles = (range_m: number, hz: number) => (range_m * hz) / light_mps
    const near = (name: string, given: number | undefined, wanted: number) =>
      t.ok(Math.abs((given ?? Number.NaN) - wanted) < 1e-4, `${name}: ${given} ${wanted}`)
    const [a, b, c] = ['R8 1C', 'R8 2C', 'R8 2P'].map((name) => signalOf(epoch, name))
    near('first code', a?.range_m, 19_701_966.949)
    near('first phase', a?.phase_cycles, cycles(19_701_966.949, l1_hz) - 1_234.567)
    near('first Doppler', a?.doppler_hz, 1_591.729)
    t.match(a, { cno_dbhz: 48, isHalf: true })
    near('code', b?.range_m, 19_701_969.569)
    near('phase', b?.phase_cycles, cycles(19_701_969.569, l2_hz) + 654.321)
    near('Doppler', b?.doppler_hz, (1_591.729 * l2_hz) / l1_hz - 1.2345)
    t.match(b, { cno_dbhz: 46.75, isHalf: false })
    near('smaller code', c?.range_m, 19_701_966.949 - 70.001)
    near('larger Doppler', c?.doppler_hz, (1_591.729 * l2_hz) / l1_hz + 6.5537)
    t.match(c, { cno_dbhz: undefined, isHalf: true })
    t.match(signalOf(epoch, 'G1 2W'), { cno_dbhz: 25 }, 'P(Y) has no offset')
  })

  t.test('values that are not available', async (t) => {
    const others = [
      { signal: 2, code: -4 * 65_536, carrier: 5 },
      { signal: 3, carrier: -128 * 65_536, doppler: -16 * 65_536 },
      { signal: 4, lock: 255 },
    ]
    const epoch = new MeasEpochObservations().epoch(
      measEpoch([
        { id: 1, signal: 0, carrier: -128 * 65_536, doppler: -(2 ** 31), cno: 255, others },
        { id: 2, signal: 0, code: 0, others: [{ signal: 2 }] },
        { id: 3, signal: 0, lock: 65_535, others: [{ signal: 2, antenna: 1 }] },
        { id: 4, signal: 0, antenna: 2 },
      ]),
    )
    const nothing = { range_m: undefined, phase_cycles: undefined }
    t.match(signalOf(epoch, 'G1 1C'), {
      range_m: 2e7,
      phase_cycles: undefined,
      doppler_hz: undefined,
      cno_dbhz: undefined,
    })
    t.match(signalOf(epoch, 'G1 2W'), { ...nothing, doppler_hz: undefined })
    t.match(signalOf(epoch, 'G1 2L'), { range_m: 2e7, phase_cycles: undefined, doppler_hz: undefined })
    t.match(signalOf(epoch, 'G1 5Q'), { range_m: 2e7, phase_cycles: undefined })
    t.match([signalOf(epoch, 'G2 1C'), signalOf(epoch, 'G2 2W')], [nothing, nothing])
    t.match(signalOf(epoch, 'G3 1C'), { range_m: 2e7, phase_cycles: undefined })
    t.strictSame(
      namesOf(epoch)?.filter((name) => /G0[34]/.test(name)),
      ['G03 1C'],
      'other antennas are left out',
    )
  })

  t.test('lock times, of which those of further signals end at 254 s', async (t) => {
    const observations = new MeasEpochObservations()
    const isBroken = (second: number, first: number, other: number) => {
      const frame = measEpoch([{ id: 1, signal: 0, lock: first, others: [{ signal: 2, lock: other }] }], {
        tow_ms: tow_ms + second * 1000,
      })
      const epoch = observations.epoch(frame)
      return [signalOf(epoch, 'G1 1C')?.isBroken, signalOf(epoch, 'G1 2W')?.isBroken]
    }
    t.strictSame(isBroken(0, 1000, 254), [false, false])
    t.strictSame(isBroken(1, 1001, 254), [false, false])
    t.strictSame(isBroken(2, 0, 1), [true, true])
    t.strictSame(isBroken(3, 1, 2), [false, false])
    t.strictSame(isBroken(33, 65_534, 20), [false, true])
    t.strictSame(isBroken(34, 65_534, 21), [false, false])
  })

  t.test('the header says how the receiver treats its pseudoranges', async (t) => {
    const plain = await converted([measEpoch([{ id: 1, signal: 0 }])])
    t.notMatch(plain?.text, /Pseudoranges/)
    const treated = await converted([measEpoch([{ id: 1, signal: 0, info: 1 }], { flags: 3 })])
    t.match(treated?.text, /Pseudoranges: multipath mitigation is on +COMMENT\n/)
    t.match(treated?.text, /Pseudoranges: smoothed by the receiver +COMMENT\n/)
  })
})

const noBytes = Buffer.alloc(0)
const rows: readonly ObsvmRow[] = [
  { system: 0, prn: 6, signal: 0 },
  { system: 0, prn: 6, signal: 9 },
]
const good = { obsvm: obsvm(rows), sbf: measEpoch([{ id: 1, signal: 0, others: [{ signal: 2 }] }]) }

t.test('N10: each RXM-RAWX whose length fits its count is taken', async (t) => {
  const rawx = (tow_s: number, count: number) => {
    const payload = new DataView(new ArrayBuffer(16 + 32 * count))
    payload.setFloat64(0, tow_s, true)
    payload.setUint16(8, 2419, true)
    payload.setInt8(10, 18)
    payload.setUint8(11, count)
    for (let row = 0; row < count; row++) {
      const at = 16 + 32 * row
      payload.setFloat64(at, 21e6 + row, true)
      payload.setFloat64(at + 8, 1.1e8, true)
      payload.setUint8(at + 21, 1 + (row % 32))
      payload.setUint8(at + 22, [0, 3, 4, 6, 7][Math.floor(row / 32)] ?? 1)
      payload.setUint16(at + 24, 64_500, true)
      payload.setUint8(at + 26, 45)
      payload.setUint8(at + 30, 7)
    }
    return encodeUbx(0x02, 0x15, new Uint8Array(payload.buffer))
  }
  const counts = [1, 127, 128, 129, 160, 200, 255]
  const all = counts.map((count, index) => rawx(tow_ms / 1000 + index, count))
  const bytes = Buffer.concat(all)
  for (const size of [bytes.length, 4096, 1000]) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const found = await readRaw(() => parts, { near_s })
    t.match(found, { source: 'RAWX', epochs: counts.length, skipped: { checksums: 0, contents: 0 } }, `${size}`)
  }
})

t.test('damaged messages are skipped and counted, and the ones behind them are read', async (t) => {
  const behind = [obsvm(rows, { tow_ms: tow_ms + 1000 }), obsvm(rows, { tow_ms: tow_ms + 2000 })]
  for (const [name, bytes, skipped] of [
    ['a count beyond the end', obsvm(rows, {}, 3), { checksums: 0, contents: 1 }],
    ['a huge count', obsvm(rows, {}, 0xffff_ffff), { checksums: 0, contents: 1 }],
    ['no time', obsvm(rows, { status: 20 }), { checksums: 0, contents: 1 }],
    ['no week', obsvm(rows, { week: 0 }), { checksums: 0, contents: 1 }],
    ['BeiDou time', obsvm(rows, { reference: 1 }), { checksums: 0, contents: 1 }],
    ['a time that no week has', obsvm(rows, { tow_ms: 604_800_000 }), { checksums: 0, contents: 1 }],
    ['a flipped bit', good.obsvm.map((byte, at) => (at === 60 ? byte ^ 4 : byte)), { checksums: 1, contents: 0 }],
  ] as const) {
    const found = await readRaw(() => [bytes, ...behind], { near_s })
    t.match(found, { source: 'OBSVM', epochs: 2, skipped }, name)
  }
  const later = [1, 2].map((second) => measEpoch([{ id: 1, signal: 0 }], { tow_ms: 141_548_000 + second * 1000 }))
  for (const [name, bytes, skipped] of [
    ['a count beyond the end', measEpoch([{ id: 1, signal: 0 }], { count: 255 }), { checksums: 0, contents: 1 }],
    ['sub-blocks that are too short', measEpoch([{ id: 1, signal: 0 }], { size: 0 }), { checksums: 0, contents: 1 }],
    ['scrambled', measEpoch([{ id: 1, signal: 0 }], { flags: 128 }), { checksums: 0, contents: 1 }],
    ['no time', measEpoch([{ id: 1, signal: 0 }], { tow_ms: 0xffff_ffff }), { checksums: 0, contents: 1 }],
    ['no week', measEpoch([{ id: 1, signal: 0 }], { week: 0xffff }), { checksums: 0, contents: 1 }],
    ['a flipped bit', good.sbf.map((byte, at) => (at === 30 ? byte ^ 4 : byte)), { checksums: 1, contents: 0 }],
  ] as const) {
    const found = await readRaw(() => [bytes, ...later], { near_s })
    t.match(found, { source: 'MeasEpoch', epochs: 2, skipped }, name)
  }
  t.equal(await readRaw(() => [good.obsvm.subarray(0, -1)], { near_s }), undefined, 'cut off')
  t.equal(await readRaw(() => [good.sbf.subarray(0, -1)], { near_s }), undefined, 'cut off')

  t.test('any bytes with a right checksum give an epoch within RINEX or none', async (t) => {
    const [unicore, septentrio] = [new ObsvmObservations(), new MeasEpochObservations()]
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(63), (bytes, from) => {
        for (const [observations, start] of [
          [unicore, good.obsvm.subarray(0, from)],
          [septentrio, good.sbf.subarray(0, from)],
        ] as const) {
          const epoch = observations.epoch(Buffer.concat([start, bytes]))
          for (const { number, signals } of epoch?.satellites ?? []) {
            if (number < 1 || number > 63) throw new Error(`${number}`)
            for (const { range_m = 0, phase_cycles = 0, doppler_hz = 0 } of signals) {
              if (![range_m, phase_cycles, doppler_hz].every(Number.isFinite)) throw new Error('not finite')
            }
          }
        }
      }),
      { numRuns: 3_000 },
    )
    t.pass()
  })

  t.test('noise between messages costs none of them', async (t) => {
    const random = new Random(1)
    const noise = () => Buffer.from(Array.from({ length: 300 }, () => Math.floor(random.uniform() * 256)))
    const parts = Array.from({ length: 200 }, (_, second) => [
      noise(),
      obsvm(rows, { tow_ms: tow_ms + second * 1000 }),
    ]).flat()
    const found = await readRaw(() => parts, { near_s })
    t.match(found, { epochs: 200, missing: 0 })
  })

  t.test('a UM980 under an open sky needs more than 8 KB a message', async (t) => {
    const many = Array.from({ length: 63 }, (_, at) =>
      [0, 8, 12, 13, 21].map((signal) => ({ system: 4, prn: at + 1, signal })),
    ).flat()
    const frame = obsvm(many)
    t.equal(frame.length, 24 + 4 + 40 * 315 + 4)
    const found = await readRaw(
      () => Array.from({ length: Math.ceil(frame.length / 100) }, (_, at) => frame.subarray(at * 100, at * 100 + 100)),
      { near_s },
    )
    t.equal(found?.satellites.length, 63)
    const row = { system: 0, prn: 6, signal: 0 }
    const [largest, larger] = [408, 409].map((count) => obsvm(Array.from({ length: count }, () => row)))
    t.match(await readRaw(() => [largest ?? noBytes], { near_s }), { epochs: 1 })
    const behind = await readRaw(() => [larger ?? noBytes, obsvm(rows, { tow_ms: tow_ms + 1000 })], { near_s })
    t.match(behind, { epochs: 1, contents: { first: { tow_s: 522_206 } } }, 'more than 16 KB is no message')
  })
})

type Constellation = 'GPS' | 'GLONASS' | 'Galileo'
function msm(
  constellation: Constellation,
  second: number,
  multiple: boolean,
  signals: readonly number[] = [2],
): Uint8Array {
  const at_ms = tow_ms + second * 1000
  const observations = signals.map((signal) => ({
    ...{
      satellite: 1,
      signal,
      pseudorange_m: 2e7 + signal,
      phase_m: 2e7 + 10 * signal,
      rate_mps: undefined,
      lock: 500,
    },
    ...{ halfCycle: false, cnr_dbhz: 40 + signal / 16 },
  }))
  const info = constellation === 'GLONASS' ? { info: { 1: 8 } } : {}
  const epochTime = msmEpochTime(constellation, at_ms, 18)
  return encodeMsm({ type: msmType(constellation, 7), stationId: 1, epochTime, multiple, observations, ...info })
}
const secondsOf = (epochs: readonly { readonly time: string }[] = []) =>
  epochs.map(({ time }) => Number(time.slice(-10)))

t.test('observations of two kinds in one stream are written once', async (t) => {
  const both = [0, 1, 2].flatMap((second) => [
    obsvm(rows, { tow_ms: tow_ms + second * 1000 }),
    msm('GPS', second, false),
  ])
  const mixed = await converted(both)
  t.equal(mixed?.found.source, 'OBSVM')
  t.strictSame(secondsOf(mixed?.read.epochs), [25, 26, 27])
  t.strictSame([...(mixed?.read.epochs[0]?.satellites.keys() ?? [])], ['G06'])
  const few = await converted([obsvm(rows), ...[0, 1, 2].map((second) => msm('GPS', second, false))])
  t.equal(few?.found.source, 'MSM', 'a single message of its own is not all that was observed')
  t.strictSame(secondsOf(few?.read.epochs), [25, 26, 27])
})

t.test('an epoch without its last message', async (t) => {
  const whole = (second: number) => [
    msm('GPS', second, true),
    msm('GLONASS', second, true),
    msm('Galileo', second, false),
  ]
  const names = (epoch: number, result: Awaited<ReturnType<typeof converted>>) => [
    ...(result?.read.epochs[epoch]?.satellites.keys() ?? []),
  ]
  const middle = await converted([...whole(0), ...whole(1).slice(0, 2), ...whole(2)])
  t.strictSame(secondsOf(middle?.read.epochs), [25, 26, 27], 'between others it has what came')
  t.strictSame(
    [names(1, middle), names(2, middle)],
    [
      ['G01', 'R01'],
      ['G01', 'R01', 'E01'],
    ],
  )
  const end = await converted([...whole(0), ...whole(1), ...whole(2).slice(0, 2)])
  t.strictSame(secondsOf(end?.read.epochs), [25, 26], 'at the end it is left for the next file')
  t.equal(end?.found.missing, 0)
  t.equal(await converted(whole(0).slice(0, 2)), undefined)
})

t.test('2.11 has C2 and P2, and phases of P on L2', async (t) => {
  const old = await converted([msm('GPS', 0, true, [2, 4, 10, 16]), msm('GLONASS', 0, false, [2, 3, 8, 9])], '2.11')
  t.strictSame(old?.read.types.get(''), ['C1', 'P1', 'L1', 'D1', 'S1', 'C2', 'P2', 'L2', 'D2', 'S2'])
  const values = (name: string) => {
    const found = old?.read.epochs[0]?.satellites.get(name)
    return ['C1', 'P1', 'C2', 'P2', 'S1', 'S2'].map((type) => found?.get(type)?.value)
  }
  const [c, s] = [(signal: number) => 2e7 + signal, (signal: number) => 40 + signal / 16]
  t.strictSame(
    values('G01').map((value) => Math.round(value ?? 0)),
    [c(2), c(4), c(16), c(10), s(2), s(10)].map(Math.round),
  )
  t.strictSame(
    values('R01').map((value) => Math.round(value ?? 0)),
    [c(2), c(3), c(8), c(9), s(2), s(9)].map(Math.round),
  )
  const hz = [1575.42e6, 1227.6e6]
  for (const [at, [type, signal]] of (
    [
      ['L1', 2],
      ['L2', 10],
    ] as const
  ).entries()) {
    const wanted = ((2e7 + 10 * signal) * (hz[at] ?? 0)) / light_mps
    t.ok(Math.abs((old?.read.epochs[0]?.satellites.get('G01')?.get(type)?.value ?? 0) - wanted) < 0.01, type)
  }
  const onlyC = await converted([msm('GPS', 0, false, [2, 16])], '2.11')
  t.strictSame(onlyC?.read.types.get(''), ['C1', 'L1', 'D1', 'S1', 'C2', 'L2', 'D2', 'S2'])
  t.ok(onlyC?.read.epochs[0]?.satellites.get('G01')?.get('L2'), 'L2 of L2C where there is no P')
})

t.test('the header about GLONASS and about phases', async (t) => {
  const bias = (biasesAligned: boolean, biases_m: { l1ca?: number; l2ca?: number }) =>
    encodeRtcm({
      type: 1230,
      stationId: 1,
      biasesAligned,
      biases_m: { l1ca: undefined, l1p: undefined, l2ca: undefined, l2p: undefined, ...biases_m },
    })
  const epochs = [msm('GPS', 0, true), msm('GLONASS', 0, false, [2, 8])]
  const phaseOf = (result: Awaited<ReturnType<typeof converted>>) =>
    result?.read.epochs[0]?.satellites.get('R01')?.get('L1C')?.value

  const none = await converted(epochs)
  t.strictSame([...(none?.read.biases_m ?? [])], [], 'blank without 1230')
  t.strictSame([...(none?.read.slots ?? [])], [[1, 1]])
  t.strictSame(
    [...(none?.read.shifts ?? [])],
    [
      ['GL1C', 0],
      ['RL1C', 0],
      ['RL2C', 0],
    ],
    'MSM is aligned',
  )

  const aligned = await converted([...epochs, bias(true, { l1ca: -71.94, l2ca: 0 })])
  t.strictSame(
    [...(aligned?.read.biases_m ?? [])],
    [
      ['C1C', -71.94],
      ['C2C', 0],
    ],
  )
  t.equal(phaseOf(aligned), phaseOf(none))

  const raw = await converted([...epochs, bias(false, { l1ca: 19.06 })])
  t.strictSame([...(raw?.read.biases_m ?? [])], [], 'corrections that were not applied')
  t.match(raw?.text, /Add, in metres: *COMMENT\nC1C 19\.060 +COMMENT/)
  t.equal(phaseOf(raw), phaseOf(none))

  const changed = await converted([...epochs, bias(true, { l1ca: 1 }), bias(true, { l1ca: 2 })])
  t.strictSame([...(changed?.read.biases_m ?? [])], [], 'that changed')

  const own = await converted([
    ...epochs,
    bias(true, { l1ca: 1 }),
    obsvm([{ system: 1, prn: 51, signal: 0, channel: 3 }, ...rows]),
  ])
  t.equal(own?.found.source, 'OBSVM')
  t.strictSame([...(own?.read.biases_m ?? [])], [], '1230 is about MSM')
  t.strictSame([...(own?.read.slots ?? [])], [[14, -4]])
  t.strictSame(
    [...(own?.read.shifts ?? [])],
    [
      ['G', undefined],
      ['R', undefined],
    ],
    'not known for its own messages',
  )
  const noGlonass = await converted([msm('GPS', 0, false), bias(true, { l1ca: 1 })])
  t.notMatch(noGlonass?.text, /GLONASS/)
})
