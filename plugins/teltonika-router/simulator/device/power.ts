/** The power switch: takes the router off its network and brings it back. */
import type { Listeners } from '../http/listeners.js'
import type { Device, PowerAction } from './device.js'

export class Power {
  readonly #device: Device
  readonly #listeners: Listeners
  state: 'on' | 'restarting' | 'off' = 'on'
  /** Ends when the sockets are as `state` says. */
  settled: Promise<void> = Promise.resolve()
  #closed = false

  constructor(device: Device, listeners: Listeners) {
    this.#device = device
    this.#listeners = listeners
    device.onPower = (action, away_s) => this.restart(action, away_s)
  }

  /** It goes down at once and comes back by itself. */
  restart(action: PowerAction, away_s: number): void {
    if (this.state === 'off') return
    this.#down('restarting')
    if (action === 'factory') this.#device.factory()
    this.#upAfter(away_s)
  }

  unplug(): void {
    this.#down('off')
  }

  /** For good. */
  close(): Promise<void> {
    this.#closed = true
    this.#down('off')
    return this.settled
  }

  replug(): void {
    if (this.state !== 'off' || this.#closed) return
    this.state = 'restarting'
    this.#upAfter(this.#device.options.reboot_s)
  }

  #down(state: 'restarting' | 'off'): void {
    this.state = state
    this.#device.powerLost()
    this.settled = this.#listeners.close()
  }

  #upAfter(away_s: number): void {
    const up = () => {
      this.state = 'on'
      this.#device.booted()
      this.settled = this.#listeners.open()
    }
    if (away_s > 0) this.#device.delays.after(away_s * 1000, up)
    else up()
  }
}
