/** The tables of the registry, oldest step first. A step that was released never changes. */
export const tables = [
  `create table fleet_station (
     serial text primary key,
     name text not null default '',
     station_group text not null default '',
     labels jsonb not null default '{}',
     station jsonb not null,
     document jsonb,
     document_at timestamptz,
     mark text not null default '');
   create table fleet_event (
     id bigint generated always as identity,
     t timestamptz not null default now(),
     serial text not null,
     kind text not null,
     text text not null,
     actor text not null default '') partition by range (t);
   create index fleet_event_t on fleet_event (t desc, id desc);
   create index fleet_event_serial on fleet_event (serial, t desc, id desc);
   create index fleet_event_kind on fleet_event (kind, t desc, id desc);
   create index fleet_event_serial_kind on fleet_event (serial, kind, t desc, id desc);
   create table fleet_document (
     t timestamptz not null default now(),
     serial text not null,
     document jsonb not null) partition by range (t);
   create index fleet_document_serial on fleet_document (serial, t desc);
   create table fleet_forgotten (serial text primary key)`,
]

/** Tables that are divided by month. */
export const monthly = ['fleet_event', 'fleet_document'] as const

const monthOf = (t: Date) => `${t.getUTCFullYear()}_${String(t.getUTCMonth() + 1).padStart(2, '0')}`
const firstOf = (t: Date, months: number) => new Date(Date.UTC(t.getUTCFullYear(), t.getUTCMonth() + months, 1))

/** SQL that makes the parts for the month of `now` and the next one. */
export function partsFor(now: Date): string[] {
  return monthly.flatMap((table) =>
    [0, 1].map((months) => {
      const [from, to] = [firstOf(now, months), firstOf(now, months + 1)]
      return `create table if not exists ${table}_${monthOf(from)} partition of ${table}
        for values from ('${from.toISOString()}') to ('${to.toISOString()}')`
    }),
  )
}

/** The parts of a table that lie wholly before `oldest`. */
export function partsBefore(names: readonly string[], oldest: Date): string[] {
  const kept = monthOf(oldest)
  return names.filter((name) => {
    const [, month] = /^fleet_(?:event|document)_(\d{4}_\d{2})$/.exec(name) ?? []
    return month !== undefined && month < kept
  })
}
