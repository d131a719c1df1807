import type { Dispose } from 'rtk-base/plugin'
import type { FixedAddress } from 'rtk-base/services'
import type { SimulatedPort } from '../options.js'
import { type InterfaceHost, type Lease, SimulatedInterface } from './interface.js'

/** The automatic profile of NetworkManager for a port without a profile. */
const profile = 'Wired connection 1'
/** The address is set without a server. */
const fixed_s = 0.1

/** An Ethernet port: a cable with a DHCP server at its other end. */
export class EthernetPort extends SimulatedInterface {
  readonly kind = 'ethernet'
  readonly network: Lease
  #cable: boolean
  #link: Dispose = () => {}
  #fixed: FixedAddress | undefined

  constructor({ name, mac, cable, address, gateway }: SimulatedPort, index: number, host: InterfaceHost) {
    super(name, mac || `02:00:5e:00:01:0${index + 1}`, 100 + index, host)
    this.network = { address, gateway, dhcp: true, reach: 'internet' }
    this.#cable = cable
    if (gateway !== '') this.neighbours.set(gateway, `02:00:5e:00:02:0${index + 1}`)
  }

  get available(): boolean {
    return this.#cable
  }
  get carrier(): boolean {
    return this.present && this.#cable
  }

  /** The carrier of a plugged cable takes its time, that of a pulled one is gone at once. */
  cable(isPlugged: boolean): void {
    const set = () => {
      this.#cable = isPlugged
      this.reconsider(40)
    }
    void this.#link()
    if (isPlugged && !this.#cable) this.#link = this.host.after(this.host.options.link_s * 1000, set)
    else set()
  }

  activateByItself(): void {
    void this.activate()
  }

  /** Without a change of it nothing happens. */
  setFixed(address: FixedAddress | undefined): void {
    if (JSON.stringify(address) === JSON.stringify(this.#fixed)) return
    this.#fixed = address
    if (this.profile !== '') void this.activate()
  }

  activate(): Promise<void> {
    const fixed = this.#fixed
    const done = this.begin(fixed ? `rtk-base-eth-${this.name}` : profile)
    if (!fixed) this.askAddress(this.network)
    else {
      const { address, prefix, gateway } = fixed
      // Behind another router than the network's own there is no internet.
      const reach = gateway === this.network.gateway ? this.network.reach : 'none'
      this.next(fixed_s, () => this.connected({ address: `${address}/${prefix}`, gateway, dhcp: false, reach }))
    }
    return done
  }
}
