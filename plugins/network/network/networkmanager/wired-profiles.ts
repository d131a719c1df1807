import type { PluginContext } from 'rtk-base/plugin'
import type { FixedAddress } from 'rtk-base/services'
import type { Daemon } from './daemon.js'
import { deviceStates, interfaces as names, noPath } from './names.js'
import { listOf, numberOf, textOf } from './object-model.js'
import { hasAddress, profileId, wiredSettings } from './profiles.js'
import { refusal } from './refusals.js'
import type { StoredProfiles } from './stored-profiles.js'

/**
 * The profile of an Ethernet port: ours with a fixed address, otherwise the machine's own, and ours with DHCP only where the machine
 * has none.
 */
export class WiredProfiles {
  readonly #log: PluginContext['log']
  readonly #daemon: Daemon
  readonly #profiles: StoredProfiles
  readonly #activate: (profile: string, device: string) => Promise<unknown>

  constructor(
    { log }: Pick<PluginContext, 'log'>,
    daemon: Daemon,
    profiles: StoredProfiles,
    activate: (profile: string, device: string) => Promise<unknown>,
  ) {
    this.#log = log
    this.#daemon = daemon
    this.#profiles = profiles
    this.#activate = activate
  }

  /** The path of the profile to activate; that of none leaves the choice to the daemon. */
  async profile(name: string, device: string): Promise<string> {
    const own = await this.#fixed(name)
    if (own !== undefined) return own
    if (this.#available(device).length > 0) return noPath
    return (await this.#profiles.write('eth', name, wiredSettings(name))).path
  }

  async setAddress(name: string, device: string, address: FixedAddress | undefined): Promise<void> {
    if (address) await this.#fix(name, device, address)
    else await this.#release(name, device)
  }

  async #fix(name: string, device: string, address: FixedAddress): Promise<void> {
    const own = await this.#fixed(name)
    const isStored = own !== undefined && hasAddress(await this.#profiles.ipv4(own), address)
    if (isStored && (this.#isActive(name, device) || !this.#isUsed(device))) return
    const before = await this.#profiles.write('eth', name, wiredSettings(name, address))
    try {
      if (this.#isUsed(device)) await this.#activate(before.path, device)
    } catch (error) {
      await this.#profiles.restore(before).catch((reason) => {
        const { message } = refusal(`${name}: the profile could not be set back`, reason)
        this.#log.warn(`${message}; the next change writes it again`)
      })
      throw error
    }
  }

  /** The machine's own profile takes over, and ours goes. */
  async #release(name: string, device: string): Promise<void> {
    const own = await this.#fixed(name)
    if (own === undefined) return
    const isActive = this.#isActive(name, device)
    const other = this.#available(device).find((path) => path !== own)
    if (other === undefined) await this.#profiles.write('eth', name, wiredSettings(name))
    if (isActive && this.#isUsed(device)) await this.#activate(other ?? own, device)
    if (other !== undefined) await this.#profiles.delete(own)
  }

  /** Path of our profile, if it has a fixed address. */
  async #fixed(name: string): Promise<string | undefined> {
    const own = await this.#profiles.find('eth', name)
    const isFixed = own !== undefined && (await this.#profiles.ipv4(own)).method === 'manual'
    return isFixed ? own : undefined
  }

  #available(device: string): readonly string[] {
    return listOf(this.#daemon.model.of(device, names.device).AvailableConnections).map(textOf)
  }

  #isActive(name: string, device: string): boolean {
    const { model } = this.#daemon
    const active = textOf(model.of(device, names.device).ActiveConnection)
    return textOf(model.of(active, names.active).Id) === profileId('eth', name)
  }

  /** The device has a cable and is not switched off: a new profile is for now. Otherwise the daemon takes it when the port comes up. */
  #isUsed(device: string): boolean {
    const { State, Autoconnect } = this.#daemon.model.of(device, names.device)
    const state = deviceStates[numberOf(State)] ?? 'unavailable'
    return Autoconnect !== false && state !== 'unavailable' && state !== 'unmanaged'
  }
}
