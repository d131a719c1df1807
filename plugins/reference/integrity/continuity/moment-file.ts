/** The last trusted moment in a small file that wears no flash: for the next process, after a kill too. */
import { join } from 'node:path'
import { StateFile } from 'rtk-base/files'
import { crc24q, decodeEphemeris, type Ephemeris, msmBandOf, type ObservedSatellite } from 'rtk-base/gnss'
import type { DataDir } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'
import type { CodeLevel } from './code-levels.js'
import { Moment, type TrustedMoment } from './moment.js'
import type { Bridging } from './observed.js'
import type { Observations } from './observed-base.js'

/** Bounds of what is read: a constellation has at most 63 satellites, with a few signals each. */
const most = { satellites: 192, signals: 8, levels: 768, frames: 192, frame: 400 } as const

const number = Type.Number()
const variance = Type.Number({ minimum: 0 })
const constellation = Type.Union([Type.Literal('GPS'), Type.Literal('Galileo'), Type.Literal('BeiDou')])
const satellite = Type.Integer({ minimum: 1, maximum: 64 })
const signal = Type.Integer({ minimum: 1, maximum: 32 })
const sight = Type.Tuple([number, number, number])

const StoredObservations = Type.Object({
  at_s: Type.Number({ minimum: 0 }),
  unchecked: Type.Optional(
    Type.Object({ east: number, north: number, up: number, level_m2: variance, up_m2: variance }),
  ),
  /** Signal, code, phase, least lock time. */
  satellites: Type.Array(
    Type.Object({
      constellation,
      satellite,
      signals: Type.Array(Type.Tuple([signal, number, number, Type.Number({ minimum: 0 })]), {
        maxItems: most.signals,
      }),
    }),
    { maxItems: most.satellites },
  ),
  /** RTCM frames, base64. */
  ephemerides: Type.Array(Type.String({ maxLength: most.frame }), { maxItems: most.frames }),
  levels: Type.Array(
    Type.Object({
      ...{ constellation, satellite, signal, level_m: number, samples: Type.Integer({ minimum: 1 }) },
      ...{ variance_m2: variance, at_s: number, sight, mapping: Type.Number({ minimum: 0 }) },
    }),
    { maxItems: most.levels },
  ),
})
const Stored = Type.Object({ moment: Moment, observed: Type.Optional(StoredObservations) })

/** `observed` is undefined as long as the carrier phases do not show that the antenna stands still. */
export interface LastMoment {
  readonly moment: TrustedMoment
  readonly observed?: Observations | undefined
}

/**
 * The file need not outlive a power cut: the receiver lost its power too, or its lock times, which are compared with the
 * age, count to a minute only. An orderly stop stores the moment with the settings.
 */
export class MomentFile {
  readonly #dir: () => DataDir
  #kept: StateFile<typeof Stored> | undefined

  /** @param dir a volatile data folder, asked for when it is needed first: a plugin has one from its start on */
  constructor(dir: () => DataDir) {
    this.#dir = dir
  }

  /** @throws without a folder */
  get #file(): StateFile<typeof Stored> {
    this.#kept ??= new StateFile(Stored, join(this.#dir().path, 'last.json'))
    return this.#kept
  }

  /** Undefined if there is no file, or none that can be read. */
  read(): LastMoment | undefined {
    try {
      const { value } = this.#file.readSync()
      return value && restored(value)
    } catch {
      return undefined
    }
  }

  /** Never rejects: without the file the next start checks more. @param frames the ephemerides, RTCM */
  async write({ moment, observed }: LastMoment, frames: readonly Uint8Array[]): Promise<void> {
    try {
      await this.#file.write({ moment, ...(observed && { observed: stored(observed, frames) }) })
    } catch {}
  }
}

function stored({ anchor, levels }: Observations, frames: readonly Uint8Array[]): Static<typeof StoredObservations> {
  const { at_s, unchecked } = anchor
  return {
    ...{ at_s, levels: levels.slice(0, most.levels) as never },
    ...(unchecked && { unchecked }),
    satellites: anchor.satellites.map(({ constellation, satellite, signals }) => ({
      ...{ constellation, satellite },
      signals: signals
        .flatMap(({ signal, code_m, phase_m, lock: { from_ms } }): [number, number, number, number][] =>
          phase_m === undefined ? [] : [[signal, code_m, phase_m, from_ms]],
        )
        .slice(0, most.signals),
    })),
    ephemerides: frames.slice(0, most.frames).map((frame) => Buffer.from(frame).toString('base64')),
  }
}

function restored({ moment, observed }: Static<typeof Stored>): LastMoment {
  const { who, reference } = moment
  if (!observed || who === undefined) return { moment }
  const { unchecked, at_s, satellites, ephemerides, levels } = observed
  const decoded = ephemerides.flatMap((text): Ephemeris[] => {
    const frame = Buffer.from(text, 'base64')
    const ephemeris =
      frame.length > 6 && crc24q(frame, 0, frame.length) === 0 ? decodeEphemeris(frame, at_s) : undefined
    return ephemeris ? [ephemeris] : []
  })
  const bySatellite = satellites.map(
    ({ constellation, satellite, signals }): ObservedSatellite<Bridging> => ({
      ...{ constellation, satellite, channel: undefined },
      signals: signals.map(([signal, code_m, phase_m, from_ms]) => ({
        ...{ band: msmBandOf(constellation, signal) ?? '', signal, code_m, phase_m },
        lock: { from_ms, below_ms: Number.POSITIVE_INFINITY },
      })),
    }),
  )
  const { arp, acc_m } = reference
  return {
    moment,
    observed: {
      who,
      anchor: { arp, acc_m, at_s, satellites: bySatellite, ephemerides: decoded, ...(unchecked && { unchecked }) },
      levels: levels as unknown as CodeLevel[],
    },
  }
}
