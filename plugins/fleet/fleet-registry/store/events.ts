import type { FleetDatabase } from 'rtk-base/services'

export interface EventRow {
  readonly id: number
  readonly t: Date
  readonly serial: string
  readonly kind: string
  readonly text: string
  readonly actor: string
}

export interface EventFilter {
  readonly serial?: string | undefined
  /** One of these. */
  readonly kinds?: readonly string[] | undefined
  /** UTC seconds: only older entries, and those of the same second with a lower `beforeId` (ids begin with 1). */
  readonly before_s?: number | undefined
  readonly beforeId: number
  readonly most: number
}

/**
 * Entries of the record, the newest first. Each form of the query reads as many rows as it gives, by an index that has them in
 * their order: several kinds are read one by one and merged, because an index has the order of one kind only.
 */
export async function entries(
  { query }: Pick<FleetDatabase, 'query'>,
  { serial, kinds, before_s, beforeId, most }: EventFilter,
): Promise<EventRow[]> {
  const columns = 'id, t, serial, kind, text, actor'
  const values: unknown[] = [most]
  const bind = (value: unknown) => `$${values.push(value)}`
  const conditions: string[] = []
  if (serial !== undefined) conditions.push(`serial = ${bind(serial)}`)
  if (before_s !== undefined) conditions.push(`(t, id) < (to_timestamp(${bind(before_s)}), ${bind(beforeId)}::bigint)`)
  const newest = (more: readonly string[]) => {
    const all = [...conditions, ...more]
    return `select ${columns} from fleet_event ${all.length > 0 ? `where ${all.join(' and ')}` : ''} order by t desc, id desc limit $1`
  }
  if (kinds === undefined) return query<EventRow>(newest([]), values)
  const wanted = bind([...new Set(kinds)])
  return query<EventRow>(
    `select ${columns} from unnest(${wanted}::text[]) as wanted (name)
     cross join lateral (${newest(['kind = wanted.name'])}) as entry
     order by t desc, id desc limit $1`,
    values,
  )
}
