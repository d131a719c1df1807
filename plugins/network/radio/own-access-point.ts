import { Reconciler } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import type { AccessPointProfile, Network, NetworkInterface } from 'rtk-base/services'
import { leaving, limited } from './actions.js'
import { isAccessPoint } from './roles.js'

const startLimit_ms = 20_000
const waits = { first_ms: 5_000, longest_ms: 300_000 } as const

export interface OwnAccessPointDeps {
  network(): Network | undefined
  /** The interface of the access point while it has the radio. */
  interface(): NetworkInterface | undefined
  /** The channel that the wanted profile gets on this interface. */
  channel(one: NetworkInterface, wanted: AccessPointProfile): number
  /** The access point is started on this interface. */
  starting(name: string): void
  /** A further attempt is due. */
  due(): void
}

/** The station's access point: the profile that is wanted, and the one that was applied. */
export class OwnAccessPoint {
  readonly #ctx: PluginContext
  readonly #deps: OwnAccessPointDeps
  readonly #reconciler: Reconciler<NetworkInterface>
  #wanted: AccessPointProfile | undefined
  /** Key of the current profile, see `keyOf`; `''`: none, or unknown. */
  #applied = ''
  #starts = 0
  #endFailure: Error | undefined

  constructor(ctx: PluginContext, deps: OwnAccessPointDeps) {
    this.#ctx = ctx
    this.#deps = deps
    this.#reconciler = new Reconciler(ctx, {
      code: 'radio-ap',
      values: ({ name }, retry_s) => ({ interface: name, retry_s }),
      look: () => (this.#wanted ? deps.interface() : undefined),
      differs: (one) =>
        !isAccessPoint(one, this.#wanted?.ssid ?? '') || this.#applied !== keyOf(one, this.#profile(one)),
      apply: (one) => this.#open(one),
      waits: () => waits,
      due: () => deps.due(),
    })
  }

  get wanted(): AccessPointProfile | undefined {
    return this.#wanted
  }

  get applied(): string {
    return this.#applied
  }

  get starts(): number {
    return this.#starts
  }

  /** Why it could not be started or ended. */
  get failure(): Error | undefined {
    return this.#endFailure ?? this.#reconciler.failure
  }

  restore(wanted: AccessPointProfile | undefined, applied: string, starts: number): void {
    this.#wanted = wanted
    this.#applied = applied
    this.#starts = starts
  }

  /** @param profile undefined: no access point */
  want(profile: AccessPointProfile | undefined): void {
    this.#wanted = profile
    this.#endFailure = undefined
    this.#reconciler.restart()
  }

  /** The profile is applied again, even if it runs. */
  renew(): void {
    this.#applied = ''
    this.#reconciler.restart()
  }

  /** The interface has forgotten the profile, or another one replaces it. */
  forget(): void {
    this.#applied = ''
  }

  /** Starts it where that is due. */
  reconcile(): Promise<void> {
    return this.#reconciler.reconcile()
  }

  /** Ends it, and notes why that failed. */
  async end(work: () => Promise<void>): Promise<void> {
    this.#applied = ''
    try {
      await work()
      this.#endFailure = undefined
    } catch (error) {
      this.#endFailure = error as Error
      throw error
    }
  }

  async #open(one: NetworkInterface): Promise<void> {
    const network = this.#deps.network()
    const profile = this.#profile(one)
    if (!network || !profile) return
    this.#applied = ''
    this.#deps.starting(one.name)
    const start = () =>
      limited(this.#ctx, network.startAccessPoint(one.name, profile), startLimit_ms, 'the start of the access point')
    await leaving(this.#ctx, one, 'the WiFi uplink is left for the access point', start)
    this.#applied = keyOf(one, profile)
    this.#starts += 1
    const { ssid, channel } = profile
    this.#ctx.log.info({ interface: one.name, ssid, channel }, 'the access point is up')
  }

  #profile(one: NetworkInterface): AccessPointProfile | undefined {
    return this.#wanted && { ...this.#wanted, channel: this.#deps.channel(one, this.#wanted) }
  }
}

/** Identifies the current profile, for comparison. */
const keyOf = ({ name, mac }: NetworkInterface, profile: AccessPointProfile | undefined) =>
  JSON.stringify([name, mac, profile?.ssid, profile?.password, profile?.channel, profile?.address])
