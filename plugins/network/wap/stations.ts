import { isIPv4, withStandingError } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import type { WapInfo } from 'rtk-base/schemas'
import type { Radio, RadioStation } from 'rtk-base/services'

const mostShown = 64

/** The clients of the access point, and the end of those that were silent for too long. */
export class Stations {
  readonly #ctx: PluginContext
  readonly #leases: string
  #list: readonly (RadioStation & { ip: string })[] = []

  /** @param leases folder of the lease files */
  constructor(ctx: PluginContext, leases: string) {
    this.#ctx = ctx
    this.#leases = leases
  }

  /** `wap.sta`, strongest first. */
  get listed(): WapInfo['sta'] {
    return this.#list
      .toSorted((a, b) => b.rssi_dbm - a.rssi_dbm)
      .slice(0, mostShown)
      .map(({ mac, ip, rssi_dbm }) => ({ mac, ip, rssi: rssi_dbm }))
  }

  /** IPv4 of a client that is on the air; `''`: it has no lease, undefined: it is not there. */
  address(mac: string): string | undefined {
    return this.#list.find((one) => one.mac === mac)?.ip
  }

  clear(radio: Radio): void {
    this.#list = []
    radio.reportClients(0)
  }

  /** @param limit_s clients that were silent for longer are removed; 0: none. @returns whether the list is another */
  async read(radio: Radio, limit_s: number): Promise<boolean> {
    const { name } = radio.accessPoint
    const before = JSON.stringify(this.listed)
    const isRead = await withStandingError(this.#ctx, 'wap-stations', async () => {
      const stations = await radio.tools.stations(name)
      const leases = await this.#readLeases(radio, name)
      this.#list = stations.map((station) => ({ ...station, ip: leases.get(station.mac) ?? '' }))
    })
    if (!isRead) this.#list = []
    if (limit_s > 0) await this.#removeSilent(radio, name, limit_s)
    radio.reportClients(this.#list.length)
    return JSON.stringify(this.listed) !== before
  }

  async #readLeases({ machine }: Radio, name: string): Promise<ReadonlyMap<string, string>> {
    try {
      return leasesOf((await machine.readFile(leasesPath(this.#leases, name))) ?? '')
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'the DHCP leases cannot be read: clients are shown without their address')
      return new Map()
    }
  }

  async #removeSilent({ tools }: Radio, name: string, limit_s: number): Promise<void> {
    const silent = this.#list.filter(({ inactive_ms }) => inactive_ms > limit_s * 1000)
    for (const { mac } of silent) {
      const isGone = await withStandingError(this.#ctx, 'wap-inactive', () => tools.removeStation(name, mac), {
        mac,
        limit_s,
      })
      if (!isGone) return
      this.#ctx.log.info({ mac }, `a client was silent for ${limit_s} s: removed`)
      this.#list = this.#list.filter((one) => one.mac !== mac)
    }
  }
}

const mostLeases = 1_024

/** Where NetworkManager has it for an interface. */
export const leasesPath = (folder: string, name: string) => `${folder}/dnsmasq-${name}.leases`

/**
 * IPv4 by MAC address, lower case. Lines that are none are left out. The expiry is not looked at: a base station often has no clock, and
 * only clients that are on the air are asked for.
 */
export function leasesOf(text: string): ReadonlyMap<string, string> {
  const leases = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [expiry = '', mac = '', ip = ''] = line.trim().split(/\s+/)
    if (!/^\d{1,12}$/.test(expiry) || !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac) || !isIPv4(ip)) continue
    if (leases.size >= mostLeases) break
    leases.set(mac.toLowerCase(), ip)
  }
  return leases
}
