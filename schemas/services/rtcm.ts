/** Provided by rtcm: the gated stream and the gate in front of it. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { ErrorValues } from './device.js'
import type { Ecef, RtcmFrame } from './receiver.js'

/** The frames of one measurement epoch of one receiver. */
export interface RtcmEpoch {
  /** The MSM frames, in order of arrival. */
  readonly frames: readonly RtcmFrame[]
  /** Epoch time of the first frame, in the time scale of its constellation (RTCM 10403.3, DF004 etc.). */
  readonly time: number
  /** Satellites of all constellations together. */
  readonly satellites: number
  /** true: ended by a multiple-message bit of 0. false: ended by a repeated message number or a timeout. */
  readonly complete: boolean
}

export interface RtcmSubscriber {
  /** Surface, e.g. `udp`. */
  via: string
  name: string
  ip: string
  /** Has its own TCP connection: `seen` stays 0 while connected. */
  connected?: true
  /** Relays the stream to a broker or a caster: not a rover. */
  relays?: true
  /** false: omitted from the document, for internal observers and for outputs that show their clients with `list`. */
  shown?: false
  /**
   * Called with each frame, in order. Must send or queue the frame and return at once.
   * @param frame shared by all subscribers; its bytes must not be changed
   * @returns true: accepted. false: busy. The stream then queues this frame and the following ones, and calls again after
   * `resume()`. The queue is bounded: beyond the limit, the oldest whole epochs are dropped. A subscriber that throws is closed.
   */
  take(frame: RtcmFrame): boolean
}

export interface RtcmSubscription {
  /** The subscriber can accept frames again. */
  resume(): void
  /** Reports a sign of life: resets `gnss.rtcm.subscribers[].seen`. */
  touch(): void
  rename(name: string): void
  /** Whole epochs dropped because the subscriber was slow. */
  readonly dropped: number
  close(): void
}

/** A client that listens to `onEpoch` instead of frames. `list` only shows it in the document. */
export interface RtcmClient {
  /** Surface, e.g. `mqtt`. */
  via: string
  name: string
  /** Has its own connection: `seen` stays 0. */
  connected?: true
  /** Relays the stream to a broker or a caster: not a rover. */
  relays?: true
  /** Read again for each document. */
  readonly ip: string
}
/** An outgoing epoch, or an outgoing frame outside any epoch. */
export type RtcmItem = { readonly sequence: number } & ({ readonly frame: RtcmFrame } | { readonly epoch: RtcmEpoch })

/** Whether observations come. They flow until three of their intervals, and at least 5 s, have passed without one. */
export interface RtcmFlow {
  /** undefined: unknown. It began less than that ago, and none came yet. */
  readonly flows: boolean | undefined
  /** Monotonic ms of the newest observation; -Infinity: none. */
  readonly newest_ms: number
  /** Monotonic ms of the first observation after the last interruption; -Infinity: none. */
  readonly since_ms: number
}

/** Why no RTCM goes out. */
export interface GateReason {
  /** Its text is `gate.CODE` in the texts of the plugin that closes the gate. */
  readonly code: string
  /** Values of the text. */
  readonly values?: ErrorValues | undefined
  /** In English. */
  readonly text: string
}

/** The gated stream: empty unless the reference is trusted. */
export interface RtcmStream {
  /** Whether RTCM goes out: the gate is open, and observations go through it. undefined: it opened, and none came yet. */
  readonly flows: boolean | undefined
  /** Whether the receiver sends observations, in front of the gate. */
  readonly input: RtcmFlow
  /** Seconds without an observation after which RTCM no longer flows. */
  readonly flowLimit_s: number
  /** `flows` or `input.flows` changed. */
  readonly onFlow: Event<void>
  readonly open: boolean
  /** Why the gate is closed; undefined while it is open. */
  readonly reason: GateReason | undefined
  /** Current number of outputs. */
  readonly outputs: number
  /** Rovers among the outputs; undefined if the plugin does not report it. */
  readonly rovers?: number
  /** A new subscriber gets the newest 1005/1006, 1008, 1033 and 1230 at once. */
  subscribe(subscriber: RtcmSubscriber): RtcmSubscription
  readonly onEpoch: Event<RtcmEpoch>
  /** The gate opened or closed, or the reason changed. */
  readonly onState: Event<{ open: boolean; reason: GateReason | undefined }>
  /** Shows a client in `gnss.rtcm.subscribers` until closed. `touch` resets `seen`. */
  list(client: RtcmClient): Pick<RtcmSubscription, 'touch' | 'close'>
  /** Number of the newest outgoing item. During a callback, the number of the delivered frame or epoch. */
  readonly sequence: number
  /** Items of the last seconds, oldest first, for a reloaded plugin to catch up. */
  recent(): readonly RtcmItem[]
  /** The newest 1005/1006, 1008, 1033 and 1230 that passed the open gate, including the station's own. */
  reference(): readonly RtcmFrame[]
  /** Station ID and antenna reference point of the newest 1005/1006 that passed the open gate. */
  readonly station: { id: number; arp: Ecef } | undefined
}
export const rtcmStream = defineService<RtcmStream>('rtcm-stream', {
  shape: {
    flows: 'value',
    input: 'value',
    flowLimit_s: 'value',
    onFlow: 'function',
    open: 'value',
    reason: 'value',
    outputs: 'value',
    subscribe: 'function',
    onEpoch: 'function',
    onState: 'function',
    list: 'function',
    sequence: 'value',
    recent: 'function',
    reference: 'function',
    station: 'value',
  },
})

/**
 * The gate in front of the stream, controlled by the plugin that checks the reference. Without such a plugin, the gate is open
 * while the receiver is in fixed mode. A listen-only receiver is always trusted.
 */
export interface RtcmGate {
  /** Takes control of the gate, which is closed until `trust`. */
  judge(): RtcmJudge
}
/** Control of the gate, by one plugin at a time. */
export interface RtcmJudge {
  /**
   * Opens the gate for this reference alone: a 1005/1006 that differs (by more than 1 mm, or in the station ID) closes
   * it at once.
   * @param reference.point the point of the antenna to which `arp` refers. `phase-centre`: rovers must not apply the
   *   calibration of the antenna
   */
  trust(reference: { arp: Ecef; stationId?: number; point?: 'arp' | 'phase-centre' }): void
  hold(reason: GateReason): void
  /** Gives up control. `reload`: the last decision stays valid for 4 s, until the next instance decides. Otherwise the gate closes. */
  leave(reason: 'reload' | 'remove' | 'shutdown'): void
}
export const rtcmGate = defineService<RtcmGate>('rtcm-gate', { shape: { judge: 'function' } })
