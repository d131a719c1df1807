import { Mutex } from 'async-mutex'
import { Reconciler } from 'rtk-base/link'
import { type Caller, type PluginContext, unavailable } from 'rtk-base/plugin'
import type { Neighbour, Network, NetworkInterface } from 'rtk-base/services'
import type { Parameters } from './parameters.js'

/** Something that brings the port up again and again is reverted at once at first, then at growing intervals. */
const downWaits = { first_ms: 1_000, longest_ms: 60_000 } as const
/** The daemon connects automatically; a request is only needed after it gave up. */
const upWaits = { first_ms: 15_000, longest_ms: 300_000 } as const
/** After this long without a change the port is fine: the next wait is short again. */
const lasting_ms = 120_000

/** The Ethernet port as its parameters want it. */
export class Port {
  readonly #ctx: PluginContext
  readonly #name: string
  readonly #wanted: Pick<Parameters, 'isEnabled' | 'fixed'>
  readonly #switch: Reconciler<NetworkInterface>
  readonly #address: Reconciler<NetworkInterface>
  #network: Network | undefined
  #changed: () => void = () => {}
  /** The daemon has the wanted address, since it and the port were last away. */
  #isAddressed = false

  /** @param name `''`: the first Ethernet interface */
  constructor(ctx: PluginContext, name: string, wanted: Pick<Parameters, 'isEnabled' | 'fixed'>) {
    this.#ctx = ctx
    this.#name = name
    this.#wanted = wanted
    const shared = { look: () => this.#present, lasting_ms, turns: new Mutex() }
    this.#switch = new Reconciler(ctx, {
      ...shared,
      code: 'eth',
      values: ({ name }) => ({ interface: name, up: this.isWanted }),
      differs: ({ state }) =>
        this.isWanted
          ? state === 'disconnected' || state === 'failed'
          : state === 'connected' || state === 'connecting',
      apply: async ({ name }) => this.#network?.setEnabled(name, this.isWanted),
      restored: ({ name }) =>
        ctx.log.info(
          this.isWanted
            ? `${name} was down although eth-en is 1: it is brought up`
            : `${name} came up although eth-en is 0: it is down again`,
        ),
      waits: () => (this.isWanted ? upWaits : downWaits),
      isPatient: () => this.isWanted,
    })
    this.#address = new Reconciler(ctx, {
      ...shared,
      code: 'eth-address',
      values: ({ name }) => ({ interface: name }),
      differs: ({ state }) => !this.#isAddressed && state !== 'unmanaged',
      apply: ({ name }) => this.#setAddress(name),
      waits: () => downWaits,
    })
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
    this.#ctx.on(network.onChange, () => this.#follow())
    this.#follow()
  }

  /**
   * A parameter changed. Rejects when the daemon refuses it; while the daemon or the port is away, it is applied when
   * they are back.
   */
  async apply(): Promise<void> {
    this.#isAddressed = false
    await this.#address.apply()
    await this.#switch.apply()
    this.#changed()
  }

  /** Whether a caller uses the port with its current settings: it reached one of its addresses. */
  reaches({ address }: Caller): boolean {
    const { interface: port } = this
    const isBusy = this.#switch.isApplying || this.#address.isApplying
    if (!this.isWanted || port?.state !== 'connected' || address === undefined || isBusy) return false
    const fixed = this.#wanted.fixed()
    const isApplied = !fixed || port.ip4.some((own) => own.address === fixed.address)
    return isApplied && [...port.ip4, ...port.ip6].some((own) => own.address === address)
  }

  /** The port, while the daemon can change it. */
  get #present(): NetworkInterface | undefined {
    return this.#network?.ready ? this.interface : undefined
  }

  #follow(): void {
    this.#changed()
    if (!this.#present) this.#isAddressed = false
    void this.#switch.reconcile()
    void this.#address.reconcile()
  }

  /** Does nothing when the daemon has it already. */
  async #setAddress(name: string): Promise<void> {
    const fixed = this.#wanted.fixed()
    if (this.#network?.setAddress) await this.#network.setAddress(name, fixed)
    else if (fixed) throw unavailable('the network of this station has no fixed addresses')
    this.#isAddressed = true
  }
}
