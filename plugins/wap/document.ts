import type { PluginContext } from 'rtk-base/plugin'
import type { WapInfo } from 'rtk-base/schemas'
import type { AccessPoint } from './access-point.js'
import type { Parameters } from './parameters.js'

/** The `wap` block: while the access point is up what the driver says, else what is set. */
export function wapBlock(accessPoint: AccessPoint, parameters: Parameters): WapInfo {
  const { facts, regulatory, stations, gateway, isUp } = accessPoint
  const { radio } = facts
  const { country = '', maxChannel = 0, maxTxPower_dbm = 0 } = regulatory.rules ?? {}
  return {
    bssid: (isUp && radio?.mac) || '',
    ssid: (isUp && radio?.ssid) || parameters.ssid.get(),
    enabled: parameters.enabled.get() === 1,
    pwd: accessPoint.password,
    tx_power: isUp ? Math.round(radio?.txPower_dbm ?? 0) : 0,
    max_sta: facts.maxStations,
    beacon: facts.beacon_tu,
    bandwidth: radio?.width_mhz ?? 0,
    channel: (isUp && radio?.channel) || parameters.channel.get(),
    inactive_time: parameters.inactiveTime.get(),
    reg: { cc: country, max_chan: maxChannel, max_txpwr: maxTxPower_dbm },
    revgw: { mac: parameters.gatewayMac.get().toLowerCase(), ...gateway.shown },
    sta: stations.shown,
  }
}

/** What the driver or a daemon does not do, one error a setting. */
export class Trouble {
  readonly #ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>
  readonly #shown = new Map<string, string>()

  constructor(ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>) {
    this.#ctx = ctx
  }

  /** Runs `work`; when it fails the error says `what` and the reason, and is gone after it succeeds. @returns whether it did */
  async during(code: string, what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      this.clear(code)
      return true
    } catch (error) {
      if (!this.#ctx.signal.aborted) this.raise(code, `${what}: ${(error as Error).message}`)
      return false
    }
  }

  raise(code: string, text: string, advice = ''): void {
    if (this.#shown.get(code) === text) return
    this.#shown.set(code, text)
    this.#ctx.errors.raise(code, { text, advice })
  }

  has(code: string): boolean {
    return this.#shown.has(code)
  }

  clear(code: string): void {
    if (!this.#shown.delete(code)) return
    this.#ctx.errors.clear(code)
  }
}
