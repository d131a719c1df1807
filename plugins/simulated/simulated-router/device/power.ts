/** Power of the router: start-up time, restarts and the switch. */

import type { Listeners } from '../http/listeners.js'
import type { RouterOptions, SimulatorClock } from '../options.js'

export type PowerAction = 'reboot' | 'flash' | 'factory'

/** A part of the device that depends on power. */
interface Powered {
  readonly options: Pick<RouterOptions, 'reboot_s'>
  readonly delays: Delays
  readonly uci: { text(config: string, section: string, option: string): string }
  readonly modem: { readonly uplink: boolean }
  onPower: (action: PowerAction, away_s: number) => void
  factory(): void
  powerLost(): void
  booted(): void
}

/** Everything that the router waits for. It ends with the power. */
export class Delays {
  readonly #clock: SimulatorClock
  readonly #pending = new Set<() => unknown>()

  constructor(clock: SimulatorClock) {
    this.#clock = clock
  }

  /** @returns what cancels it */
  after(ms: number, fn: () => void): () => void {
    const cancelTimer = this.#clock.after(ms, () => {
      this.#pending.delete(cancel)
      fn()
    })
    const cancel = () => {
      this.#pending.delete(cancel)
      void cancelTimer()
    }
    this.#pending.add(cancel)
    return cancel
  }

  /** Does not resolve when the power goes meanwhile. */
  async wait(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.after(ms, resolve))
  }

  clear(): void {
    for (const cancel of [...this.#pending]) cancel()
  }
}

export class PingReboot {
  readonly #device: Powered
  #cancel = () => {}

  constructor(device: Powered) {
    this.#device = device
  }

  /** Looks again whether it has to count: the uplink went or came, the configuration changed, the router booted. */
  check(): void {
    const { modem, uci, delays, options } = this.#device
    const of = (option: string) => uci.text('ping_reboot', '@ping_reboot[0]', option)
    this.#cancel()
    if (modem.uplink || of('enable') !== '1' || of('action') !== '1' || of('host') === '') return
    const silence_ms = Math.max(1, Number(of('time')) || 5) * Math.max(1, Number(of('retry')) || 2) * 60_000
    this.#cancel = delays.after(silence_ms, () => this.#device.onPower('reboot', options.reboot_s))
  }
}

export class Power {
  readonly #device: Powered
  readonly #listeners: Listeners
  state: 'on' | 'restarting' | 'off' = 'on'
  /** Resolves when the sockets match `state`. */
  settled: Promise<void> = Promise.resolve()
  #closed = false

  constructor(device: Powered, listeners: Listeners) {
    this.#device = device
    this.#listeners = listeners
    device.onPower = (action, away_s) => this.restart(action, away_s)
  }

  /** Goes down at once and comes back after `away_s`. */
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
