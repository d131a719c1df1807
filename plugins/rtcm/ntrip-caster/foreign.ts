import { Framer, flowLimit_ms, isObservation, ObservationInterval } from 'rtk-base/gnss'
import { ChunkReader } from 'rtk-base/ntrip'
import type { Connection, Dispose, PluginContext } from 'rtk-base/plugin'
import type { NtripCasterInfo } from 'rtk-base/schemas'
import { type Static, Type } from 'typebox'
import type { MountLogins } from './logins/mount-logins.js'
import type { Known } from './mount.js'
import { RelayedMount } from './relayed.js'

/** A base that was silent for so long, or for three intervals of its observations, makes room for another push to its mountpoint. */
const replaced_ms = 10_000
/** A connection whose base was silent for so long, or for three intervals of its observations, is ended. */
const ended_ms = 60_000
const look_ms = 5_000

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** State that the next version inherits with a base's connection. */
export const InheritedBase = Type.Object({
  base: Type.String(),
  agent: Type.String(),
  since: Type.Number(),
  chunks: Type.Union([Type.Null(), Type.Object({ line: Type.String(), left: Type.Number(), state: Type.String() })]),
  /** The beginning of a frame, base64 as the frames below. */
  pending: Type.String(),
  reference: Type.Array(Type.Object({ type: Type.Number(), bytes: Type.String() })),
})

interface Push {
  readonly connection: Connection
  readonly agent: string
  /** UTC seconds. */
  readonly since: number
  readonly framer: Framer
  readonly chunks: ChunkReader | undefined
  readonly interval: ObservationInterval
  /** Monotonic ms of the last whole frame. */
  good_ms: number
  frames: number
}

/** A mountpoint for another base: its frames go only to the rovers of this mountpoint. */
export class ForeignMount extends RelayedMount {
  readonly unverified = true
  readonly #ctx: PluginContext
  readonly #looking: Dispose
  #push: Push | undefined

  constructor(ctx: PluginContext, name: string, logins: MountLogins) {
    super(ctx, name, logins)
    this.#ctx = ctx
    this.#looking = ctx.timers.every(look_ms, () => this.#leaveIfSilent())
  }

  /** The knowledge of its rovers is inherited with the base. */
  override get known(): Known {
    return { position: '', sequence: 0 }
  }

  get generator(): string {
    return this.#push?.agent || 'unknown'
  }

  /** A base pushes to it now. */
  get offered(): boolean {
    return this.#push !== undefined
  }

  /** A base pushes to it and is not silent: another one has to wait. */
  get taken(): boolean {
    return this.#push !== undefined && this.#silence_ms < flowLimit_ms(this.#push.interval.interval_ms, replaced_ms)
  }

  /** A base starts to push. @returns consumer of its data */
  take(connection: Connection, facts: { agent: string; since: number; chunked: boolean }): (bytes: Buffer) => void {
    const { agent, since, chunked } = facts
    return this.#accept(connection, agent, since, chunked ? new ChunkReader() : undefined)
  }

  /** The version of the plugin before gave its connection away. */
  goOn(connection: Connection, inherited: Static<typeof InheritedBase>): void {
    const { agent, since, chunks, pending, reference } = inherited
    for (const { type, bytes } of reference) this.reference.set(type, Buffer.from(bytes, 'base64'))
    // Rovers that were inherited before their base had the position already.
    for (const rover of this.rovers) rover.primed = this.arp !== undefined
    const read = this.#accept(connection, agent, since, chunks ? new ChunkReader(undefined, chunks) : undefined)
    this.#push?.framer.push(Buffer.from(pending, 'base64'), this.#ctx.clock.monotonic())
    connection.onData(read)
  }

  /** The mountpoint is given up. */
  close(): void {
    void this.#looking()
    this.#leave('the mountpoint was deleted')
    for (const { connection } of this.rovers) connection.destroy()
  }

  /** `ntrip.caster.bases[]` of the document. */
  block(): NtripCasterInfo['bases'][number] {
    const { name, contents } = this
    const push = this.#push
    return {
      mount: name,
      unverified: true,
      connected: push !== undefined,
      ip: push?.connection.remoteAddress ?? '',
      agent: push?.agent.slice(0, 24) ?? '',
      since: push?.since ?? 0,
      silent: Math.round(this.#silence_ms / 1000),
      frames: push?.frames ?? 0,
      bitrate: push ? Math.round(contents.bitrate) : 0,
      rovers: this.rovers.size,
    }
  }

  #accept(
    connection: Connection,
    agent: string,
    since: number,
    chunks: ChunkReader | undefined,
  ): (bytes: Buffer) => void {
    const now_ms = this.#ctx.clock.monotonic()
    const framer = new Framer({
      onFrame: (frame) => frame.kind === 'rtcm' && frame.type > 0 && this.#frame(frame.type, frame.bytes),
    })
    const push: Push = {
      connection,
      agent,
      since,
      framer,
      chunks,
      interval: new ObservationInterval(),
      good_ms: now_ms,
      frames: 0,
    }
    this.#push = push
    connection.onClose(() => {
      if (this.#push === push) this.#leave('it closed the connection')
    })
    connection.inheritable(() => ({
      base: this.name,
      agent,
      since,
      chunks: chunks?.position ?? null,
      pending: base64(framer.pending),
      reference: [...this.reference].map(([type, bytes]) => ({ type, bytes: base64(bytes) })),
    }))
    this.#ctx.log.info({ mount: this.name, address: connection.remoteAddress, agent }, 'a foreign base pushes')
    return (bytes) => {
      if (this.#push === push) this.#take(push, bytes)
    }
  }

  #take({ framer, chunks }: Push, bytes: Buffer): void {
    const now_ms = this.#ctx.clock.monotonic()
    let end = ''
    try {
      for (const part of chunks?.push(bytes) ?? [bytes]) framer.push(part, now_ms)
      if (chunks?.over) end = 'it ended the stream'
    } catch (error) {
      end = (error as Error).message
    }
    this.relay()
    if (end) this.#leave(end)
  }

  #frame(type: number, bytes: Uint8Array): void {
    if (this.#push) {
      this.#push.good_ms = this.#ctx.clock.monotonic()
      this.#push.frames += 1
      if (isObservation(type)) this.#push.interval.heard(this.#push.good_ms)
    }
    this.frame(type, bytes)
  }

  #leaveIfSilent(): void {
    if (!this.#push) return
    const limit_ms = flowLimit_ms(this.#push.interval.interval_ms, ended_ms)
    if (this.#silence_ms >= limit_ms) this.#leave(`silent for ${Math.round(limit_ms / 1000)} s`)
  }

  /** Since the last whole frame, ms; 0 while no base pushes. */
  get #silence_ms(): number {
    return this.#push ? this.#ctx.clock.monotonic() - this.#push.good_ms : 0
  }

  /** Rovers stay connected: the next base starts with its own position. */
  #leave(text: string): void {
    const push = this.#push
    if (!push) return
    this.#push = undefined
    this.forget()
    push.connection.destroy()
    this.#ctx.log.info(
      { mount: this.name, address: push.connection.remoteAddress },
      `the foreign base is gone: ${text}`,
    )
  }

  /** Disconnects the base. @param why for the log */
  release(why: string): void {
    this.#leave(why)
  }
}
