import { createRequire } from 'node:module'
import { realpathSync } from 'node:fs'
import type { FleetQuery } from 'rtk-base/services'
import { type Engine, type EngineEvents, quoted } from './engine.js'

const packageName = '@electric-sql/pglite'

/** The part of PGlite that is used. */
interface Pglite {
  readonly waitReady: Promise<void>
  query(sql: string, values?: unknown[]): Promise<{ rows: object[] }>
  exec(sql: string): Promise<unknown>
  transaction<T>(work: (inside: Pick<Pglite, 'query'>) => Promise<T>): Promise<T>
  listen(channel: string, take: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** It is an optional package of rtk-base, with files beside its code: so it is loaded from there, never bundled. */
function load(): { PGlite: new (folder: string) => Pglite } {
  const require = createRequire(realpathSync(process.argv[1] ?? __filename))
  try {
    return require(packageName)
  } catch (error) {
    throw new Error(
      `the embedded database ${packageName} is not installed (${(error as Error).message.split('\n')[0]}): npm install ${packageName}, or set fleet.database`,
    )
  }
}

/**
 * PGlite: PostgreSQL inside the service, for one desk. Only this process can use it, and it survives the end of the process, but not every
 * power cut: it does not wait for the disk.
 */
export async function openEmbedded(folder: string, events: EngineEvents): Promise<Engine> {
  const { PGlite } = load()
  const database = new PGlite(folder)
  await database.waitReady
  const stops = new Map<string, () => Promise<void>>()
  const query: FleetQuery = async <R extends object>(sql: string, values?: readonly unknown[]) => {
    // Without values there may be several statements, which `query` refuses.
    if (values === undefined && /;\s*\S/.test(sql)) {
      await database.exec(sql)
      return []
    }
    return (await database.query(sql, values as unknown[])).rows as R[]
  }
  return {
    query,
    transaction: (work) =>
      database.transaction((inside) =>
        work(
          async <R extends object>(sql: string, values?: readonly unknown[]) =>
            (await inside.query(sql, values as unknown[])).rows as R[],
        ),
      ),
    async listen(channel) {
      const stop = await database.listen(quoted(channel), (payload) => events.notified(channel, payload))
      stops.set(channel, stop)
    },
    async unlisten(channel) {
      await stops.get(channel)?.()
      stops.delete(channel)
    },
    lead: async () => true,
    close: () => database.close(),
  }
}
