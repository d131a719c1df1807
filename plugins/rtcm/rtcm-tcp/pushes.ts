import { BackoffRetry, KeptConnection } from 'rtk-base/link'
import { Host, legacyField } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import type { RtcmTcpInfo } from 'rtk-base/schemas'
import type { RtcmStream } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { TcpOutput } from './output.js'

export const Target = Type.Object(
  {
    host: { ...Host, title: 'Host' },
    port: Type.Integer({ title: 'Port', minimum: 1, maximum: 65_535, description: 'TCP port' }),
    legacy: legacyField,
  },
  { additionalProperties: false },
)
export type Target = Static<typeof Target>

export const nameOf = ({ host, port }: Target): string => `${host}:${port}`

const waits = { first_ms: 1_000, longest_ms: 60_000 } as const
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
    for (const output of this.#all) if (!old.includes(output)) output.start()
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
  readonly #connection: KeptConnection<'closed' | 'stuck'>
  #output: TcpOutput | undefined

  constructor(ctx: PluginContext, stream: RtcmStream, target: Target) {
    this.target = target
    const name = nameOf(target)
    const connection = new KeptConnection<'closed' | 'stuck'>(ctx, {
      name: `rtcm-tcp ${name}`,
      retry: new BackoffRetry(ctx.clock, { waits, apart_ms: waits.first_ms, lasting_ms }),
      open: () => ({
        connected: (socket) => {
          connection.accept()
          const peer = {
            name,
            ip: socket.remoteAddress ?? '',
            unsent_bytes: () => socket.writableLength,
            write: (bytes: Uint8Array) => void socket.write(bytes),
            stuck: () =>
              connection.end({ cause: 'stuck', text: 'the other end reads nothing for 30 s', answered: false }),
          }
          this.#output = new TcpOutput(ctx, stream, peer, target.legacy ?? false)
        },
        drain: () => this.#output?.drained(),
        closed: () => ({ cause: 'closed', text: 'the other end closed the connection', answered: true }),
        over: () => {
          this.#output?.close()
          this.#output = undefined
        },
      }),
    })
    this.#connection = connection
  }

  block(): RtcmTcpInfo['push'][number] {
    const { host, port } = this.target
    const { state, text } = this.#connection
    return {
      // The document has a largest size.
      host: host.slice(0, 64),
      port,
      state: state === 'up' ? 'connected' : state === 'connecting' ? 'connecting' : 'waiting',
      text: text.slice(0, 80),
      dropped: this.#output?.dropped ?? 0,
    }
  }

  start(): void {
    this.#connection.start(this.target)
  }

  stop(): void {
    this.#connection.stop()
  }
}
