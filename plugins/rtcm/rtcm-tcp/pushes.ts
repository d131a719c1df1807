import { type Dialled, dial, Outbound, whenCut } from 'rtk-base/link'
import { Host, legacyField } from 'rtk-base/ntrip'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import type { RtcmTcpInfo } from 'rtk-base/schemas'
import type { RtcmStream } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { TcpOutput } from './output.js'

export const Target = Type.Object(
  {
    host: Host,
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port' }),
    legacy: legacyField,
  },
  { additionalProperties: false },
)
export type Target = Static<typeof Target>

export const nameOf = ({ host, port }: Target): string => `${host}:${port}`

/** So long a connection has to last before the next wait is a short one again. */
const lasting_ms = 60_000

/** The addresses that the station connects to. */
export class TcpPushes {
  readonly #ctx: PluginContext
  #stream: RtcmStream | undefined
  #all: TcpPush[] = []

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  start(stream: RtcmStream, targets: readonly Target[]): void {
    this.#stream = stream
    this.apply(targets)
  }

  /** Unchanged targets continue. */
  apply(targets: readonly Target[]): void {
    const stream = this.#stream
    if (!stream) return
    const old = this.#all
    this.#all = targets.map(
      (target) => old.find((one) => Value.Equal(one.target, target)) ?? new TcpPush(this.#ctx, stream, target),
    )
    for (const output of old) if (!this.#all.includes(output)) output.stop()
    for (const output of this.#all) if (!old.includes(output)) output.connect()
  }

  stop(): void {
    for (const output of this.#all) output.stop()
  }

  block() {
    return this.#all.map((output) => output.block())
  }
}

class TcpPush {
  readonly target: Target
  readonly #ctx: PluginContext
  readonly #stream: RtcmStream
  readonly #backoff = new Backoff({ first_ms: 1_000, longest_ms: 60_000 })
  readonly #out: Outbound
  #line: Dialled | undefined
  #output: TcpOutput | undefined
  #unwatch: Dispose = () => {}
  #state: 'connecting' | 'connected' | 'waiting' = 'waiting'
  #text = ''
  #retry: Dispose = () => {}
  #since_ms = 0
  #stopped = false

  constructor(ctx: PluginContext, stream: RtcmStream, target: Target) {
    this.#ctx = ctx
    this.#stream = stream
    this.target = target
    const peer = nameOf(target)
    this.#out = new Outbound(ctx, `rtcm-tcp ${peer}`, peer)
    this.#out.start({ up: () => this.#networkUp(), changed: () => {}, down: () => {} })
  }

  block(): RtcmTcpInfo['push'][number] {
    const { host, port } = this.target
    return {
      // The document has a largest size.
      host: host.slice(0, 64),
      port,
      state: this.#state,
      text: this.#text.slice(0, 80),
      dropped: this.#output?.dropped ?? 0,
    }
  }

  connect(): void {
    const { clock } = this.#ctx
    this.#state = 'connecting'
    this.#line = dial(
      this.#ctx,
      this.target,
      {
        connected: (socket) => {
          this.#state = 'connected'
          this.#text = ''
          this.#out.up(socket)
          this.#since_ms = clock.monotonic()
          const peer = {
            name: nameOf(this.target),
            ip: socket.remoteAddress ?? '',
            unsent_bytes: () => socket.writableLength,
            write: (bytes: Uint8Array) => void socket.write(bytes),
            stuck: () => this.#over('the other end reads nothing for 30 s', false),
          }
          this.#output = new TcpOutput(this.#ctx, this.#stream, peer, this.target.legacy ?? false)
          this.#unwatch = whenCut(this.#ctx, socket, (reason) => this.#over(reason, false))
        },
        // Input from the other end must be read, but is ignored.
        data: () => {},
        drain: () => this.#output?.drained(),
        failed: (text, answered) => this.#over(text, answered),
        closed: () => this.#over('the other end closed the connection', true),
      },
      this.#out,
    )
  }

  stop(): void {
    this.#stopped = true
    this.#out.close()
    void this.#retry()
    this.#drop()
  }

  /** Ends a delay caused only by the network. */
  #networkUp(): void {
    if (this.#state !== 'waiting' || this.#stopped) return
    this.#backoff.reset()
    void this.#retry()
    this.#retry = this.#ctx.timers.after(this.#backoff.next(), () => this.connect())
  }

  /** @param answered the other end was reached: only it can change that */
  #over(text: string, answered: boolean): void {
    if (this.#state === 'connected' && this.#ctx.clock.monotonic() - this.#since_ms > lasting_ms) this.#backoff.reset()
    this.#drop()
    if (this.#stopped) return
    this.#state = 'waiting'
    this.#text = text
    const wait_ms = this.#backoff.next()
    this.#out.failed(text, wait_ms, { answered })
    this.#ctx.log.info({ ...this.target, wait_s: Math.round(wait_ms / 1000) }, `the connection ended: ${text}`)
    this.#retry = this.#ctx.timers.after(wait_ms, () => this.connect())
  }

  #drop(): void {
    void this.#unwatch()
    this.#output?.close()
    this.#output = undefined
    const line = this.#line
    this.#line = undefined
    line?.hangUp()
  }
}
