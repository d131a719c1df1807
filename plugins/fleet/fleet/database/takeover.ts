/** Takeover of the embedded database by a PostgreSQL whose tables are new. */
import type { FleetQuery } from 'rtk-base/services'
import type { Engine } from './engine.js'

/** Rows that are copied at once: a row may have a status document of 100 kB. */
const rowsAtOnce = 200

export interface Table {
  readonly name: string
  readonly isPartitioned: boolean
}

const quotedName = (name: string) => `"${name.replaceAll('"', '""')}"`

/** The tables in the schema in which new ones are made, without the parts of divided ones, in the order in which they were made. */
export async function tablesOf(query: FleetQuery): Promise<Table[]> {
  const rows = await query<{ name: string; kind: string }>(
    `select relname as name, relkind::text as kind from pg_class
     where relnamespace = (select oid from pg_namespace where nspname = current_schema()) and relkind in ('r', 'p') and not relispartition order by oid`,
  )
  return rows.map(({ name, kind }) => ({ name, isPartitioned: kind === 'p' }))
}

/**
 * Copies the rows of these tables, and the parts of those that are divided. Rows travel as JSON texts that PostgreSQL itself
 * makes and reads, so no value passes through a type of JavaScript.
 * @param query in a transaction of the new database
 * @returns how many rows it copied @throws if a table has other rows afterwards
 */
export async function takeOver(former: Engine, query: FleetQuery, tables: readonly Table[]): Promise<number> {
  return former.transaction(async (read) => {
    const known = new Set((await tablesOf(read)).map(({ name }) => name))
    let rows = 0
    for (const table of tables) {
      if (!known.has(table.name)) continue
      if (table.isPartitioned) await copyParts(read, query, table.name)
      rows += await copyRows(read, query, table.name)
    }
    return rows
  })
}

async function copyParts(read: FleetQuery, query: FleetQuery, table: string): Promise<void> {
  const parts = await read<{ name: string; bound: string }>(
    `select part.relname as name, pg_get_expr(part.relpartbound, part.oid) as bound
     from pg_inherits join pg_class as part on part.oid = inhrelid where inhparent = $1::regclass order by 1`,
    [table],
  )
  for (const { name, bound } of parts)
    await query(`create table if not exists ${quotedName(name)} partition of ${quotedName(table)} ${bound}`)
}

async function copyRows(read: FleetQuery, query: FleetQuery, table: string): Promise<number> {
  const name = quotedName(table)
  await read(`declare rows no scroll cursor for select row_to_json(one.*)::text as row from ${name} as one`)
  let copied = 0
  for (;;) {
    const rows = await read<{ row: string }>(`fetch ${rowsAtOnce} from rows`)
    if (rows.length === 0) break
    copied += rows.length
    await query(
      `insert into ${name} overriding system value select * from json_populate_recordset(null::${name}, $1::json)`,
      [`[${rows.map(({ row }) => row).join()}]`],
    )
  }
  await read('close rows')
  const [found] = await query<{ count: number }>(`select count(*)::int as count from ${name}`)
  if (found?.count !== copied) throw new Error(`${table} has ${found?.count} rows instead of ${copied}`)
  // Numbers that the database gives itself go on after those that are taken.
  const own = await query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attidentity <> '' and not attisdropped`,
    [table],
  )
  for (const column of own)
    await query(
      `select setval(pg_get_serial_sequence($1, $2), (select coalesce(max(${quotedName(column.name)}), 0) + 1 from ${name}), false)`,
      [table, column.name],
    )
  return copied
}
