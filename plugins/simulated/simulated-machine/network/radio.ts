import type { AccessPointProfile, NetworkInterface, ScannedNetwork, StationProfile } from 'rtk-base/services'
import type { SimulatedAccessPoint } from '../options.js'
import type { Reason } from './failures.js'
import { type InterfaceHost, type Lease, SimulatedInterface } from './interface.js'

/** A visible network and its uplink. */
export interface AirNetwork extends Required<Omit<ScannedNetwork, 'rssi' | 'ssid'>>, Lease {
  readonly ssid: string
  password: string
  rssi: number
}

/** A wrong password is noticed after this many times the duration of an association. */
const wrongPasswordTries = 3

export function airNetwork(options: SimulatedAccessPoint, index: number): AirNetwork {
  const { ssid, password, bssid, channel, rssi, auth, address, gateway } = options
  return {
    ssid,
    password,
    bssid: bssid || `02:00:5e:00:aa:${(index + 1).toString(16).padStart(2, '0')}`,
    channel,
    rssi,
    auth: auth || (password === '' ? 'open' : 'wpa2-psk'),
    address,
    gateway,
    dhcp: true,
    reach: 'internet',
  }
}

/** A WiFi radio: one at a time of access point and station. */
export class Radio extends SimulatedInterface {
  readonly kind = 'wifi'
  readonly air: AirNetwork[]
  readonly canBeAp: boolean
  #isBlocked = false
  #joined: AirNetwork | undefined
  #ap: AccessPointProfile | undefined
  /** The last stored profile, if it may be activated automatically. */
  #stored: (() => Promise<void>) | undefined

  constructor(name: string, host: InterfaceHost) {
    super(name, '02:00:5e:00:03:01', 600, host)
    const { canBeAp, networks } = host.options
    this.canBeAp = canBeAp
    this.air = networks.map(airNetwork)
  }

  get available(): boolean {
    return !this.#isBlocked
  }
  get carrier(): boolean {
    return this.state === 'connected' || (this.#joined !== undefined && this.state === 'connecting')
  }

  /** rfkill */
  set blocked(is: boolean) {
    this.#isBlocked = is
    this.reconsider(0)
  }

  activateByItself(): void {
    void this.#stored?.()
  }

  /** Disables automatic activation of the stored profile. */
  forget(): void {
    this.#stored = undefined
  }

  startAccessPoint(profile: AccessPointProfile): Promise<void> {
    return this.#keepWhenUp(() => this.#openAccessPoint(profile))
  }

  join(profile: StationProfile): Promise<void> {
    return this.#keepWhenUp(() => this.#associate(profile))
  }

  /** The networks in reach, one of each access point. */
  get scanned(): ScannedNetwork[] {
    return this.air.map(({ ssid, bssid, channel, rssi, auth }) => ({ ssid, bssid, channel, rssi, auth }))
  }

  /** An access point disappeared or its password changed: joined stations are disconnected. */
  lost(network: AirNetwork, reason: Reason): void {
    if (this.#joined === network) this.fail(reason)
  }

  override drop(...args: Parameters<SimulatedInterface['drop']>): void {
    this.#joined = undefined
    this.#ap = undefined
    super.drop(...args)
  }

  protected override wifi(): NetworkInterface['wifi'] {
    const isOn = this.state === 'connected' || this.state === 'connecting'
    const mode = !isOn ? 'none' : this.#ap ? 'ap' : 'station'
    const { ssid = '', channel = 0 } = (isOn ? (this.#ap ?? this.#joined) : undefined) ?? {}
    const bssid = !isOn ? '' : this.#ap ? this.mac : (this.#joined?.bssid ?? '')
    return { mode, canBeAp: this.canBeAp, ssid, bssid, channel }
  }

  /** Only a working profile is stored: a rejected call leaves the stored one unchanged. */
  #keepWhenUp(activate: () => Promise<void>): Promise<void> {
    this.autoconnect = true
    return activate().then(() => {
      this.#stored = activate
    })
  }

  #openAccessPoint(profile: AccessPointProfile): Promise<void> {
    const done = this.begin(`rtk-base-ap-${this.name}`)
    this.#ap = profile
    const lease: Lease = { address: profile.address, gateway: '', dhcp: true, reach: 'none' }
    this.next(this.host.options.ap_s, () => this.connected(lease))
    return done
  }

  #associate({ ssid, password }: StationProfile): Promise<void> {
    const done = this.begin(`rtk-base-sta-${this.name}`)
    const { associate_s } = this.host.options
    const network = this.air
      .filter((one) => one.ssid === ssid)
      .sort((a, b) => b.rssi - a.rssi)
      .at(0)
    if (!network) this.next(associate_s, () => this.fail(53))
    else if (network.auth !== 'open' && network.password !== password)
      this.next(wrongPasswordTries * associate_s, () => this.fail(7))
    else
      this.next(associate_s, () => {
        this.#joined = network
        this.askAddress(network)
      })
    return done
  }
}
