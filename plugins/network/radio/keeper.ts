import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import {
  type AccessPointProfile,
  type Network,
  type NetworkInterface,
  networkFailureOf,
  type RadioSide,
  type ScannedNetwork,
  type StationProfile,
} from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { leaving, limited } from './actions.js'
import { type Decision, decide } from './arbitration/decide.js'
import { emptyMemory, type Happening, type Limits, note, type RadioMemory } from './arbitration/memory.js'
import { OwnAccessPoint } from './own-access-point.js'
import { addedInterface, isAccessPoint, isJoined, type Roles, rolesOf, takesTurns } from './roles.js'
import { Second } from './second.js'
import type { Tools } from './tools/tools.js'

const reconcile_ms = 5_000
/** Without a wish of `wap` or `sta` nothing is touched for so long after the start: they come after this plugin. */
const wishes_ms = 10_000
const joinLimit_ms = 50_000
/** A change waits this long for the access point; slower work continues in the background. */
const answer_ms = 8_000
const scanLimit_ms = 15_000

const absent: RadioSide = { name: '', state: 'absent', text: '', starts: 0 }

export interface KeeperSettings {
  readonly only: string
  readonly both: boolean
  readonly limits: Limits
}

const string = Type.String()
/** State handed over to the next instance. */
export const Wishes = Type.Object({
  accessPoint: Type.Optional(
    Type.Unsafe<AccessPointProfile>(
      Type.Object({ ssid: string, password: string, channel: Type.Integer(), address: string }),
    ),
  ),
  station: Type.Optional(
    Type.Unsafe<StationProfile>(Type.Object({ ssid: string, password: string, hidden: Type.Optional(Type.Boolean()) })),
  ),
  /** The current profile of the access point. */
  applied: string,
  starts: Type.Integer({ minimum: 0 }),
})
export type Wishes = Static<typeof Wishes>

/** Carries out the decisions of `decide`, one at a time, through the network daemon. */
export class RadioKeeper {
  readonly onChange
  readonly #ctx: PluginContext
  readonly #settings: KeeperSettings
  readonly #second: Second
  readonly #ap: OwnAccessPoint
  #network: Network | undefined
  /** The profile of the uplink that is wanted. */
  #uplink: StationProfile | undefined
  #isWished = false
  #memory: RadioMemory
  #clients = 0
  #wasJoined = false
  #wasPresent = false
  #joinText = ''
  #joins = 0
  /** Ends a join that is under way. */
  #cutJoin: ((reason: RtkError) => void) | undefined
  #isSearching = false
  #running: Promise<void> | undefined
  #again = false
  #sides = { accessPoint: absent, station: absent }

  constructor(ctx: PluginContext, tools: Tools, settings: KeeperSettings) {
    this.#ctx = ctx
    this.#settings = settings
    this.#second = new Second(ctx, tools)
    this.#memory = emptyMemory(ctx.clock.monotonic())
    this.onChange = ctx.event<void>()
    this.#ap = new OwnAccessPoint(ctx, {
      network: () => this.#network,
      interface: () => (this.#apHasTurn ? this.#roles().accessPoint : undefined),
      channel: ({ name }, { channel }) => (name === addedInterface ? this.#sharedChannel(channel) : channel),
      starting: (name) =>
        this.#setSide('accessPoint', { ...this.#sides.accessPoint, name, state: 'starting', text: 'it starts' }),
      // A join may be under way.
      due: () => void this.reconcile(),
    })
  }

  get accessPoint(): RadioSide {
    return this.#sides.accessPoint
  }
  get station(): RadioSide {
    return this.#sides.station
  }
  get memory(): RadioMemory {
    return this.#memory
  }
  get wishes(): Wishes {
    const { wanted: accessPoint, applied, starts } = this.#ap
    return { ...(accessPoint && { accessPoint }), ...(this.#uplink && { station: this.#uplink }), applied, starts }
  }

  restore(memory: RadioMemory | undefined, wishes: Wishes | undefined): void {
    if (memory) this.#memory = memory
    if (!wishes) return
    this.#ap.restore(wishes.accessPoint, wishes.applied, wishes.starts)
    this.#uplink = wishes.station
    this.#isWished = true
  }

  start(network: Network): void {
    this.#network = network
    if (!this.#isWished) this.#memory = emptyMemory(this.#ctx.clock.monotonic())
    this.#ctx.on(network.onChange, () => void this.reconcile())
    this.#ctx.timers.every(reconcile_ms, () => void this.reconcile())
    this.#ctx.signal.addEventListener('abort', () => this.#cutJoin?.(aborted()), { once: true })
    void this.reconcile()
  }

  async setAccessPoint(profile: AccessPointProfile | undefined): Promise<void> {
    this.#isWished = true
    this.#ap.want(profile)
    if (!this.#network) return
    const done = this.reconcile()
    // While a join is under way the access point waits for its turn.
    if (this.#cutJoin) return
    let cancel: () => unknown = () => {}
    const enough = new Promise<void>((resolve) => {
      cancel = this.#ctx.timers.after(answer_ms, resolve)
    })
    await Promise.race([done, enough])
    void cancel()
    if (this.#ap.failure) throw this.#ap.failure
  }

  setStation(profile: StationProfile | undefined): void {
    const before = this.#uplink
    const isSame =
      before?.ssid === profile?.ssid && before?.password === profile?.password && before?.hidden === profile?.hidden
    const isFirst = !this.#isWished
    this.#uplink = profile
    this.#isWished = true
    if (isSame) return
    if (!isFirst || profile) this.#note({ kind: 'settings' })
    this.#joinText = ''
    this.#ctx.errors.while('radio-join', false)
    this.#cutJoin?.(new RtkError('RTK_ERR_ABORTED', 'the settings of the uplink were changed'))
    void this.reconcile()
  }

  setClients(count: number): void {
    this.#clients = count
  }

  async restartAccessPoint(): Promise<void> {
    const { accessPoint } = this.#sides
    if (accessPoint.state !== 'up') throw unavailable(`the access point is not up: ${accessPoint.text}`)
    this.#ap.renew()
    await this.reconcile()
    if (this.#ap.failure) throw this.#ap.failure
  }

  async scan(signal?: AbortSignal): Promise<ScannedNetwork[]> {
    const { station } = this.#roles()
    if (!this.#network || !station) throw unavailable(`no scan: ${this.#absence()}`)
    const isAp = station.wifi?.mode === 'ap'
    const advice = `${station.name} (driver ${station.driver}) is the access point at present and does not scan meanwhile: switch the access point off with wap-en=0 for the scan`
    try {
      const networks = await limited(this.#ctx, this.#network.scan(station.name, signal), scanLimit_ms, 'the scan')
      if (networks.length > 0 || !isAp) return networks
    } catch (error) {
      if (!isAp || (error as { code?: unknown }).code !== 'RTK_ERR_NETWORK') throw error
      throw unavailable(`no scan: ${advice} (${messageOf(error)})`)
    }
    throw unavailable(`the scan found nothing: ${advice}`)
  }

  /** Takes back what only makes sense while the plugin runs. */
  async end(): Promise<void> {
    if (this.#roles().accessPoint?.name === addedInterface) await this.#second.remove()
  }

  /** Looks and acts; calls while it runs are one further run. */
  reconcile(): Promise<void> {
    if (this.#running) {
      this.#again = true
      return this.#running
    }
    const run = async () => {
      do {
        this.#again = false
        await this.#reconcileOnce().catch((error: unknown) => {
          this.#ctx.log.error({ err: error }, 'the radio could not be looked at, it is tried again in 5 s')
        })
      } while (this.#again && !this.#ctx.signal.aborted)
    }
    this.#running = run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #reconcileOnce(): Promise<void> {
    const network = this.#network
    if (!network || this.#ctx.signal.aborted) return
    const now_ms = this.#ctx.clock.monotonic()
    const roles = this.#roles()
    if (!this.#isWished && now_ms - this.#memory.startedAt_ms < wishes_ms) {
      this.#setSide('accessPoint', { ...this.#sides.accessPoint, name: roles.accessPoint?.name ?? '' })
      this.#setSide('station', { ...this.#sides.station, name: roles.station?.name ?? '' })
      return
    }
    if (roles.accessPoint?.name === addedInterface) this.#second.appeared()
    this.#observe(roles)
    const canBoth = await this.#canBoth(roles)
    const decision = decide(
      {
        present: network.ready && (roles.station !== undefined || roles.accessPoint !== undefined),
        wantsAp: this.#ap.wanted !== undefined,
        wantsStation: this.#uplink !== undefined,
        canBoth,
        joined: isJoined(roles.station, this.#uplink?.ssid ?? ''),
        clients: this.#clients,
        memory: this.#memory,
      },
      this.#settings.limits,
      now_ms,
    )
    this.#show(roles, decision)
    if (!this.#wasPresent || decision.wait) return
    await this.#act(network, roles, decision)
    this.#show(this.#roles(), decision)
  }

  #observe(roles: Roles): void {
    const present = (this.#network?.ready ?? false) && (roles.station ?? roles.accessPoint) !== undefined
    if (present !== this.#wasPresent) {
      this.#note({ kind: 'radio' })
      // A radio that comes back is unconfigured.
      if (!present) this.#ap.forget()
    }
    this.#wasPresent = present
    const joined = isJoined(roles.station, this.#uplink?.ssid ?? '')
    if (joined && !this.#wasJoined) {
      this.#note({ kind: 'joined' })
      this.#joins += 1
      this.#joinText = ''
      this.#ctx.errors.while('radio-join', false)
    }
    if (!joined && this.#wasJoined) {
      this.#note({ kind: 'lost' })
      this.#ctx.log.warn(
        `the uplink ${this.#uplink?.ssid ?? ''} is lost: ${roles.station?.reason || 'no reason given'}`,
      )
    }
    this.#wasJoined = joined
  }

  async #act(network: Network, roles: Roles, decision: Decision): Promise<void> {
    const { mode } = decision
    const before = this.#memory.mode
    if (mode !== before) {
      this.#ctx.log.info({ mode, before }, `the radio changes: ${decision.why}`)
      this.#note({ kind: 'mode', mode })
    }
    const wantsAp = mode === 'ap' || mode === 'both'
    const wantsStation = mode === 'station' || mode === 'both'
    if (mode === 'both' && takesTurns(roles) && roles.station) {
      await this.#second.add(roles.station.name)
      // The daemon shows it a moment later; that is a change, and the next round sees it.
      if (!this.#roles().accessPoint || takesTurns(this.#roles())) return
    }
    if (!wantsAp) await this.#end(network, roles.accessPoint, 'ap')
    if (!wantsStation && (!wantsAp || !takesTurns(roles))) await this.#end(network, roles.station, 'station')
    await this.#ap.reconcile()
    if (wantsStation && roles.station && (decision.join || mode !== before)) await this.#join(network, roles.station)
    if (decision.scan && roles.station && !this.#isSearching) void this.#search(network, roles.station)
  }

  /** Ends a profile of ours in that mode; those of others are left alone. */
  async #end(network: Network, one: NetworkInterface | undefined, mode: 'ap' | 'station'): Promise<void> {
    if (!one?.profile.startsWith('rtk-base') || one.wifi?.mode !== mode) return
    // The next profile replaces it on the same interface.
    if (mode === 'ap' && this.#memory.mode === 'station' && one.name === this.#roles().station?.name) return
    try {
      const end = () => leaving(this.#ctx, one, 'the WiFi uplink is switched off', () => network.disconnect(one.name))
      await (mode === 'ap' ? this.#ap.end(end) : end())
    } catch (error) {
      this.#ctx.log.warn({ err: error }, `${one.name} could not be disconnected, it is tried again`)
    }
  }

  async #join(network: Network, one: NetworkInterface): Promise<void> {
    const profile = this.#uplink
    if (!profile || isJoined(one, profile.ssid)) return
    this.#setSide('station', {
      ...this.#sides.station,
      name: one.name,
      state: 'starting',
      text: `joins ${profile.ssid}`,
    })
    if (one.wifi?.mode === 'ap') this.#ap.forget()
    this.#note({ kind: 'trying' })
    const cut = new Promise<never>((_resolve, reject) => {
      this.#cutJoin = reject
    })
    cut.catch(() => {})
    const join = async () => {
      try {
        await Promise.race([
          limited(this.#ctx, network.join(one.name, profile), joinLimit_ms, `the join of ${profile.ssid}`),
          cut,
        ])
      } finally {
        this.#cutJoin = undefined
      }
    }
    try {
      await leaving(this.#ctx, one, 'another WiFi network is joined', join)
    } catch (error) {
      await this.#joinFailed(network, one, profile, error)
    }
  }

  async #joinFailed(network: Network, one: NetworkInterface, { ssid }: StationProfile, error: unknown): Promise<void> {
    const { code } = error as { code?: unknown }
    if (code === 'RTK_ERR_ABORTED' || this.#ctx.signal.aborted) return
    // The daemon went away: no conclusion about the network.
    if (code === 'RTK_ERR_UNAVAILABLE' && !this.#network?.ready) return
    const message = messageOf(error)
    const failure = networkFailureOf(error)
    const cause = failure === 'wrong password' ? 'password' : failure === 'not found' ? 'away' : 'other'
    this.#note({ kind: 'failed', cause, random: Math.random() })
    const wait_s = Math.max(0, Math.round((this.#memory.retryAt_ms - this.#ctx.clock.monotonic()) / 1000))
    this.#joinText = message
    const entry = this.#ctx.errors.while('radio-join', { ssid, cause, reason: message })
    this.#ctx.log.warn({ wait_s, tries: this.#memory.tries }, entry?.why ?? message)
    if (code === 'RTK_ERR_UNAVAILABLE') await network.disconnect(one.name).catch(() => {})
  }

  async #search(network: Network, one: NetworkInterface): Promise<void> {
    this.#isSearching = true
    try {
      const networks = await limited(this.#ctx, network.scan(one.name), scanLimit_ms, 'the scan')
      const seen = networks.some(({ ssid }) => ssid === this.#uplink?.ssid)
      // A scan without any network means that the radio did not scan.
      this.#note(networks.length === 0 ? { kind: 'scanRefused' } : { kind: 'scanned', seen })
    } catch (error) {
      if (this.#ctx.signal.aborted) return
      const { code } = error as { code?: unknown }
      this.#note(code === 'RTK_ERR_NETWORK' ? { kind: 'scanRefused' } : { kind: 'scanned', seen: false })
      this.#ctx.log.debug(`no scan while ${one.name} is the access point: ${messageOf(error)}`)
    } finally {
      this.#isSearching = false
    }
    void this.reconcile()
  }

  async #canBoth(roles: Roles): Promise<boolean> {
    if (!this.#ap.wanted || !this.#uplink || !roles.station) return false
    if (!takesTurns(roles) && roles.accessPoint?.name !== addedInterface) return true
    if (!this.#settings.both) return false
    // One channel for both, and the access point has channels of 2.4 GHz only.
    const channel = roles.station.wifi?.mode === 'station' ? roles.station.wifi.channel : 0
    return (await this.#second.isPossible(roles.station.name)) && (channel <= 14 || this.#second.channels > 1)
  }

  get #apHasTurn(): boolean {
    return this.#memory.mode === 'ap' || this.#memory.mode === 'both'
  }

  /** The channel of the uplink, where the radio does both on one. */
  #sharedChannel(channel: number): number {
    const { station } = this.#roles()
    const shared = station?.wifi?.mode === 'station' ? station.wifi.channel : 0
    return this.#second.channels === 1 && shared >= 1 && shared <= 13 ? shared : channel
  }

  #roles(): Roles {
    return rolesOf(this.#network?.ready ? this.#network.interfaces : [], this.#settings.only)
  }

  #absence(): string {
    if (!this.#network?.ready) return this.#network?.failure || 'the network service is not ready'
    return 'this machine has no WiFi radio that the network daemon manages'
  }

  #show(roles: Roles, { mode, why }: Decision): void {
    const { wanted, starts, failure } = this.#ap
    const ap = roles.accessPoint
    const isUp = ap !== undefined && wanted !== undefined && isAccessPoint(ap, wanted.ssid)
    const hasTurn = mode === 'ap' || mode === 'both'
    this.#setSide('accessPoint', {
      name: ap?.name ?? '',
      starts,
      ...stateOf(!ap ? this.#noAp(roles) : !wanted ? ['off', 'switched off'] : undefined, [
        [isUp && hasTurn, 'up', ''],
        [!hasTurn, 'waiting', `the uplink uses the radio: ${why}`],
        [failure !== undefined, 'failed', failure?.message ?? ''],
        [true, 'starting', 'it starts'],
      ]),
    })
    this.#setSide('station', {
      name: roles.station?.name ?? '',
      starts: this.#joins,
      ...stateOf(
        !roles.station ? ['absent', this.#absence()] : !this.#uplink ? ['off', 'sta-ssid is empty'] : undefined,
        [
          [this.#wasJoined, 'up', ''],
          [mode === 'ap', 'waiting', why],
          [this.#joinText !== '', 'failed', this.#joinText],
          [true, 'starting', why],
        ],
      ),
    })
  }

  #noAp({ station }: Roles): [RadioSide['state'], string] {
    return ['absent', station ? `the driver of ${station.name} has no access point mode` : this.#absence()]
  }

  #setSide(which: 'accessPoint' | 'station', side: RadioSide): void {
    const before = this.#sides[which]
    if (JSON.stringify(before) === JSON.stringify(side)) return
    this.#sides = { ...this.#sides, [which]: side }
    this.onChange.emit()
  }

  #note(happening: Happening): void {
    this.#memory = note(this.#memory, happening, this.#settings.limits, this.#ctx.clock.monotonic())
  }
}

type Shown = Pick<RadioSide, 'state' | 'text'>

function stateOf(
  fixed: [RadioSide['state'], string] | undefined,
  rest: readonly [holds: boolean, state: RadioSide['state'], text: string][],
): Shown {
  const [, state, text] = fixed ? [true, ...fixed] : (rest.find(([holds]) => holds) ?? [true, 'off' as const, ''])
  return { state, text } as Shown
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
const aborted = () => new RtkError('RTK_ERR_ABORTED', 'the plugin radio was stopped or reloaded')
