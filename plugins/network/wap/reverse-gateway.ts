import { withStandingError } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { mqttLink, type Radio } from 'rtk-base/services'

/** Worse than Ethernet (100) and the WiFi uplink (600) of NetworkManager: it is used where nothing else is. */
const metric = 700
/** Names the routes of this plugin among those of others (219 has no name in rt_protos of iproute2). */
const protocol = 219
/** Checks in a row without a client after which it is gone. */
const mostMissed = 2

export interface GatewayWish {
  /** Lower case, `''`: none. */
  readonly mac: string
  /** `''`: the gateway answers DNS itself. */
  readonly dns: string
}

interface Applied {
  readonly name: string
  readonly ip: string
  readonly dns: string
}

/** A client of the access point that provides internet access: a default route through it and its DNS server, while it is connected. */
export class ReverseGateway {
  readonly #ctx: PluginContext
  #applied: Applied | undefined
  #isClean = false
  #missed = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Current address and DNS server; empty without one. */
  get current(): { ip: string; dns: string } {
    return { ip: this.#applied?.ip ?? '', dns: this.#applied?.dns ?? '' }
  }

  /** @param address current IPv4 address of the gateway; `''` or undefined: none, or absent */
  async follow(radio: Radio, { mac, dns }: GatewayWish, address: string | undefined): Promise<void> {
    const { name } = radio.accessPoint
    if (!this.#isClean && name !== '') {
      // A service that was killed leaves its route behind.
      this.#isClean = true
      await radio.machine.execFile('ip', flushOf(name)).catch(() => {})
    }
    if (mac === '' || !address) {
      this.#missed += 1
      if (mac === '' || this.#missed >= mostMissed) await this.remove(radio)
      if (mac === '') this.#ctx.errors.while('wap-revgw', false)
      else if (this.#missed >= mostMissed)
        this.#ctx.errors.while('wap-revgw', { mac, cause: address === undefined ? 'not joined' : 'no address' })
      return
    }
    this.#missed = 0
    const wanted = { name, ip: address, dns: dns || address }
    const now = this.#applied
    if (now && now.name === wanted.name && now.ip === wanted.ip && now.dns === wanted.dns) return
    if (now) await this.remove(radio)
    await withStandingError(this.#ctx, 'wap-revgw', () => this.#apply(radio, wanted), { mac, cause: 'failed' })
  }

  async remove(radio: Radio): Promise<void> {
    const applied = this.#applied
    if (!applied) return
    this.#applied = undefined
    const { machine } = radio
    await machine.execFile('ip', flushOf(applied.name)).catch(() => {})
    await this.#removeDns(radio, applied.name)
    this.#ctx.log.info(
      { ip: applied.ip },
      'the reverse gateway is not used any more: its route and DNS server are removed',
    )
  }

  async #apply(radio: Radio, wanted: Applied): Promise<void> {
    const { name, ip, dns } = wanted
    const route = ['-4', 'route', 'replace', 'default', 'via', ip, 'dev', name]
    await must(radio, 'ip', [...route, 'metric', String(metric), 'proto', String(protocol)])
    this.#applied = wanted
    this.#ctx.log.info({ ip, dns }, 'the reverse gateway is used')
    await this.#setDns(radio, name, dns)
    this.#ctx.services.find(mqttLink)?.networkUp()
  }

  /** systemd-resolved where it runs, else resolvconf: both keep the servers of each interface apart. */
  async #setDns(radio: Radio, name: string, server: string): Promise<void> {
    try {
      await must(radio, 'resolvectl', ['dns', name, server])
    } catch (error) {
      const { code } = await radio.machine
        .execFile('resolvconf', ['-a', `${name}.rtk-base`], { input: `nameserver ${server}\n` })
        .catch(() => ({ code: -1 }))
      if (code === 0) return
      throw new Error(
        `the route through it is set, but its DNS server ${server} cannot be: ${(error as Error).message}; install systemd-resolved or openresolv, or name addresses instead of hosts`,
      )
    }
  }

  async #removeDns({ machine }: Radio, name: string): Promise<void> {
    const { code } = await machine.execFile('resolvectl', ['revert', name]).catch(() => ({ code: -1 }))
    if (code !== 0) await machine.execFile('resolvconf', ['-d', `${name}.rtk-base`]).catch(() => {})
  }
}

const flushOf = (name: string) => ['-4', 'route', 'flush', 'root', '0.0.0.0/0', 'dev', name, 'proto', String(protocol)]

async function must({ machine }: Radio, file: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await machine.execFile(file, args)
  if (code !== 0) throw new Error(`${file}: ${stderr.trim().split('\n')[0]?.slice(0, 200) || `exit code ${code}`}`)
}
