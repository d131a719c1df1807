/** A stream of a mountpoint that stays open: request, answer, silence, position, and the waits between attempts. */
import type { ClientState, NtripClientInfo } from '../../../schemas/index.js'
import { device, type Ecef } from '../../../schemas/services.js'
import type { PluginContext } from '../../plugin.js'
import { Framer, flowLimit_ms, isObservation, ObservationInterval } from '../gnss/index.js'
import { BackoffRetry, type ConnectionEnd, type ConnectionEvents, KeptConnection } from '../link/index.js'
import { type Answer, AnswerPause } from './answer.js'
import { AnswerReader, getRequest } from './get.js'
import { ggaOf, type Nearest, nearer } from './place.js'
import { TableReader } from './source-table.js'

const answer_ms = 10_000
/** An open stream without a valid frame for three intervals of its observations is dead, and not before. */
const silent_ms = 30_000
/** Before the interval is known: it takes two epochs, which are rarely further apart. */
const secondEpoch_ms = 90_000
const gga_ms = 10_000
/** A wrong password does not become right by asking often. */
const final_ms = 600_000
const mostTable_bytes = 4_194_304
/** A large table takes seconds; a trickling one is abandoned. */
const table_ms = 60_000
/** Casters ban who asks more often. */
const apart_ms = 10_000
/** So long a stream has to last before the next wait is a short one again. */
const lasting_ms = 60_000

/** A mountpoint, and how to ask for it. */
export interface StreamSource {
  /** '': none. */
  readonly host: string
  /** Default: 2101. */
  readonly port?: number | undefined
  /** '' or missing: the nearest one of the source table. */
  readonly mount?: string | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly version?: 1 | 2 | undefined
  readonly tls?: boolean | undefined
  /** Whether the position is sent. Default: if the source table requires it, or nothing comes without it. */
  readonly gga?: boolean | undefined
}

export interface StreamEvents {
  /** Whether a stream is wanted now; asked every second. */
  wanted(): boolean
  /** Where the station is, ECEF metres, as far as it knows. */
  here(): Ecef | undefined
  /** A verified frame. @param remote the mountpoint, e.g. `ntrip caster.example.org:2101/NET` */
  frame(bytes: Uint8Array, remote: string, host: string): void
  changed?(state: ClientState, text: string): void
}

/** `final`: only another setting, or the caster's owner, can change the answer. */
type StreamEnd = 'final' | 'other'
const endOf = (cause: StreamEnd, text: string, answered = true): ConnectionEnd<StreamEnd> => ({ cause, text, answered })

/** Keeps a stream of a caster open while it is wanted. */
export class MountStream {
  readonly #ctx: PluginContext
  readonly #events: StreamEvents
  readonly #connection: KeptConnection<StreamEnd>
  #source: StreamSource = { host: '' }
  #mount = ''
  #gga_ms = Number.NEGATIVE_INFINITY
  /** The observation interval of the source, over all its connections: some are longer than a first silence may be. */
  #interval = new ObservationInterval()
  #wantsGga = false
  frames = 0

  /** @param link its name in the report of links, unique in the station */
  constructor(ctx: PluginContext, link: string, events: StreamEvents) {
    this.#ctx = ctx
    this.#events = events
    const waits = { first_ms: apart_ms, longest_ms: 300_000, spread: [1, 1.4] } as const
    this.#connection = new KeptConnection<StreamEnd>(ctx, {
      name: link,
      carries: 'in',
      retry: new BackoffRetry(ctx.clock, { waits, apart_ms, lasting_ms, after_ms: { final: final_ms } }),
      wanted: () => this.#wanted(),
      open: () => this.#attempt(),
      silence: {
        limit_ms: () => this.#limit_ms,
        text: (limit_ms) => `no good message for ${Math.round(limit_ms / 1000)} s${this.#triesGga()}`,
      },
      everySecond: () => this.#sendPosition(),
      changed: () => {
        // The nearest one may be another next time.
        if (this.#connection.state === 'waiting') this.#mount = this.#source.mount ?? ''
        events.changed?.(this.#state, this.#connection.text)
      },
    })
  }

  /** Call it in `start` of the plugin or later, once. */
  start(source: StreamSource): void {
    this.#connection.start(this.#asked(source))
  }

  /** The source was changed: the stream begins at once, with short waits. */
  apply(source: StreamSource): void {
    this.#connection.retarget(this.#asked(source))
  }

  stop(): void {
    this.#connection.stop()
  }

  /** As in the status document. */
  block(): NtripClientInfo {
    const { host, port = 2101 } = this.#source
    const [state, { text, wait_ms }] = [this.#state, this.#connection]
    const next = state === 'waiting' ? Math.ceil(wait_ms / 1000) : 0
    return { host, port, mount: this.#mount, state, text, next, frames: this.frames }
  }

  get #state(): ClientState {
    const { state, text } = this.#connection
    if (state === 'idle') return text === '' ? 'idle' : 'waiting'
    return state === 'up' ? 'streaming' : state
  }

  #asked(source: StreamSource) {
    const { host, port = 2101, tls } = source
    this.#source = source
    this.#mount = source.mount ?? ''
    this.#wantsGga = source.gga ?? false
    this.#interval = new ObservationInterval()
    return host === '' ? undefined : { host, port, tls }
  }

  #wanted(): true | string {
    if (!this.#events.wanted()) return ''
    const isKnown = this.#mount !== '' || this.#events.here() !== undefined
    return isKnown || 'the nearest mountpoint is not known before there is a position'
  }

  #sendPosition(): void {
    const now_ms = this.#ctx.clock.monotonic()
    const here = this.#events.here()
    if (!this.#wantsGga || !here || now_ms - this.#gga_ms < gga_ms) return
    this.#gga_ms = now_ms
    this.#connection.socket?.write(ggaOf(here, this.#ctx.services.use(device).utc_ms()))
  }

  /** How long the stream may be silent. */
  get #limit_ms(): number {
    const { interval_ms, newest_ms } = this.#interval
    const isSecondOpen = interval_ms === undefined && Number.isFinite(newest_ms)
    return isSecondOpen ? secondEpoch_ms : flowLimit_ms(interval_ms, silent_ms)
  }

  /** A silent mountpoint may expect the position: if not configured, it is sent from now on. */
  #triesGga(): string {
    if (this.#source.gga !== undefined || this.#wantsGga) return ''
    this.#wantsGga = true
    return ': the next attempt sends the position, which some mountpoints require (gga)'
  }

  #attempt(): ConnectionEvents<StreamEnd> {
    const connection = this.#connection
    const mount = this.#mount
    const reader = new AnswerReader()
    let content: Content | undefined
    /** A refusal without its proper end is one all the same. */
    const noMoreAnswer = (otherwise: string, answered: boolean) => {
      reader.end()
      const { answer } = reader
      return answer?.kind === 'refused' ? refusal(answer) : endOf('other', otherwise, answered)
    }
    const begins = (answer: Answer) => {
      if (answer.kind === 'refused') connection.end(refusal(answer))
      else content = answer.kind === 'table' ? this.#table(mount) : this.#stream()
    }
    const ended = () =>
      content ? content.ended() : noMoreAnswer('the caster closed the connection without an answer', true)
    const pause = new AnswerPause(this.#ctx.timers, () => {
      if (reader.silent() && reader.answer) begins(reader.answer)
    })
    let isOver = false
    return {
      connected: (socket) => {
        const late = () => connection.end(noMoreAnswer('the caster did not answer in 10 s', false))
        connection.deadline(answer_ms, late)
        const { host, port = 2101, version = 2, user, password } = this.#source
        const agent = `rtk-base/${this.#ctx.services.use(device).version}`
        socket.write(getRequest({ host, port, mount, version, user, password, agent }))
      },
      data: (bytes) => {
        try {
          const isFirst = reader.answer === undefined
          const parts = reader.push(bytes)
          if (reader.answer) pause.end()
          else pause.heard()
          if (isFirst && reader.answer) begins(reader.answer)
          for (const part of parts) if (!isOver) content?.push(part)
          const end = reader.over && !isOver ? ended() : undefined
          if (end) connection.end(end)
        } catch (error) {
          connection.end(endOf('other', (error as Error).message))
        }
      },
      closed: ended,
      over: () => {
        isOver = true
        pause.end()
      },
    }
  }

  /** A table instead of a stream: a wrong mountpoint, a blocked address, or the requested source table. */
  #table(mount: string): Content {
    const connection = this.#connection
    const here = this.#events.here()
    let there = false
    let nearest: Nearest | undefined
    const table = new TableReader((row) => {
      if (mount !== '') there ||= row.mount === mount
      else if (here) nearest = nearer(nearest, row, here)
    })
    const ended = () => {
      table.end()
      if (mount !== '')
        return endOf(
          'final',
          there ? 'the caster sends no stream: this address may be blocked' : `the caster has no mountpoint ${mount}`,
        )
      if (!nearest) return endOf('final', 'the source table has no stream of RTCM 3 with a position')
      this.#mount = nearest.row.mount
      this.#wantsGga = this.#source.gga ?? nearest.row.nmea === 1
      const distance_km = Math.round(nearest.distance_m / 100) / 10
      this.#ctx.log.info({ mount: this.#mount, distance_km }, 'the nearest mountpoint')
      connection.redial()
      return undefined
    }
    const late = endOf('other', `the source table did not end within ${table_ms / 1000} s`)
    connection.deadline(table_ms, () => connection.end(late))
    return {
      push(bytes) {
        table.push(bytes)
        const isTooLarge = table.bytes > mostTable_bytes
        const end = isTooLarge ? endOf('other', 'the source table is too large') : table.over ? ended() : undefined
        if (end) connection.end(end)
      },
      ended,
    }
  }

  #stream(): Content {
    const { host, port = 2101 } = this.#source
    const { clock } = this.#ctx
    const remote = `ntrip ${host}:${port}/${this.#mount}`
    this.#gga_ms = Number.NEGATIVE_INFINITY
    this.#interval.interrupted()
    this.#connection.accept()
    const framer = new Framer({
      onFrame: (frame) => {
        if (frame.kind !== 'rtcm') return
        const { bytes, type } = frame
        this.#connection.heard()
        if (isObservation(type)) this.#interval.heard(clock.monotonic())
        this.frames += 1
        this.#events.frame(bytes, remote, host)
      },
    })
    return {
      push: (bytes) => framer.push(bytes, clock.monotonic()),
      ended: () => endOf('other', 'the caster ended the stream'),
    }
  }
}

/** Reads what follows the head of an answer. */
interface Content {
  push(bytes: Buffer): void
  /** The answer has ended. @returns the end of the connection; undefined: another one was begun */
  ended(): ConnectionEnd<StreamEnd> | undefined
}

const refusal = ({ final, text }: Answer & { kind: 'refused' }) => endOf(final ? 'final' : 'other', text)
