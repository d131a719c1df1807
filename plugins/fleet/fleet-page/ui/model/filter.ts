/** Which stations a list shows, and in which order. Pure. */
import type { OnlineName, StationRow, VerdictName } from '../fleet/api.js'

export const sorts = ['verdict', 'serial', 'name', 'group', 'version', 'seen', 'rovers'] as const
export type Sort = (typeof sorts)[number]

/** An empty text: all of them. */
export interface Filter {
  readonly text: string
  readonly verdict: VerdictName | ''
  readonly online: OnlineName | ''
  readonly group: string
  readonly version: string
  readonly sort: Sort
  readonly isDown: boolean
}
export const noFilter: Filter = {
  text: '',
  verdict: '',
  online: '',
  group: '',
  version: '',
  sort: 'verdict',
  isDown: false,
}

/** The verdict that holds now: of a station that is offline, nobody knows. */
export const verdictNow = ({ online, verdict }: Pick<StationRow, 'online' | 'verdict'>): VerdictName =>
  online === 'offline' ? 'unknown' : verdict

/** Made once for each row, which is replaced when it changes. */
const haystacks = new WeakMap<StationRow, string>()
function haystackOf(row: StationRow): string {
  const known = haystacks.get(row)
  if (known !== undefined) return known
  const labels = Object.entries(row.labels).flat().join('\n')
  const made = `${row.serial}\n${row.name}\n${row.group}\n${row.version}\n${labels}`.toLowerCase()
  haystacks.set(row, made)
  return made
}

export function filtered(rows: readonly StationRow[], filter: Filter): StationRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  const { group, online, verdict, version } = filter
  return rows
    .filter(
      (row) =>
        (verdict === '' || verdictNow(row) === verdict) &&
        (online === '' || row.online === online) &&
        (group === '' || row.group === group) &&
        (version === '' || row.version === version) &&
        words.every((word) => haystackOf(row).includes(word)),
    )
    .sort(orderOf(filter))
}

/** The worst first: a station that is offline serves nobody, as one that is unfit. */
const ranks: Readonly<Record<VerdictName, number>> = { unfit: 0, degraded: 2, unknown: 3, fit: 4 }
const rankOf = ({ online, verdict }: StationRow): number => (online === 'offline' ? 1 : ranks[verdict])
const texts = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
/** Ten thousand comparisons by a collator take longer than the eye allows: ASCII texts are compared as they are. */
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

type Order = (one: StationRow, other: StationRow) => number
const orders: Readonly<Record<Sort, Order>> = {
  verdict: (one, other) => rankOf(one) - rankOf(other) || other.since - one.since,
  serial: () => 0,
  name: (one, other) => texts.compare(one.name, other.name),
  group: (one, other) => texts.compare(one.group, other.group),
  version: (one, other) => texts.compare(one.version, other.version),
  seen: (one, other) => other.seen - one.seen,
  rovers: (one, other) => other.rovers - one.rovers,
}
function orderOf({ isDown, sort }: Filter): Order {
  const first = orders[sort]
  const sign = isDown ? -1 : 1
  return (one, other) => sign * (first(one, other) || compare(one.serial, other.serial))
}

export interface Counts {
  readonly verdict: Readonly<Record<VerdictName, number>>
  readonly online: Readonly<Record<OnlineName, number>>
  readonly groups: readonly string[]
  readonly versions: readonly string[]
}

/** The counts of all stations: how many there are of each kind, and what filters may choose. */
export function countsOf(rows: readonly StationRow[]): Counts {
  const verdict = { unfit: 0, degraded: 0, unknown: 0, fit: 0 }
  const online = { online: 0, offline: 0, unknown: 0 }
  const groups = new Set<string>()
  const versions = new Set<string>()
  for (const row of rows) {
    verdict[verdictNow(row)] += 1
    online[row.online] += 1
    if (row.group) groups.add(row.group)
    if (row.version) versions.add(row.version)
  }
  const sorted = (all: Set<string>) => [...all].sort(texts.compare)
  return { verdict, online, groups: sorted(groups), versions: sorted(versions) }
}

const isOf = <T extends string>(all: readonly T[], text: string | null): text is T => all.includes(text as T)

/** As in the address, and back; what is not one of the known values is left out. */
export function filterFrom(query: URLSearchParams): Filter {
  const [verdict, online, sort] = [query.get('verdict'), query.get('online'), query.get('sort')]
  return {
    text: query.get('find') ?? '',
    verdict: isOf(['unfit', 'degraded', 'unknown', 'fit'], verdict) ? verdict : '',
    online: isOf(['online', 'offline', 'unknown'], online) ? online : '',
    group: query.get('group') ?? '',
    version: query.get('version') ?? '',
    sort: isOf(sorts, sort) ? sort : 'verdict',
    isDown: query.get('down') === '1',
  }
}
export function queryOf({ group, isDown, online, sort, text, verdict, version }: Filter): string {
  const parts = {
    find: text,
    verdict,
    online,
    group,
    version,
    sort: sort === 'verdict' ? '' : sort,
    down: isDown ? '1' : '',
  }
  const given = Object.entries(parts).filter(([, value]) => value !== '')
  return new URLSearchParams(given).toString()
}
