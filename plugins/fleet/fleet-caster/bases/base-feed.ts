import {
  distance,
  isAnnouncedPosition,
  isObservation,
  PublicationGuard,
  publicationTexts,
  referenceTypes,
} from 'rtk-base/gnss'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import {
  type FleetMessage,
  type FleetStation,
  fleetBroker,
  type MountFeed,
  type OpenMount,
  type RtcmFrame,
} from 'rtk-base/services'
import type { BaseDelivery } from '../delivery.js'
import type { Settings } from '../options.js'
import { whyUnfit } from './fitness.js'
import type { Publication, PublicationReader } from './publication.js'
import type { Signatures } from './signatures.js'

/** Without rovers the subscription is kept for so long: one that reconnects gets the next epoch. */
const linger_ms = 60_000
/** Epochs of the future: clocks differ by this much. */
const early_s = 5

/** Kinds of refusals, for counting. */
export const refusals = [
  'retained',
  'size',
  'flood',
  'unsigned',
  'signature',
  'replayed',
  'stale',
  'position',
  'repeated',
  'garbage',
  'unfit',
] as const
export type Refusal = (typeof refusals)[number]

export interface FeedPorts {
  readonly ctx: PluginContext
  readonly settings: Settings
  readonly signatures: Signatures
  readonly reader: PublicationReader
  readonly utc_ms: () => number
  station(serial: string): FleetStation | undefined
  /** Since when the broker is connected, monotonic ms; undefined: it is not. */
  connected_ms(): number | undefined
  refused(kind: Refusal): void
  garbage(bytes: number): void
  relayed(epochs: number, rovers: number): void
  /** For the record of the fleet, once in an hour. */
  record(serial: string, kind: Refusal, text: string): void
  /** Whether it can be relayed changed. */
  changed(serial: string): void
  /** No rover was there for a minute. */
  idle(serial: string): void
  readonly delivery: (serial: string) => BaseDelivery
}

/** The stream of one base while it has rovers: subscribed, judged publication by publication, relayed. */
export class BaseFeed {
  readonly #serial: string
  readonly #ports: FeedPorts
  readonly #feeds = new Set<MountFeed>()
  readonly #subscriptions: Dispose[]
  readonly #delivery: BaseDelivery
  readonly #references = new Map<number, RtcmFrame>()
  #linger: Dispose = () => {}
  /** Why nothing is relayed, from the publications; `''`: the last one was good. */
  #trouble = ''
  /** Why the last publication was refused. It is the reason once there was no good one for long. */
  #refusal = ''
  #reason = ''
  #written = 0
  /** The reference of the station that the relayed position was compared with. */
  #compared = ''
  /** UTC ms of the newest epoch that was relayed, and its messages: a station may publish them one by one. */
  #newest_ms = Number.NEGATIVE_INFINITY
  #newestTypes = new Set<number>()
  #good_ms: number
  /** MQTT 3.1.1: a publication that waits for its signature. */
  #unsigned: Buffer | undefined
  readonly #guard = new PublicationGuard()

  constructor(serial: string, ports: FeedPorts) {
    this.#serial = serial
    this.#ports = ports
    this.#good_ms = ports.ctx.clock.monotonic()
    this.#delivery = ports.delivery(serial)
    const broker = ports.ctx.services.use(fleetBroker)
    const topic = `base/${serial}/drtk`
    // The certificate first: it is retained, and comes before the first publication.
    this.#subscriptions = [
      broker.subscribe(`${topic}/cert`, (message) => this.#certificate(message)),
      broker.subscribe(`${topic}/sig`, (message) => this.#signature(message)),
      broker.subscribe(topic, (message) => this.#publication(message)),
    ]
    this.#reason = this.#find()
  }

  /** Rovers that got the newest epoch; before the first one, one for each mountpoint. */
  get rovers(): number {
    return this.#feeds.size === 0 ? 0 : Math.max(this.#feeds.size, this.#written)
  }

  /** Why it is not relayed now; `''`: it is, or nothing speaks against it. */
  get reason(): string {
    return this.#reason
  }

  /** The base sends good RTCM, with its position. */
  get isProven(): boolean {
    return this.#reason === '' && this.#compared !== '' && this.#newest_ms > Number.NEGATIVE_INFINITY
  }

  /** The base is observed for a minute, with or without rovers. */
  warm(): void {
    if (this.#feeds.size > 0) return
    void this.#linger()
    this.#linger = this.#ports.ctx.timers.after(linger_ms, () => this.#ports.idle(this.#serial))
  }

  open(feed: MountFeed): OpenMount {
    void this.#linger()
    this.#feeds.add(feed)
    if (this.#references.size > 0 && this.#reason === '') feed.take([...this.#references.values()])
    return {
      acknowledged: (epochs) => this.#delivery.acknowledged(epochs, this.#ports.utc_ms()),
      close: () => {
        if (this.#feeds.delete(feed)) this.warm()
      },
    }
  }

  close(): void {
    void this.#linger()
    for (const end of this.#subscriptions) void end()
    this.#delivery.paused()
  }

  /** The station changed, or time went by. */
  look(): void {
    const station = this.#ports.station(this.#serial)
    if (station && this.#compared !== '' && referenceOf(station) !== this.#compared) this.#forget()
    const found = this.#find()
    if (found === this.#reason) return
    const wasGood = this.#reason === ''
    this.#reason = found
    if (wasGood) this.#forget()
    const { log } = this.#ports.ctx
    if (this.#feeds.size > 0) log.info({ base: this.#serial }, found ? `not relayed: ${found}` : 'relayed')
    this.#ports.changed(this.#serial)
  }

  #find(): string {
    const { ctx, settings } = this.#ports
    const station = this.#ports.station(this.#serial)
    const connected_ms = this.#ports.connected_ms()
    if (connected_ms === undefined) return 'the fleet has no connection to its broker'
    const silent_s = (ctx.clock.monotonic() - Math.max(this.#good_ms, connected_ms)) / 1000
    const limit_s = Math.max(settings.maxAge_s, 2.5 * (station?.rtcm.rate_s ?? 0))
    const silence = silent_s > limit_s ? this.#refusal || `no RTCM for ${Math.floor(limit_s)} s` : ''
    return whyUnfit(station, settings) || this.#trouble || silence
  }

  /** Rovers have to get the position again before any observation. */
  #forget(): void {
    this.#references.clear()
    this.#compared = ''
    for (const feed of this.#feeds) feed.reset()
  }

  // ── messages ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #certificate(message: FleetMessage): void {
    const why = this.#ports.signatures.certificate(this.#serial, message)
    if (why) this.#ports.record(this.#serial, 'signature', `its certificate is not trusted: ${why}`)
  }

  #publication({ payload, retained, userProperties }: FleetMessage): void {
    if (retained) {
      this.#refuse('retained')
      return
    }
    const refusal = this.#guard.refusal(payload.length, this.#ports.ctx.clock.monotonic())
    if (refusal) {
      this.#refuse(refusal, `it ${publicationTexts[refusal]}`)
      return
    }
    if (this.#unsigned) this.#judge(this.#unsigned, undefined)
    this.#unsigned = undefined
    if (userProperties.sig !== undefined) this.#judge(payload, userProperties)
    else if (this.#mustSign) this.#unsigned = payload
    else this.#relay(payload)
  }

  #signature({ payload, retained }: FleetMessage): void {
    if (retained || payload.length > 4_096) return
    const before = this.#unsigned
    this.#unsigned = undefined
    if (before) this.#judge(before, signatureOf(payload))
  }

  get #mustSign(): boolean {
    const { signatures } = this.#ports
    return signatures.mustSign(this.#serial) || this.#ports.station(this.#serial)?.rtcm.signed === true
  }

  #judge(payload: Buffer, signature: Readonly<Record<string, unknown>> | undefined): void {
    const { signatures } = this.#ports
    // Nobody demands a signature of it, and without authorities there is nothing to verify it with.
    if (!signatures.verifies && !this.#mustSign) {
      this.#relay(payload)
      return
    }
    const refused = signatures.judge(this.#serial, payload, signature)
    if (!refused) {
      this.#relay(payload)
      return
    }
    const { why, text } = refused
    const kind = why === 'unsigned' || why === 'replayed' || why === 'stale' ? why : 'signature'
    this.#refuse(
      kind,
      why === 'unsigned' ? 'a publication has no signature, and this station signs' : `its signature: ${text}`,
    )
  }

  #relay(payload: Buffer): void {
    const { ctx, settings, utc_ms } = this.#ports
    const now_ms = ctx.clock.monotonic()
    const now_utc_ms = utc_ms()
    const publication = this.#ports.reader.read(payload, now_ms, now_utc_ms)
    if (publication.garbage_bytes > 0) this.#ports.garbage(publication.garbage_bytes)
    if (publication.frames.length === 0) {
      this.#refuse('garbage', 'it published no RTCM')
      return
    }
    const station = this.#ports.station(this.#serial)
    const refusal = this.#whyNot(publication, station, now_utc_ms)
    if (refusal) {
      this.#refuse(...refusal)
      return
    }
    const { newest_ms, positions, frames } = publication
    const unfit = whyUnfit(station, settings)
    const isNew = newest_ms !== undefined && newest_ms > this.#newest_ms
    if (isNew) {
      this.#newest_ms = newest_ms
      this.#newestTypes = new Set()
      this.#good_ms = now_ms
      // Without a rover there is nobody to deliver to, so nothing is lost.
      if (this.#feeds.size > 0) this.#delivery.published(newest_ms, station?.rtcm.rate_s ?? 0)
      else this.#delivery.paused()
    }
    for (const { type } of frames) if (isObservation(type)) this.#newestTypes.add(type)
    this.#trouble = ''
    this.#refusal = ''
    this.look()
    if (unfit) {
      this.#ports.refused('unfit')
      return
    }
    if (positions.length > 0 && station) this.#compared = referenceOf(station)
    // The observations belong to a position that was compared with the announced one.
    else if (this.#compared === '') return
    for (const frame of frames) if (referenceTypes.includes(frame.type)) this.#references.set(frame.type, frame)
    let rovers = 0
    for (const feed of this.#feeds) rovers += feed.take(frames)
    this.#written = rovers
    if (rovers === 0 || !isNew) return
    this.#delivery.relayed(now_utc_ms)
    this.#ports.relayed(1, rovers)
  }

  #whyNot(
    { newest_ms, oldest_ms, positions, frames }: Publication,
    station: FleetStation | undefined,
    now_ms: number,
  ): [Refusal, string?] | undefined {
    const { maxAge_s } = this.#ports.settings
    if (newest_ms !== undefined && oldest_ms !== undefined) {
      const age_s = (now_ms - oldest_ms) / 1000
      if (age_s > maxAge_s) return ['stale', `its RTCM is ${age_s.toFixed(1)} s old`]
      if ((now_ms - newest_ms) / 1000 < -early_s)
        return ['stale', `its RTCM is ${((newest_ms - now_ms) / 1000).toFixed(1)} s in the future`]
      // The station repeats its newest epoch on request; anything older is a replay.
      const isRest =
        newest_ms === this.#newest_ms &&
        frames.every(({ type }) => !isObservation(type) || !this.#newestTypes.has(type))
      if (newest_ms <= this.#newest_ms && !isRest) return ['repeated']
    }
    const arp = station?.arp
    for (const position of positions) {
      if (!position) return ['position', 'its 1005 cannot be read']
      if (!arp) return ['unfit']
      if (!isAnnouncedPosition(position, arp))
        return [
          'position',
          `the position in its RTCM is ${distance(position, arp).toFixed(2)} m from the reference that it announces`,
        ]
    }
    return undefined
  }

  /** @param text for people: rovers get nothing until a publication is good. Without it the publication is only left out */
  #refuse(kind: Refusal, text?: string): void {
    this.#ports.refused(kind)
    this.#delivery.refused(this.#ports.utc_ms())
    if (text === undefined) return
    this.#ports.record(this.#serial, kind, text)
    this.#refusal = text
    // A replay, a forgery or a flood by others must not silence a station whose own publications are good.
    if (kind !== 'position' && kind !== 'stale') return
    this.#trouble = text
    this.look()
  }
}

const referenceOf = ({ arp, reference }: FleetStation) => `${reference} ${arp?.x} ${arp?.y} ${arp?.z}`

function signatureOf(payload: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
