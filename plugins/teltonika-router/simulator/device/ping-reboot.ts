/** `ping_reboot`: restarts the router when its host does not answer for so many times so many minutes. */
import type { Device } from './device.js'

export class PingReboot {
  readonly #device: Device
  #cancel = () => {}

  constructor(device: Device) {
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
