import { distance, ecefToGeodetic, encodeNmea, type Frame, Framer } from 'rtk-base/gnss'
import { Dialog, KeptPort, portFrom } from 'rtk-base/link'
import { definePlugin, type PluginContext, unavailable } from 'rtk-base/plugin'
import {
  type AntennaReading,
  type AntennaStatus,
  type Receiver,
  type ReceiverFix,
  type ReceiverTarget,
  type RtcmFrame,
  receiver,
  receiverSettings,
} from 'rtk-base/services'
import { Type } from 'typebox'

/** The receiver counts as stalled after so long without a frame. */
const silent_ms = 3_000
const answer_ms = 1_000
const tries = 3
const nobody = { maker: '', module: '', firmware: '', hardware: '', software: '', serial: '' }

/** A receiver at a serial port, with RTCM and sentences of its own: `$PXYWHO`, `$PXYSET`, `$PXYGET`, `$PXYPOS`, `$PXYANT`. */
export default definePlugin({
  name: 'serial-receiver',
  version: '0.1.0',
  api: '^1.0.0',
  provides: [receiver],
  options: Type.Object({
    port: Type.String({ default: '/dev/ttyUSB0', description: 'A device path or tcp://host:port' }),
    baud: Type.Integer({ default: 115_200, minimum: 4_800 }),
  }),

  setup(ctx, { port, baud }) {
    const device = serialReceiver(ctx, port, baud)
    ctx.services.provide(receiver, device.service)
    return device
  },
  start: (_ctx, _handoff, device) => device.start(),
  stop: (_reason, device) => device.stop(),
})

function serialReceiver(ctx: PluginContext, portName: string, baud: number) {
  const [onRtcm, onFix] = [ctx.event<RtcmFrame>(), ctx.event<ReceiverFix>()]
  const [onState, onAntenna] = [ctx.event<void>(), ctx.event<AntennaReading>()]
  const now_ms = () => ctx.clock.monotonic()
  /** Readings of the receiver; cleared when the link drops. */
  let said: { heardAt_ms: number; booted_ms?: number; target?: ReceiverTarget; fix?: ReceiverFix } | undefined
  let identity = nobody
  let isOpen = false
  let configured = false
  let reason = 'it was not opened yet'
  let shown = ''

  const port = new KeptPort(portFrom(portName, { pace: 0, loop: false, delay: 0 }, ctx), ctx, {
    baud: () => baud,
    opened: () => change({ isOpen: true, reason: 'it is open' }),
    data: (bytes) => framer.push(bytes, now_ms()),
    closed: (why) => change({ isOpen: false, reason: why }),
    ended: (why) => change({ isOpen: false, reason: why }),
  })
  const dialog = new Dialog<string[]>(ctx, (request) => port.write(request), answer_ms)
  const framer = new Framer({ onFrame: hear })

  /** Sends a request; the answer begins with the same word. */
  const ask = (...words: (string | number)[]) =>
    dialog.ask(encodeNmea(words.join(',')), ([word, ...rest]) => (word === words[0] ? rest : undefined), tries)

  function change(now: { isOpen: boolean; reason: string }): void {
    if (isOpen && !now.isOpen) {
      framer.flush()
      dialog.abort()
      said = undefined
      configured = false
    }
    ;({ isOpen, reason } = now)
    tell()
  }

  /** Every change is told once, whatever caused it. */
  function tell(): void {
    if (service.link === 'up') port.works()
    else if (said) said = { heardAt_ms: said.heardAt_ms }
    const state = JSON.stringify([service.link, service.mode, identity, configured, service.stationId])
    if (state === shown) return
    shown = state
    ctx.status(`${service.link}: ${reason}`)
    onState.emit()
  }

  function hear(frame: Frame): void {
    const { arrival_ms, bytes } = frame
    said = { ...said, heardAt_ms: arrival_ms }
    if (frame.kind === 'rtcm') onRtcm.emit({ type: frame.type, bytes, arrival_ms })
    if (frame.kind === 'nmea') {
      const [word = '', ...values] = new TextDecoder().decode(bytes.subarray(1, bytes.lastIndexOf(0x2a))).split(',')
      dialog.hear([word, ...values])
      if (word === 'PXYPOS') heardPosition(values.map(Number), arrival_ms)
      // Unknown values are reported as `unknown`.
      if (word === 'PXYANT') onAntenna.emit({ status: values[0]?.toLowerCase() as AntennaStatus, isPowered: undefined })
    }
    tell()
  }

  function heardPosition(
    [t = 0, x = 0, y = 0, z = 0, acc_m = 0, used = 0, uptime_ms = 0]: number[],
    at_ms: number,
  ): void {
    const booted_ms = at_ms - uptime_ms
    // Its own clock went back: it restarted, and forgot what it was told.
    if (said?.booted_ms !== undefined && booted_ms > said.booted_ms + 2_000) configured = false
    const position = { x, y, z }
    const counts = { geoidSeparation_m: 0, satellitesUsed: used, corrected: false, arrival_ms: at_ms }
    const fix: ReceiverFix = { t, fix: '3d', ok: used >= 4, position, ...ecefToGeodetic(position), acc_m, ...counts }
    said = { ...said, heardAt_ms: at_ms, booted_ms, fix }
    onFix.emit(fix)
  }

  async function identify(): Promise<void> {
    const [module = '', firmware = '', serial = ''] = (await ask('PXYWHO')) ?? []
    if (module === '') return
    identity = { ...nobody, maker: 'XY', module, firmware, serial }
    await service.readTarget()
    tell()
  }

  async function findOut(): Promise<void> {
    if (service.link === 'up' && (identity.module === '' || !said?.target)) await identify()
  }

  const service: Receiver = {
    can: {
      ...{ ownSurvey: false, fixedPosition: 'ecef', settings: 'volatile', restarts: false, stationId: true },
      ...{ antennaDescriptor: false, reports: new Set(['antenna']), rawObservations: [], intervals_s: [1] },
    },
    get link() {
      if (!isOpen) return 'offline'
      return said && now_ms() - said.heardAt_ms < silent_ms ? 'up' : 'stalled'
    },
    get place() {
      return { port: portName, reason, advice: 'check its cable and its power' }
    },
    get mode() {
      return said?.target?.mode ?? 'unknown'
    },
    get identity() {
      return identity
    },
    get fix() {
      return service.link === 'up' ? said?.fix : undefined
    },
    corruptRtcm: 0,
    get configured() {
      return configured
    },
    get sinceReset_ms() {
      return said?.booted_ms === undefined ? undefined : now_ms() - said.booted_ms
    },
    get stationId() {
      return ctx.services.find(receiverSettings)?.stationId ?? 0
    },
    sendCorrections: (frames) => service.link === 'up' && port.write(frames),
    async configure(target) {
      configured = false
      const words = target.mode === 'fixed' ? ['BASE', ...axes(target.arp), service.stationId] : ['ROVER']
      const [answer] = (await ask('PXYSET', ...words)) ?? []
      if (answer !== 'OK') throw unavailable(answer ? `it refuses to be ${target.mode}` : 'it does not answer')
      const held = await service.readTarget()
      const isHeld = target.mode === 'rover' || (held?.mode === 'fixed' && distance(held.arp, target.arp) < 0.001)
      if (held?.mode !== target.mode || !isHeld) throw unavailable('it does not hold what was written')
      configured = true
      tell()
      return { written: 1, refused: [] }
    },
    async readTarget() {
      const [mode, x, y, z] = (await ask('PXYGET')) ?? []
      if (mode !== 'ROVER' && mode !== 'BASE') return undefined
      const arp = { x: Number(x), y: Number(y), z: Number(z) }
      const target: ReceiverTarget = mode === 'ROVER' ? { mode: 'rover' } : { mode: 'fixed', arp, acc_m: 0 }
      if (said) said = { ...said, target }
      tell()
      return target
    },
    ...{ onRtcm: onRtcm.on, onFix: onFix.on, onState: onState.on, onAntenna: onAntenna.on },
  }

  return {
    service,
    start() {
      port.start()
      ctx.timers.every(1_000, tell)
      // Apart from it: this one waits for answers, and a silence is told meanwhile.
      ctx.timers.every(1_000, findOut)
    },
    async stop() {
      dialog.abort()
      await port.stop()
    },
  }
}

const axes = ({ x, y, z }: { x: number; y: number; z: number }) => [x, y, z].map((metres) => metres.toFixed(4))
