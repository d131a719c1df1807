import { encodeMsm, encodeRtcm, messageNumber } from '../../runtime/gnss/index.js'
import { definePlugin, type PluginDefinition } from '../../runtime/plugin.js'
import {
  type Ecef,
  type Receiver,
  type ReceiverFix,
  type RtcmFrame,
  receiver as receiverToken,
} from '../../schemas/services.js'

/** A receiver that says what a test tells it to: the edge in front of `rtcm` and everything behind it. */
export interface FakeReceiver {
  readonly definition: PluginDefinition<never, never>
  /** Sends one frame, now. */
  emit(bytes: Uint8Array): void
  /** Sets link and mode. */
  become(state: Partial<Pick<Receiver, 'link' | 'mode' | 'corruptRtcm'>>): void
  /** What was sent to it as corrections. */
  readonly corrections: Uint8Array[]
}

/** @param now_ms the arrival time of frames: the test's clock */
export function fakeReceiver(now_ms: () => number): FakeReceiver {
  const frames = new Set<(frame: RtcmFrame) => void>()
  const states = new Set<() => void>()
  const fixes = new Set<(fix: ReceiverFix) => void>()
  const corrections: Uint8Array[] = []
  const on =
    <F>(set: Set<F>) =>
    (fn: F) => {
      set.add(fn)
      return () => set.delete(fn)
    }
  const state: Receiver & { -readonly [K in keyof Receiver]: Receiver[K] } = {
    link: 'up',
    mode: 'fixed',
    identity: { module: 'FAKE', firmware: '1', hardware: '1', software: '1', serial: '00' },
    fix: undefined,
    corruptRtcm: 0,
    onRtcm: on(frames),
    onFix: on(fixes),
    onState: on(states),
    sendCorrections(bytes) {
      corrections.push(bytes)
      return true
    },
  }
  return {
    definition: definePlugin({
      name: 'fake-receiver',
      version: '1.0.0',
      api: '^1.0.0',
      provides: [receiverToken],
      setup: (ctx) => ctx.services.provide(receiverToken, state),
    }) as unknown as PluginDefinition<never, never>,
    corrections,
    emit(bytes) {
      const frame = { type: messageNumber(bytes), bytes, arrival_ms: now_ms() }
      for (const fn of frames) fn(frame)
    },
    become(changes) {
      Object.assign(state, changes)
      for (const fn of states) fn()
    },
  }
}

/** A 1005 of a station. */
export function arpFrame(arp: Ecef, stationId = 0): Uint8Array {
  return encodeRtcm({
    type: 1005,
    stationId,
    itrfYear: 0,
    gps: true,
    glonass: true,
    galileo: true,
    virtual: false,
    ...arp,
    singleOscillator: false,
    quarterCycle: 0,
  })
}

/** A small MSM4 of two satellites; `more` is the multiple-message bit. */
export function msmFrame(type: number, epochTime: number, more: boolean, stationId = 0): Uint8Array {
  return encodeMsm({
    type,
    stationId,
    epochTime,
    multiple: more,
    observations: [3, 17].map((satellite) => ({ satellite, signal: 2, pseudorange_m: 22_000_000 + satellite })),
  })
}
