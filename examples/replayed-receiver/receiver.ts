/** The recorded receiver, as seen by the station. */
import { ecefToGeodetic, encodeRtcm, knownLeap_s, messageNumber, roundEcef, unixToGps } from 'rtk-base/gnss'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { AntennaReading, BandReading, ReceiverTarget, SatelliteEpoch } from 'rtk-base/services'
import {
  type Receiver,
  type ReceiverFix,
  type RtcmFrame,
  receiverSettings,
  type SatelliteResidual,
  type Spoofing,
} from 'rtk-base/services'
import { type Fault, type Recording, readRecording, retimed } from './recording.js'

/** State that a real receiver keeps while its plugin is reloaded. */
export type Kept = { bootedAt_ms: number; beganAt_ms: number; target: ReceiverTarget }

const nobody = { maker: '', module: '', firmware: '', hardware: '', software: '', serial: '' }

/** @param script path of receiver.json */
export function replayedReceiver(ctx: PluginContext, script: string) {
  const [rtcm, fix, state] = [ctx.event<RtcmFrame>(), ctx.event<ReceiverFix>(), ctx.event<void>()]
  const [antenna, spoofing] = [ctx.event<AntennaReading>(), ctx.event<Spoofing>()]
  const [interference, satellites] = [ctx.event<readonly BandReading[]>(), ctx.event<SatelliteEpoch>()]
  const residuals = ctx.event<readonly SatelliteResidual[]>()
  const told = new Set<Fault>()
  const has = (fault: Fault) =>
    told.has(fault) ||
    recording?.faults.some(({ fault: name, from_s, to_s }) => name === fault && seconds >= from_s && seconds < to_s)
  const now_ms = ctx.clock.monotonic()
  const kept: Kept = { bootedAt_ms: now_ms, beganAt_ms: now_ms, target: { mode: 'rover' } }
  let recording: Recording | undefined
  let newest: { fix: ReceiverFix; sky: SatelliteEpoch } | undefined
  let [configured, wasHeard, seconds, trouble] = [false, false, 0, 'it was not read yet']

  const receiver: Receiver = {
    get can() {
      return recording?.can
    },
    get link() {
      if (!recording || has('offline')) return 'offline'
      return has('silent') ? 'stalled' : 'up'
    },
    get place() {
      return { port: 'a recording', reason: recording ? 'it is replayed' : trouble, advice: 'check the option script' }
    },
    get mode() {
      return receiver.link === 'up' ? kept.target.mode : 'unknown'
    },
    get identity() {
      return recording && wasHeard ? recording.identity : nobody
    },
    get fix() {
      return newest?.fix
    },
    get satellites() {
      return recording?.can.reports.has('satellites') ? newest?.sky : undefined
    },
    corruptRtcm: 0,
    get configured() {
      return configured
    },
    get sinceReset_ms() {
      return receiver.link === 'up' ? ctx.clock.monotonic() - kept.bootedAt_ms : undefined
    },
    get stationId() {
      return ctx.services.find(receiverSettings)?.stationId ?? 0
    },
    sendCorrections: () => false,
    async configure(target) {
      if (receiver.link !== 'up') throw unavailable('it does not answer')
      configured = false
      if (has('deaf')) throw unavailable('it refuses to be configured')
      kept.target = target.mode === 'fixed' ? { ...target, arp: roundEcef(target.arp) } : target
      configured = true
      state.emit()
      return { written: 1, refused: [] }
    },
    readTarget: async () => (receiver.link === 'up' ? kept.target : undefined),
    restart: async () => tell('restart'),
    ...{ onRtcm: rtcm.on, onFix: fix.on, onState: state.on, onSatellites: satellites.on },
    ...{ onAntenna: antenna.on, onInterference: interference.on, onSpoofing: spoofing.on, onResiduals: residuals.on },
  }

  /** From now on: that fault alone, none, or a restart. */
  function tell(what: Fault | 'well' | 'restart') {
    if (what === 'restart' || what === 'offline') {
      Object.assign(kept, { bootedAt_ms: ctx.clock.monotonic(), target: { mode: 'rover' } })
      configured = false
    }
    if (what !== 'restart') told.clear()
    if (what !== 'restart' && what !== 'well') told.add(what)
    if (receiver.link !== 'up') newest = undefined
    state.emit()
  }

  async function second() {
    seconds = Math.round((ctx.clock.monotonic() - kept.beganAt_ms) / 1000)
    // Like a port that is missing: tried again, no reason not to start.
    recording ??= await readRecording(script).catch((error: Error) => {
      trouble = error.message
      return undefined
    })
    wasHeard ||= receiver.link === 'up'
    if (receiver.link === 'up' && recording) say(recording)
    else newest = undefined
    state.emit()
  }

  function say({ can: { reports }, epochs, reference, sky }: Recording) {
    const arrival_ms = ctx.clock.monotonic()
    const t = Math.floor(ctx.clock.now() / 1000)
    const { stationId } = receiver
    const { target } = kept
    const position = target.mode === 'fixed' ? target.arp : { x: reference.x, y: reference.y, z: reference.z }
    const rest = { geoidSeparation_m: 0, satellitesUsed: sky.length, corrected: false, arrival_ms }
    newest = {
      fix: { t, fix: '3d', ok: true, position, ...ecefToGeodetic(position), acc_m: 1, ...rest },
      sky: {
        tow_ms: unixToGps(t, knownLeap_s).tow_s * 1000,
        arrival_ms,
        hasSignals: false,
        satellites: sky.map((where) => ({ ...where, cno_dbhz: 45, locked: true, used: true, signals: [] })),
      },
    }
    fix.emit(newest.fix)
    if (reports.has('satellites')) satellites.emit(newest.sky)
    if (reports.has('residuals')) residuals.emit(sky.map((where) => ({ ...where, residual_m: 0, used: true })))
    const line = has('short') ? 'short' : has('open') ? 'open' : 'ok'
    if (reports.has('antenna')) antenna.emit({ status: line, isPowered: line === 'ok' })
    const jamming = has('jammed') ? 'critical' : 'ok'
    if (reports.has('interference'))
      interference.emit([{ band: 'L1', jamming, indicator: jamming === 'ok' ? 5 : 200, agc: 40, noise: 90 }])
    if (reports.has('spoofing')) spoofing.emit(has('spoofed') ? 'indicated' : 'none')
    const send = (bytes: Uint8Array) => rtcm.emit({ type: messageNumber(bytes), bytes, arrival_ms })
    const error_m = has('wrong-1005') ? 1 : 0
    if (target.mode === 'fixed') send(encodeRtcm({ ...reference, stationId, ...position, x: position.x + error_m }))
    for (const frame of epochs[seconds % epochs.length] ?? []) send(retimed(frame, t, stationId))
  }

  return { receiver, kept, tell, second }
}
