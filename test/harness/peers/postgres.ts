import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { atExit } from '../at-exit.js'
import { until } from '../manual-clock.js'

/** Debian keeps the programs of each version in a folder that is in nobody's PATH. */
const versions = '/usr/lib/postgresql'
const user = 'postgres'
const limit_ms = 60_000

/** A real PostgreSQL in a process of its own, on a socket in a folder of its own. */
export interface Postgres {
  readonly pid: number
  /** Path of its socket. */
  readonly socket: string
  /** What a fleet takes as its option `database`. */
  url(database?: string): string
  query<R extends object>(sql: string, database?: string): Promise<R[]>
  /** Makes an empty database. @param speed of its clock @returns its URL */
  create(database: string, speed?: number): Promise<string>
  /** Ends the server (SIGKILL, or the given signal) and waits for that. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** On the same data. */
  start(): Promise<void>
}

/** The newest installed version's folder of programs; undefined: there is none. */
export function postgresPrograms(): string | undefined {
  try {
    const [newest] = readdirSync(versions).sort((one, other) => Number(other) - Number(one))
    return newest && join(versions, newest, 'bin')
  } catch {
    return undefined
  }
}

/** `now()` of a schema that is found before the server's own, for instances whose clocks are as fast. */
async function haveOwnClock(query: Postgres['query'], database: string, speed: number): Promise<void> {
  const began = 'select extract(epoch from clock_timestamp()) as s'
  const [row] = await query<{ s: string }>(began, database)
  await query('create schema clock', database)
  await query(
    `create function clock.now() returns timestamptz language sql stable as
     $$ select to_timestamp(${row?.s}) + ${speed} * (pg_catalog.now() - to_timestamp(${row?.s})) $$`,
    database,
  )
  await query(`alter database ${database} set search_path = public, clock, pg_catalog`)
}

/**
 * On new data, which end with this process. PostgreSQL refuses to run as root: then it runs as the package's user.
 * @param options of postgres, as `work_mem=8MB`
 */
export async function startPostgres(options: readonly string[] = []): Promise<Postgres> {
  const programs = postgresPrograms()
  if (!programs) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-postgres-'))
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    const idOf = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
    chownSync(folder, idOf('-u'), idOf('-g'))
  }
  const as = isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--'] : []
  const data = join(folder, 'data')
  const [program = '', ...prefix] = [...as, join(programs, 'initdb')]
  execFileSync(program, [...prefix, '-D', data, '-U', user, '--auth=trust', '--no-sync', '-E', 'UTF8'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = (database = user) => `postgres://${user}@/${database}?host=${encodeURIComponent(folder)}`
  let child: ChildProcess | undefined
  const isOver = () => child === undefined || child.exitCode !== null || child.signalCode !== null
  const query = async <R extends object>(sql: string, database = user): Promise<R[]> => {
    const client = new Client({ connectionString: url(database) })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(sql)).rows as R[]
    } finally {
      await client.end().catch(() => {})
    }
  }
  const settings = [`unix_socket_directories=${folder}`, 'listen_addresses=', ...options]
  const [server = '', ...before] = [...as, join(programs, 'postgres'), '-D', data]
  const answers = () =>
    query('select 1').then(
      () => true,
      () => false,
    )
  // After a SIGKILL, it refuses to start until the last of its former processes has ended.
  const spawned = async () => {
    child = spawn(server, [...before, ...settings.flatMap((option) => ['-c', option])], {
      cwd: folder,
      stdio: 'ignore',
    })
    await until(async () => isOver() || (await answers()), 'PostgreSQL answers', limit_ms)
    return !isOver()
  }
  const start = () => until(spawned, 'PostgreSQL starts', limit_ms)
  atExit(() => {
    child?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    get pid() {
      return child?.pid ?? 0
    },
    socket: join(folder, '.s.PGSQL.5432'),
    url,
    query,
    start,
    async create(database, speed = 1) {
      await query(`create database ${database}`)
      if (speed !== 1) await haveOwnClock(query, database, speed)
      return url(database)
    },
    async stop(signal = 'SIGKILL') {
      if (isOver()) return
      const ended = once(child as ChildProcess, 'exit')
      child?.kill(signal)
      await ended
    },
  }
}
