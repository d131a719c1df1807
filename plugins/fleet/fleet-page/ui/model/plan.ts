/** A rollout as people enter it. Pure. */
import type { PlanRequest, Wave } from '../fleet/api.js'
import { linesOf, valuesOf } from './entered.js'

export interface EnteredPlan {
  readonly name: string
  readonly group: string
  readonly variant: string
  readonly version: string
  /** Lines `name=value`. */
  readonly labels: string
  readonly what: 'change' | 'image'
  readonly change: string
  readonly back: string
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
  ...{ what: 'change', change: '', back: '', image: '', imageVersion: '' },
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

export type PlanFault = 'name' | 'change' | 'back' | 'image' | 'waves' | 'labels' | 'window'

/** @returns the request, or which field is wrong; what numbers may be, the fleet says */
export function planFrom(entered: EnteredPlan): PlanRequest | PlanFault {
  const { back, force, from, group, name, position, to, variant, version, what } = entered
  const waves = wavesOf(entered.waves)
  const labels = linesOf(entered.labels)
  const change = valuesOf(entered.change)
  const backValues = valuesOf(back)
  if (name.trim() === '') return 'name'
  if (!labels) return 'labels'
  if (!waves) return 'waves'
  if ((from === '') !== (to === '')) return 'window'
  if (what === 'change' && (!change || Object.keys(change).length === 0)) return 'change'
  if (what === 'change' && !backValues) return 'back'
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
        : { change: change ?? {}, ...(backValues && Object.keys(backValues).length > 0 && { back: backValues }) },
    waves,
    soak_s: Math.round(Number(entered.soak_min.replace(',', '.')) * 60),
    errors: Number(entered.errors),
    apart_km: Number(entered.apart_km.replace(',', '.')),
    force,
    position,
    ...(from && { window: { from, to } }),
  }
}
