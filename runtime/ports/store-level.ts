/** How the store stands on LevelDB: keys and values on disk, opening, and what an error of LevelDB means. */
import { ClassicLevel } from 'classic-level'
import { messageOf, RtkError } from '../errors.js'
import { crc32c } from './leveldb-log.js'

const protectedPrefix = 'protected.'

/** Where secrets are: nothing outside shows them, and a factory reset keeps them. */
export const isProtected = (namespace: string): boolean => namespace.startsWith(protectedPrefix)

/** Namespace → key → JSON text. */
export type Contents = Map<string, Map<string, string>>
export type Level = ClassicLevel<string, string>
export type LevelOps = ({ type: 'put'; key: string; value: string } | { type: 'del'; key: string })[]

// JSON keeps the two parts apart whatever characters they have, lone surrogates included.
export const diskKey = (namespace: string, key: string) => JSON.stringify([namespace, key])

/** The keys on disk of everything that is protected; `/` follows `.`. */
export const protectedRange = [`["${protectedPrefix}`, `["${protectedPrefix.slice(0, -1)}/`] as const

/** LevelDB does not verify table blocks when it reads them, and a silently wrong reference position is dangerous. */
const sealed = (key: string, json: string) =>
  crc32c(Buffer.from(`${key}\n${json}`))
    .toString(16)
    .padStart(8, '0') + json

function unsealed(key: string, stored: string): string | undefined {
  const json = stored.slice(8)
  return sealed(key, json) === stored ? json : undefined
}

export const locked = (location: string) =>
  new RtkError('RTK_ERR_DATA_LOCKED', `${location} is in use by another process`)

export class DamageError extends Error {}

export async function openLevel(location: string, create: boolean): Promise<Level> {
  const level: Level = new ClassicLevel(location, { keyEncoding: 'utf8', valueEncoding: 'utf8' })
  // Without `createIfMissing: false` a lost CURRENT would start an empty store over the old files.
  await level.open({ createIfMissing: create, maxOpenFiles: 64, cacheSize: 64 << 10 })
  return level
}

/**
 * Opening with a condition that can never hold ends right behind LevelDB's lock, before anything is touched: so a store
 * that a living process writes to is never taken for a damaged one.
 */
export async function throwIfLocked(location: string): Promise<void> {
  const level: Level = new ClassicLevel(location)
  try {
    await level.open({ createIfMissing: false, errorIfExists: true })
    await level.close()
  } catch (error) {
    if (kindOf(error) === 'locked') throw locked(location)
  }
}

export async function readAll(level: Level): Promise<{ contents: Contents; broken: string[] }> {
  const contents: Contents = new Map()
  const broken: string[] = []
  for await (const [key, stored] of level.iterator()) {
    const json = unsealed(key, stored)
    const parts = json === undefined ? undefined : (JSON.parse(key) as [string, string])
    if (json === undefined || parts === undefined) broken.push(key)
    else setText(contents, parts[0], parts[1], json)
  }
  return { contents, broken }
}

export function put(key: string, json: string | undefined): LevelOps[number] {
  return json === undefined ? { type: 'del', key } : { type: 'put', key, value: sealed(key, json) }
}

export function setText(contents: Contents, namespace: string, key: string, json: string | undefined): void {
  const entries = contents.get(namespace) ?? new Map<string, string>()
  if (json === undefined) entries.delete(key)
  else entries.set(key, json)
  if (entries.size > 0) contents.set(namespace, entries)
  else contents.delete(namespace)
}

/** What turns `from` into `to`. */
export function differences(from: Contents, to: Contents): LevelOps {
  const ops: LevelOps = []
  for (const [namespace, entries] of from)
    for (const key of entries.keys())
      if (!to.get(namespace)?.has(key)) ops.push(put(diskKey(namespace, key), undefined))
  for (const [namespace, entries] of to)
    for (const [key, json] of entries)
      if (from.get(namespace)?.get(key) !== json) ops.push(put(diskKey(namespace, key), json))
  return ops
}

/** LevelDB's own message; the binding wraps it in "Database failed to open". */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? reasonOf(cause) : messageOf(error)
}

type Kind = 'locked' | 'denied' | 'unwritable' | 'damage'

/** Only what certainly is damage counts as damage: anything else could be a healthy store. */
export function kindOf(error: unknown): Kind {
  if (error instanceof DamageError) return 'damage'
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = (root as { code?: string }).code ?? ''
  const text = reasonOf(error)
  if (code === 'LEVEL_LOCKED' || code === 'RTK_ERR_DATA_LOCKED') return 'locked'
  if (code === 'LEVEL_CORRUPTION') return 'damage'
  if (/permission denied|operation not permitted|too many open files/i.test(text)) return 'denied'
  if (/^(ENOSPC|EDQUOT|EROFS|EIO)$/.test(code)) return 'unwritable'
  if (/no space left|quota exceeded|read-only file system|input\/output error/i.test(text)) return 'unwritable'
  if (code === 'LEVEL_IO_ERROR' || error instanceof SyntaxError || error instanceof TypeError) return 'damage'
  return /invalid argument|not an sstable|is a directory|no such file/i.test(text) ? 'damage' : 'denied'
}
