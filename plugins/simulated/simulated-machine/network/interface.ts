import { normalAddress } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import type { InterfaceState, Neighbour, NetworkInterface, Reach } from 'rtk-base/services'
import type { MachineOptions } from '../options.js'
import { activationError, type Reason, reasonText } from './failures.js'

/** Metric of the default route of an interface that was given it. */
const preferredMetric = 1

/** The machine, for its simulated interfaces. */
export interface InterfaceHost {
  readonly options: MachineOptions
  after(ms: number, fn: () => void): Dispose
  changed(): void
}

/** The peer that assigns addresses, by cable or radio. */
export interface Lease {
  address: string
  gateway: string
  /** The network's DHCP server answers. */
  dhcp: boolean
  /** Result of a connectivity check. */
  reach: Reach
}

/** An activation under way: it ends once, in a connection or in a reason. */
interface Activation {
  readonly done: () => void
  readonly failed: (reason: Reason) => void
}

/** Common part of Ethernet and WiFi: state, reason, profile and address, as in NetworkManager. */
export abstract class SimulatedInterface {
  abstract readonly kind: NetworkInterface['kind']
  readonly name: string
  readonly mac: string
  readonly metric: number
  present = true
  managed = true
  /** NetworkManager may activate a profile automatically. Ends with a requested disconnect, returns with the daemon's restart. */
  autoconnect = true
  /** The interface was given the default route, until it is activated again. */
  preferred = false
  readonly neighbours = new Map<string, string>()
  protected readonly host: InterfaceHost
  protected lease: Lease | undefined
  #state: InterfaceState = 'disconnected'
  #reason: Reason = 0
  #profile = ''
  #step: Dispose = () => {}
  #activation: Activation | undefined

  constructor(name: string, mac: string, metric: number, host: InterfaceHost) {
    this.name = name
    this.mac = mac
    this.metric = metric
    this.host = host
  }

  /** Cable plugged, or a radio that is not blocked: a profile can be activated. */
  abstract get available(): boolean
  abstract get carrier(): boolean
  /** Activates the automatic profile, if any. */
  abstract activateByItself(): void
  protected wifi(): NetworkInterface['wifi'] {
    return undefined
  }

  get state(): InterfaceState {
    if (!this.present) return 'absent'
    if (!this.managed) return 'unmanaged'
    return this.available ? this.#state : 'unavailable'
  }

  get profile(): string {
    return this.#profile
  }

  get describe(): string {
    const { ip4, reason } = this.snapshot()
    const why = reason === '' ? '' : ` (${reason})`
    const address = ip4.map(({ address, prefix }) => ` ${address}/${prefix}`).join('')
    return `${this.name} ${this.state}${address}${why}`
  }

  snapshot(): NetworkInterface {
    const isUp = this.state === 'connected'
    const lease = isUp ? this.lease : undefined
    const [address = '', prefix] = lease?.address.split('/') ?? []
    const wifi = this.wifi()
    return {
      name: this.name,
      kind: this.kind,
      mac: this.mac,
      driver: 'simulated',
      state: this.state,
      reason: reasonText(this.available ? this.#reason : 40),
      carrier: this.carrier,
      ip4: address === '' ? [] : [{ address, prefix: Number(prefix) }],
      ip6: isUp ? [{ address: normalAddress(`fe80::${this.mac.slice(-5).replace(':', '')}`), prefix: 64 }] : [],
      gateway: lease?.gateway ?? '',
      dns: lease?.gateway ? [lease.gateway] : [],
      metric: lease?.gateway ? (this.preferred ? preferredMetric : this.metric) : undefined,
      reach: lease?.gateway ? lease.reach : 'none',
      profile: this.#profile,
      ...(wifi ? { wifi } : {}),
    }
  }

  /** Ends the current profile. */
  drop(reason: Reason, state: InterfaceState = 'disconnected'): void {
    this.preferred = false
    void this.#step()
    this.lease = undefined
    this.#profile = ''
    const activation = this.#activation
    this.#activation = undefined
    this.#to(state, reason)
    activation?.failed(reason)
  }

  /** An external change: the carrier, the presence, the manager. */
  reconsider(reason: Reason = 40): void {
    const canBeUp = this.present && this.managed && this.available
    const isBusy = this.#state === 'connected' || this.#state === 'connecting'
    if (!canBeUp && isBusy) this.drop(reason)
    else if (canBeUp && !isBusy && this.autoconnect) this.activateByItself()
    this.host.changed()
  }

  /** Starts to activate `profile`. Waiting for the promise is optional. */
  protected begin(profile: string): Promise<void> {
    this.drop(60)
    this.#profile = profile
    const promise = new Promise<void>((resolve, reject) => {
      this.#activation = { done: resolve, failed: (reason) => reject(activationError(this.name, reason)) }
    })
    promise.catch(() => {})
    this.#to('connecting', 0)
    return promise
  }

  /** The next step of the activation. */
  protected next(seconds: number, fn: () => void): void {
    void this.#step()
    this.#step = this.host.after(seconds * 1000, fn)
  }

  /** Asks the DHCP server of `lease`, and is connected when it answers. */
  protected askAddress(lease: Lease): void {
    const { dhcp_s, dhcpTimeout_s } = this.host.options
    if (lease.dhcp) this.next(dhcp_s, () => this.connected(lease))
    else this.next(dhcpTimeout_s, () => this.fail(17))
  }

  protected connected(lease: Lease): void {
    this.lease = lease
    const activation = this.#activation
    this.#activation = undefined
    this.#to('connected', 0)
    activation?.done()
  }

  /** The activation failed: shown as failed, ready for the next one. */
  protected fail(reason: Reason): void {
    this.drop(reason, 'failed')
  }

  #to(state: InterfaceState, reason: Reason): void {
    this.#state = state
    this.#reason = reason
    this.host.changed()
  }

  get neighbourList(): Neighbour[] {
    return [...this.neighbours].map(([address, mac]) => ({ address, mac }))
  }
}
