/** A rollout as people enter it. Pure. */
import type { PlanRequest, StationRow, Wave } from '../fleet/api.js'
import { type Chosen, type Parameter, valuesOf } from './chosen.js'
import { linesOf } from './entered.js'

export interface EnteredPlan {
  readonly name: string
  readonly group: string
  readonly variant: string
  readonly version: string
  /** Lines `name=value`. */
  readonly labels: string
  readonly what: 'change' | 'image'
  readonly change: Chosen
  /** Values for a station that fails. */
  readonly back: Chosen
  readonly image: string
  readonly imageVersion: string
  /** `1, 5%, region=north`. */
  readonly waves: string
  readonly soak_min: string
  readonly errors: string
  readonly apart_km: string
  readonly from: string
  readonly to: string
  readonly force: boolean
  /** Each wave waits for the judgements of `fleet-net`. */
  readonly position: boolean
}
/** One station, then 5 %, then the rest, each after the neighbours have confirmed the positions. */
export const canary: EnteredPlan = {
  ...{ name: '', group: '', variant: '', version: '', labels: '' },
  ...{ what: 'change', change: new Map(), back: new Map(), image: '', imageVersion: '' },
  ...{ waves: '1, 5%', soak_min: '10', errors: '0', apart_km: '50', from: '', to: '', force: false },
  position: true,
}

/** Undefined: one of them is none. */
export function wavesOf(text: string): Wave[] | undefined {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  const waves = parts.map((part): Wave | undefined => {
    if (/^\d{1,6}$/.test(part)) return { count: Number(part) }
    const [, percent] = /^(\d{1,3}(?:\.\d+)?) ?%$/.exec(part) ?? []
    if (percent !== undefined) return { percent: Number(percent) }
    const labels = linesOf(part)
    return labels && Object.keys(labels).length > 0 ? { labels } : undefined
  })
  return waves.includes(undefined) ? undefined : (waves as Wave[])
}

export type PlanFault = 'name' | 'change' | 'image' | 'waves' | 'labels' | 'window'

/** A station that the rollout goes to: its settings are those to choose from. */
export function exampleOf(entered: EnteredPlan, stations: readonly StationRow[]): StationRow | undefined {
  const labels = Object.entries(linesOf(entered.labels) ?? {})
  return stations.find(
    ({ group, labels: own, online, version }) =>
      online === 'online' &&
      (entered.group === '' || group === entered.group) &&
      (entered.version === '' || version === entered.version) &&
      labels.every(([name, value]) => own[name] === value),
  )
}

/** @param known the settings of the example @returns the request, or which field is wrong; what numbers may be, the fleet says */
export function planFrom(entered: EnteredPlan, known: readonly Parameter[]): PlanRequest | PlanFault {
  const { force, from, group, name, position, to, variant, version, what } = entered
  const waves = wavesOf(entered.waves)
  const labels = linesOf(entered.labels)
  const change = valuesOf(known, entered.change)
  const back = valuesOf(known, entered.back)
  if (name.trim() === '') return 'name'
  if (!labels) return 'labels'
  if (!waves) return 'waves'
  if ((from === '') !== (to === '')) return 'window'
  if (what === 'change' && Object.keys(change).length === 0) return 'change'
  if (what === 'image' && (!/^https?:\/\/\S+$/.test(entered.image.trim()) || entered.imageVersion.trim() === ''))
    return 'image'
  return {
    name: name.trim(),
    filter: {
      ...(group && { group }),
      ...(variant && { variant }),
      ...(version && { version }),
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    what:
      what === 'image'
        ? { image: entered.image.trim(), version: entered.imageVersion.trim() }
        : { change, ...(Object.keys(back).length > 0 && { back }) },
    waves,
    soak_s: Math.round(Number(entered.soak_min.replace(',', '.')) * 60),
    errors: Number(entered.errors),
    apart_km: Number(entered.apart_km.replace(',', '.')),
    force,
    position,
    ...(from && { window: { from, to } }),
  }
}
