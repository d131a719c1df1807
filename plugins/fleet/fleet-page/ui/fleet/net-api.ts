/** The routes of the plugin `fleet-net`, and their answers. */
import { json, post } from '../../../../../runtime/lib/page/ui/http.js'

/** Metres. */
export interface Enu {
  readonly east: number
  readonly north: number
  readonly up: number
}
export const axes = ['east', 'north', 'up'] as const

export type NetState = 'agrees' | 'contradicts' | 'unknown'
export interface Judgement {
  readonly serial: string
  readonly state: NetState
  readonly reason: string
  /** True minus announced position. */
  readonly offset: Enu
  readonly sigma: Enu
  readonly vectors: number
  /** UTC seconds, as all times. */
  readonly since: number
  readonly cause: { readonly kind: string; readonly text: string }
}
export interface Pair {
  readonly one: string
  readonly other: string
  /** The status of the last window; empty: none yet. */
  readonly status: 'fixed' | 'float' | 'none' | ''
  readonly reason: string
  /** 0: none yet. */
  readonly tried: number
}
export interface Day {
  readonly t: number
  /** Measured minus announced position. */
  readonly offset: Enu
  readonly sigma: Enu
}
export interface StationNet {
  readonly judgement: Judgement | null
  readonly pairs: readonly Pair[]
  readonly days: readonly Day[]
}
export interface Net {
  readonly stations: readonly Judgement[]
  readonly pairs: readonly Pair[]
}

export type AcceptanceOutcome = 'running' | 'accepted' | 'rejected' | 'undecided' | 'cancelled'
export interface Acceptance {
  readonly id: number
  readonly serial: string
  readonly begun: number
  readonly until: number
  /** 0: it runs. */
  readonly ended: number
  readonly by: string
  readonly version: string
  /** ECEF metres, and degrees with the ellipsoidal height in metres. */
  readonly position: Readonly<Record<'x' | 'y' | 'z' | 'lat' | 'lon' | 'alt', number>>
  readonly outcome: AcceptanceOutcome
  readonly reason: string
}
export interface NeighbourEvidence {
  readonly serial: string
  readonly windows: number
  /** Share of the windows, 0 to 1. */
  readonly fixed: number
  readonly offset: Enu
  readonly sigma: Enu
  readonly repeatability: Enu
  /** The change of the windows of the last 3 h, from the earlier ones. */
  readonly change: Enu
  readonly verdict: NetState
}
export interface Evidence {
  readonly neighbours: readonly NeighbourEvidence[]
  readonly offset: Enu
  readonly sigma: Enu
  /** Time with fixed windows, hours. */
  readonly covered: number
  readonly cause: string
}

const part = encodeURIComponent
/** The pages of 1,000 stations each at most: more than a fleet has. */
const mostPages = 100

/** All judgements and pairs. */
async function whole(): Promise<Net> {
  const stations: Judgement[] = []
  const pairs: Pair[] = []
  let after = ''
  for (let page = 0; page < mostPages; page++) {
    const some = await json<Net & { next: string }>(`/fleet/net${after && `?after=${part(after)}`}`)
    for (const one of some.stations) stations.push(one)
    for (const one of some.pairs) pairs.push(one)
    after = some.next
    if (after === '') break
  }
  return { stations, pairs }
}

export const netApi = {
  whole,
  station: (serial: string) => json<StationNet>(`/fleet/net/stations/${part(serial)}`),
  acceptances: (serial: string) => json<Acceptance[]>(`/fleet/net/acceptance?serial=${encodeURIComponent(serial)}`),
  acceptance: (id: number) => json<Acceptance & { evidence: Evidence | null }>(`/fleet/net/acceptance/${id}`),
  accept: (serial: string, hours: number) => json<Acceptance>('/fleet/net/acceptance', post({ serial, hours })),
  cancel: (id: number) => json<Acceptance>(`/fleet/net/acceptance/${id}`, { method: 'DELETE' }),
}
