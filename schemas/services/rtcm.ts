/** Provided by rtcm: the gated stream and the gate in front of it. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef, RtcmFrame } from './receiver.js'

/** The frames of one measurement epoch of one receiver. */
export interface RtcmEpoch {
  /** The MSM frames, in order of arrival. */
  readonly frames: readonly RtcmFrame[]
  /** Epoch time as the first frame has it, in the time of its own constellation (RTCM 10403.3, DF004 and alike). */
  readonly time: number
  /** Satellites of all constellations together. */
  readonly satellites: number
  /** Closed by a multiple-message bit of 0; false when closed by a repeated number or by time. */
  readonly complete: boolean
}

export interface RtcmSubscriber {
  /** Surface, e.g. `udp`. */
  via: string
  name: string
  ip: string
  /** It has a connection of its own (TCP): while that stands it counts as heard of now, and `seen` stays 0. */
  connected?: true
  /** It hands the stream to a broker or a caster: no rover. */
  relays?: true
  /** false: the document leaves it out: a part of the station that only looks, or one whose takers are shown by `list`. */
  shown?: false
  /**
   * Called with each frame, in order. It sends the frame, or keeps it to send it, and returns at once: nobody waits for it.
   * @param frame its bytes are shared by all subscribers and must not be changed
   * @returns true when the subscriber has accepted the frame; false when it cannot now: the stream keeps this frame and those
   * that follow, and calls again after `resume()`. What waits is bounded: beyond it whole oldest epochs are lost. One that
   * throws is closed.
   */
  take(frame: RtcmFrame): boolean
}

export interface RtcmSubscription {
  /** The subscriber can accept frames again. */
  resume(): void
  /** It was heard of: `gnss.rtcm.subscribers[].seen` counts from here. */
  touch(): void
  rename(name: string): void
  /** Whole epochs it lost because it was slow. */
  readonly dropped: number
  close(): void
}

/** A user of the stream that listens to `onEpoch` instead of frames. It is given to `list`, which only shows it in the document. */
export interface RtcmTaker {
  /** Surface, e.g. `mqtt`. */
  via: string
  name: string
  /** It has a connection of its own: `seen` stays 0. */
  connected?: true
  /** It hands the stream to a broker or a caster: no rover. */
  relays?: true
  /** Read again for each document. */
  readonly ip: string
}

/** An epoch, or a frame that belongs to none, as it went out. */
export type RtcmItem = { readonly sequence: number } & ({ readonly frame: RtcmFrame } | { readonly epoch: RtcmEpoch })

/** The gated stream: nothing comes out unless the reference is trusted. */
export interface RtcmStream {
  readonly open: boolean
  /** Why the gate is closed, '' while it is open. */
  readonly reason: string
  /** Who takes it now. */
  readonly outputs: number
  /** The rovers among them; undefined: the plugin does not say. */
  readonly rovers?: number
  /** A newcomer gets the newest 1005/1006, 1008, 1033 and 1230 at once. */
  subscribe(subscriber: RtcmSubscriber): RtcmSubscription
  readonly onEpoch: Event<RtcmEpoch>
  /** The gate opened or closed, or is closed for another reason. */
  readonly onState: Event<{ open: boolean; reason: string }>
  /** Shows a user of epochs in `gnss.rtcm.subscribers`, until it is closed. `touch` counts `seen` from now. */
  list(taker: RtcmTaker): Pick<RtcmSubscription, 'touch' | 'close'>
  /** Counts what goes out: the number of the newest item. While a frame or an epoch is handed out it is that one's. */
  readonly sequence: number
  /** What went out in the last seconds, the oldest first: a plugin that was reloaded catches up with it. */
  recent(): readonly RtcmItem[]
  /** The newest of 1005/1006, 1008, 1033, 1230 that went out through the open gate, those of the station itself among them. */
  reference(): readonly RtcmFrame[]
  /** Station ID and antenna reference point of the newest 1005/1006 that went through the open gate. */
  readonly station: { id: number; arp: Ecef } | undefined
}
export const rtcmStream = defineService<RtcmStream>('rtcm-stream', {
  shape: {
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
 * The gate in front of the stream, for the one plugin that judges the reference. Without a judge the receiver's own word
 * counts: open while it is in fixed mode. A receiver that is only listened to is trusted in any case.
 */
export interface RtcmGate {
  /** Takes over as judge; until `trust` the gate is closed. */
  judge(): RtcmJudge
}
export interface RtcmJudge {
  /** Opens the gate for this reference alone: a 1005/1006 that differs (by more than 1 mm, or in the station ID) closes it at once. */
  trust(reference: { arp: Ecef; stationId?: number }): void
  hold(reason: string): void
  /** The judge goes. `reload`: its last verdict holds for 4 s, until the next judge has its own; else the gate closes. */
  leave(reason: 'reload' | 'remove' | 'shutdown'): void
}
export const rtcmGate = defineService<RtcmGate>('rtcm-gate', { shape: { judge: 'function' } })
