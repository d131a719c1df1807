/** The day of a station as bands: when corrections went out, and why not. Pure. */
import { type BandKind as CauseKind, kinds } from '../../../../../runtime/lib/page/ui/model/band-kinds.js'
import { percentsOf } from './series.js'

export { type BandKind as CauseKind, kinds } from '../../../../../runtime/lib/page/ui/model/band-kinds.js'

/** A span of `GET /record/timeline`: contiguous, oldest first; times are UTC milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
  /** A stable code. */
  readonly cause: string
  readonly values?: Readonly<Record<string, unknown>>
}

export const day_ms = 86_400_000

/** Every cause that has a sentence, and how bad it is. */
export const causes = {
  sent: 'good',
  interrupted: 'limited',
  'no-client': 'limited',
  'no-observations': 'broken',
  'receiver-gone': 'broken',
  'receiver-silent': 'broken',
  moved: 'broken',
  'antenna-open': 'broken',
  'antenna-short': 'broken',
  jammed: 'broken',
  spoofed: 'broken',
  survey: 'planned',
  'procedure-identify': 'planned',
  'procedure-configure': 'planned',
  'procedure-acquire': 'planned',
  'procedure-initial': 'planned',
  'procedure-fault': 'broken',
  'gate-closed': 'limited',
  plugin: 'broken',
  'service-stopped': 'planned',
  'service-killed': 'broken',
  'service-failed': 'broken',
  'service-blocked': 'broken',
  'service-off': 'broken',
  'power-cut': 'broken',
  unknown: 'unknown',
} as const satisfies Readonly<Record<string, CauseKind>>
export type Cause = keyof typeof causes

const isCause = (text: string): text is Cause => Object.hasOwn(causes, text)

/** Undefined for one that this page does not know: a newer station has more. */
export const causeOf = (code: string): Cause | undefined => (isCause(code) ? code : undefined)

export function kindOfCause(code: string): CauseKind {
  const cause = causeOf(code)
  return cause ? causes[cause] : 'broken'
}

/** Causes that their sentence alone does not explain. */
const isDetailed = /^(gate-|procedure-|plugin$|service-(failed|blocked)$)/

/** Details that the station gives of a cause, such as the reason of a gate; in the station's language. */
export function detailOf({ cause, values = {} }: Span): string {
  if (causeOf(cause) && !isDetailed.test(cause)) return ''
  const texts = [values.plugin, values.reason ?? values.text].filter((one) => typeof one === 'string' && one !== '')
  return texts.join(': ').slice(0, 300)
}

export interface Band {
  readonly span: Span
  readonly kind: CauseKind
  /** The place on the whole axis, 0 to 1. */
  readonly x: number
  readonly width: number
}

/** Where the record begins within a time: before it nothing is known. */
export const beginOf = (spans: readonly Span[], from: number): number =>
  Math.max(from, spans.find(({ cause }) => kindOfCause(cause) !== 'unknown')?.from ?? from)

/** The spans that are within, cut to it; neighbours of one cause are one band. */
export function bandsOf(spans: readonly Span[], from: number, to: number): readonly Band[] {
  const length = to - from
  const merged: Span[] = []
  for (const span of spans) {
    const cut = { ...span, from: Math.max(from, span.from), to: Math.min(to, span.to) }
    if (cut.to <= cut.from) continue
    const last = merged.at(-1)
    if (last?.cause === cut.cause && last.to === cut.from && detailOf(last) === detailOf(cut))
      merged[merged.length - 1] = { ...last, to: cut.to }
    else merged.push(cut)
  }
  return merged.map((span) => ({
    span,
    kind: kindOfCause(span.cause),
    x: (span.from - from) / length,
    width: (span.to - span.from) / length,
  }))
}

/** Percents of each kind that there is, in the order of the legend. */
export function kindShares(bands: readonly Band[]): readonly (readonly [CauseKind, number])[] {
  const widths = kinds.map((one) => bands.filter(({ kind }) => kind === one).reduce((sum, { width }) => sum + width, 0))
  const percents = percentsOf(widths)
  return kinds.flatMap((kind, at) => (widths[at] ? [[kind, percents[at] ?? 0] as const] : []))
}

/** A time without corrections, from the last ones to the next ones. */
export interface Outage {
  readonly from: number
  readonly to: number
  /** That of most of it. */
  readonly kind: CauseKind
  /** Causes in the order in which they came, each once; what only passed by is left out. */
  readonly bands: readonly Band[]
  /** The outage is not over. */
  readonly isPresent: boolean
}

/** Shorter causes of a longer outage are steps on the way that nobody asks for. */
const passing_ms = 5_000

/** Newest first. What came before the record, or while none was written, is no outage that anybody knows of. */
export function outagesOf(bands: readonly Band[], to: number): readonly Outage[] {
  const groups: Band[][] = []
  let isOpen = false
  for (const band of bands) {
    if (band.kind === 'good') isOpen = false
    else if (isOpen) groups.at(-1)?.push(band)
    else {
      groups.push([band])
      isOpen = true
    }
  }
  return groups.flatMap((group) => outageOf(group, to) ?? []).reverse()
}

const length = ({ span }: Band) => span.to - span.from

function outageOf(group: readonly Band[], end: number): Outage | undefined {
  const known = group.filter(({ kind }) => kind !== 'unknown')
  const [first] = known
  const last = known.at(-1)
  if (!first || !last) return undefined
  const sums = new Map<CauseKind, number>()
  for (const band of known) sums.set(band.kind, (sums.get(band.kind) ?? 0) + length(band))
  const [kind] = [...sums].reduce((most, one) => (one[1] > most[1] ? one : most))
  const longest = known.reduce((most, one) => (length(one) > length(most) ? one : most))
  return {
    from: first.span.from,
    to: last.span.to,
    kind,
    bands: known
      .filter((band) => band === longest || length(band) >= passing_ms)
      .filter(({ span }, at, all) => all.findIndex((one) => one.span.cause === span.cause) === at),
    isPresent: last.span.to >= end,
  }
}

export interface DaySums {
  readonly sent_ms: number
  readonly missing_ms: number
  readonly unknown_ms: number
  readonly longest_ms: number
}

export function sumsOf(bands: readonly Band[], outages: readonly Outage[]): DaySums {
  const sum = (wanted: (kind: CauseKind) => boolean) =>
    bands.filter(({ kind }) => wanted(kind)).reduce((all, { span }) => all + span.to - span.from, 0)
  return {
    sent_ms: sum((kind) => kind === 'good'),
    missing_ms: sum((kind) => kind !== 'good' && kind !== 'unknown'),
    unknown_ms: sum((kind) => kind === 'unknown'),
    longest_ms: Math.max(0, ...outages.map(({ from, to }) => to - from)),
  }
}
