import { Mutex } from 'async-mutex'
import { Client, Pool, types } from 'pg'
import type { FleetQuery } from 'rtk-base/services'
import { type Engine, type EngineEvents, leaderLock, quoted } from './engine.js'

/** Connections of one instance, beside the one that listens. */
const poolSize = 8
const connect_ms = 10_000
/** A query of the fleet takes milliseconds; beyond this the database is as good as gone. */
const statement_ms = 30_000
/** Object id of `bigint`, `pg_type.dat` of PostgreSQL. */
const int8 = 20

/** `bigint` as a number: the fleet counts nothing beyond 2^53. */
const parsers = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === int8 ? Number : format === undefined ? types.getTypeParser(id) : types.getTypeParser(id, format as 'text'),
}

/** PostgreSQL. One connection listens and holds the lock of the leader, the others are for queries. */
export async function openPostgres(url: string, events: EngineEvents): Promise<Engine> {
  const options = {
    connectionString: url,
    connectionTimeoutMillis: connect_ms,
    keepAlive: true,
    application_name: 'rtk-base-fleet',
    // A leader whose machine lost its power keeps the lock until the server notices: by default two hours.
    options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
    types: parsers,
  }
  const pool = new Pool({
    ...options,
    max: poolSize,
    statement_timeout: statement_ms,
    query_timeout: statement_ms + 1_000,
    idle_in_transaction_session_timeout: statement_ms,
  })
  const listener = new Client({ ...options, query_timeout: statement_ms + 1_000 })
  /** One query after the other: `pg` will not queue them itself any more. */
  const turn = new Mutex()
  const tell = (sql: string, values: unknown[] = []) => turn.runExclusive(() => listener.query(sql, values))
  let isOver = false
  let holdsLock = false
  const end = async (reason: string) => {
    if (isOver) return
    isOver = true
    events.ended(reason)
    await close()
  }
  const close = async () => {
    isOver = true
    await Promise.allSettled([listener.end(), pool.end()])
  }
  pool.on('error', () => {})
  // A connection that is in use has no listener of the pool: if it breaks between two queries, only this one keeps the service running.
  pool.on('connect', (client) => client.on('error', () => {}))
  listener.on('error', (error) => void end(error.message))
  listener.on('end', () => void end('the database closed the connection'))
  listener.on('notification', ({ channel, payload = '' }) => events.notified(channel, payload))
  try {
    await listener.connect()
  } catch (error) {
    isOver = true
    void Promise.allSettled([listener.end(), pool.end()])
    throw error
  }
  const query: FleetQuery = async <R extends object>(sql: string, values?: readonly unknown[]) =>
    (await pool.query(sql, values as unknown[])).rows as R[]
  return {
    query,
    async transaction(work) {
      const client = await pool.connect()
      const inside: FleetQuery = async <R extends object>(sql: string, values?: readonly unknown[]) =>
        (await client.query(sql, values as unknown[])).rows as R[]
      try {
        await client.query('begin')
        const result = await work(inside)
        await client.query('commit')
        client.release()
        return result
      } catch (error) {
        await client.query('rollback').catch(() => {})
        // A connection in an unknown state is not used again.
        client.release(error as Error)
        throw error
      }
    },
    listen: async (channel) => void (await tell(`listen ${quoted(channel)}`)),
    unlisten: async (channel) => void (await tell(`unlisten ${quoted(channel)}`)),
    async lead() {
      // A session keeps the lock until it ends, and would count it once more each time.
      if (holdsLock) await tell('select 1')
      else {
        const { rows } = await tell('select pg_try_advisory_lock($1) as leads', [leaderLock])
        holdsLock = rows[0].leads === true
      }
      return holdsLock
    },
    close,
  }
}
