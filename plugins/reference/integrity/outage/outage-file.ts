/** What a trusted base knew last, in a small file in memory: for the next process, after a kill too. */
import { join } from 'node:path'
import { StateFile } from 'rtk-base/files'
import { crc24q, decodeEphemeris, type Ephemeris, msmBandOf, type ObservedSatellite } from 'rtk-base/gnss'
import type { DataDir } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'
import type { Anchor } from './carry.js'
import type { CodeLevel } from './code-levels.js'
import type { Bridging } from './observed.js'

/** Bounds of what is read: a constellation has at most 63 satellites, with a few signals each. */
const most = { satellites: 192, signals: 8, levels: 768, frames: 192, frame: 400 } as const

const number = Type.Number()
const variance = Type.Number({ minimum: 0 })
const constellation = Type.Union([Type.Literal('GPS'), Type.Literal('Galileo'), Type.Literal('BeiDou')])
const satellite = Type.Integer({ minimum: 1, maximum: 64 })
const signal = Type.Integer({ minimum: 1, maximum: 32 })
const ecef = Type.Object({ x: number, y: number, z: number })
const sight = Type.Tuple([number, number, number])

const Stored = Type.Object({
  who: Type.String({ maxLength: 400 }),
  arp: ecef,
  acc_m: Type.Number({ minimum: 0 }),
  /** Of earlier outages; a file of an earlier release has none. */
  open: Type.Optional(Type.Object({ east: number, north: number, up: number, level_m2: variance, up_m2: variance })),
  at_s: Type.Number({ minimum: 0 }),
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

/** Of one trusted base. */
export interface Remains {
  /** The receiver: maker, model and serial number. */
  readonly who: string
  readonly anchor: Anchor
  readonly levels: readonly CodeLevel[]
}

export class OutageFile {
  readonly #dir: () => DataDir
  #kept: StateFile<typeof Stored> | undefined
  #work: Promise<unknown> = Promise.resolve()

  /** @param dir a volatile data folder, asked for when it is needed first */
  constructor(dir: () => DataDir) {
    this.#dir = dir
  }

  /** @throws without a folder */
  get #file(): StateFile<typeof Stored> {
    this.#kept ??= new StateFile(Stored, join(this.#dir().path, 'outage.json'))
    return this.#kept
  }

  /** Undefined where there is none, or none that can be read. */
  read(): Remains | undefined {
    try {
      const { value } = this.#file.readSync()
      return value && restored(value)
    } catch {
      return undefined
    }
  }

  /** Never rejects: without it the next start checks more. @param frames the ephemerides, RTCM */
  async write({ who, anchor, levels }: Remains, frames: readonly Uint8Array[]): Promise<void> {
    const { arp, acc_m, at_s, open } = anchor
    const stored: Static<typeof Stored> = {
      ...{ who, arp: { x: arp.x, y: arp.y, z: arp.z }, acc_m, at_s, levels: levels.slice(0, most.levels) as never },
      ...(open && { open }),
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
    await this.#do(() => this.#file.write(stored))
  }

  async remove(): Promise<void> {
    await this.#do(() => this.#file.remove())
  }

  async #do(work: () => Promise<unknown>): Promise<void> {
    this.#work = this.#work.then(work).catch(() => {})
    await this.#work
  }
}

function restored({ who, arp, acc_m, open, at_s, satellites, ephemerides, levels }: Static<typeof Stored>): Remains {
  const decoded = ephemerides.flatMap((text): Ephemeris[] => {
    const frame = Buffer.from(text, 'base64')
    const ephemeris =
      frame.length > 6 && crc24q(frame, 0, frame.length) === 0 ? decodeEphemeris(frame, at_s) : undefined
    return ephemeris ? [ephemeris] : []
  })
  const observed = satellites.map(
    ({ constellation, satellite, signals }): ObservedSatellite<Bridging> => ({
      ...{ constellation, satellite, channel: undefined },
      signals: signals.map(([signal, code_m, phase_m, from_ms]) => ({
        ...{ band: msmBandOf(constellation, signal) ?? '', signal, code_m, phase_m },
        lock: { from_ms, below_ms: Number.POSITIVE_INFINITY },
      })),
    }),
  )
  return {
    who,
    anchor: { arp, acc_m, at_s, satellites: observed, ephemerides: decoded, ...(open && { open }) },
    levels: levels as unknown as CodeLevel[],
  }
}
