/** Decides which corrections are accepted from which source. Pure: time and state are passed in. */
import { crc24q, distance, messageNumber, referencePoint, roundTo, stationId } from 'rtk-base/gnss'
import { normalAddress } from 'rtk-base/link'
import { EcefShape } from 'rtk-base/schemas'
import type { CorrectionInput, CorrectionStatus, Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

export interface CorrectionFrame {
  /** Message number. */
  type: number
  /** From the 0xD3 to the last CRC byte; a view into the packet. */
  bytes: Uint8Array
}

/** The frames of a packet that consists only of whole, valid RTCM 3 frames; otherwise undefined. */
export function framesOf(packet: Uint8Array): CorrectionFrame[] | undefined {
  const frames: CorrectionFrame[] = []
  for (let at = 0; at < packet.length; ) {
    if (packet.length - at < 6 || packet[at] !== 0xd3 || (packet[at + 1] & 0xfc) !== 0) return undefined
    const end = at + 6 + ((packet[at + 1] << 8) | packet[at + 2])
    if (end > packet.length || crc24q(packet, at, end) !== 0) return undefined
    const bytes = packet.subarray(at, end)
    frames.push({ type: messageNumber(bytes), bytes })
    at = end
  }
  return frames.length > 0 ? frames : undefined
}

/** A source with our station ID whose reference point is nearer than this is this station itself. */
const ourselves_m = 1
/** Without a reference the own fix is compared: no other station with this ID is closer than the error of a fix. */
const ourselvesByFix_m = 100
/** For this long after `rtcmin=1`, the first sender of the local network counts as the intended one: anybody there can send a datagram. */
const invitation_ms = 600_000
/** How many senders are remembered beside the present source. */
const mostKnown = 16

export interface InputDeps {
  now_ms(): number
  /** The procedure asks for corrections. */
  wanted(): boolean
  maxAge_s(): number
  /** The station's own stream; `arp` undefined without a reference. */
  own(): { stationId: number; arp: Ecef | undefined } | undefined
  /** Where we are. */
  position(): Ecef | undefined
  /** Addresses that may send over UDP. */
  allow: readonly string[]
  /** Sources that a person vouches for, as `remote` names them, with or without the port. */
  trusted(): readonly string[]
  forward(frame: Uint8Array): void
}

/** `rtcmin`: all corrections are taken, none, or those that are wanted. */
export type InputMode = NonNullable<CorrectionStatus['input']>

const count = Type.Integer({ minimum: 0 })
const Source = Type.Object({
  remote: Type.String(),
  since_ms: Type.Number(),
  last_ms: Type.Number(),
  count,
  packets: count,
  arp: Type.Optional(EcefShape),
})
type Source = Static<typeof Source>

/** State handed over to the next instance on a reload. */
export const InputSnapshot = Type.Object({
  input: Type.Unsafe<InputMode>(Type.Enum(['on', 'off', 'auto'])),
  total: count,
  source: Type.Optional(Source),
  /** Monotonic ms of the newest `rtcmin=1`; missing: nobody asks. */
  asked_ms: Type.Optional(Type.Number()),
  invited: Type.Optional(Type.String()),
})
export type InputSnapshot = Static<typeof InputSnapshot>

export class Corrections implements CorrectionInput, CorrectionStatus {
  readonly #deps: InputDeps
  input: InputMode = 'auto'
  #source: Source | undefined
  #total = 0
  /** Undefined: nobody asks. */
  #asked_ms: number | undefined
  /** The address that the invitation went to. */
  #invited = ''
  #sharesId: boolean = false
  /** Whether a sender's own reference point showed it to be us (true) or not, by remote. */
  readonly #known = new Map<string, boolean>()

  constructor(deps: InputDeps) {
    this.#deps = deps
  }

  take(packet: Uint8Array, remote: string, address: string): string {
    const { allow, wanted, now_ms, forward } = this.#deps
    const frames = framesOf(packet)
    if (!frames) return 'it is not RTCM, or it is damaged'
    if (this.input === 'off') return 'the input is switched off (rtcmin=0)'
    if (!this.forced && !wanted()) return 'no corrections are wanted now'
    if (remote.startsWith('udp ') && !this.#maySend(remote, normalAddress(address), allow))
      return `${address} is not in the option allow, and its corrections were not requested (rtcmin=1)`
    if (this.remote !== '' && this.remote !== remote) return `${this.remote} is already the source`
    const echo = this.#echo(frames, remote)
    if (echo) return echo
    const now = now_ms()
    if (this.remote !== remote || !this.#source) {
      this.#source = { remote, since_ms: now, last_ms: now, count: 0, packets: 0 }
    }
    const source = this.#source
    source.last_ms = now
    source.packets++
    source.count += frames.length
    this.#total += frames.length
    for (const { bytes } of frames) {
      source.arp = referencePoint(bytes)?.arp ?? source.arp
      forward(bytes)
    }
    return ''
  }

  /** A person chose it. */
  choose(input: InputMode): void {
    this.input = input
    this.#asked_ms = input === 'on' ? this.#deps.now_ms() : undefined
    this.#invited = ''
  }

  /** A UDP source address proves nothing, and corrections move the reference: the sender must be configured. */
  #maySend(remote: string, address: string, allow: readonly string[]): boolean {
    const named = [remote, `udp ${address}`]
    if (allow.includes(address) || this.#deps.trusted().some((source) => named.includes(source))) return true
    if (this.#invited === address && this.remote.startsWith(`udp ${address}:`)) return true
    if (this.#asked_ms === undefined || this.#deps.now_ms() - this.#asked_ms > invitation_ms) return false
    // Silent for the maximum age: within the time limit, another sender may be the intended one.
    if (this.remote !== '') return false
    this.#invited = address
    return true
  }

  // ── the status ────────────────────────────────────────────────────────────────────────────────────────────────────

  get forced(): boolean {
    return this.input === 'on'
  }

  get count(): number {
    return this.#total
  }

  /** The current source; '' if its newest packet is older than the maximum age. */
  get remote(): string {
    return this.#source && this.age_s() <= this.#deps.maxAge_s() ? this.#source.remote : ''
  }

  age_s(): number {
    return this.#source ? (this.#deps.now_ms() - this.#source.last_ms) / 1000 : Number.POSITIVE_INFINITY
  }

  get distance_m(): number | undefined {
    const position = this.#deps.position()
    return this.#source?.arp && position && distance(this.#source.arp, position)
  }

  /** `gnss.state.recvrtcm`: of the newest source. */
  block() {
    const source = this.#source
    if (!source) return { elapsed: 0, age: 0, count: 0, packets: 0, remote: '', dist: 0 }
    const { count, packets, since_ms } = source
    const elapsed = Math.floor((this.#deps.now_ms() - since_ms) / 1000)
    const dist = roundTo(this.distance_m ?? 0, 1)
    return { elapsed, age: Math.floor(this.age_s()), count, packets, remote: this.remote, dist }
  }

  snapshot(): InputSnapshot {
    const [asked_ms, source] = [this.#asked_ms, this.#source]
    return {
      ...{ input: this.input, total: this.#total, invited: this.#invited },
      ...(asked_ms !== undefined && { asked_ms }),
      ...(source && { source }),
    }
  }

  restore({ input, total, source, asked_ms, invited = '' }: InputSnapshot): void {
    this.input = input
    this.#asked_ms = asked_ms
    this.#invited = invited
    this.#total = total
    this.#source = source
  }

  /** Our own stream must never come back to us. @returns '' if it is another station's */
  #echo(frames: readonly CorrectionFrame[], remote: string): string {
    const own = this.#deps.own()
    if (!own) return ''
    for (const { bytes } of frames) {
      const point = referencePoint(bytes)
      const isUs = point && (point.stationId === own.stationId ? this.#isHere(point.arp, own.arp) : false)
      if (isUs !== undefined) this.#know(remote, isUs)
    }
    const isUs = this.#known.get(remote)
    this.#sharesId = isUs === false && frames.some(({ bytes }) => stationId(bytes) === own.stationId)
    if (isUs) return 'these are our own corrections'
    const mayBeUs = frames.some(({ bytes }) => stationId(bytes) === own.stationId)
    return mayBeUs && isUs === undefined ? 'it has our station ID and has not announced its reference point yet' : ''
  }

  /** Undefined where we do not know where we are. */
  #isHere(arp: Ecef, own: Ecef | undefined): boolean | undefined {
    if (own) return distance(arp, own) < ourselves_m
    const position = this.#deps.position()
    return position && distance(arp, position) < ourselvesByFix_m
  }

  /** The source has this station's ID, but is accepted because it is elsewhere. */
  get sharesId(): boolean {
    return this.#sharesId
  }

  #know(remote: string, isUs: boolean): void {
    this.#known.delete(remote)
    this.#known.set(remote, isUs)
    const [oldest] = this.#known.keys()
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest)
  }
}
