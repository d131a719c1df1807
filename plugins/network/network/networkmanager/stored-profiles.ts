import { variant } from 'rtk-base/link'
import type { Daemon } from './daemon.js'
import { connectionInterface, settingsInterface, settingsPath, storeFlags } from './names.js'
import { entryOf, type Properties } from './object-model.js'
import { type ProfileKind, profileId, type Settings, uuidOf } from './profiles.js'

const security = '802-11-wireless-security'

/** Our profile before a change; without `settings` there was none. */
export interface Before {
  readonly path: string
  readonly settings: Settings | undefined
}

/** Our profiles in the daemon's store. Others are neither read nor written. */
export class StoredProfiles {
  readonly #daemon: Daemon

  constructor(daemon: Daemon) {
    this.#daemon = daemon
  }

  /** Path of our profile; undefined where there is none. */
  async find(kind: ProfileKind, name: string): Promise<string | undefined> {
    const uuid = uuidOf(profileId(kind, name))
    try {
      const answer = await this.#daemon.call(settingsPath, settingsInterface, 'GetConnectionByUuid', 's', [uuid])
      return answer?.[0] as string | undefined
    } catch (error) {
      // The daemon has a single error here; other faults show at the next call.
      if ((error as { kind?: string }).kind?.endsWith('.InvalidConnection')) return undefined
      throw error
    }
  }

  /** Section `ipv4` of a stored profile, its values without their types. */
  async ipv4(path: string): Promise<Properties> {
    const answer = await this.#daemon.call(path, connectionInterface, 'GetSettings')
    return entryOf(entryOf(answer?.[0]).ipv4)
  }

  async delete(path: string): Promise<void> {
    await this.#daemon.call(path, connectionInterface, 'Delete')
  }

  /** Stores `settings` under its own id. @returns what was there before */
  async write(kind: ProfileKind, name: string, settings: Settings): Promise<Before> {
    const path = await this.find(kind, name)
    if (path === undefined) {
      const body = [settings, storeFlags, {}]
      const answer = await this.#daemon.call(settingsPath, settingsInterface, 'AddConnection2', 'a{sa{sv}}ua{sv}', body)
      return { path: String(answer?.[0] ?? '/'), settings: undefined }
    }
    const before = await this.#read(path)
    await this.#update(path, settings)
    return { path, settings: before }
  }

  /** Restores the state before `write`. */
  async restore({ path, settings }: Before): Promise<void> {
    if (settings) await this.#update(path, settings)
    else await this.delete(path)
  }

  /** Allows or forbids automatic activation of our profile, if there is one. */
  async setAutoconnect(kind: ProfileKind, name: string, autoconnect: boolean): Promise<void> {
    const path = await this.find(kind, name)
    if (path === undefined) return
    const settings = await this.#read(path)
    await this.#update(path, {
      ...settings,
      connection: { ...settings.connection, autoconnect: variant('b', autoconnect) },
    })
  }

  async #update(path: string, settings: Settings): Promise<void> {
    await this.#daemon.call(path, connectionInterface, 'Update2', 'a{sa{sv}}ua{sv}', [settings, storeFlags, {}])
  }

  /** An update replaces everything, so the secrets have to be in it. */
  async #read(path: string): Promise<Settings> {
    const answer = await this.#daemon.callRaw(path, connectionInterface, 'GetSettings')
    const settings = entryOf(answer?.[0]) as Settings
    if (!(security in settings)) return settings
    const secrets = await this.#daemon.callRaw(path, connectionInterface, 'GetSecrets', 's', [security])
    return { ...settings, [security]: { ...settings[security], ...entryOf(entryOf(secrets?.[0])[security]) } }
  }
}
