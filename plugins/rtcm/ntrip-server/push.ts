import { type ConnectionEnd, type ConnectionEvents, KeptConnection } from 'rtk-base/link'
import { AnswerHead, AnswerPause, Distributor, type Piece, type StreamSink } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import type { NtripServerInfo, PushState } from 'rtk-base/schemas'
import { device, type RtcmEpoch, type RtcmFrame, type RtcmStream, type RtcmSubscription } from 'rtk-base/services'
import { Proof } from './proof.js'
import { readReply, saysBanned } from './reply.js'
import { CasterRetry, type End, type KeptWait } from './retry.js'
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

/** The stream of this station to one caster. */
export class CasterPush implements StreamSink {
  readonly target: Target
  readonly #ctx: PluginContext
  readonly #stream: RtcmStream
  readonly #retry: CasterRetry
  readonly #connection: KeptConnection<End>
  readonly #distributor: Distributor<{ primed: boolean }>
  readonly #proof: Proof
  /** Shows the caster beside the other outputs. */
  #listed: Pick<RtcmSubscription, 'close'> | undefined
  #isAcknowledged = false
  #dropped_ms = Number.NEGATIVE_INFINITY
  /** Bytes written when the caster accepted: the request. */
  #request_bytes = 0
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
    this.#retry = new CasterRetry(ctx, kept, keep)
    this.#connection = new KeptConnection<End>(ctx, {
      name: `ntrip-server ${nameOf(target)}`,
      retry: this.#retry,
      // Without RTCM a push means nothing: casters drop silent ones, some ban them.
      wanted: () => (this.#isFlowing ? true : this.#nothingToSend),
      open: () => this.#attempt(),
    })
    this.#distributor = new Distributor(stream, target, () => ctx.clock.monotonic(), {
      send: (_taker, piece) => this.#write(piece),
    })
    this.#proof = new Proof(ctx, target, (text) => this.#connection.end(endOf('network', text)))
  }

  start(): void {
    const { host, port = 2101, tls } = this.target
    this.#connection.start({ host, port, tls })
  }

  stop(): void {
    this.#connection.stop()
  }

  /** `ntrip.server[]` of the document. */
  block(): NtripServerInfo[number] {
    const { host, port = 2101, mount, version = 1, tls = false } = this.target
    const { wait_ms, up_ms, socket } = this.#connection
    const { state, text } = this.#shown
    return {
      // The document has a largest size.
      host: host.slice(0, 64),
      port,
      mount: mount.slice(0, 32),
      version,
      tls,
      state,
      text: text.slice(0, 160),
      next: Math.ceil(wait_ms / 1000),
      since: Math.floor(up_ms / 1000),
      ip: socket?.remoteAddress ?? '',
      sent: this.sent,
      dropped: this.dropped,
    }
  }

  /** A proof of delivery that failed lowers the state of a push, and never ends it. */
  get #shown(): { state: PushState; text: string } {
    const { state, text, lastEnd } = this.#connection
    if (state === 'waiting') return { state: lastEnd?.answered ? 'refused' : 'waiting', text }
    if (state !== 'up') return { state: state === 'idle' ? 'waiting' : state, text }
    const isSlow = this.#ctx.clock.monotonic() - this.#dropped_ms < slow_ms
    const parts = [isSlow ? 'slow link: whole epochs are skipped' : '', this.#proof.text]
    const proven = this.#proof.state === 'proven' ? 'proven' : 'acknowledged'
    return { state: this.#isAcknowledged ? proven : 'accepted', text: parts.filter(Boolean).join('; ') }
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
    const { socket } = this.#connection
    if (!socket || !this.#isUp) return false
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

  get #isUp(): boolean {
    return this.#connection.state === 'up'
  }

  /** A push that stands outlasts the moment in which the gate has just opened again. */
  get #isFlowing(): boolean {
    return this.#isUp ? this.#stream.flows !== false : this.#stream.flows === true
  }

  get #nothingToSend(): string {
    const { open, reason } = this.#stream
    const cause = open ? 'no observations come' : `no RTCM goes out: ${reason}`
    const next = this.#isUp ? 'the push pauses until RTCM is sent again' : 'the push begins when RTCM goes out'
    return `no corrections to send (${cause}): ${next}`
  }

  #attempt(): ConnectionEvents<End> {
    const connection = this.#connection
    const reader = new AnswerHead()
    const answered = ({ lines, rest }: { lines: string[]; rest: Buffer }) => {
      const reply = readReply(lines, rest.toString('latin1'))
      if (reply.accepted) this.#accepted()
      else connection.end(endOf(reply.kind, reply.text))
    }
    const pause = new AnswerPause(this.#ctx.timers, () => {
      const head = this.#isUp ? undefined : reader.silent()
      if (head) answered(head)
    })
    /** The answer is incomplete: a rejection in it still counts. */
    const noMoreAnswer = (otherwise: string) => {
      const head = reader.end()
      const reply = head && readReply(head.lines)
      if (reply === undefined || reply.accepted) return endOf('network', otherwise)
      return endOf(reply.kind, reply.text)
    }
    return {
      connected: (socket) => {
        connection.deadline(reply_ms, () => connection.end(noMoreAnswer('the caster did not answer in 10 s')))
        socket.write(requestOf(this.target, this.#ctx.services.use(device).version))
      },
      data: (bytes) => {
        // Some casters send heartbeats or a ban notice; only the ban matters.
        if (this.#isUp) return this.#heard(bytes.toString('latin1'))
        const head = reader.push(bytes)
        if (head === undefined) return pause.heard()
        pause.end()
        if (head === 'too-large')
          return connection.end(endOf('other', 'the answer is not from an NTRIP caster: check host and port'))
        answered(head)
      },
      examined: (unacknowledged_ms) => this.#examined(unacknowledged_ms),
      closed: () =>
        this.#isUp
          ? endOf('closed', this.#closedText())
          : noMoreAnswer('the caster closed the connection without an answer'),
      over: () => {
        pause.end()
        this.#distributor.clients.clear()
        this.#proof.stop()
        this.#listed?.close()
        this.#listed = undefined
      },
    }
  }

  #accepted(): void {
    this.#connection.accept()
    const { socket } = this.#connection
    this.#request_bytes = socket?.bytesWritten ?? 0
    this.#heardText = ''
    this.#isAcknowledged = false
    this.#ctx.log.info({ caster: nameOf(this.target) }, 'the caster accepted the stream')
    const ip = socket?.remoteAddress ?? ''
    this.#listed = this.#stream.list({ via: 'ntrip', name: nameOf(this.target), ip, connected: true, relays: true })
    this.#proof.start(ip)
    this.#distributor.add({ primed: false })
  }

  #heard(text: string): void {
    this.#heardText = (this.#heardText + text).slice(-mostHeard)
    if (saysBanned(this.#heardText)) this.#connection.end(endOf('final', 'the caster bans this address'))
  }

  /** Stream data only: the acknowledged request proves nothing. */
  #examined(unacknowledged_ms: number): void {
    const written_bytes = this.#connection.socket?.bytesWritten ?? 0
    if (unacknowledged_ms > 0 || written_bytes <= this.#request_bytes) return
    this.#isAcknowledged = true
    if (this.#connection.up_ms > proven_ms && this.#retry.proven()) this.#shortLived = 0
  }

  #closedText(): string {
    this.#shortLived = this.#connection.up_ms < shortLived_ms ? this.#shortLived + 1 : 0
    if (this.#shortLived >= 3) return 'the caster repeatedly accepts and closes: another base may use this mountpoint'
    if (this.#shortLived >= 2) return 'accepted, not forwarded: the caster closes soon after accepting'
    return 'the caster closed the connection'
  }
}

/** A web server may be the login page of the own network, however it answers: another uplink may do. */
const endOf = (cause: End, text: string): ConnectionEnd<End> => ({
  cause,
  text,
  answered: cause !== 'web' && cause !== 'network',
})
