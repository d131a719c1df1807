import { Backoff } from 'rtk-base/link'
import type { Caller, Dispose, PluginContext } from 'rtk-base/plugin'
import type { Neighbour, Network, NetworkInterface } from 'rtk-base/services'

/** Something that brings the port up again and again is reverted at once at first, then at growing intervals. */
const downWaits = { first_ms: 1_000, longest_ms: 60_000 } as const
/** The daemon connects automatically; a request is only needed after it gave up. */
const upWaits = { first_ms: 15_000, longest_ms: 300_000, spread: [0.8, 1.2] } as const
/** After this long without a change the port is fine: the next wait is short again. */
const quiet_ms = 120_000

/** The Ethernet port as `eth-en` wants it. */
export class Port {
  readonly #ctx: PluginContext
  readonly #name: string
  readonly #wanted: () => boolean
  readonly #down = new Backoff(downWaits)
  readonly #up = new Backoff(upWaits)
  #network: Network | undefined
  #changed: () => void = () => {}
  #next: Dispose | undefined
  /** A call is on its way. */
  #busy = false
  #touched_ms = Number.NEGATIVE_INFINITY

  /** @param name `''`: the first Ethernet interface */
  constructor(ctx: PluginContext, name: string, wanted: () => boolean) {
    this.#ctx = ctx
    this.#name = name
    this.#wanted = wanted
  }

  get isWanted(): boolean {
    return this.#wanted()
  }

  get interface(): NetworkInterface | undefined {
    const ports = this.#network?.interfaces.filter(({ kind }) => kind === 'ethernet') ?? []
    return this.#name === '' ? ports[0] : ports.find(({ name }) => name === this.#name)
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

  /** A change of `eth-en`. Rejects when the daemon refuses it; while the daemon or the port is away, it is applied when they are back. */
  async apply(): Promise<void> {
    this.#cancel()
    this.#down.reset()
    this.#up.reset()
    const { interface: port } = this
    if (!this.#network?.ready || !port) return this.#changed()
    await this.#network.setEnabled(port.name, this.#wanted())
    this.#ctx.errors.clear('eth')
    this.#changed()
  }

  /** Compares actual and wanted state. */
  #look(): void {
    this.#changed()
    const { interface: port } = this
    const isUp = port?.state === 'connected' || port?.state === 'connecting'
    const isDown = port?.state === 'disconnected' || port?.state === 'failed'
    const isWrong = this.#wanted() ? isDown : isUp
    if (!isWrong || !this.#network?.ready) this.#cancel()
    else if (!this.#next && !this.#busy) this.#setLater()
    if (port && !isWrong) this.#ctx.errors.clear('eth')
  }

  #setLater(): void {
    const isQuiet = this.#ctx.clock.monotonic() - this.#touched_ms > quiet_ms
    if (isQuiet) {
      this.#down.reset()
      this.#up.reset()
    }
    const wait_ms = this.#wanted() ? this.#up.next() : isQuiet ? 0 : this.#down.next()
    this.#next = this.#ctx.timers.after(wait_ms, () => this.#set())
  }

  async #set(): Promise<void> {
    this.#next = undefined
    const { interface: port } = this
    const isWanted = this.#wanted()
    if (!port || !this.#network) return
    this.#busy = true
    this.#touched_ms = this.#ctx.clock.monotonic()
    try {
      await this.#network.setEnabled(port.name, isWanted)
      this.#ctx.log.info(
        isWanted
          ? `${port.name} was down although eth-en is 1: it is brought up`
          : `${port.name} came up although eth-en is 0: it is down again`,
      )
    } catch (error) {
      const verb = isWanted ? 'brought up' : 'taken down'
      const reason = (error as Error).message
      const text = `${port.name} could not be ${verb}, as eth-en wants it (${reason})`
      const values = { interface: port.name, up: isWanted, reason }
      this.#ctx.errors.raise('eth', { text, advice: 'retrying automatically', values })
    } finally {
      this.#busy = false
    }
    this.#look()
  }

  #cancel(): void {
    void this.#next?.()
    this.#next = undefined
  }
}

/** Whether a caller uses the port with its current settings: it reached one of its addresses. */
export function reaches(port: NetworkInterface | undefined, isWanted: boolean, { address }: Caller): boolean {
  if (!isWanted || port?.state !== 'connected' || address === undefined) return false
  return [...port.ip4, ...port.ip6].some((own) => own.address === address)
}
