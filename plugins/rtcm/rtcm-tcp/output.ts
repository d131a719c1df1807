import { checksumOf, isMsm } from 'rtk-base/gnss'
import { type Numbered, positionOf, Selector } from 'rtk-base/ntrip'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import type { RtcmEpoch, RtcmFrame, RtcmStream, RtcmSubscription } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

/** Unsent bytes from which later epochs stay in the stream's queue, which drops the oldest. */
const backlog_bytes = 65_536
/** More than one epoch has. */
const mostObservations = 16

/** Position of a connection in the stream, where the next plugin instance continues. */
export const Known = Type.Object({
  /** The position of the base, as a text to compare. */
  position: Type.String(),
  /** Number of the newest item of the stream. */
  sequence: Type.Number(),
  /** Checksums of the newest MSMs: those of an epoch that is not complete yet are among them. */
  observations: Type.Array(Type.Number()),
})
export type Known = Static<typeof Known>

/** The other end of a connection. */
export interface Peer {
  readonly name: string
  readonly ip: string
  unsent_bytes(): number
  write(bytes: Uint8Array): void
  /** The peer takes nothing for 30 s. */
  stuck(): void
}

/** Gives the stream to one connection, in bounded memory. */
export class TcpOutput {
  readonly #stream: RtcmStream
  readonly #peer: Peer
  readonly #patience: Patience
  readonly #subscription: RtcmSubscription
  readonly #observations: number[] = []
  /** For old rovers: their observations are made of whole epochs. */
  readonly #selector: Selector | undefined
  readonly #clock: PluginContext['clock']
  /** Until the epoch that is open ends: a part of it may have come while no version of the plugin ran. */
  #waitsForEpoch = false
  #newest: RtcmFrame | undefined
  #lost = 0
  #stopWaiting: Dispose = () => {}

  /** @param known of a connection that the version of the plugin before had */
  constructor(ctx: PluginContext, stream: RtcmStream, peer: Peer, legacy: boolean, known?: Known) {
    this.#stream = stream
    this.#clock = ctx.clock
    this.#selector = legacy ? new Selector({ legacy }) : undefined
    this.#peer = peer
    this.#patience = new Patience(ctx.timers, () => peer.stuck())
    const hasPosition = known !== undefined && known.position !== '' && known.position === positionOf(stream)
    const announced = hasPosition ? [] : stream.reference()
    let isAnnouncing = true
    this.#subscription = stream.subscribe({
      via: 'tcp',
      name: peer.name,
      ip: peer.ip,
      connected: true,
      take: (frame) => {
        if (isAnnouncing && hasPosition) return true
        if (this.#selector) return isMsm(frame.type) || !this.#selector.frame(frame) || this.#send(frame)
        if (!this.#waitsForEpoch || !isMsm(frame.type)) return this.#send(frame)
        this.#newest = frame
        return true
      },
    })
    isAnnouncing = false
    if (this.#selector) this.#stopWaiting = ctx.on(stream.onEpoch, (epoch) => this.#sendLegacy(epoch))
    if (known === undefined) return
    this.#observations.push(...known.observations.slice(-mostObservations))
    for (const item of stream.recent()) {
      if (item.sequence <= known.sequence) continue
      if (this.#selector && 'epoch' in item) this.#sendLegacy(item.epoch)
      const frames = 'frame' in item ? [item.frame] : item.epoch.frames
      this.#sendMissed(frames.filter((frame) => !announced.includes(frame)))
    }
    if (this.#selector) return
    this.#waitsForEpoch = true
    this.#stopWaiting = ctx.on(stream.onEpoch, (epoch) => this.#epochEnds(epoch))
  }

  /** Whole epochs that were lost because the other end is slow. */
  get dropped(): number {
    return this.#subscription.dropped + this.#lost
  }

  get known(): Known {
    const { sequence } = this.#stream
    return { position: positionOf(this.#stream), sequence, observations: [...this.#observations] }
  }

  /** The written data was passed to the operating system. */
  drained(): void {
    this.#patience.ends()
    this.#subscription.resume()
  }

  close(): void {
    void this.#stopWaiting()
    this.#patience.ends()
    this.#subscription.close()
  }

  #epochEnds({ frames }: RtcmEpoch): void {
    void this.#stopWaiting()
    this.#waitsForEpoch = false
    this.#sendMissed(frames)
    // The first message of the next epoch ends this one if its own last message is missing.
    if (this.#newest && !frames.includes(this.#newest)) this.#send(this.#newest)
    this.#newest = undefined
  }

  #sendMissed(frames: readonly RtcmFrame[]): void {
    const isWanted = (frame: RtcmFrame) => this.#selector?.frame(frame) ?? true
    const missed = frames.filter((frame) => !this.#observations.includes(checksumOf(frame.bytes)) && isWanted(frame))
    for (const frame of missed) this.#send(frame)
  }

  #sendLegacy({ frames }: RtcmEpoch): void {
    const made = this.#selector?.epoch(frames, this.#clock.monotonic()) ?? []
    if (this.#peer.unsent_bytes() > backlog_bytes) {
      this.#patience.begins()
      this.#lost++
    } else for (const frame of made) this.#send(frame)
  }

  /** @returns false: the stream keeps it until the other end takes more */
  #send(frame: Numbered): boolean {
    if (this.#peer.unsent_bytes() > backlog_bytes) {
      this.#patience.begins()
      return false
    }
    this.#peer.write(frame.bytes)
    if (isMsm(frame.type)) {
      this.#observations.push(checksumOf(frame.bytes))
      if (this.#observations.length > mostObservations) this.#observations.shift()
    }
    return true
  }
}

/** The kernel itself gives a peer up after a quarter of an hour only. */
const patience_ms = 30_000

/** Ends a connection whose peer reads nothing: it would keep its place forever, and a push would never reconnect. */
export class Patience {
  readonly #timers: PluginContext['timers']
  readonly #over: () => void
  #end: Dispose | undefined

  constructor(timers: PluginContext['timers'], over: () => void) {
    this.#timers = timers
    this.#over = over
  }

  /** More waits than is sent ahead. */
  begins(): void {
    this.#end ??= this.#timers.after(patience_ms, this.#over)
  }

  /** The peer reads again, or is gone. */
  ends(): void {
    void this.#end?.()
    this.#end = undefined
  }
}
