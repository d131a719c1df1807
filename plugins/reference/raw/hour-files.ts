/** The files of the archive: their names, their contents, and their compression. */
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { disk, StateFile } from 'rtk-base/files'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Contents, contentsOf } from './contents.js'

export const hour_ms = 3_600_000

/** A file of the archive. */
export interface ArchivedHour {
  /** First hour of the file, UTC milliseconds. */
  readonly hour_ms: number
  /** 0; more where the clock was set back behind a closed file of that hour. */
  readonly part: number
  readonly name: string
  readonly bytes: number
  readonly isOpen: boolean
  /** Undefined of an open file, and where they cannot be read. */
  readonly contents: Contents | undefined
  /** When a server proved that it has the file, UTC seconds. */
  readonly pushed: number | undefined
}

const open_ = /^(\d{8}T\d{2})(?:-(\d{1,3}))?\.rtcm3$/
const closed = /^(\d{8}T\d{2})(?:-(\d{1,3}))?\.rtcm3\.gz$/
export const portion_bytes = 16_384

/** The hour of a time, UTC milliseconds. */
export const hourOf = (utc_ms: number): number => Math.floor(utc_ms / hour_ms) * hour_ms

/** `20261127T17.rtcm3`: the open file of an hour. */
export function hourName(at_ms: number, part: number): string {
  const stamp = new Date(at_ms).toISOString().slice(0, 13).replaceAll('-', '')
  return `${stamp}${part === 0 ? '' : `-${part}`}.rtcm3`
}

/** `20261127T17.rtcm3.json`, beside the closed file: its contents, and when it was pushed. */
const Aside = Type.Object({ ...Type.Partial(Contents).properties, pushed: Type.Optional(Type.Integer({ minimum: 0 })) })
const asideName = (name: string) => `${name.replace(/\.gz$/, '')}.json`
const asideOf = (path: string, name: string) =>
  new StateFile(Aside, join(path, asideName(name)), { largest_bytes: 4_096 })

/** @returns undefined if it is no file of an hour, or is gone */
async function lookAt(path: string, name: string): Promise<ArchivedHour | undefined> {
  const isOpen = open_.test(name)
  const [, text = '', part = 0] = (isOpen ? open_ : closed).exec(name) ?? []
  const start_ms = Date.parse(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}T${text.slice(9)}:00:00Z`)
  if (!Number.isFinite(start_ms)) return undefined
  const { size } = await disk.stat(join(path, name)).catch(() => ({ size: 0 }))
  const { pushed, ...found } = (isOpen ? undefined : (await asideOf(path, name).read()).value) ?? {}
  const contents = Value.Check(Contents, found) ? found : undefined
  return { hour_ms: start_ms, part: Number(part), name, bytes: size, isOpen, contents, pushed }
}

/** The files of a folder. Closed ones do not change, so each is looked at once. */
export class HourIndex {
  #folder = ''
  #known: ReadonlyMap<string, ArchivedHour> = new Map()
  #looking: Promise<unknown> = Promise.resolve()

  /** Oldest first. @throws an error of the file system */
  list(path: string): Promise<ArchivedHour[]> {
    return this.#next(async () => {
      // Another disk may be mounted there.
      const { dev, ino } = await disk.stat(path)
      const known = this.#folder === `${dev} ${ino}` ? this.#known : new Map<string, ArchivedHour>()
      this.#folder = `${dev} ${ino}`
      const found = new Map<string, ArchivedHour>()
      for (const name of await disk.readdir(path)) {
        const before = known.get(name)
        const hour = before && !before.isOpen ? before : await lookAt(path, name)
        if (hour) found.set(name, hour)
      }
      this.#known = found
      return [...found.values()].sort((p, q) => p.hour_ms - q.hour_ms || p.part - q.part)
    })
  }

  /** Durable when it resolves. @returns false: the file has been deleted meanwhile @throws an error of the file system */
  markPushed(path: string, name: string, utc_s: number): Promise<boolean> {
    return this.#next(async () => {
      if (!(await disk.stat(join(path, name)).catch(() => undefined))) return false
      const aside = asideOf(path, name)
      await aside.write({ ...(await aside.read()).value, pushed: Math.floor(utc_s) })
      this.#known = new Map([...this.#known].filter(([known]) => known !== name))
      return true
    })
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#looking.then(work)
    this.#looking = done.catch(() => {})
    return done
  }
}

/** Something else of that name, such as a folder, goes too. Never rejects. */
export async function removeHour(path: string, name: string): Promise<void> {
  // The last is left by a power cut.
  for (const each of [name, asideName(name), `${asideName(name)}.new`]) {
    await disk.rm(join(path, each), { force: true, recursive: true }).catch(() => {})
  }
}

/** The bytes of a file as they are on the disk. @throws an error of the file system, or that it is no plain file */
export async function* storedPieces(path: string): AsyncGenerator<Buffer> {
  // A pipe or a device of that name would never end.
  if (!(await disk.stat(path)).isFile()) throw new Error(`${path} is not a plain file`)
  for await (const piece of disk.createReadStream(path, { highWaterMark: portion_bytes })) yield piece as Buffer
}

/** The bytes of a file, decompressed. Ends quietly where the file does, or where it cannot be read. */
export async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  // A pipe or a device of that name would never end.
  if (!(await disk.stat(path).catch(() => undefined))?.isFile()) return
  const file = disk.createReadStream(path, { highWaterMark: portion_bytes })
  const bytes = path.endsWith('.gz') ? file.pipe(createGunzip({ chunkSize: portion_bytes })) : file
  file.on('error', (error) => bytes.destroy(error))
  const pieces = bytes[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  try {
    for (;;) {
      const piece = await pieces.next().catch(() => undefined)
      if (!piece || piece.done) return
      yield piece.value
      await setImmediate()
    }
  } finally {
    file.destroy()
    bytes.destroy()
  }
}

/**
 * Closes the file of an hour. The compressed file is complete and durable before it takes the place of the open one. An empty file
 * is deleted.
 * @throws an error of the file system
 */
export async function compress(path: string, name: string): Promise<void> {
  const source = join(path, name)
  const found = await disk.stat(source)
  if (!found.isFile()) return
  if (found.size === 0) return disk.rm(source)
  const part = join(path, `${name}.gz.part`)
  const contents = await contentsOf(disk.createReadStream(source, { highWaterMark: portion_bytes }))
  try {
    await pipeline(
      disk.createReadStream(source),
      createGzip(),
      disk.createWriteStream(part, { mode: 0o600, flush: true }),
    )
    await asideOf(path, name).write(contents)
  } catch (error) {
    await disk.rm(part, { force: true })
    throw error
  }
  await disk.rename(part, join(path, `${name}.gz`))
  await disk.rm(source)
}
