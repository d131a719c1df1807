import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { gpsSeconds } from 'rtk-base/gnss'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import {
  type RinexPresetName,
  type RinexVersion,
  readRaw,
  rinexName,
  rinexPresets,
  type StationFacts,
  type SystemLetter,
  systemsIn,
} from 'rtk-base/rinex'
import { device, type RawRinex } from 'rtk-base/services'
import { iso } from 'rtk-base/time'
import type { Archive } from './archive.js'
import type { ArchiveNote, NoteName } from './notes.js'
import { framesBetween, gpsOf } from './span.js'

export interface RinexOrder {
  readonly from_ms: number
  readonly to_ms: number
  readonly version: RinexVersion
  readonly interval_s: number | undefined
  readonly systems: readonly SystemLetter[] | undefined
  readonly kind: 'observations' | 'navigation'
  /** Ends the reading. */
  readonly signal?: AbortSignal
}

const noteTexts: Readonly<Record<NoteName, string>> = {
  moved: 'the antenna moved, or may have moved',
  'antenna-open': 'the antenna was open',
  'antenna-short': 'the antenna had a short circuit',
  'receiver-restarted': 'the receiver restarted',
}
const eventOf = ({ t, what }: ArchiveNote) => ({ time_s: gpsOf(t), text: `${iso(t)} ${noteTexts[what]}` })

export interface HeaderFacts {
  readonly station: StationFacts
  /** Whether the table of antennas has the antenna of the header; undefined: there is no table. */
  readonly isCalibrated: boolean | undefined
}

/** RINEX of the archive. One reader at a time: each decompresses and decodes. */
export class RinexConverter {
  readonly #ctx: PluginContext
  readonly #archive: Archive
  readonly #facts: () => Promise<HeaderFacts>
  #isBusy = false

  constructor(ctx: PluginContext, archive: Archive, facts: () => Promise<HeaderFacts>) {
    this.#ctx = ctx
    this.#archive = archive
    this.#facts = facts
  }

  /** @returns a function that ends the reading @throws RTK_ERR_UNAVAILABLE while another reads */
  begin(): () => void {
    if (this.#isBusy) throw unavailable('raw data is being read for another request: try again when it has ended')
    this.#isBusy = true
    return () => {
      this.#isBusy = false
    }
  }

  /** Between `begin` and its end. @returns undefined without observations in the span */
  async open({ from_ms, kind, signal, systems, to_ms, version, ...choice }: RinexOrder) {
    const source = () => framesBetween(this.#archive, from_ms, to_ms, signal)
    const notes = await this.#archive.notes(from_ms, to_ms)
    const found = await readRaw(source, {
      ...{ ...choice, systems: systemsIn(version, systems) },
      ...{ events: notes.map(eventOf), near_s: gpsOf(from_ms) },
    })
    if (!found) return undefined
    const now_ms = this.#ctx.services.use(device).utc_ms() || this.#ctx.clock.now()
    const origin = { program: 'rtk-base', by: '', now_unix_s: now_ms / 1000 }
    const { isCalibrated, station } = await this.#facts()
    const text = kind === 'navigation' ? found.navigationParts(origin) : found.observations(version, station, origin)
    return {
      found,
      station,
      isCalibrated,
      text,
      name: `${rinexName(version, kind, station.marker, found.contents)}.gz`,
    }
  }

  /** A whole file in memory, for another plugin. @throws RTK_ERR_UNAVAILABLE while another reads */
  async whole(from_ms: number, to_ms: number, preset: string): Promise<RawRinex | undefined> {
    const end = this.begin()
    try {
      const opened = await this.open({
        from_ms,
        to_ms,
        ...rinexPresets[preset as RinexPresetName],
        kind: 'observations',
      })
      if (!opened) return undefined
      const { found, isCalibrated, name, station, text } = opened
      const parts: Buffer[] = []
      await pipeline(Readable.from(text), createGzip(), async (packed) => {
        for await (const part of packed) parts.push(part as Buffer)
      })
      const { first, last } = found.contents
      return {
        ...{ name, bytes: Buffer.concat(parts), epochs: found.epochs, missing: found.missing },
        ...{ span_s: gpsSeconds(last) - gpsSeconds(first), antennaHeight_m: station.delta_m.up },
        antenna: station.antenna.type.startsWith('UNKNOWN') ? '' : station.antenna.type,
        ...(isCalibrated !== undefined && { isCalibrated }),
      }
    } finally {
      end()
    }
  }
}
