import type { KeyObject } from 'node:crypto'
import { readRecordSync } from 'rtk-base/files'
import { type ImageManifest, keyId, readPublicKey } from 'rtk-base/image'
import type { PluginContext } from 'rtk-base/plugin'
import gt from 'semver/functions/gt.js'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

/** Health before an update, which must be restored after it. */
export const Before = Type.Object({ rtcm: Type.Boolean(), broker: Type.Boolean() })
export type Before = Static<typeof Before>

/** An update that was installed and is neither confirmed nor given up. */
const Pending = Type.Object({
  version: Type.String(),
  /** The version that has installed it. */
  from: Type.String(),
  before: Before,
  minVersion: Type.Optional(Type.String()),
  newKeys: Type.Optional(Type.Array(Type.String())),
  /** Where it lies. */
  slot: Type.String(),
  /** Why the version on trial has given itself up. */
  verdict: Type.Optional(Type.String()),
  // Where another program installs it, and the machine has to restart:
  /** The start of the machine during which it was installed. */
  boot: Type.Optional(Type.String()),
  /** The installation was completed. */
  installed: Type.Optional(Type.Boolean()),
  /** How often the service was started on trial. */
  starts: Type.Optional(Type.Integer()),
})
export type Pending = Static<typeof Pending>

/** An update that ran and was given up. */
export const GivenUp = Type.Object({
  cause: Type.String(),
  /** What was given up, and what runs in its place; absent: nothing is recorded of it. */
  versions: Type.Optional(Type.Object({ tried: Type.String(), runs: Type.String() })),
})
export type GivenUp = Static<typeof GivenUp>

/** State that survives a restart, in the protected store, so that a factory reset restores no old version or key. */
export class UpdateMemory {
  readonly #ctx: PluginContext
  readonly #keys: readonly string[]

  /** @param keys of the options: PEM texts, or absolute paths of PEM files */
  constructor(ctx: PluginContext, keys: readonly string[]) {
    this.#ctx = ctx
    this.#keys = keys
  }

  /** The trusted public keys by ID. Unreadable keys are reported and omitted. */
  async keys(): Promise<Map<string, KeyObject>> {
    const { errors, store } = this.#ctx
    const stored = await store.protected.get('newKeys')
    const found = new Map<string, KeyObject>()
    const bad: string[] = []
    for (const key of [...this.#keys, ...(Value.Check(Type.Array(Type.String()), stored) ? stored : [])]) {
      try {
        const read = readPublicKey(key.startsWith('-----BEGIN ') ? key : readRecordSync(key))
        found.set(keyId(read), read)
      } catch (error) {
        bad.push(`${key.startsWith('-----BEGIN ') ? 'a key' : key}: ${(error as Error).message}`)
      }
    }
    errors.while('update-keys', bad.length > 0 && { keys: bad.join('; ') })
    return found
  }

  /** No older bundle is taken; `''`: any. */
  async minVersion(): Promise<string> {
    const floor = await this.#ctx.store.protected.get('minVersion')
    return typeof floor === 'string' ? floor : ''
  }

  /** No older version of this plugin is taken; `''`: any. */
  async pluginFloor(name: string): Promise<string> {
    return (await this.#pluginFloors())[name] ?? ''
  }

  /** @throws RTK_ERR_STORE_WRITE */
  async raisePluginFloor({ name, minVersion }: Pick<ImageManifest, 'name' | 'minVersion'>): Promise<void> {
    const floors = await this.#pluginFloors()
    if (minVersion === undefined || (floors[name] && !gt(minVersion, floors[name]))) return
    await this.#ctx.store.protected.set('pluginFloors', { ...floors, [name]: minVersion })
  }

  async #pluginFloors(): Promise<Record<string, string>> {
    const floors = await this.#ctx.store.protected.get('pluginFloors')
    return Value.Check(Type.Record(Type.String(), Type.String()), floors) ? floors : {}
  }

  async pending(): Promise<Pending | undefined> {
    const pending = await this.#ctx.store.protected.get('pending')
    return Value.Check(Pending, pending) ? pending : undefined
  }

  /** @throws RTK_ERR_STORE_WRITE */
  async begin(
    { version, minVersion, newKeys }: Pick<ImageManifest, 'version' | 'minVersion' | 'newKeys'>,
    place: Pick<Pending, 'from' | 'slot' | 'before' | 'boot'>,
  ): Promise<void> {
    const pending = { version, ...place, ...(minVersion && { minVersion }), ...(newKeys && { newKeys }) }
    await this.#ctx.store.protected.batch({ pending, failed: undefined })
  }

  /** Why the last update failed after its restart; undefined: it did not. */
  async failed(): Promise<GivenUp | undefined> {
    const failed = await this.#ctx.store.protected.get('failed')
    return Value.Check(GivenUp, failed) ? failed : undefined
  }

  /** @throws RTK_ERR_STORE_WRITE */
  async note(verdict: string): Promise<void> {
    await this.#add({ verdict })
  }

  /** The update is where it is started from next. @throws RTK_ERR_STORE_WRITE */
  async installed(): Promise<void> {
    await this.#add({ installed: true })
  }

  /** Counts a start of the service on trial. @returns their number, including this one @throws RTK_ERR_STORE_WRITE */
  async started(): Promise<number> {
    const starts = ((await this.pending())?.starts ?? 0) + 1
    await this.#add({ starts })
    return starts
  }

  async #add(more: Partial<Pending>): Promise<void> {
    const pending = await this.pending()
    if (pending) await this.#ctx.store.protected.set('pending', { ...pending, ...more })
  }

  /** The update is over. @param failed reason of a failure @throws RTK_ERR_STORE_WRITE */
  async end(failed?: GivenUp): Promise<void> {
    await this.#ctx.store.protected.batch({ pending: undefined, failed })
  }

  /** The update is confirmed: its minimum version and its keys apply from now on. @throws RTK_ERR_STORE_WRITE */
  async confirm({ minVersion = '', newKeys = [] }: Pending): Promise<void> {
    const floor = await this.minVersion()
    const stored = await this.#ctx.store.protected.get('newKeys')
    const keys = [...new Set([...(Value.Check(Type.Array(Type.String()), stored) ? stored : []), ...newKeys])]
    const raised = minVersion !== '' && (floor === '' || gt(minVersion, floor)) ? minVersion : floor
    await this.#ctx.store.protected.batch({
      pending: undefined,
      failed: undefined,
      minVersion: raised,
      newKeys: keys.slice(-8),
    })
  }
}
