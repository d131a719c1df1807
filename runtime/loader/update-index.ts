/** Which plugins run in another version than the bundle has them, and the folders of these versions. */
import { basename, join } from 'node:path'
import { type Static, Type } from 'typebox'
import { messageOf } from '../errors.js'
import { disk } from '../platform/files/disk.js'
import { StateFile } from '../platform/files/state-file.js'
import type { Logger } from '../platform/log/log.js'

const Version = Type.Object({ version: Type.String(), folder: Type.String({ pattern: '^[a-z0-9-]+$' }) })
const Update = Type.Object({
  name: Type.String(),
  ...Version.properties,
  /** Loads of a version that is not confirmed, counted before each. */
  tries: Type.Integer({ minimum: 0 }),
  confirmed: Type.Boolean(),
  /** The version restored if it is given up; default: that of the bundle. */
  former: Type.Optional(Version),
})
export type Update = Static<typeof Update>
const Index = Type.Object({
  /** Digest of the bundle that they belong to. */
  bundle: Type.String(),
  /** By the plugin's key in the variant. */
  updates: Type.Record(Type.String(), Update),
  /** Why a version was given up, by the plugin's name; until its next update. */
  failed: Type.Record(Type.String(), Type.String()),
})
export type Index = Static<typeof Index>

export class UpdateIndex {
  readonly #folder: string
  readonly #log: Logger
  readonly #file: StateFile<typeof Index>
  #index: Index
  /** Folders that are being filled: the list does not name them yet. */
  readonly #preparing = new Set<string>()

  /** @param bundle digest of the bundle that runs: a new list is for it */
  constructor(folder: string, bundle: string, log: Logger) {
    this.#folder = folder
    this.#log = log
    this.#file = new StateFile(Index, join(folder, 'index.json'))
    this.#index = { bundle, updates: {}, failed: {} }
  }

  get path(): string {
    return this.#file.path
  }

  /** By the plugin's key in the variant. */
  get updates(): Index['updates'] {
    return this.#index.updates
  }

  /** Why a version was given up, by the plugin's name. */
  get failed(): Index['failed'] {
    return this.#index.failed
  }

  /** The stored list, which is not used before `use`. `lost`: there was one, and it cannot be known. */
  async read(): Promise<{ stored?: Index | undefined; lost?: string }> {
    const { value, damage } = await this.#file.read()
    if (damage !== undefined) return { stored: value, lost: damage }
    return !value && (await this.#hasFolders()) ? { lost: 'it is missing' } : { stored: value }
  }

  use(stored: Index): void {
    this.#index = stored
  }

  /** @param update undefined: the plugin runs as the bundle has it */
  put(source: string, update: Update | undefined): void {
    if (update) this.#index.updates[source] = update
    else delete this.#index.updates[source]
  }

  async save(): Promise<void> {
    await this.#file.write(this.#index)
  }

  /** The state in memory counts for this run; a start from a read-only disk decides the same again. */
  async saveOrTell(): Promise<void> {
    await this.save().catch((error) =>
      this.#log.error({ err: error }, `${this.path} was not written: ${messageOf(error)}`),
    )
  }

  /** A new folder for a version of this plugin. */
  async prepare(name: string): Promise<string> {
    const folder = this.#folder
    await disk.mkdir(folder, { recursive: true, mode: 0o700 })
    await this.sweep()
    // Before the first folder: folders without a list are a lost list at the next start, and unpacking may be killed.
    if (!(await exists(this.path))) await this.save()
    const numbers = (await disk.readdir(folder)).map((one) => Number(/-(\d+)$/.exec(one)?.[1] ?? 0))
    const path = join(folder, `${name}-${Math.max(0, ...numbers) + 1}`)
    this.#preparing.add(basename(path))
    await disk.mkdir(path)
    return path
  }

  /** The list names it now. */
  prepared(folder: string): void {
    this.#preparing.delete(basename(folder))
  }

  async abandon(folder: string): Promise<void> {
    const used = Object.values(this.updates).some((update) => update.folder === basename(folder))
    this.prepared(folder)
    if (!used) await disk.rm(join(this.#folder, basename(folder)), { recursive: true, force: true })
  }

  /** Removes every folder that nothing points to. */
  async sweep(): Promise<void> {
    for (const entry of await disk.readdir(this.#folder, { withFileTypes: true })) {
      // Asked for each one: another plugin may have been installed while the ones before were deleted.
      if (entry.isDirectory() && !this.#isUsed(entry.name))
        await disk.rm(join(this.#folder, entry.name), { recursive: true, force: true })
    }
  }

  #isUsed(place: string): boolean {
    const updates = Object.values(this.updates)
    return this.#preparing.has(place) || updates.some((one) => one.folder === place || one.former?.folder === place)
  }

  async #hasFolders(): Promise<boolean> {
    const entries = await disk.readdir(this.#folder, { withFileTypes: true }).catch(() => [])
    return entries.some((entry) => entry.isDirectory())
  }
}

const exists = (file: string) =>
  disk.stat(file).then(
    () => true,
    () => false,
  )
