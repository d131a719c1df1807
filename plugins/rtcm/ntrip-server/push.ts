import { Acknowledgement, cutText, type Dialled, dial, Outbound, unacknowledged_ms } from 'rtk-base/link'
import { AnswerHead, AnswerPause, Distributor, type Piece, type StreamSink } from 'rtk-base/ntrip'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import type { NtripServerInfo, PushState } from 'rtk-base/schemas'
import { device, type RtcmEpoch, type RtcmFrame, type RtcmStream, type RtcmSubscription } from 'rtk-base/services'
import { Proof } from './proof.js'
import { readReply, saysBanned } from './reply.js'
import {
  afterEnd,
  afterNetworkUp,
  type End,
  fresh,
  type KeptWait,
  keptOf,
  type RetryState,
  restored,
  waitOf,
} from './retry.js'
import { nameOf, requestOf, type Target } from './target.js'

const reply_ms = 10_000
/** So long data was acknowledged before the waits begin at the first one again. */
const proven_ms = 300_000
/** Closed so soon after its yes, a caster does not forward the stream. */
const shortLived_ms = 30_000
/** Unsent bytes from which on whole epochs are left out: some seconds of a full stream. */
const backlog_bytes = 16_384
/** A link is called slow for so long after an epoch was left out. */
const slow_ms = 60_000
/** Kept tail of the caster's data during the stream: a word may arrive in two pieces. */
const mostHeard = 256

/** One connection to a caster, and when to make the next. */
export class CasterPush implements StreamSink {
  readonly target: Target
  readonly #ctx: PluginContext
  readonly #stream: RtcmStream
  readonly #keep: (wait: KeptWait | undefined) => void
  readonly #out: Outbound
  #retry: RetryState
  /** Of the store, until it is known how much of it has passed. */
  #kept: KeptWait | undefined
  /** A network came up while this attempt was under way: it may hang on the way that was there before. */
  #cameUp = false
  readonly #distributor: Distributor<{ primed: boolean }>
  readonly #proof: Proof
  #line: Dialled | undefined
  #streaming = false
  /** Shows the caster beside the other outputs. */
  #listed: Pick<RtcmSubscription, 'close'> | undefined
  #state: PushState = 'waiting'
  #text = ''
  #cancel: Dispose = () => {}
  #looking: Dispose = () => {}
  #late: Dispose = () => {}
  /** Monotonic ms. */
  #accepted_ms = 0
  #isAcknowledged = false
  #dropped_ms = Number.NEGATIVE_INFINITY
  /** Bytes written when the caster accepted: the request. */
  #request_bytes = 0
  #acknowledgement: Acknowledgement | undefined
  #heardText = ''
  #shortLived = 0
  sent = 0
  dropped = 0

  /**
   * @param kept the wait that the caster asked for before the service was restarted
   * @param keep stores such a wait; undefined: there is none any more
   */
  constructor(
    ctx: PluginContext,
    stream: RtcmStream,
    target: Target,
    kept: KeptWait | undefined,
    keep: (wait: KeptWait | undefined) => void,
  ) {
    this.#ctx = ctx
    this.#stream = stream
    this.target = target
    this.#kept = kept
    this.#retry = kept ? restored(kept, ctx.clock.monotonic(), 0) : fresh
    this.#keep = keep
    this.#out = new Outbound(ctx, `ntrip-server ${nameOf(target)}`, `${target.host}:${target.port ?? 2101}`)
    this.#distributor = new Distributor(stream, target, () => ctx.clock.monotonic(), {
      send: (_taker, piece) => this.#write(piece),
    })
    this.#proof = new Proof(ctx, target, {
      changed: () => this.#judge(),
      moved: (text) => this.#over('network', text),
    })
  }

  start(): void {
    this.#out.start()
    this.#learnWait()
    this.#looking = this.#ctx.timers.every(Acknowledgement.every_ms, () => this.#look())
    this.#schedule()
  }

  stop(): void {
    this.#out.close()
    void this.#looking()
    void this.#cancel()
    this.#hangUp()
    this.#state = 'off'
  }

  #hangUp(): void {
    const line = this.#line
    this.#line = undefined
    this.#streaming = false
    void this.#late()
    this.#distributor.clients.clear()
    this.#proof.stop()
    this.#listed?.close()
    this.#listed = undefined
    line?.hangUp()
  }

  /** `ntrip.server[]` of the document. */
  block(): NtripServerInfo[number] {
    const now_ms = this.#ctx.clock.monotonic()
    const { host, port = 2101, mount, version = 1, tls = false } = this.target
    return {
      // The document has a largest size.
      host: host.slice(0, 64),
      port,
      mount: mount.slice(0, 32),
      version,
      tls,
      state: this.#state,
      text: this.#text.slice(0, 160),
      next: this.#line ? 0 : Math.ceil(waitOf(this.#retry, this.#now_ms()) / 1000),
      since: this.#streaming ? Math.floor((now_ms - this.#accepted_ms) / 1000) : 0,
      ip: this.#line?.socket.remoteAddress ?? '',
      sent: this.sent,
      dropped: this.dropped,
    }
  }

  /** A network came up. */
  networkUp(): void {
    this.#retry = afterNetworkUp(this.#retry)
    if (this.#line) this.#cameUp = !this.#streaming
    else this.#schedule()
  }

  // ── the stream ────────────────────────────────────────────────────────────────────────────────────────────────────

  frame(frame: RtcmFrame, sequence: number): void {
    this.#distributor.frame(frame, sequence)
  }

  epoch(epoch: RtcmEpoch, sequence: number): void {
    this.#distributor.epoch(epoch, sequence)
  }

  reset(): void {
    this.#distributor.reset()
  }

  /** @returns false: it was left out, as the caster is slow */
  #write(piece: Piece): boolean {
    const socket = this.#line?.socket
    if (!socket || !this.#streaming) return false
    if (socket.writableLength > backlog_bytes) {
      this.dropped += 1
      this.#dropped_ms = this.#ctx.clock.monotonic()
      return false
    }
    this.sent += 1
    this.#proof.sent(piece.bytes)
    socket.write((this.target.version ?? 1) === 2 ? piece.chunk : piece.bytes)
    return true
  }

  // ── an attempt ────────────────────────────────────────────────────────────────────────────────────────────────────

  #now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** How long the station was off is known when the time is: the receiver's, as a machine without a clock shows any. */
  #learnWait(): void {
    const station = this.#ctx.services.use(device)
    if (!this.#kept || !station.knowsUtc) return
    const { notBefore_ms } = restored(this.#kept, this.#now_ms(), station.utc_ms())
    this.#kept = undefined
    this.#retry = { ...this.#retry, notBefore_ms: Math.min(this.#retry.notBefore_ms, notBefore_ms) }
    if (!this.#line) this.#schedule()
  }

  /** Why there is nothing to push. */
  get #nothingToSend(): string {
    const { open, reason } = this.#stream
    return open
      ? 'no corrections to send (no observations come)'
      : `no corrections to send (no RTCM goes out: ${reason})`
  }

  #schedule(): void {
    void this.#cancel()
    this.#cancel = this.#ctx.timers.after(waitOf(this.#retry, this.#now_ms()), () => this.#connect())
  }

  #connect(): void {
    if (this.#line) return
    if (!this.#stream.flows) {
      this.#become('waiting', `${this.#nothingToSend}: the push begins when RTCM goes out`)
      this.#out.idle(this.#text)
      this.#cancel = this.#ctx.timers.after(1_000, () => this.#connect())
      return
    }
    const { host, port = 2101, tls } = this.target
    this.#become('connecting', '')
    this.#cameUp = false
    this.#kept = undefined
    this.#retry = { ...this.#retry, tried_ms: this.#now_ms() }
    const reader = new AnswerHead()
    const answered = ({ lines, rest }: { lines: string[]; rest: Buffer }) => {
      void this.#late()
      const reply = readReply(lines, rest.toString('latin1'))
      if (reply.accepted) this.#accepted()
      else this.#over(reply.kind, reply.text)
    }
    const pause = new AnswerPause(this.#ctx.timers, () => {
      const head = this.#line === line && !this.#streaming ? reader.silent() : undefined
      if (head) answered(head)
    })
    const line = dial(
      this.#ctx,
      { host, port, tls },
      {
        connected: (socket) => {
          const late = () => this.#noMoreAnswer(reader.end(), 'the caster did not answer in 10 s')
          this.#late = this.#ctx.timers.after(reply_ms, late)
          socket.write(requestOf(this.target, this.#ctx.services.use(device).version))
        },
        data: (bytes) => {
          // Some casters send heartbeats or a ban notice; only the ban matters.
          if (this.#streaming) return this.#heard(bytes.toString('latin1'))
          const head = reader.push(bytes)
          if (head === undefined) return pause.heard()
          pause.end()
          if (head === 'too-large')
            return this.#over('other', 'the answer is not from an NTRIP caster: check host and port')
          answered(head)
        },
        failed: (text, answered) => this.#over('network', text, answered),
        closed: () => {
          if (this.#streaming) this.#over('closed', this.#closedText())
          else this.#noMoreAnswer(reader.end(), 'the caster closed the connection without an answer')
        },
      },
      this.#out,
    )
    this.#line = line
  }

  /** The answer is incomplete: a rejection in it still counts. @param otherwise text without one */
  #noMoreAnswer(head: { lines: string[] } | undefined, otherwise: string): void {
    const reply = head && readReply(head.lines)
    if (reply === undefined || reply.accepted) this.#over('network', otherwise)
    else this.#over(reply.kind, reply.text)
  }

  #accepted(): void {
    this.#streaming = true
    this.#cameUp = false
    this.#accepted_ms = this.#ctx.clock.monotonic()
    const socket = this.#line?.socket
    this.#request_bytes = socket?.bytesWritten ?? 0
    this.#acknowledgement = socket && new Acknowledgement(socket, this.#ctx.clock)
    this.#heardText = ''
    this.#isAcknowledged = false
    this.#keep(undefined)
    this.#judge()
    this.#out.up(this.#line?.socket)
    this.#ctx.log.info({ caster: nameOf(this.target) }, 'the caster accepted the stream')
    const ip = this.#line?.socket.remoteAddress ?? ''
    this.#listed = this.#stream.list({ via: 'ntrip', name: nameOf(this.target), ip, connected: true, relays: true })
    this.#proof.start(ip)
    this.#distributor.add({ primed: false })
  }

  #heard(text: string): void {
    this.#heardText = (this.#heardText + text).slice(-mostHeard)
    if (saysBanned(this.#heardText)) this.#over('final', 'the caster bans this address')
  }

  #closedText(): string {
    const lasted_ms = this.#ctx.clock.monotonic() - this.#accepted_ms
    this.#shortLived = lasted_ms < shortLived_ms ? this.#shortLived + 1 : 0
    if (this.#shortLived >= 3) return 'the caster repeatedly accepts and closes: another base may use this mountpoint'
    if (this.#shortLived >= 2) return 'accepted, not forwarded: the caster closes soon after accepting'
    return 'the caster closed the connection'
  }

  /** @param answered the caster was reached: only it can change that */
  #over(end: End, text: string, answered = false): void {
    this.#hangUp()
    const ended = afterEnd(this.#retry, end, this.#now_ms(), Math.random())
    this.#retry = this.#cameUp ? afterNetworkUp(ended) : ended
    this.#keep(keptOf(this.#retry, this.#now_ms(), this.#ctx.services.use(device).utc_ms()))
    if (end === 'idle') {
      this.#become('waiting', text)
      this.#out.idle(text)
      this.#ctx.log.info({ caster: nameOf(this.target) }, text)
      this.#schedule()
      return
    }
    // A web server may be the login page of the own network, however it answers: another uplink may do.
    const refused = end !== 'web' && (end !== 'network' || answered)
    const wait_ms = waitOf(this.#retry, this.#now_ms())
    this.#become(refused ? 'refused' : 'waiting', text)
    this.#out.failed(text, wait_ms, { answered: refused })
    this.#ctx.log.warn({ caster: nameOf(this.target), wait_s: Math.round(wait_ms / 1000) }, text)
    this.#schedule()
  }

  #become(state: PushState, text: string): void {
    this.#state = state
    this.#text = text
  }

  // ── proof of delivery ─────────────────────────────────────────────────────────────────────────────────────────────

  /** The state of a push that stands. A proof that failed lowers it, and never ends the push. */
  #judge(): void {
    if (!this.#streaming) return
    const { state, text: proof } = this.#proof
    const isSlow = this.#ctx.clock.monotonic() - this.#dropped_ms < slow_ms
    const text = isSlow ? ['slow link: whole epochs are skipped', proof].filter(Boolean).join('; ') : proof
    this.#become(!this.#isAcknowledged ? 'accepted' : state === 'proven' ? 'proven' : 'acknowledged', text)
  }

  async #look(): Promise<void> {
    this.#learnWait()
    const socket = this.#line?.socket
    if (!socket || !this.#streaming) return
    const now_ms = this.#ctx.clock.monotonic()
    // Without RTCM a push means nothing: casters drop silent ones, some ban them.
    if (this.#stream.flows === false)
      return this.#over('idle', `${this.#nothingToSend}: the push pauses until RTCM is sent again`)
    const silent_ms = await this.#acknowledgement?.look()
    if (this.#line?.socket !== socket || silent_ms === undefined) return
    if (silent_ms >= unacknowledged_ms) return this.#over('network', cutText(silent_ms))
    // Stream data only: the acknowledged request proves nothing.
    if (silent_ms > 0 || socket.bytesWritten <= this.#request_bytes) return this.#judge()
    this.#isAcknowledged = true
    this.#judge()
    if (now_ms - this.#accepted_ms > proven_ms && this.#retry.failures > 0) {
      this.#shortLived = 0
      this.#retry = { ...fresh, tried_ms: this.#retry.tried_ms }
    }
  }
}
