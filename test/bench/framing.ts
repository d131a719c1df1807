/** How fast the framer is: bytes of mixed UBX, RTCM 3 and NMEA a second, every checksum verified. */
import { encodeNmea } from '../../runtime/lib/gnss/nmea.js'
import {
  type Constellation,
  encodeMsm,
  encodeRtcm,
  type MsmObservation,
  msmType,
} from '../../runtime/lib/gnss/rtcm/messages.js'
import { encodeUbx } from '../../runtime/lib/gnss/ubx.js'
import { captures } from '../harness/captures.js'
import { atLeast, lost, type Measurement } from './measurement.js'
import { definePart, leaveOut } from './part.js'
import { ofTree } from './tree.js'

interface Size {
  readonly bytes: number
  readonly rounds: number
}

type Gnss = typeof import('../../runtime/lib/gnss/index.js')

const budget_MBps = 150

/** What a base on a desk sends in one second: NMEA on, MSM7 for four constellations, navigation messages, 1005 and 1230. */
function second(tow_ms: number): Uint8Array[] {
  const observed: [Constellation, number, number[]][] = [
    ['GPS', 9, [2, 16]],
    ['GLONASS', 8, [2, 8]],
    ['Galileo', 8, [2, 15]],
    ['BeiDou', 6, [2, 14]],
  ]
  const msm = observed.map(([constellation, satellites, signals], i) =>
    encodeMsm({
      type: msmType(constellation, 7),
      stationId: 1,
      epochTime: tow_ms,
      multiple: i < observed.length - 1,
      observations: Array.from({ length: satellites }, (_, n) =>
        signals.map((signal): MsmObservation => {
          const range_m = 20_000_000 + n * 654_321.0123 + tow_ms / 7
          return {
            satellite: n * 3 + 1,
            signal,
            pseudorange_m: range_m,
            phase_m: range_m + 1.234,
            lock: 600,
            cnr_dbhz: 45,
          }
        }),
      ).flat(),
    }),
  )
  const noise = (size: number) =>
    Uint8Array.from({ length: size }, (_, i) => (i * 2_654_435_761 + tow_ms * 40_503) >>> 13)
  return [
    encodeUbx(1, 0x07, noise(92)),
    encodeUbx(1, 0x13, noise(28)),
    encodeUbx(1, 0x35, noise(8 + 12 * 31)),
    encodeUbx(0x0a, 0x38, noise(52)),
    ...msm,
    encodeRtcm({ type: 1230, stationId: 1, biasesAligned: true, biases_m: { l1ca: 0, l2ca: 0 } }),
    ...['GNGGA,123519.00,5200.0000000,N,00400.0000000,E,4,24,0.55,5.432,M,44.568,M,1.0,1234'].map(encodeNmea),
    ...Array.from({ length: 6 }, (_, i) =>
      encodeNmea(`GPGSV,6,${i + 1},24,01,40,083,46,02,17,308,41,12,07,344,39,14,22,228,45`),
    ),
    encodeNmea('GNRMC,123519.00,A,5200.0000000,N,00400.0000000,E,0.004,,211126,,,R,V'),
  ]
}

interface Stream {
  bytes: Uint8Array
  frames: number
}

function stream(size: number): Stream {
  const bytes = new Uint8Array(size)
  const all = { used: 0, frames: 0 }
  for (let tow_ms = 0; ; tow_ms += 1000) {
    for (const frame of second(tow_ms)) {
      if (all.used + frame.length > size) return { bytes: bytes.subarray(0, all.used), frames: all.frames }
      bytes.set(frame, all.used)
      all.used += frame.length
      all.frames++
    }
  }
}

/** Captures with as many bytes as a receiver sent, text headers and garbage included; the corrupt and the tiny ones measure nothing. */
function recorded(): Stream | undefined {
  const real = captures().filter(
    ({ oracle, bytes }) => bytes.length > 30_000 && oracle.framing.bytes.garbage < bytes.length / 50,
  )
  if (real.length === 0) {
    leaveOut('captures: set RTK_BASE_CAPTURES to their folder')
    return undefined
  }
  const frames = real.reduce((sum, { oracle: { framing } }) => {
    const { UBX, RTCM3, NMEA } = framing.frames
    return sum + UBX + RTCM3 + NMEA
  }, 0)
  return { bytes: new Uint8Array(Buffer.concat(real.map(({ bytes }) => bytes))), frames }
}

/** Every checksum is verified: the best of some rounds by processor time, and the frames that all of them lost. */
function measure(
  { Framer }: Gnss,
  { bytes, frames }: Stream,
  chunkSize: number,
  size: Size,
  what: string,
  budget: number,
): Measurement[] {
  let best = 0
  let came = 0
  const repeat = Math.max(1, Math.round(size.bytes / bytes.length))
  for (let round = 0; round < size.rounds; round++) {
    const framer = new Framer({ onFrame: () => void came++ })
    const start = process.cpuUsage()
    for (let n = 0; n < repeat; n++) {
      for (let at = 0; at < bytes.length; at += chunkSize) framer.push(bytes.subarray(at, at + chunkSize), 0)
    }
    const { user, system } = process.cpuUsage(start)
    best = Math.max(best, (bytes.length * repeat) / (user + system))
  }
  return [
    atLeast(`framing, ${what}`, best, budget, 'MB/s'),
    lost(`framing, ${what}: frames lost`, frames * repeat * size.rounds, came, 'frames'),
  ]
}

export const part = definePart<Size>({
  sizes: { full: { bytes: 8_000_000, rounds: 7 }, smoke: { bytes: 1_000_000, rounds: 3 } },
  async run(size) {
    const gnss = await ofTree<Gnss>('rtk-base/gnss')
    const synthetic = stream(size.bytes)
    const real = recorded()
    return [
      ...measure(gnss, synthetic, 65_536, size, 'mixed stream in 64 KiB chunks', budget_MBps),
      // A serial port hands over small chunks: most frames are cut, so this way through the framer is measured too.
      ...measure(gnss, synthetic, 240, size, 'mixed stream in 240-byte chunks', budget_MBps / 3),
      ...(real ? measure(gnss, real, 65_536, size, 'captures in 64 KiB chunks', budget_MBps) : []),
    ]
  },
})
