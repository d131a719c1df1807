import { normalAddress } from 'rtk-base/link'
import { type EventSource, type PluginContext, unavailable } from 'rtk-base/plugin'
import { cellularRouter, cellularUplink, type Network, type Uplink, type Uplinks } from 'rtk-base/services'
import { Changes } from '../backend.js'
import { Findings } from './findings.js'
import { changesOf, uplinksOf } from './table.js'

/** Interval of evaluation, because findings age. */
const look_ms = 30_000
const longestText = 200

/** The service `uplinks`: follows the interfaces and the cellular router, and reports changes. */
export class UplinkService implements Uplinks {
  readonly onUp: Uplinks['onUp']
  readonly onDown: Uplinks['onDown']
  readonly #ctx: PluginContext
  readonly #network: Network
  readonly #findings: Findings
  readonly #changes: Changes
  readonly #up: EventSource<Uplink>
  readonly #down: EventSource<Uplink>
  #list: readonly Uplink[] = []
  #connected: boolean | undefined

  constructor(ctx: PluginContext, network: Network) {
    this.#ctx = ctx
    this.#network = network
    this.#findings = new Findings(() => ctx.clock.monotonic())
    this.#changes = new Changes(ctx)
    this.#up = ctx.event<Uplink>()
    this.#down = ctx.event<Uplink>()
    this.onUp = this.#up.on
    this.onDown = this.#down.on
  }

  get list(): readonly Uplink[] {
    return this.#list
  }

  get onChange() {
    return this.#changes.on
  }

  start(): void {
    const { services, timers } = this.#ctx
    this.#ctx.on(this.#network.onChange, () => this.#update())
    services.watch(cellularRouter, (router) => {
      this.#update()
      return router && this.#ctx.on(router.onState, () => this.#update())
    })
    services.watch(cellularUplink, (uplink) => {
      this.#update()
      return uplink && this.#ctx.on(uplink.onChange, () => this.#update())
    })
    timers.every(look_ms, () => this.#update())
  }

  async prefer(name: string | undefined): Promise<void> {
    if (!this.#network.steer) throw unavailable('the network cannot give an interface the default route')
    await this.#network.steer(name)
  }

  report({ who, localAddress, reached, text = '' }: Parameters<Uplinks['report']>[0]): void {
    const uplink =
      localAddress === undefined
        ? this.#list.find((one) => one.default)
        : this.#list.find(({ addresses }) => addresses.includes(normalAddress(localAddress)))
    if (!uplink) return
    const outcome = text === '' ? (reached ? 'reached the other end' : 'did not reach the other end') : text
    this.#findings.note(uplink.name, who, reached, `${who}: ${outcome}`.slice(0, longestText))
    this.#update()
  }

  #update(): void {
    const { services } = this.#ctx
    const before = this.#list
    // While the daemon is away nothing is known to have changed: its last word about the interfaces stands, as the kernel's
    // addresses and routes do.
    if (!this.#network.ready && before.length > 0) return
    const router = services.find(cellularRouter)
    const modem = services.find(cellularUplink)
    const connected = modem?.connected
    if (connected !== this.#connected) {
      for (const { kind, name } of before) if (kind === 'cellular') this.#findings.forget(name)
      this.#connected = connected
    }
    const known = () =>
      uplinksOf({
        interfaces: this.#network.interfaces,
        router: router && modem ? { address: router.address, connected } : undefined,
        findings: (name) => this.#findings.of(name),
      })
    const { down } = changesOf(before, known())
    for (const { name } of down) this.#findings.forget(name)
    const now = known()
    this.#list = now
    if (JSON.stringify(now) === JSON.stringify(before)) return
    this.#changes.note()
    const { up } = changesOf(before, now)
    for (const one of down) {
      this.#ctx.log.info({ uplink: one.name }, `the uplink ${one.name} (${one.kind}) is down: ${reasonOf(now, one)}`)
      this.#down.emit(one)
    }
    for (const one of up) {
      this.#ctx.log.info({ uplink: one.name, metric: one.metric }, `the uplink ${one.name} (${one.kind}) is up`)
      this.#up.emit(one)
    }
  }
}

const reasonOf = (now: readonly Uplink[], { name }: Uplink) => {
  const one = now.find((other) => other.name === name)
  return one === undefined ? 'the interface is gone' : one.up ? 'its address changed' : one.text
}
