import { pause, systemBus, variant } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import type {
  AccessPointProfile,
  FixedAddress,
  NetworkInterface,
  ScannedNetwork,
  StationProfile,
} from 'rtk-base/services'
import { type Backend, Changes } from '../backend.js'
import { daemonAway, networkError, noInterface, notManaged } from '../reasons.js'
import { Activation } from './activation.js'
import { Daemon } from './daemon.js'
import {
  activationLimit_ms,
  interfaces as names,
  noPath,
  preferredMetric,
  propertiesInterface,
  rootPath,
  scanLimit_ms,
  startLimit_ms,
} from './names.js'
import { listOf, numberOf, textOf } from './object-model.js'
import { accessPointSettings, type ProfileKind, type Settings, stationSettings } from './profiles.js'
import { refusal } from './refusals.js'
import { devicePath, interfacesOf, readNeighbours, scannedBy } from './snapshot.js'
import { type Before, StoredProfiles } from './stored-profiles.js'
import { WiredProfiles } from './wired-profiles.js'

/** The machine's interfaces by NetworkManager's D-Bus interface. */
export class NetworkManager implements Backend {
  readonly #ctx: PluginContext
  readonly #daemon: Daemon
  readonly #profiles: StoredProfiles
  readonly #wired: WiredProfiles
  readonly #changes: Changes
  /** The activation that is waited for, by interface. */
  readonly #activations = new Map<string, Activation>()
  /** Waiters for a change of the daemon's objects. */
  readonly #watchers = new Set<() => void>()
  #interfaces: readonly NetworkInterface[] = []
  /** For `nmcli`: the bus of the option, where that is another than the system's. */
  readonly #env: Readonly<Record<string, string>>
  #shown = ''
  /** The interface that was given the default route. */
  #steered: string | undefined
  #noted = false

  /** @param bus D-Bus address; `''`: the system bus */
  constructor(ctx: PluginContext, bus: string) {
    this.#ctx = ctx
    this.#env = bus ? { DBUS_SYSTEM_BUS_ADDRESS: bus } : {}
    const address = bus || systemBus()
    this.#daemon = new Daemon(ctx, address, { changed: () => this.#changed() })
    this.#profiles = new StoredProfiles(this.#daemon)
    this.#wired = new WiredProfiles(ctx, this.#daemon, this.#profiles, (...call) => this.#activate(...call))
    this.#changes = new Changes(ctx)
  }

  get ready(): boolean {
    return this.#daemon.ready
  }
  get failure(): string {
    return this.#daemon.failure
  }
  get interfaces(): readonly NetworkInterface[] {
    return this.#interfaces
  }
  get onChange() {
    return this.#changes.on
  }

  /** A bus that does not answer must not hold up the station. */
  async start(): Promise<void> {
    await Promise.race([this.#daemon.start(), pause(this.#ctx.timers, startLimit_ms)])
  }

  async stop(): Promise<void> {
    for (const activation of this.#activations.values()) activation.superseded()
    this.#daemon.stop()
  }

  // ── what is asked of it ───────────────────────────────────────────────────────────────────────────────────────────

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    const path = this.#device(name, 'ethernet')
    if (this.#interfaces.find((one) => one.name === name)?.state === 'unmanaged') throw notManaged(name)
    if (enabled) await this.#asked(`${name}: it was not enabled`, () => this.#enable(name, path))
    else await this.#asked(`${name}: it was not disabled`, () => this.#disable(path))
  }

  async setAddress(name: string, address: FixedAddress | undefined): Promise<void> {
    const path = this.#device(name, 'ethernet')
    if (this.#interfaces.find((one) => one.name === name)?.state === 'unmanaged') throw notManaged(name)
    await this.#asked(`${name}: its address was not set`, () => this.#wired.setAddress(name, path, address))
  }

  async startAccessPoint(name: string, profile: AccessPointProfile): Promise<void> {
    await this.#establish('ap', name, accessPointSettings(name, profile))
    await this.#keepFromComingBack('sta', name)
  }

  async join(name: string, profile: StationProfile): Promise<void> {
    await this.#establish('sta', name, stationSettings(name, profile))
    await this.#keepFromComingBack('ap', name)
  }

  async disconnect(name: string): Promise<void> {
    const path = this.#device(name, 'wifi')
    this.#activations.get(name)?.superseded()
    await this.#asked(`${name}: it was not disconnected`, async () => {
      for (const kind of ['ap', 'sta'] as const) await this.#profiles.setAutoconnect(kind, name, false)
      await this.#disable(path)
    })
  }

  async scan(name: string, signal?: AbortSignal): Promise<ScannedNetwork[]> {
    const path = this.#device(name, 'wifi')
    signal?.throwIfAborted()
    const { model } = this.#daemon
    const before = model.of(path, names.wireless).LastScan
    await this.#asked(`${name}: it was not scanned`, () =>
      this.#daemon.call(path, names.wireless, 'RequestScan', 'a{sv}', [{}]),
    )
    await this.#until(() => model.of(path, names.wireless).LastScan !== before, scanLimit_ms, signal)
    return scannedBy(model, path)
  }

  /** By `nmcli`, which changes what is applied to a device and nothing that is stored. */
  async steer(name: string | undefined): Promise<void> {
    if (!this.ready) throw daemonAway(this.failure)
    // The metric also identifies routes left by a previous run.
    const has = ({ metric, route6 }: NetworkInterface) =>
      metric === preferredMetric || route6?.metric === preferredMetric
    const before = new Set([...this.#interfaces.filter(has).map((one) => one.name), this.#steered])
    this.#steered = name
    for (const one of before) if (one !== undefined && one !== name) await this.#nmcli('reapply', one)
    if (name === undefined) return
    const metric = String(preferredMetric)
    await this.#nmcli('modify', name, 'ipv4.route-metric', metric, 'ipv6.route-metric', metric)
  }

  neighbours(name: string) {
    return readNeighbours(name)
  }

  async #nmcli(verb: string, name: string, ...args: string[]): Promise<void> {
    const { code, stderr } = await this.#ctx.process.execFile('nmcli', ['device', verb, name, ...args], {
      env: this.#env,
    })
    if (code !== 0) throw networkError(`${name}: it was not given the default route: ${stderr.trim()}`)
  }

  // ── how it is done ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Path of a device that the daemon has. @throws RTK_ERR_UNAVAILABLE, RTK_ERR_NETWORK */
  #device(name: string, kind: NetworkInterface['kind']): string {
    if (!this.ready) throw daemonAway(this.failure)
    const { model } = this.#daemon
    const path = devicePath(model, name)
    if (path === undefined || !model.hasInterface(path, kind === 'wifi' ? names.wireless : names.wired))
      throw noInterface(name, kind)
    return path
  }

  /** @throws RTK_ERR_NETWORK with the daemon's reason */
  async #asked<T>(what: string, fn: () => Promise<T> | undefined): Promise<T> {
    try {
      const result = fn()
      if (result === undefined) throw daemonAway(this.failure)
      return await result
    } catch (error) {
      throw refusal(what, error)
    }
  }

  async #setAutoconnect(path: string, autoconnect: boolean): Promise<void> {
    const body = [names.device, 'Autoconnect', variant('b', autoconnect)]
    await this.#daemon.call(path, propertiesInterface, 'Set', 'ssv', body)
  }

  async #enable(name: string, path: string): Promise<void> {
    const state = this.#interfaces.find((one) => one.name === name)?.state
    // Without a cable the daemon activates it when one is plugged in.
    if (state !== 'disconnected' && state !== 'failed') return this.#setAutoconnect(path, true)
    const profile = await this.#wired.profile(name, path)
    await this.#setAutoconnect(path, true)
    await this.#activate(profile, path)
  }

  async #disable(path: string): Promise<void> {
    const { Autoconnect, ActiveConnection } = this.#daemon.model.of(path, names.device)
    const mayBefore = Autoconnect !== false
    if (mayBefore) await this.#setAutoconnect(path, false)
    if (textOf(ActiveConnection) === '' || ActiveConnection === noPath) return
    try {
      await this.#daemon.call(path, names.device, 'Disconnect')
    } catch (error) {
      if (mayBefore) await this.#setAutoconnect(path, true).catch(() => {})
      throw error
    }
  }

  async #activate(profile: string, device: string): Promise<string> {
    this.#daemon.forgetReason(device)
    const answer = await this.#daemon.call(rootPath, names.root, 'ActivateConnection', 'ooo', [profile, device, noPath])
    return textOf(answer?.[0])
  }

  /** Stores a profile and waits until it is active. Restores the previous one if it is rejected or does not come up. */
  async #establish(kind: ProfileKind, name: string, settings: Settings): Promise<void> {
    const path = this.#device(name, 'wifi')
    this.#activations.get(name)?.superseded()
    const activation = new Activation(name, activationLimit_ms, (ms, fn) => this.#ctx.timers.after(ms, fn))
    this.#activations.set(name, activation)
    let before: Before | undefined
    try {
      await this.#asked(`${name}: it was not set up`, async () => {
        before = await this.#profiles.write(kind, name, settings)
        activation.accepted(await this.#activate(before.path, path))
        // Only now: the daemon would activate what was stored before.
        await this.#setAutoconnect(path, true)
      })
      this.#followActivation(name, activation)
      await activation.done
    } catch (error) {
      activation.failed(error as Error)
      // A newer call has written its own profile.
      if (before && this.#activations.get(name) === activation) await this.#restore(name, before)
      // Unplugged meanwhile: the daemon's error would not help.
      throw this.ready && devicePath(this.#daemon.model, name) === undefined ? noInterface(name, 'wifi') : error
    } finally {
      if (this.#activations.get(name) === activation) this.#activations.delete(name)
    }
  }

  async #restore(name: string, before: Before): Promise<void> {
    try {
      await this.#profiles.restore(before)
    } catch (error) {
      this.#ctx.log.warn(
        `${refusal(`${name}: the profile could not be set back`, error).message}; the next change writes it again`,
      )
    }
  }

  /** The other use of the radio. A failed write is retried at the next change. */
  async #keepFromComingBack(kind: ProfileKind, name: string): Promise<void> {
    try {
      await this.#profiles.setAutoconnect(kind, name, false)
    } catch (error) {
      this.#ctx.log.warn(
        `${refusal(`${name}: its other profile may come back when NetworkManager restarts`, error).message}`,
      )
    }
  }

  // ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #changed(): void {
    if (this.#noted) return
    this.#noted = true
    // One look for all signals of a turn.
    setImmediate(() => {
      this.#noted = false
      if (!this.#ctx.signal.aborted) this.#refresh()
    })
  }

  #refresh(): void {
    const { model, ready, failure } = this.#daemon
    const now = ready ? interfacesOf(model, (path) => this.#daemon.lastReason(path)) : []
    for (const [name, activation] of this.#activations) this.#followActivation(name, activation)
    for (const watcher of [...this.#watchers]) watcher()
    const shown = JSON.stringify([ready, failure, now])
    if (shown === this.#shown) return
    this.#shown = shown
    this.#interfaces = now
    this.#changes.note()
  }

  #followActivation(name: string, activation: Activation): void {
    const { model, ready, failure } = this.#daemon
    const path = devicePath(model, name)
    if (!ready) activation.failed(daemonAway(`${name}: ${failure}`))
    if (!ready || path === undefined) {
      activation.failed(noInterface(name, 'wifi'))
      return
    }
    const [, now = 0] = listOf(model.of(path, names.device).StateReason).map(numberOf)
    activation.objectsChanged(model, this.#daemon.lastReason(path) || now)
  }

  /** Waits for the condition, up to the limit. @throws RTK_ERR_UNAVAILABLE if the daemon disappears, the reason of `signal` */
  #until(condition: () => boolean, limit_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: unknown) => {
        this.#watchers.delete(look)
        signal?.removeEventListener('abort', aborted)
        void limit()
        if (error === undefined) resolve()
        else reject(error)
      }
      const aborted = () => end(signal?.reason)
      const look = () => {
        if (signal?.aborted) end(signal.reason)
        else if (!this.ready) end(daemonAway(this.failure))
        else if (condition()) end()
      }
      const limit = this.#ctx.timers.after(limit_ms, () => end())
      signal?.addEventListener('abort', aborted, { once: true })
      this.#watchers.add(look)
      look()
    })
  }
}
