/**
 * What the store does with the files below LevelDB: looks at them before they are opened, sets damaged ones aside, and
 * takes a refused write back out of the log.
 */
import { chmod, cp, open, readdir, readFile, rename, rm, stat, truncate } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { decodeBatch, scanLog } from './leveldb-log.js'

/** Damaged stores kept for whoever wants to look into them. */
const keptBroken = 3

export interface Inspection {
  /** There is data here. */
  present: boolean
  /** Why opening it as it is would lose data without a word; undefined when it would not. */
  needsRepair: string | undefined
  /** What LevelDB would drop from damaged logs, oldest first: to be written again after opening. */
  salvaged: { key: string; value: string | undefined }[]
  /** What is wrong with the logs, '' when nothing is. */
  logDamage: string
  /** Bytes of a write that was cut off by a power cut: normal, never acknowledged. */
  tornBytes: number
}

const fileNumber = (name: string) => Number.parseInt(name, 10)

/** The write-ahead logs of a store, oldest first. */
async function logs(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /^\d+\.log$/.test(name))
  return names.sort((a, b) => fileNumber(a) - fileNumber(b))
}

/** Reads, never writes. */
export async function inspect(folder: string): Promise<Inspection> {
  const result: Inspection = { present: false, needsRepair: undefined, salvaged: [], logDamage: '', tornBytes: 0 }
  const names = await readdir(folder).catch(() => [] as string[])
  result.present = names.some((name) => name === 'CURRENT' || /^(MANIFEST-\d+|\d+\.(log|ldb|sst))$/.test(name))
  if (!result.present) return result
  result.needsRepair = await manifestTrouble(folder, names)
  let damagedBytes = 0
  for (const name of await logs(folder)) {
    const scan = scanLog(await readFile(join(folder, name)))
    // From the first damage on everything is written again, in order: also what LevelDB replays by itself.
    const earlier = damagedBytes > 0
    damagedBytes += scan.damagedBytes
    if (scan.tailBytes > 0 && !scan.tailIsTorn) damagedBytes += scan.tailBytes
    else result.tornBytes += scan.tailBytes
    for (const record of scan.records) {
      if (earlier || record.afterDamage) result.salvaged.push(...(decodeBatch(record.data) ?? []))
    }
  }
  if (damagedBytes > 0) result.logDamage = `${damagedBytes} bytes of the write-ahead log are damaged`
  return result
}

/** LevelDB would start an empty store without CURRENT, and delete tables that a cut MANIFEST does not name. */
async function manifestTrouble(folder: string, names: readonly string[]): Promise<string | undefined> {
  if (!names.includes('CURRENT')) return 'CURRENT is missing'
  const current = await readFile(join(folder, 'CURRENT'), 'utf8').catch(() => '')
  const named = /^(MANIFEST-\d+)\n$/.exec(current)?.[1]
  if (named === undefined) return 'CURRENT is damaged'
  if (!names.includes(named)) return `${named} is missing`
  const manifest = await readFile(join(folder, named)).catch(() => undefined)
  if (manifest === undefined) return `${named} cannot be read`
  const scan = scanLog(manifest)
  if (scan.records.length === 0) return `${named} is empty`
  if (scan.damagedBytes > 0 || scan.tailBytes > 0) return `${named} is damaged`
  return undefined
}

/** How long the newest log is: the place that a refused write is cut back to. */
export interface LogMark {
  name: string
  size: number
}

export async function markLog(folder: string): Promise<LogMark | undefined> {
  const name = (await logs(folder)).at(-1)
  return name === undefined ? undefined : { name, size: (await stat(join(folder, name))).size }
}

/**
 * Cuts the logs back to `mark`. Shrinking works on a full disk too. To be called while the store is closed: closing it
 * may flush the very bytes that were refused.
 */
export async function cutLogs(folder: string, mark: LogMark): Promise<void> {
  for (const name of await logs(folder)) {
    if (fileNumber(name) < fileNumber(mark.name)) continue
    const path = join(folder, name)
    const size = name === mark.name ? mark.size : 0
    if ((await stat(path)).size <= size) continue
    await truncate(path, size)
    await syncPath(path)
  }
}

/** fsync of a file or a folder. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** LevelDB makes its files by the umask; the folder's 0700 protects those that come later. */
export async function tightenModes(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => {})
  for (const name of await readdir(folder).catch(() => [] as string[]))
    await chmod(join(folder, name), 0o600).catch(() => {})
}

async function brokenFolders(folder: string): Promise<{ path: string; n: number }[]> {
  const prefix = `${basename(folder)}.broken-`
  const names = await readdir(dirname(folder)).catch(() => [] as string[])
  return names
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => ({ path: join(dirname(folder), name), n: Number(name.slice(prefix.length)) }))
    .sort((a, b) => a.n - b.n)
}

/** The next free `<folder>.broken-<n>`, after the oldest ones were deleted. */
async function nextBroken(folder: string): Promise<string> {
  const kept = await brokenFolders(folder)
  for (const old of kept.slice(0, Math.max(0, kept.length - keptBroken + 1)))
    await rm(old.path, { recursive: true, force: true })
  return `${folder}.broken-${(kept.at(-1)?.n ?? 0) + 1}`
}

/** Copies a damaged store aside before it is repaired. Undefined when there is no room for the copy. */
export async function copyAside(folder: string): Promise<string | undefined> {
  const target = await nextBroken(folder)
  try {
    await copyStore(folder, target)
    return target
  } catch {
    await rm(target, { recursive: true, force: true })
    return undefined
  }
}

/** Moves a store that nothing could be done for aside. */
export async function moveAside(folder: string): Promise<string> {
  const target = await nextBroken(folder)
  await rename(folder, target)
  await syncPath(dirname(folder)).catch(() => {})
  return target
}

/** Without LOCK: opening and closing that file in this process would give LevelDB's own lock away. */
export async function copyStore(folder: string, target: string): Promise<void> {
  await cp(folder, target, {
    recursive: true,
    filter: (source) => !/^(LOCK|LOG|LOG\.old|lost)$/.test(basename(source)) || source === folder,
  })
}
