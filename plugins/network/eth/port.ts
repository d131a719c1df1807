import { type Caller, type Dispose, type PluginContext, unavailable } from 'rtk-base/plugin'
import type { Neighbour, Network, NetworkInterface } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import type { Parameters } from './parameters.js'

/** Something that brings the port up again and again is reverted at once at first, then at growing intervals. */
const downWaits = { first_ms: 1_000, longest_ms: 60_000 } as const
/** The daemon connects automatically; a request is only needed after it gave up. */
const upWaits = { first_ms: 15_000, longest_ms: 300_000 } as const
/** After this long without a change the port is fine: the next wait is short again. */
const quiet_ms = 120_000

/** The Ethernet port as its parameters want it. */
export class Port {
  readonly #ctx: PluginContext
  readonly #name: string
  readonly #wanted: Pick<Parameters, 'isEnabled' | 'fixed'>
  readonly #down = new Backoff(downWaits)
  readonly #up = new Backoff(upWaits)
  #network: Network | undefined
  #changed: () => void = () => {}
  #next: Dispose | undefined
  /** A call is on its way. */
  #isBusy = false
  #touched_ms = Number.NEGATIVE_INFINITY
  /** The daemon has the wanted address, since it and the port were last away. */
  #isAddressed = false

  /** @param name `''`: the first Ethernet interface */
  constructor(ctx: PluginContext, name: string, wanted: Pick<Parameters, 'isEnabled' | 'fixed'>) {
    this.#ctx = ctx
    this.#name = name
    this.#wanted = wanted
  }

  get isWanted(): boolean {
    return this.#wanted.isEnabled()
  }

  get interface(): NetworkInterface | undefined {
    const ports = this.#network?.interfaces.filter(({ kind }) => kind === 'ethernet') ?? []
    return this.#name === '' ? ports[0] : ports.find(({ name }) => name === this.#name)
  }

  get others(): readonly NetworkInterface[] {
    const own = this.interface?.name
    return this.#network?.interfaces.filter(({ name }) => name !== own) ?? []
  }

  get neighbours(): readonly Neighbour[] {
    const { interface: port } = this
    return port ? (this.#network?.neighbours(port.name) ?? []) : []
  }

  /** Reason for the missing interface. */
  get absence(): string {
    if (this.#network?.ready === false) return this.#network.failure
    return this.#name === ''
      ? 'this machine has no Ethernet interface: it is used as soon as there is one'
      : `this machine has no Ethernet interface ${this.#name}; it will be used as soon as it appears`
  }

  start(network: Network, changed: () => void): void {
    this.#network = network
    this.#changed = changed
    this.#ctx.on(network.onChange, () => this.#look())
    this.#look()
  }

  /** A parameter changed. Rejects when the daemon refuses it; while the daemon or the port is away, it is applied when they are back. */
  async apply(): Promise<void> {
    this.#cancel()
    this.#down.reset()
    this.#up.reset()
    this.#isAddressed = false
    const { interface: port } = this
    if (!this.#network?.ready || !port) return this.#changed()
    await this.#setAddress(port.name)
    await this.#network.setEnabled(port.name, this.isWanted)
    for (const code of ['eth', 'eth-address']) this.#ctx.errors.while(code, false)
    this.#changed()
  }

  /** Whether a caller uses the port with its current settings: it reached one of its addresses. */
  reaches({ address }: Caller): boolean {
    const { interface: port } = this
    if (!this.isWanted || port?.state !== 'connected' || address === undefined || this.#isBusy) return false
    const fixed = this.#wanted.fixed()
    const isApplied = !fixed || port.ip4.some((own) => own.address === fixed.address)
    return isApplied && [...port.ip4, ...port.ip6].some((own) => own.address === address)
  }

  /** Compares actual and wanted state. */
  #look(): void {
    this.#changed()
    const { interface: port } = this
    const isThere = this.#network?.ready === true && port !== undefined
    if (!isThere) this.#isAddressed = false
    const isManaged = isThere && port.state !== 'unmanaged'
    const isSwitched = !this.#isOtherwise
    const isRight = isSwitched && (this.#isAddressed || !isManaged)
    if (isRight || !isThere) this.#cancel()
    else if (!this.#next && !this.#isBusy) this.#setLater()
    if (port && isSwitched) this.#ctx.errors.while('eth', false)
  }

  /** The port is up or down against `eth-en`. */
  get #isOtherwise(): boolean {
    const { state } = this.interface ?? {}
    if (this.isWanted) return state === 'disconnected' || state === 'failed'
    return state === 'connected' || state === 'connecting'
  }

  #setLater(): void {
    const isQuiet = this.#ctx.clock.monotonic() - this.#touched_ms > quiet_ms
    if (isQuiet) {
      this.#down.reset()
      this.#up.reset()
    }
    const isUrgent = !this.isWanted || !this.#isOtherwise
    const wait_ms = !isUrgent ? this.#up.next() : isQuiet ? 0 : this.#down.next()
    this.#next = this.#ctx.timers.after(wait_ms, () => this.#set())
  }

  async #set(): Promise<void> {
    this.#next = undefined
    const { interface: port } = this
    if (!port || !this.#network) return
    this.#isBusy = true
    this.#touched_ms = this.#ctx.clock.monotonic()
    if (this.#isOtherwise) await this.#switch(port.name, this.#network)
    if (!this.#isAddressed) await this.#address(port.name)
    this.#isBusy = false
    this.#look()
  }

  async #switch(name: string, network: Network): Promise<void> {
    const isWanted = this.isWanted
    try {
      await network.setEnabled(name, isWanted)
      this.#ctx.log.info(
        isWanted
          ? `${name} was down although eth-en is 1: it is brought up`
          : `${name} came up although eth-en is 0: it is down again`,
      )
    } catch (error) {
      this.#ctx.errors.while('eth', { interface: name, up: isWanted, reason: (error as Error).message })
    }
  }

  async #address(name: string): Promise<void> {
    try {
      await this.#setAddress(name)
      this.#ctx.errors.while('eth-address', false)
    } catch (error) {
      this.#ctx.errors.while('eth-address', { interface: name, reason: (error as Error).message })
    }
  }

  /** Does nothing when the daemon has it already. */
  async #setAddress(name: string): Promise<void> {
    const fixed = this.#wanted.fixed()
    if (this.#network?.setAddress) await this.#network.setAddress(name, fixed)
    else if (fixed) throw unavailable('the network of this station has no fixed addresses')
    this.#isAddressed = true
  }

  #cancel(): void {
    void this.#next?.()
    this.#next = undefined
  }
}
