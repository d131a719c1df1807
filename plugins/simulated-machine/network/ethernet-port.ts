import type { Dispose } from 'rtk-base/plugin'
import type { SimulatedPort } from '../options.js'
import { type InterfaceHost, type Lease, SimulatedInterface } from './interface.js'

/** The automatic profile of NetworkManager for a port without a profile. */
const profile = 'Wired connection 1'

/** An Ethernet port: a cable with a DHCP server at its other end. */
export class EthernetPort extends SimulatedInterface {
  readonly kind = 'ethernet'
  readonly network: Lease
  #cable: boolean
  #link: Dispose = () => {}

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

  activate(): Promise<void> {
    const done = this.begin(profile)
    this.askAddress(this.network)
    return done
  }
}
