/** An empty embedded database, made once for all test files: to make one takes three seconds of processor, to open a copy half of one. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { packageRoot } from '../../../runtime/platform/release.js'

const modules = join(packageRoot(), 'node_modules')
const manifest = readFileSync(join(modules, '@electric-sql', 'pglite', 'package.json'), 'utf8')
const { version } = JSON.parse(manifest) as { version: string }
/** Outlasts the build, as it hangs on the package alone. */
const archive = join(modules, '.cache', 'rtk-base', `empty-database-${version}.tar`)

async function emptyDatabase(): Promise<Blob> {
  try {
    return new Blob([readFileSync(archive)])
  } catch {
    const database = new PGlite()
    await database.waitReady
    const dump = await database.dumpDataDir('none')
    await database.close()
    mkdirSync(dirname(archive), { recursive: true })
    const aside = `${archive}.${process.pid}`
    writeFileSync(aside, Buffer.from(await dump.arrayBuffer()))
    renameSync(aside, archive)
    return dump
  }
}

/** @param folder where it lies; default: in memory */
export async function openDatabase(folder?: string): Promise<PGlite> {
  return PGlite.create({ loadDataDir: await emptyDatabase(), ...(folder !== undefined && { dataDir: folder }) })
}

type TestClock = { now(): number }
const clocks = new WeakMap<PGlite, TestClock>()

/** From now on, the time of the database is that of a clock of a test: it stands still, and steps, as the clock does. */
export function followClock(database: PGlite, clock: TestClock): void {
  const isFollowing = clocks.has(database)
  clocks.set(database, clock)
  if (isFollowing) return
  const run = database.execProtocolRawSync.bind(database)
  // Queries run in this thread, and ask for the time of the machine as all others do.
  database.execProtocolRawSync = (message) => {
    const ofMachine = Date.now
    const present = clocks.get(database) ?? clock
    Date.now = () => present.now()
    try {
      return run(message)
    } finally {
      Date.now = ofMachine
    }
  }
}

/** Room that a fleet's test needs, with its copies. */
const room_bytes = 1e9

/** A temporary folder, in memory where there is room: a database has a thousand files, and disks are slow to forget them. */
export function databaseFolder(prefix: string): string {
  const memory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize > room_bytes) return mkdtempSync(join(memory, prefix))
  } catch {
    // Not on this system.
  }
  return mkdtempSync(join(tmpdir(), prefix))
}
