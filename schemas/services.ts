/**
 * The services that the runtime and the shipped plugins offer to each other and to third parties (`rtk-base/services`).
 * A plugin never imports another plugin's files, only these tokens.
 */
import type { Event } from './event.js'
import { defineService } from './token.js'

export { defineService, type ServiceToken } from './token.js'

type Undo = () => void

// ── provided by the runtime ─────────────────────────────────────────────────────────────────────────────────────────

export interface ChangeResult {
  result: 'ok' | 'failed'
  /** The submitted fields that no plugin owns; everything that was submitted when `failed`. */
  leftover: Record<string, unknown>
  /** Only when `failed`. */
  errors?: { name: string; message: string }[]
}

export interface CommandResult {
  /** As HTTP would answer: 200, 400 bad value, 404 unknown, 503 not now, 500 the owner failed. */
  status: number
  text: string
}

export type PluginStateName = 'waiting' | 'starting' | 'running' | 'stopping' | 'stopped' | 'failed' | 'quarantined'

export interface PluginReport {
  name: string
  version: string
  state: PluginStateName
  /** Why it is in that state, or what it says of itself. */
  reason: string
  needs: string[]
  provides: string[]
}

export type CallSource = 'http' | 'mqtt' | 'console' | 'plugin'

/** What every surface (HTTP, MQTT, console) offers: the same operations on the same station. */
export interface Station {
  /** {SN} */
  readonly serial: string
  /**
   * One change transaction. `values` is what came off the wire; anything but a JSON object rejects with
   * RTK_ERR_CHANGE_BODY. Parameters that end the caller's link are applied after `answered` resolves.
   */
  change(values: unknown, options: { source: CallSource; answered?: Promise<void> }): Promise<ChangeResult>
  /** `text` is `name` or `name=value`. Never rejects. */
  command(text: string, options: { source: CallSource; signal?: AbortSignal }): Promise<CommandResult>
  /** Every command with its help line. */
  commands(): { name: string; help: string; plugin: string }[]
  /** The information document. The mask is read by assignment 1 (HTTP) unless the variant says otherwise; none: everything. */
  document(mask?: number): Record<string, unknown>
  /** The same, serialised; reused for up to 100 ms. */
  documentText(mask?: number): string
  /**
   * Something that the document shows has changed, at most 10 times a second. Figures that change all the time (uptime,
   * position) raise no event: who shows them reads the document when it shows them.
   */
  readonly onDocument: Event<void>
  plugins(): PluginReport[]
  readonly nvs: {
    namespaces(): Promise<string[]>
    /** @throws RTK_ERR_NVS_PROTECTED */
    read(namespace: string): Promise<Record<string, unknown>>
    /** Durable when it resolves. @throws RTK_ERR_NVS_VALUE, _LIMIT, _OWNED, _PROTECTED, RTK_ERR_STORE_WRITE */
    write(namespace: string, values: unknown): Promise<number>
  }
}
export const station = defineService<Station>('station')

/** The controller that runs the service. */
export interface Device {
  /** The variant's hardware name. */
  readonly hardware: string
  /** The variant's name. */
  readonly variant: string
  /** Release, digest of the installed image (or source tree), build time (ISO), running OTA slot. */
  readonly version: string
  readonly sha256: string
  readonly built: string
  readonly partition: string
  /** Milliseconds since the service started. */
  uptime_ms(): number
  /** Restarts the machine; in a simulator variant the service in place. Resolves when it is under way. */
  reboot(): Promise<void>
  /** Clears settings, references, logs and user namespaces (the protected ones stay), then restarts. */
  factory(): Promise<void>
  /** What is wrong right now: `base.state.errors`, newest last, at most 32. `t` is UTC seconds, 0 without a credible clock. */
  errors(): { code: string; text: string; t: number }[]
  /**
   * UTC in milliseconds: from the receiver once it was told, else the system clock, 0 if neither is credible (before
   * the build date).
   */
  utc_ms(): number
  /** Tells the fully resolved time of a receiver. */
  setUtc(utc_ms: number): void
  /** Whether a receiver told the time. */
  readonly knowsUtc: boolean
  /** Whether something (NTP, PTP) keeps the system clock. */
  isClockSynchronised(): Promise<boolean>
  /** Sets the system clock to `utc_ms()`. Rejects where that is not permitted. */
  setSystemClock(): Promise<void>
}
export const device = defineService<Device>('device')

/** Who counts as the local network: the rule that HTTP goes by. */
export interface LocalNetwork {
  /** Loopback, link-local, private, or inside a prefix of an own interface. */
  isLocal(address: string): boolean
}
export const localNetwork = defineService<LocalNetwork>('local-network')

/** What the plugins and the runtime count, for Prometheus. */
export interface Metrics {
  /** The exposition format, in one text. */
  text(): Promise<string>
  readonly contentType: string
  /** Counters and histograms begin at zero again: those of every plugin, or of one. */
  reset(plugin?: string): void
}
export const metrics = defineService<Metrics>('metrics')

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** A line of the log, with everything that was logged; secrets are replaced already. */
export interface LogLine {
  /** As pino has them: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
  level: number
  /** UTC milliseconds by the system clock. */
  time: number
  msg?: string
  plugin?: string
  [field: string]: unknown
}

/** The log of the running service. */
export interface Logs {
  /** Every line that is written. What a listener logs itself is not shown to it. */
  readonly onLine: Event<LogLine>
  /** The level in force: of a plugin, or of everything that has no level of its own. */
  level(plugin?: string): string
  /** In force at once and until the service ends. @param plugin left out: everything, also plugins that had a level of their own */
  setLevel(level: LogLevel, plugin?: string): void
}
export const logs = defineService<Logs>('logs')

/** How a driver carries the bus's topics over a real link. */
export interface MqttDriver {
  publish(
    topic: string,
    payload: string | Uint8Array,
    options: { retain: boolean; qos: 0 | 1 | 2; properties?: MqttProperties },
  ): 'sent' | 'offline' | 'full'
  /** Called with every topic filter that is wanted, at attach and after each change of the plugin set. */
  subscribe(filters: readonly string[]): void
}
export interface MqttProperties {
  userProperties?: Record<string, string>
  correlationData?: Uint8Array
}
export interface MqttInbound {
  topic: string
  payload: Uint8Array
  retain: boolean
  responseTopic?: string
  correlationData?: Uint8Array
}
/** The driver's side of the bus: topic handlers belong to the bus, so reloading the driver loses none. */
export interface MqttBus {
  attach(driver: MqttDriver): Undo
  deliver(message: MqttInbound): void
  /** A session is up: runs onMqttConnect. Never rejects. */
  connected(session: { clientId: string; reconnect: boolean }): Promise<void>
}
export const mqttBus = defineService<MqttBus>('mqtt-bus')

// ── provided by mqtt-link ───────────────────────────────────────────────────────────────────────────────────────────

export interface MqttSignature {
  /** `sig-alg` (schemas/mqtt/messages.ts) */
  algorithm: string
  signature: Uint8Array
  /** Of the certificate, hexadecimal. */
  serial: string
}

/** The link to the broker, for plugins that do more than publish. Take it softly (`find`): a station may have none. */
export interface MqttLink {
  /** `mqtt-en` is 1. */
  readonly enabled: boolean
  readonly up: boolean
  /** MQTT 5 or 3.1.1 (4); undefined while the link is down. */
  readonly version: 4 | 5 | undefined
  /** Names the session that `onMqttConnect` was called for last: each session has another name. Undefined while there is none. */
  readonly session: string | undefined
  /** Address of the broker at the other end of the session; `''` while the link is down. */
  readonly brokerAddress: string
  /** Whether the link is up and would admit a publication of so many bytes: ask before a large payload is built. */
  hasRoom(bytes: number): boolean
  /** The largest payload on `topic` that the broker accepts, in bytes; infinite where it states no limit. */
  largestPayload(topic: string): number
  /** The station's certificate, PEM, followed by its intermediates; undefined without one, or before the first attempt. */
  readonly certificate: string | undefined
  /** Signs with the private key of that certificate, which is never handed out. Rejects with the reason when it cannot sign. */
  sign(data: Uint8Array): Promise<MqttSignature>
  /**
   * Reports that a network came up: while the link is down the next attempt follows at once, and the back-off starts again. A
   * session that is up stays. For every plugin that manages an interface, each time one gets an address.
   */
  networkUp(): void
  /**
   * Publishes `q` and ends the link with a DISCONNECT before the uplink is cut on purpose (a scan, a WiFi network that is left).
   * Resolves after at most 1.5 s with a function that ends the hold; no attempt is made until it is called, or for 10 min.
   */
  hold(reason: string): Promise<() => void>
}
export const mqttLink = defineService<MqttLink>('mqtt-link')

// ── provided by mqtt-broker ─────────────────────────────────────────────────────────────────────────────────────────

/** A broker inside the service, for a desk. The link uses it while nobody has set another one. */
export interface EmbeddedBroker {
  /** Where clients on this machine reach it; undefined while it does not listen. */
  readonly address: { readonly host: string; readonly port: number } | undefined
}
export const embeddedBroker = defineService<EmbeddedBroker>('embedded-broker')

// ── the GNSS path ───────────────────────────────────────────────────────────────────────────────────────────────────

/** ECEF metres, WGS84 axes; coordinates are kept to 0.1 mm. */
export interface Ecef {
  x: number
  y: number
  z: number
}

/** A verified RTCM 3 frame. Owns its bytes; never changed by anyone. */
export interface RtcmFrame {
  /** Message number, 0-4095. */
  readonly type: number
  /** From the 0xD3 to the last CRC byte. */
  readonly bytes: Uint8Array
  /** Monotonic milliseconds at which its last byte arrived. */
  readonly arrival_ms: number
}

export type GpsFix = 'none' | 'dead-reckoning' | '2d' | '3d' | '3d-dr' | 'time' | 'rtk-float' | 'rtk-fixed'

/** One navigation epoch as the receiver reports it. In fixed mode the position is an echo of the reference. */
export interface ReceiverFix {
  /** UTC seconds; 0 until the receiver's time is fully resolved. */
  t: number
  fix: GpsFix
  ok: boolean
  position: Ecef
  lat: number
  lon: number
  /** Ellipsoidal height, metres. */
  alt: number
  /** 3D position accuracy estimate of the receiver (1 sigma), metres. */
  acc_m: number
  /** Height above ellipsoid minus height above mean sea level, metres. */
  geoidSeparation_m: number
  satellitesUsed: number
  /** Corrections went into this epoch. */
  corrected: boolean
  arrival_ms: number
}

/** `offline`: no port or nothing on it. `stalled`: open, but silent. `up`: valid frames arrive. */
export type ReceiverLink = 'offline' | 'stalled' | 'up'

/** `listening`: someone else configured it and it is trusted. `fixed`: it holds a reference position. Else it is a `rover`. */
export type ReceiverMode = 'listening' | 'fixed' | 'rover' | 'unknown'

/** A GNSS receiver that can be a base. gnss-zed provides it; another receiver's plugin could. */
export interface Receiver {
  readonly link: ReceiverLink
  readonly mode: ReceiverMode
  /** Empty strings until identified. */
  readonly identity: { module: string; firmware: string; hardware: string; software: string; serial: string }
  readonly fix: ReceiverFix | undefined
  /** Corrupt RTCM frames seen on the link since the service started. */
  readonly corruptRtcm: number
  /** Every verified RTCM frame, not gated: for the gate alone. Subscribers take `rtcmStream`. */
  readonly onRtcm: Event<RtcmFrame>
  readonly onFix: Event<ReceiverFix>
  /** Link, mode or identity changed. */
  readonly onState: Event<void>
  /** Hands whole RTCM frames to the receiver as corrections; false when it can't take them now. */
  sendCorrections(frames: Uint8Array): boolean
  /**
   * Puts the receiver into a mode with everything that a base needs configured: writes only what differs, verifies by
   * reading back. `refused` names keys that it does not take. Rejects with RTK_ERR_UNAVAILABLE when it does not answer, is
   * only listened to, or does not hold what was written. A receiver that restarts by itself loses all of it: `configured`
   * turns false and `onState` tells.
   */
  configure(target: ReceiverTarget): Promise<{ written: number; refused: string[] }>
  /** It holds what the last `configure` wrote. */
  readonly configured: boolean
  /** The mode that it holds right now, read from it; undefined when it does not answer. */
  readTarget(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined>
  /** Milliseconds since its own start or reset; undefined while unknown. */
  readonly sinceReset_ms: number | undefined
  /** The station ID that it was told to send. */
  readonly stationId: number
  /** The seconds between two MSM of a constellation and between two 1005 that it was told; 1 each where it is not said. */
  readonly intervals_s?: { readonly observations: number; readonly reference: number }
  /** Once an epoch, for the movement check: what the ranges say beside the position that it holds. */
  readonly onResiduals: Event<readonly SatelliteResidual[]>
  /** A second position solution that goes on in fixed mode, where the firmware has one. */
  readonly onSecondFix: Event<ReceiverFix>
  /** Warnings of the receiver in its own words. */
  readonly onWarning: Event<string>
}

/** What the receiver is to be: one that finds its position, or a base at a given reference (ECEF to 0.1 mm). */
export type ReceiverTarget = { mode: 'rover' } | { mode: 'fixed'; arp: Ecef; acc_m: number }

export interface SatelliteResidual {
  /** `gps`, `glonass`, `galileo`, `beidou`, `qzss`, `sbas`. */
  constellation: string
  satellite: number
  azimuth_deg: number
  elevation_deg: number
  /** Pseudorange residual, metres. */
  residual_m: number
  used: boolean
}
export const receiver = defineService<Receiver>('receiver')

/** Where the GNSS procedure stands (`gnss.state.status`), of the plugin that runs it. */
export interface ProcedureStatus {
  /** One of `gnssStatuses` (schemas/info/gnss.ts). */
  readonly status: string
  /** `status` changed. */
  readonly onState: Event<void>
  /** The procedure can use corrections now (`gnss.state.want_corr`). */
  readonly wantsCorrections: boolean
  /** The reference that is used, or would be used: to tell our own corrections from those of another station. */
  readonly reference: Ecef | undefined
}
export const procedureStatus = defineService<ProcedureStatus>('procedure-status')

/** The change parameters of the start-up check and of the correction input, of the plugin that has the receiver. */
export interface ReceiverLimits {
  /** `gnss-initial-accuracy` */
  initialAccuracy_m(): number
  /** `gnss-initial-max-delta` */
  initialMaxDelta_m(): number
  /** `gnss-initial-max-delta-corr` */
  initialMaxDeltaCorr_m(): number
  /** `gnss-recvrtcm-max-age` */
  correctionMaxAge_s(): number
}
export const receiverLimits = defineService<ReceiverLimits>('receiver-limits')

/** Where corrections of another station come in, whatever carries them. */
export interface CorrectionInput {
  /**
   * Takes a packet of whole RTCM 3 frames.
   * @param remote who sent it, e.g. `udp 192.168.1.9:4711`: one source is taken at a time, told apart by this
   * @param address what the allow-list goes by, e.g. `192.168.1.9`
   * @returns '' when it was taken, else why not
   */
  take(packet: Uint8Array, remote: string, address: string): string
}
export const correctionInput = defineService<CorrectionInput>('correction-input')

/** The corrections that come in (`gnss.state.recvrtcm`). */
export interface CorrectionStatus {
  /** `rtcmin=1`: corrections are taken, and survey-ins are corrected, whatever else is said. */
  readonly forced: boolean
  /** Seconds since the newest correction; infinite while there is none. */
  age_s(): number
  /** Correction messages taken since the service started. */
  readonly count: number
  /** Who sends them; '' nobody. */
  readonly remote: string
  /** Distance to the reference point of the source, metres; undefined until its 1005 or 1006 came. */
  readonly distance_m: number | undefined
}
export const correctionStatus = defineService<CorrectionStatus>('correction-status')

/**
 * Faults and facts of a simulated receiver, for tests, the console and third parties' own tests. With any other port than
 * `simulator` every member throws RTK_ERR_UNAVAILABLE.
 */
export interface SimulatedReceiver {
  /** Where its antenna truly is. */
  readonly truth: Ecef
  /** Moves the antenna; metres in the local frame. */
  move(east: number, north: number, up: number): void
  /** Interference that costs so many dB of C/N0; 0 ends it. */
  jam(loss_db: number): void
  antenna(state: 'ok' | 'short' | 'open'): void
  /** The device vanishes, and comes back as after a power cut. */
  unplug(): void
  replug(): void
  /** It restarts by itself: the RAM configuration is lost, in a cold start position and orbits as well. */
  restart(cold?: boolean): void
  /**
   * Another simulated base so many metres to the north sends corrections, through the service `correction-input`; undefined
   * ends it.
   */
  corrections(away_m: number | undefined): void
  /** It refuses a configuration key by name, or takes all again (undefined). */
  nak(key: string | undefined): void
  /** It acknowledges a configuration key by name but keeps its value, or takes all again (undefined). */
  ignore(key: string | undefined): void
  /** Every so many-th ACK or NAK gets lost; 0 ends it. */
  dropAcks(every: number): void
  /** The host hears only garbage at rates above this one; 0 ends it. Means something on a UART only. */
  deafAbove(baud: number): void
  /** Someone else writes a configuration key by name, through another of its ports; in flash it counts from the next start. */
  set(key: string, value: number, layer?: 'ram' | 'flash'): void
  /** What someone else stored in its flash as time mode, with RTCM switched on; counts from its next start. */
  flash(mode: 'rover' | 'survey-in' | { arp: Ecef }): void
  /** Its 1005 is wrong by so many metres in X; 0 ends it. */
  wrongReference(error_m: number): void
  /** It says nothing and answers nothing. */
  silence(on: boolean): void
  /** Damages the next so many RTCM frames. */
  corrupt(frames: number): void
  /** The value of a configuration key, by name, in force or as it is stored. @throws RangeError for an unknown key */
  value(key: string, layer?: 'ram' | 'bbr' | 'flash'): number | undefined
  /** What it was sent since it was made: bytes, and keys written into each layer. */
  readonly received: { bytes: number; ram: number; bbr: number; flash: number }
  /** The state as one line of text. */
  describe(): string
}
export const simulatedReceiver = defineService<SimulatedReceiver>('simulated-receiver')

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
  /** Takes one frame, synchronously; false: not taken, it is queued until `resume()`. Must not throw. */
  take(frame: RtcmFrame): boolean
}

export interface RtcmSubscription {
  /** The subscriber can take frames again. */
  resume(): void
  /** It was heard of: `gnss.rtcm.subscribers[].seen` counts from here. */
  touch(): void
  rename(name: string): void
  /** Whole epochs it lost because it was slow. */
  readonly dropped: number
  close(): void
}

/** A taker of the stream that is not served frame by frame, because it takes epochs: for the document only. */
export interface RtcmTaker {
  /** Surface, e.g. `mqtt`. */
  via: string
  name: string
  /** Read again for each document. */
  readonly ip: string
}

/** The gated stream: nothing comes out unless the reference is trusted. */
export interface RtcmStream {
  readonly open: boolean
  /** Why the gate is closed, '' while it is open. */
  readonly reason: string
  /** A newcomer gets the newest 1005/1006, 1033 and 1230 at once. */
  subscribe(subscriber: RtcmSubscriber): RtcmSubscription
  readonly onEpoch: Event<RtcmEpoch>
  /** The gate opened or closed, or is closed for another reason. */
  readonly onState: Event<{ open: boolean; reason: string }>
  /** Shows a taker of epochs in `gnss.rtcm.subscribers`, until it is closed. `touch` counts `seen` from now. */
  list(taker: RtcmTaker): Pick<RtcmSubscription, 'touch' | 'close'>
  /** The newest of 1005/1006, 1008, 1033, 1230 that went through the open gate. */
  reference(): readonly RtcmFrame[]
  /** Station ID and antenna reference point of the newest 1005/1006 that went through the open gate. */
  readonly station: { id: number; arp: Ecef } | undefined
}
export const rtcmStream = defineService<RtcmStream>('rtcm-stream')

/**
 * The gate in front of the stream, for the one plugin that judges the reference. Without a judge the receiver's own word
 * counts: open while it is in fixed mode. A receiver that is only listened to is trusted in any case.
 */
export interface RtcmGate {
  /** Takes over as judge; until `trust` the gate is closed. */
  judge(): RtcmJudge
}
export interface RtcmJudge {
  /** Opens the gate for this reference alone: a 1005/1006 that differs (0.1 mm, or the station ID) closes it at once. */
  trust(reference: { arp: Ecef; stationId?: number }): void
  hold(reason: string): void
  /** The judge goes. `reload`: its last verdict holds for 10 s, for the next one to take over; else the gate closes. */
  leave(reason: 'reload' | 'remove' | 'shutdown'): void
}
export const rtcmGate = defineService<RtcmGate>('rtcm-gate')
