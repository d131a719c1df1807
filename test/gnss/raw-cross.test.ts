/** MSM of real receivers against their own raw observations: what a base passes on is what it measured. */
import t from 'tap'
import { decodeMsm, Framer, type Msm } from '../../runtime/lib/gnss/index.js'
import { noRecording, recorded } from './support/recordings.js'

const skip = noRecording('unicore-um980-raw-cross')
const light_mps = 299_792_458

function msmOf(bytes: Buffer): Msm[] {
  const found: Msm[] = []
  const framer = new Framer({
    onFrame: (frame) => {
      const msm = frame.kind === 'rtcm' ? decodeMsm(frame.bytes) : undefined
      if (msm) found.push(msm)
    },
  })
  framer.push(bytes, 0)
  framer.flush()
  return found
}

interface Raw {
  readonly satellite: number
  readonly signal: number
  readonly frequency_hz: number
  readonly range_m: number
  readonly phase_m: number
  readonly doppler_mps: number
}

/** Signal type → position in the mask of an MSM, and frequency. */
type Signals = Readonly<Record<number, readonly [msm: number, frequency_hz: number]>>

/** BeiDou: system 4 of the tracking status. @see Unicore reference commands manual, OBSVM */
const unicoreBeidou: Signals = {
  ...{ 0: [2, 1561.098e6], 21: [8, 1268.52e6], 17: [14, 1207.14e6] },
  ...{ 12: [23, 1176.45e6], 13: [25, 1207.14e6], 8: [31, 1575.42e6] },
}

/** OBSVM: 40 bytes an observation behind their number. */
function obsvm(bytes: Buffer): Raw[] {
  const at = bytes.indexOf(Buffer.from([0xaa, 0x44, 0xb5]))
  for (let from = at; from >= 0; from = bytes.indexOf(Buffer.from([0xaa, 0x44, 0xb5]), from + 1)) {
    if (bytes.readUInt16LE(from + 4) !== 12) continue
    const body = bytes.subarray(from + 24)
    return Array.from({ length: body.readUInt32LE(0) }, (_, i) => body.subarray(4 + 40 * i, 44 + 40 * i)).flatMap(
      (one) => {
        const status = one.readUInt32LE(36)
        const signal = ((status >> 16) & 7) === 4 ? unicoreBeidou[(status >> 21) & 31] : undefined
        if (!signal) return []
        const [msm, frequency_hz] = signal
        const wavelength_m = light_mps / frequency_hz
        return {
          ...{ satellite: one.readUInt16LE(2), signal: msm, frequency_hz, range_m: one.readDoubleLE(4) },
          ...{ phase_m: -one.readDoubleLE(12) * wavelength_m, doppler_mps: one.readFloatLE(24) * wavelength_m },
        }
      },
    )
  }
  return []
}

/** To the nearest whole cycle. */
const beyondCycles_m = (metres: number, frequency_hz: number) => {
  const wavelength_m = light_mps / frequency_hz
  return Math.abs(metres - wavelength_m * Math.round(metres / wavelength_m))
}
const middle = (values: readonly number[]) => values.toSorted((p, q) => p - q)[values.length >> 1] ?? 0

t.test('UM980: the same epoch, whose clock is steered in MSM', { skip }, async (t) => {
  const bytes = recorded('unicore-um980-raw-cross')
  const raw = obsvm(bytes)
  const cells = msmOf(bytes)
    .filter(({ type, epochTime }) => type === 1127 && epochTime === 522_191_000)
    .flatMap(({ observations }) => observations)
  const pairs = cells.flatMap((cell) => {
    const own = raw.find(({ satellite, signal }) => satellite === cell.satellite && signal === cell.signal)
    return own && cell.pseudorange_m !== undefined ? [{ cell, own, code_m: own.range_m - cell.pseudorange_m }] : []
  })
  t.equal(pairs.length, 62)
  // Later by the error of its clock; the rate has the sign of the Doppler.
  const offset_s = middle(pairs.map(({ code_m }) => code_m)) / light_mps
  const clock_s = middle(pairs.map(({ code_m, own }) => (code_m - own.doppler_mps * offset_s) / light_mps))
  let phases = 0
  for (const { cell, own, code_m } of pairs) {
    const steered_m = clock_s * (light_mps + own.doppler_mps)
    const name = `C${cell.satellite} ${cell.signal}`
    t.ok(Math.abs(code_m - steered_m) < 0.02, `${name} code`)
    t.ok(Math.abs((cell.rate_mps ?? 0) - own.doppler_mps + 0.238) < 0.01, `${name} rate`)
    if (cell.phase_m === undefined) continue
    phases++
    t.ok(beyondCycles_m(own.phase_m - cell.phase_m - steered_m, own.frequency_hz) < 0.001, `${name} phase`)
  }
  t.ok(phases > 55, `${phases}`)
})

/** Of MeasEpoch. @see Septentrio mosaic reference guide, "Signal type" */
const septentrio: Readonly<Record<number, readonly [type: number, msm: number, frequency_hz: number]>> = {
  ...{ 0: [1077, 2, 1575.42e6], 2: [1077, 10, 1227.6e6], 8: [1087, 2, 1602e6], 11: [1087, 8, 1246e6] },
  ...{ 17: [1097, 2, 1575.42e6], 20: [1097, 23, 1176.45e6], 21: [1097, 15, 1207.14e6] },
  ...{ 28: [1127, 2, 1561.098e6], 29: [1127, 14, 1207.14e6], 30: [1127, 8, 1268.52e6] },
}
/** Those of signals that no MSM of the recording has, but that others are relative to. */
const frequencies: Readonly<Record<number, number>> = {
  ...{ 1: 1575.42e6, 3: 1227.6e6, 4: 1176.45e6, 13: 1575.42e6, 14: 1176.45e6, 19: 1278.75e6, 34: 1207.14e6 },
}
const firsts: Readonly<Record<number, number>> = { 1077: 0, 1087: 37, 1097: 70, 1127: 140 }

interface SbfRaw extends Raw {
  readonly type: number
}

/** The signals of a MeasEpoch: the first of a satellite in full, the others as differences. */
function measEpoch(bytes: Buffer): SbfRaw[] {
  const at = bytes.indexOf(Buffer.from('$@', 'latin1'))
  const block = bytes.subarray(at, at + bytes.readUInt16LE(at + 6))
  t.equal(block.readUInt16LE(4) & 0x1fff, 4027)
  const [count, size, sizeOfOthers] = [block.readUInt8(14), block.readUInt8(15), block.readUInt8(16)]
  const found: SbfRaw[] = []
  let from = 20
  for (let left = count; left > 0; left--) {
    const one = block.subarray(from, from + size)
    const [id, info] = [one.readUInt8(2), one.readUInt8(18)]
    const number = typeOf(one.readUInt8(1), info)
    const range_m = ((one.readUInt8(3) & 0x0f) * 2 ** 32 + one.readUInt32LE(4)) / 1000
    const doppler_hz = one.readInt32LE(8) / 10_000
    const first_hz = frequencyOf(number, info)
    const add = (type: number, frequency_hz: number, code_m: number, cycles: number, hz: number) => {
      const [msmType, msm] = septentrio[type] ?? []
      if (msmType === undefined || msm === undefined) return
      const wavelength_m = light_mps / frequency_hz
      const satellite = id - (firsts[msmType] ?? 0)
      const phase_m = code_m + cycles * wavelength_m
      found.push({
        type: msmType,
        satellite,
        signal: msm,
        frequency_hz,
        range_m: code_m,
        phase_m,
        doppler_mps: hz * wavelength_m,
      })
    }
    add(number, first_hz, range_m, (one.readInt8(14) * 65_536 + one.readUInt16LE(12)) / 1000, doppler_hz)
    from += size
    for (let others = one.readUInt8(19); others > 0; others--) {
      const other = block.subarray(from, from + sizeOfOthers)
      from += sizeOfOthers
      const type = typeOf(other.readUInt8(0), other.readUInt8(5))
      const frequency_hz = frequencyOf(type, info)
      const msb = other.readUInt8(3)
      const codeMsb = ((msb & 0x07) << 29) >> 29
      const dopplerMsb = ((msb & 0xf8) << 24) >> 27
      const code_m = range_m + (codeMsb * 65_536 + other.readUInt16LE(6)) / 1000
      const cycles = (other.readInt8(4) * 65_536 + other.readUInt16LE(8)) / 1000
      const hz = (doppler_hz * frequency_hz) / first_hz + (dopplerMsb * 65_536 + other.readUInt16LE(10)) / 10_000
      add(type, frequency_hz, code_m, cycles, hz)
    }
  }
  return found
}

/** From 32 on in the information. */
const typeOf = (byte: number, info: number) => ((byte & 0x1f) === 31 ? (info >> 3) + 32 : byte & 0x1f)

/** GLONASS: the number of its frequency is in the information. */
function frequencyOf(type: number, info: number): number {
  const [, , frequency_hz = frequencies[type] ?? Number.NaN] = septentrio[type] ?? []
  const step_hz = { 8: 562_500, 11: 437_500 }[type] ?? 0
  return frequency_hz + step_hz * ((info >> 3) - 8)
}

t.test('mosaic: a second apart, which the rates of both bridge', { skip }, async (t) => {
  const bytes = recorded('septentrio-mosaic-g5-raw-cross')
  const raw = measEpoch(bytes)
  const pairs = msmOf(bytes).flatMap(({ type, observations }) =>
    observations.flatMap((cell) => {
      const own = raw.find((one) => one.type === type && one.satellite === cell.satellite && one.signal === cell.signal)
      if (!own || cell.pseudorange_m === undefined || cell.rate_mps === undefined) return []
      const way_m = (cell.rate_mps - own.doppler_mps) / 2
      const phase_m = cell.phase_m === undefined ? Number.NaN : cell.phase_m - own.phase_m - way_m
      return {
        name: `${type} ${cell.satellite} ${cell.signal}`,
        own,
        code_m: cell.pseudorange_m - own.range_m - way_m,
        phase_m,
      }
    }),
  )
  t.ok(pairs.length >= 50, `${pairs.length}`)
  const clock_m = middle(pairs.map(({ phase_m }) => phase_m).filter(Number.isFinite))
  for (const { name, code_m } of pairs) {
    // The codes of two epochs have noise of their own, the rates have that of the bridge.
    t.ok(Math.abs(code_m - clock_m) < 0.5, `${name} code ${code_m}`)
  }
  const whole = pairs.filter(({ phase_m }) => Math.abs(phase_m - clock_m) < 0.12)
  t.ok(whole.length >= pairs.length - 2, `${whole.length} of ${pairs.length} phases without an offset`)
})
