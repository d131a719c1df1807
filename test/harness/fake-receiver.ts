import { ecefToGeodetic, encodeMsm, encodeRtcm, messageNumber } from '../../runtime/lib/gnss/index.js'
import { type AnyPlugin, definePlugin, unavailable } from '../../runtime/plugin.js'
import {
  type AntennaStatus,
  type BandReading,
  type Ecef,
  type Jamming,
  type Receiver,
  type ReceiverFix,
  type ReceiverTarget,
  type RtcmFrame,
  receiver as receiverToken,
  type SatelliteResidual,
  type Spoofing,
} from '../../schemas/services.js'

/** A receiver that a test controls. It takes the place of the receiver plugin. */
export interface FakeReceiver {
  readonly definition: AnyPlugin
  /** The receiver sends a frame now. */
  emit(bytes: Uint8Array): void
  /** Sets members of the service, such as link and mode, and emits `onState`. */
  become(
    state: Partial<
      Pick<Receiver, 'can' | 'link' | 'mode' | 'identity' | 'fix' | 'configured' | 'sinceReset_ms' | 'corruptRtcm'>
    >,
  ): void
  /** Emits a navigation epoch. Omitted members are those of a good 3D fix. */
  fix(fix: Partial<ReceiverFix> & Pick<ReceiverFix, 'position'>): void
  residuals(residuals: readonly SatelliteResidual[]): void
  secondFix(fix: ReceiverFix): void
  warn(text: string): void
  /** Reports of the antenna, interference and spoofing, sent once. The station uses the latter two for 10 s. */
  antenna(status: AntennaStatus): void
  interference(jamming: Jamming): void
  spoofing(state: Spoofing): void
  /** The target of the last `configure`. `readTarget` returns it. */
  target: ReceiverTarget
  /** Makes `configure` reject with this message. */
  refuseToConfigure: string | undefined
  /** Called and awaited by `configure` before it applies the target. */
  whileConfiguring: (() => Promise<void>) | undefined
  /** How often `resetAmbiguities` was called. */
  resets: number
  /** Corrections that were sent to the receiver. */
  readonly corrections: Uint8Array[]
}

/** Makes a `FakeReceiver`. @param now_ms the test's clock, for the arrival times of frames */
export function fakeReceiver(now_ms: () => number): FakeReceiver {
  const frames = new Set<(frame: RtcmFrame) => void>()
  const states = new Set<() => void>()
  const fixes = new Set<(fix: ReceiverFix) => void>()
  const residuals = new Set<(residuals: readonly SatelliteResidual[]) => void>()
  const secondFixes = new Set<(fix: ReceiverFix) => void>()
  const warnings = new Set<(text: string) => void>()
  const antennas = new Set<Parameters<NonNullable<Receiver['onAntenna']>>[0]>()
  const air = new Set<(bands: readonly BandReading[]) => void>()
  const spoofings = new Set<(state: Spoofing) => void>()
  const corrections: Uint8Array[] = []
  const on =
    <F>(set: Set<F>) =>
    (fn: F) => {
      set.add(fn)
      return () => set.delete(fn)
    }
  const state: { -readonly [K in keyof Receiver]: Receiver[K] } = {
    link: 'up',
    mode: 'fixed',
    identity: { module: 'FAKE', firmware: '1', hardware: '1', software: '1', serial: '00' },
    fix: undefined,
    corruptRtcm: 0,
    onRtcm(fn, order) {
      const others = [...frames]
      frames.clear()
      for (const one of order === 'first' ? [fn, ...others] : [...others, fn]) frames.add(one)
      return () => frames.delete(fn)
    },
    onFix: on(fixes),
    onState: on(states),
    async resetAmbiguities() {
      fake.resets++
    },
    sendCorrections(bytes) {
      corrections.push(bytes)
      return true
    },
    configured: false,
    sinceReset_ms: 60_000,
    stationId: 0,
    onResiduals: on(residuals),
    onSecondFix: on(secondFixes),
    onWarning: on(warnings),
    onAntenna: on(antennas),
    onInterference: on(air),
    onSpoofing: on(spoofings),
    async configure(target) {
      await fake.whileConfiguring?.()
      if (fake.refuseToConfigure) throw unavailable(fake.refuseToConfigure)
      fake.target = target
      fake.become({ configured: true, mode: target.mode })
      return { written: 1, refused: [] }
    },
    readTarget: async () => fake.target,
  }
  const fake: FakeReceiver = {
    definition: definePlugin({
      name: 'fake-receiver',
      version: '1.0.0',
      api: '^1.0.0',
      provides: [receiverToken],
      setup: (ctx) => ctx.services.provide(receiverToken, state),
    }),
    corrections,
    resets: 0,
    target: { mode: 'rover' },
    refuseToConfigure: undefined,
    whileConfiguring: undefined,
    fix(fix) {
      const whole: ReceiverFix = {
        t: 1_795_219_200,
        fix: '3d',
        ok: true,
        ...ecefToGeodetic(fix.position),
        acc_m: 1,
        geoidSeparation_m: 0,
        satellitesUsed: 20,
        corrected: false,
        arrival_ms: now_ms(),
        ...fix,
      }
      state.fix = whole
      for (const fn of fixes) fn(whole)
    },
    residuals: (epoch) => {
      for (const fn of residuals) fn(epoch)
    },
    secondFix: (fix) => {
      for (const fn of secondFixes) fn(fix)
    },
    warn: (text) => {
      for (const fn of warnings) fn(text)
    },
    antenna: (status) => {
      for (const fn of antennas) fn({ status, isPowered: undefined })
    },
    interference: (jamming) => {
      const band = { band: 'L1', jamming, indicator: jamming === 'critical' ? 200 : 5, agc: 40, noise: 90 }
      for (const fn of air) fn([band])
    },
    spoofing: (state) => {
      for (const fn of spoofings) fn(state)
    },
    emit(bytes) {
      const frame = { type: messageNumber(bytes), bytes, arrival_ms: now_ms() }
      for (const fn of frames) fn(frame)
    },
    become(changes) {
      Object.assign(state, changes)
      for (const fn of states) fn()
    },
  }
  return fake
}

/** A 1005 frame. With `antennaHeight_m`, the height of the antenna above its marker, a 1006 frame. */
export function arpFrame(arp: Ecef, stationId = 0, antennaHeight_m?: number): Uint8Array {
  return encodeRtcm({
    ...(antennaHeight_m === undefined ? { type: 1005 } : { type: 1006, antennaHeight_m }),
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

/** A small MSM4 frame with two satellites. `more` is the multiple-message bit: further messages of this epoch follow. */
export function msmFrame(type: number, epochTime: number, more: boolean, stationId = 0): Uint8Array {
  return encodeMsm({
    type,
    stationId,
    epochTime,
    multiple: more,
    observations: [3, 17].map((satellite) => ({ satellite, signal: 2, pseudorange_m: 22_000_000 + satellite })),
  })
}
