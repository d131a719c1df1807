import { greatCircle_m } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { type Choosing, type ChoosingRover, fleet, type LatLon, type NearMount } from 'rtk-base/services'
import { type Bases, placeOf } from '../bases/bases.js'
import type { Settings } from '../options.js'
import { Grid } from './grid.js'

/** A rover that sends GGA more often is looked at so often. */
const look_ms = 5_000
const tick_ms = 2_000
/** One that sends no more GGA is looked at so often: other bases come and go. */
const again_ms = 30_000
/** The other base has to be nearer by so much, for so long: a rover between two bases is not moved back and forth. */
const nearer_m = 1_000
const nearerShare = 0.1
const nearerFor_ms = 30_000
/** A base keeps its rovers somewhat beyond the greatest distance. */
const keptShare = 1.05

/** A rover of the mountpoint, for people. */
export interface NearRover {
  readonly user: string
  readonly address: string
  /** {SN} of its base; `''`: none. */
  readonly base: string
  /** Why it has this base, or none. */
  readonly why: string
  readonly distance_m: number | undefined
  readonly lat: number | undefined
  readonly lon: number | undefined
  /** How often its base changed. */
  readonly changes: number
}

interface Chosen {
  readonly rover: ChoosingRover
  position: LatLon | undefined
  base: string
  why: string
  changes: number
  looked_ms: number
  /** A base that is nearer, and since when. */
  better: { readonly name: string; readonly since_ms: number } | undefined
}

/** The mountpoint that serves each rover from the nearest base that is fit. */
export class Near implements NearMount {
  readonly name: string
  readonly offered = true
  readonly #ctx: PluginContext
  readonly #bases: Bases
  readonly #most_m: number
  readonly #grid = new Grid()
  readonly #rovers = new Set<Chosen>()
  readonly #byBase = new Map<string, Set<Chosen>>()
  readonly #changed: (isFirst: boolean) => void

  constructor(ctx: PluginContext, { near, nearMost_km }: Settings, bases: Bases, changed: (isFirst: boolean) => void) {
    this.name = near
    this.#ctx = ctx
    this.#bases = bases
    this.#most_m = nearMost_km * 1_000
    this.#changed = changed
  }

  start(): void {
    const { on, services, timers } = this.#ctx
    const stations = services.use(fleet)
    for (const station of stations.stations()) this.#grid.set(station.serial, placeOf(station))
    on(stations.onStation, ({ serial, station }) => this.#grid.set(serial, station && placeOf(station)))
    on(this.#bases.onChange, (serial) => {
      if (this.#bases.why(serial) === '') return
      for (const chosen of [...(this.#byBase.get(serial) ?? [])]) this.#look(chosen)
    })
    timers.every(tick_ms, () => {
      const now_ms = this.#ctx.clock.monotonic()
      for (const chosen of this.#rovers)
        if (chosen.better || chosen.base === '' || now_ms - chosen.looked_ms >= again_ms) this.#look(chosen)
    })
  }

  choose(rover: ChoosingRover): Choosing {
    const chosen: Chosen = {
      ...{ rover, position: undefined, base: '', why: 'it has sent no position', changes: 0 },
      ...{ looked_ms: Number.NEGATIVE_INFINITY, better: undefined },
    }
    this.#rovers.add(chosen)
    return {
      located: (position) => {
        const isFirst = chosen.position === undefined
        chosen.position = position
        if (isFirst || this.#ctx.clock.monotonic() - chosen.looked_ms >= look_ms) this.#look(chosen)
      },
      close: () => {
        this.#rovers.delete(chosen)
        this.#byBase.get(chosen.base)?.delete(chosen)
      },
    }
  }

  rovers(): NearRover[] {
    return [...this.#rovers].map((chosen) => {
      const { rover, position, base, why, changes } = chosen
      const { user, address } = rover
      const { lat, lon } = position ?? {}
      return { user, address, base, why, distance_m: this.#distance_m(chosen), lat, lon, changes }
    })
  }

  #distance_m({ position, base }: Chosen): number | undefined {
    const place = this.#grid.place(base)
    return position && place && greatCircle_m(position, place)
  }

  #look(chosen: Chosen): void {
    const { position, base } = chosen
    // Without the broker no base sends, and another one would be no better.
    if (!position || (base !== '' && !this.#bases.isConnected)) return
    const now_ms = this.#ctx.clock.monotonic()
    chosen.looked_ms = now_ms
    const trouble = base === '' ? '' : this.#bases.why(base)
    const best = this.#grid.nearest(position, this.#most_m, (name) => this.#bases.why(name) === '')
    const own_m = this.#distance_m(chosen) ?? Number.POSITIVE_INFINITY
    const isKept = base !== '' && trouble === '' && own_m <= this.#most_m * keptShare
    if (!best) {
      chosen.better = undefined
      if (!isKept) this.#serve(chosen, '', `no fit base within ${this.#most_m / 1_000} km`)
      return
    }
    if (!isKept) {
      const why = base === '' ? 'the nearest fit base' : `${base} serves no longer: ${trouble || 'it is too far away'}`
      this.#serve(chosen, best.name, why)
      return
    }
    const gain_m = own_m - best.distance_m
    if (best.name === base || gain_m <= Math.max(nearer_m, nearerShare * own_m)) {
      chosen.better = undefined
      return
    }
    // Its RTCM must arrive, with its position, before the rover gives up one that works: `fit` may be what the broker has kept.
    const isProven = this.#bases.prove(best.name)
    if (chosen.better?.name !== best.name) chosen.better = { name: best.name, since_ms: now_ms }
    else if (isProven && now_ms - chosen.better.since_ms >= nearerFor_ms)
      this.#serve(chosen, best.name, `${(gain_m / 1_000).toFixed(1)} km nearer than ${base}`)
  }

  #serve(chosen: Chosen, base: string, why: string): void {
    chosen.why = why
    chosen.better = undefined
    if (chosen.base === base) return
    const before = chosen.base
    this.#byBase.get(before)?.delete(chosen)
    if (this.#byBase.get(before)?.size === 0) this.#byBase.delete(before)
    chosen.base = base
    if (base !== '') {
      const all = this.#byBase.get(base) ?? new Set()
      this.#byBase.set(base, all)
      all.add(chosen)
    }
    const isFirst = before === '' && chosen.changes === 0
    if (!isFirst) chosen.changes += 1
    const { user, address } = chosen.rover
    this.#ctx.log[isFirst ? 'debug' : 'info'](
      { user, address, base, before },
      `${this.name}: ${base === '' ? 'a rover has no base' : `a rover is served by ${base}`}: ${why}`,
    )
    this.#changed(isFirst)
    chosen.rover.serve(base === '' ? undefined : this.#bases.mount(base), why)
  }
}
