import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isMsm } from 'rtk-base/gnss'
import { isAnswer, Outbound } from 'rtk-base/link'
import { chunkOf, HeadReader, Selector } from 'rtk-base/ntrip'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { device, type RtcmEpoch, type RtcmFrame, type RtcmStream } from 'rtk-base/services'
import { unacknowledged } from './kernel-queue.js'
import { readReply } from './reply.js'
import { afterEnd, afterNetworkUp, type End, fresh, type RetryState, waitOf } from './retry.js'
import { nameOf, requestOf, type Target } from './target.js'

const connect_ms = 10_000
const reply_ms = 10_000
/** Without RTCM a push means nothing: casters drop silent ones, some ban them. */
const silent_ms = 10_000
/** Nothing acknowledged for so long while there is something to acknowledge: the line is cut. */
const unacknowledged_ms = 25_000
const look_ms = 5_000
/** So long data was acknowledged before the waits begin at the first one again. */
const proven_ms = 300_000
/** Closed so soon after its yes, a caster does not forward the stream. */
const shortLived_ms = 30_000
/** Unsent bytes from which on whole epochs are left out: some seconds of a full stream. */
const backlog_bytes = 16_384
const mostResponse_bytes = 4_096

export type PushState = 'off' | 'waiting' | 'connecting' | 'refused' | 'accepted' | 'acknowledged'

/** One connection to a caster, and when to make the next. */
export class Push {
  readonly target: Target
  readonly #ctx: PluginContext
  readonly #stream: RtcmStream
  readonly #keep: (state: RetryState) => void
  readonly #out: Outbound
  #retry: RetryState
  #selector: Selector
  #socket: Socket | undefined
  #streaming = false
  #primed = false
  #state: PushState = 'waiting'
  #text = ''
  #cancel: Dispose = () => {}
  #looking: Dispose = () => {}
  /** Monotonic ms. */
  #accepted_ms = 0
  #rtcm_ms = Number.NEGATIVE_INFINITY
  #acknowledged = { bytes: 0, at_ms: 0 }
  #shortLived = 0
  sent = 0
  dropped = 0

  /** @param keep stores the waits, so that a restart of the service is no attempt too many */
  constructor(
    ctx: PluginContext,
    stream: RtcmStream,
    target: Target,
    retry: RetryState | undefined,
    keep: (state: RetryState) => void,
  ) {
    this.#ctx = ctx
    this.#stream = stream
    this.target = target
    this.#retry = retry ?? fresh
    this.#keep = keep
    this.#selector = new Selector(target)
    this.#out = new Outbound(ctx, `ntrip-server ${nameOf(target)}`, `${target.host}:${target.port ?? 2101}`)
  }

  start(): void {
    this.#out.start()
    this.#looking = this.#ctx.timers.every(look_ms, () => this.#look())
    this.#schedule()
  }

  stop(): void {
    this.#out.close()
    void this.#looking()
    void this.#cancel()
    this.#socket?.destroy()
    this.#socket = undefined
    this.#state = 'off'
  }

  /** `ntrip.server[]` of the document. */
  block() {
    const now_ms = this.#ctx.clock.monotonic()
    const { host, port = 2101, mount, version = 1, tls = false } = this.target
    return {
      ...{ host, port, mount, version, tls, state: this.#state, text: this.#text },
      next: this.#socket ? 0 : Math.ceil(waitOf(this.#retry, this.#now_ms()) / 1000),
      since: this.#streaming ? Math.floor((now_ms - this.#accepted_ms) / 1000) : 0,
      sent: this.sent,
      dropped: this.dropped,
    }
  }

  /** A network came up. */
  networkUp(): void {
    this.#retry = afterNetworkUp(this.#retry)
    if (!this.#socket) this.#schedule()
  }

  // ── the stream ────────────────────────────────────────────────────────────────────────────────────────────────────

  frame({ type, bytes }: RtcmFrame): void {
    this.#rtcm_ms = this.#ctx.clock.monotonic()
    if (isMsm(type) || !this.#selector.wantsFrame(type)) return
    if (type === 1005 || type === 1006) this.#primed = true
    if (this.#primed) this.#write(bytes)
  }

  epoch({ frames }: RtcmEpoch): void {
    if (!this.#streaming || !this.#primed) return
    const chosen = this.#selector.epoch(frames, this.#ctx.clock.monotonic())
    if (chosen.length > 0) this.#write(Buffer.concat(chosen))
  }

  /** The gate opened or closed: the position comes first again. */
  reset(): void {
    this.#primed = false
    this.#selector = new Selector(this.target)
  }

  #write(bytes: Uint8Array): void {
    const socket = this.#socket
    if (!socket || !this.#streaming) return
    if (socket.writableLength > backlog_bytes) {
      this.dropped += 1
      return
    }
    this.sent += 1
    socket.write((this.target.version ?? 1) === 2 ? chunkOf(bytes) : bytes)
  }

  // ── an attempt ────────────────────────────────────────────────────────────────────────────────────────────────────

  #now_ms(): number {
    return this.#ctx.services.use(device).utc_ms() || this.#ctx.clock.now()
  }

  get #hasRtcm(): boolean {
    return this.#stream.open && this.#ctx.clock.monotonic() - this.#rtcm_ms < silent_ms
  }

  #schedule(): void {
    void this.#cancel()
    this.#cancel = this.#ctx.timers.after(waitOf(this.#retry, this.#now_ms()), () => this.#connect())
  }

  #connect(): void {
    if (this.#socket) return
    if (!this.#hasRtcm) {
      this.#become('waiting', this.#stream.open ? 'no RTCM comes' : `no RTCM goes out: ${this.#stream.reason}`)
      this.#out.idle(this.#text)
      this.#cancel = this.#ctx.timers.after(1_000, () => this.#connect())
      return
    }
    const { host, port = 2101, tls } = this.target
    this.#become('connecting', '')
    this.#store({ ...this.#retry, tried_ms: this.#now_ms() })
    const options = { host, port, ...this.#out.dial }
    const socket = tls ? connectTls({ ...options, servername: host, rejectUnauthorized: true }) : connectTcp(options)
    this.#socket = socket
    this.#out.tries(socket)
    this.#streaming = false
    const over = (end: End, text: string, answered = false) => {
      if (this.#socket === socket) this.#over(end, text, answered)
    }
    let late = this.#ctx.timers.after(connect_ms, () => over('network', `no connection to ${host} in 10 s`))
    const reader = new HeadReader(mostResponse_bytes)
    socket.setNoDelay(true)
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      void late()
      late = this.#ctx.timers.after(reply_ms, () => over('network', 'the caster did not answer in 10 s'))
      socket.write(requestOf(this.target, this.#ctx.services.use(device).version))
    })
    socket.on('data', (bytes) => {
      if (this.#socket !== socket) return
      // Some send a heart-beat, or say that they ban: only that is of interest.
      if (this.#streaming) return this.#heard(bytes.toString('latin1'))
      const head = headOf(reader, bytes)
      if (head === undefined) return
      void late()
      const reply = readReply(head, this.target.version ?? 1)
      if (reply.accepted) this.#accepted()
      else over(reply.kind, reply.text)
    })
    socket.on('error', (error) => over('network', failureText(error as NodeJS.ErrnoException, host), isAnswer(error)))
    socket.on('close', () => {
      void late()
      if (!this.#streaming) return over('network', 'the caster closed the connection without an answer')
      over('closed', this.#closedText())
    })
  }

  #accepted(): void {
    this.#streaming = true
    this.#accepted_ms = this.#ctx.clock.monotonic()
    this.#acknowledged = { bytes: 0, at_ms: this.#accepted_ms }
    this.#become('accepted', '')
    this.#out.up(this.#socket)
    this.#ctx.log.info({ caster: nameOf(this.target) }, 'the caster accepted the stream')
    const reference = this.#stream.reference().filter(({ type }) => this.#selector.wantsFrame(type))
    this.#primed = reference.some(({ type }) => type === 1005 || type === 1006)
    if (reference.length > 0) this.#write(Buffer.concat(reference.map(({ bytes }) => bytes)))
  }

  #heard(text: string): void {
    if (/\bban(ned)?\b/i.test(text)) this.#over('final', 'the caster says that it bans this address')
  }

  #closedText(): string {
    const lasted_ms = this.#ctx.clock.monotonic() - this.#accepted_ms
    this.#shortLived = lasted_ms < shortLived_ms ? this.#shortLived + 1 : 0
    if (this.#shortLived >= 3)
      return 'the caster accepts and closes again and again: another base may use this mount point'
    if (this.#shortLived >= 2) return 'accepted, not forwarded: the caster closes soon after its yes'
    return 'the caster closed the connection'
  }

  /** @param answered the caster was reached: only it can change that */
  #over(end: End, text: string, answered = false): void {
    const socket = this.#socket
    this.#socket = undefined
    this.#streaming = false
    socket?.destroy()
    this.#store(afterEnd(this.#retry, end, this.#now_ms(), Math.random()))
    const refused = end !== 'network' && end !== 'closed'
    this.#become(refused ? 'refused' : 'waiting', text)
    const wait_ms = waitOf(this.#retry, this.#now_ms())
    if (refused || answered || end === 'closed') this.#out.refused(text, wait_ms)
    else this.#out.down(text, wait_ms)
    this.#ctx.log.warn(
      { caster: nameOf(this.target), wait_s: Math.round(waitOf(this.#retry, this.#now_ms()) / 1000) },
      text,
    )
    this.#schedule()
  }

  #store(state: RetryState): void {
    this.#retry = state
    this.#keep(state)
  }

  #become(state: PushState, text: string): void {
    this.#state = state
    this.#text = text
  }

  // ── proof of delivery ─────────────────────────────────────────────────────────────────────────────────────────────

  async #look(): Promise<void> {
    const socket = this.#socket
    if (!socket || !this.#streaming) return
    const now_ms = this.#ctx.clock.monotonic()
    if (!this.#hasRtcm) return this.#over('closed', 'no RTCM for 10 s: the stream is ended')
    const { localPort, remotePort } = socket
    const queue = localPort && remotePort ? await unacknowledged(localPort, remotePort) : undefined
    if (this.#socket !== socket || queue === undefined) return
    // Over TLS the bytes written are those before encryption: an empty queue is what counts there.
    const bytes = socket.bytesWritten - socket.writableLength - queue
    if (bytes > this.#acknowledged.bytes || (queue === 0 && socket.writableLength === 0)) {
      this.#acknowledged = { bytes, at_ms: now_ms }
      if (this.#state === 'accepted') this.#become('acknowledged', '')
      if (now_ms - this.#accepted_ms > proven_ms && this.#retry.failures > 0) {
        this.#shortLived = 0
        this.#store({ ...fresh, tried_ms: this.#retry.tried_ms })
      }
    } else if (now_ms - this.#acknowledged.at_ms >= unacknowledged_ms) {
      this.#over(
        'network',
        `no acknowledgement for ${Math.round((now_ms - this.#acknowledged.at_ms) / 1000)} s: the line is cut`,
      )
    }
  }
}

/** The lines of an answer. A yes of NTRIP 1 is often one line without a blank one behind it. */
function headOf(reader: HeadReader, bytes: Buffer): string[] | undefined {
  const head = reader.push(bytes)
  if (head === 'too-large') return ['', 'too much']
  if (head !== undefined) return head.lines
  const text = bytes.toString('latin1')
  return /^(ICY 200 OK|OK|ERROR\b[^\r\n]*)\r?\n$/.test(text) ? [text.trim()] : undefined
}

function failureText(error: NodeJS.ErrnoException, host: string): string {
  const { code = '' } = error
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${host} is not known: check the name, and the DNS of the network`
  if (code === 'ECONNREFUSED') return `${host} refuses connections: wrong port, or this address is banned there`
  if (code === 'CERT_NOT_YET_VALID')
    return 'the certificate of the caster is not valid yet: check the clock of this station'
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code))
    return `the certificate of the caster is not valid: ${error.message}`
  return `the connection failed: ${error.message}`
}
