/** A stream of a mountpoint that stays open: request, answer, silence, position, and the waits between attempts. */
import type { ClientState, NtripClientInfo } from '../../../schemas/index.js'
import { device, type Ecef } from '../../../schemas/services.js'
import { Backoff } from '../../platform/time/backoff.js'
import type { Dispose, PluginContext } from '../../plugin.js'
import { Framer, flowLimit_ms, isObservation, ObservationInterval } from '../gnss/index.js'
import { type Dialled, dial, Outbound } from '../link/index.js'
import { type Answer, AnswerPause } from './answer.js'
import { AnswerReader, getRequest } from './get.js'
import { ggaOf, type Nearest, nearer } from './place.js'
import { TableReader } from './source-table.js'

const look_ms = 1_000
const answer_ms = 10_000
/** An open stream without a valid frame for three intervals of its observations is dead, and not before. */
const silent_ms = 30_000
/** Before the interval is known: it takes two epochs, which are rarely further apart. */
const secondEpoch_ms = 90_000
const gga_ms = 10_000
/** A wrong password does not become right by asking often, and a caster that floods costs megabytes each time. */
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

/** Keeps a stream of a caster open while it is wanted. */
export class MountStream {
  readonly #ctx: PluginContext
  readonly #events: StreamEvents
  readonly #backoff = new Backoff({ first_ms: apart_ms, longest_ms: 300_000, spread: [1, 1.4] })
  readonly #out: Outbound
  #source: StreamSource = { host: '' }
  #line: Dialled | undefined
  #state: ClientState = 'off'
  #text = ''
  #mount = ''
  #notBefore_ms = 0
  #late: Dispose = () => {}
  #tick: Dispose = () => {}
  /** Handles the end of the connection, depending on what was being read. */
  #ended: () => void = () => {}
  /** When the stream began, and when its last good message came. */
  #begun_ms = 0
  #good_ms = 0
  #gga_ms = Number.NEGATIVE_INFINITY
  /** Of the source, over all its connections: some intervals are longer than a first silence may be. */
  #interval = new ObservationInterval()
  #wantsGga = false
  frames = 0

  /** @param link its name in the report of links, unique in the station */
  constructor(ctx: PluginContext, link: string, events: StreamEvents) {
    this.#ctx = ctx
    this.#events = events
    this.#out = new Outbound(ctx, link, '', { carries: 'in' })
  }

  /** Call it in `start` of the plugin or later, once. */
  start(source: StreamSource): void {
    this.#out.start()
    this.apply(source)
    this.#tick = this.#ctx.timers.every(look_ms, () => this.#look())
  }

  /** Another source: begins at once, with short waits. */
  apply(source: StreamSource): void {
    this.#source = source
    this.#drop()
    this.#mount = source.mount ?? ''
    this.#wantsGga = source.gga ?? false
    this.#interval = new ObservationInterval()
    this.#notBefore_ms = 0
    this.#backoff.reset()
    this.#out.retarget(source.host === '' ? '' : `${source.host}:${source.port ?? 2101}`)
    this.#become(source.host === '' ? 'off' : 'idle', '')
  }

  stop(): void {
    void this.#tick()
    this.#out.close()
    this.#drop()
  }

  /** As in the status document. */
  block(): NtripClientInfo {
    const { host, port = 2101 } = this.#source
    const wait_ms = this.#notBefore_ms - this.#ctx.clock.monotonic()
    const next = this.#state === 'waiting' ? Math.max(0, Math.ceil(wait_ms / 1000)) : 0
    return { host, port, mount: this.#mount, state: this.#state, text: this.#text, next, frames: this.frames }
  }

  #become(state: ClientState, text: string): void {
    this.#state = state
    this.#text = text
    if (state === 'off' || state === 'idle') this.#out.idle(text)
    if (state === 'streaming') this.#out.up(this.#line?.socket)
    this.#events.changed?.(state, text)
  }

  #look(): void {
    if (this.#source.host === '') return
    const now_ms = this.#ctx.clock.monotonic()
    if (!this.#events.wanted()) {
      if (this.#line) this.#drop()
      if (this.#state !== 'idle') this.#become('idle', '')
      return
    }
    if (this.#line === undefined) {
      if (now_ms >= this.#notBefore_ms) this.#connect()
    } else if (this.#state === 'streaming') {
      const limit_ms = this.#limit_ms
      if (now_ms - this.#good_ms > limit_ms) {
        this.#over(false, `no good message for ${Math.round(limit_ms / 1000)} s${this.#triesGga()}`, false)
        return
      }
      const here = this.#events.here()
      if (this.#wantsGga && here && now_ms - this.#gga_ms >= gga_ms) {
        this.#gga_ms = now_ms
        this.#line.socket.write(ggaOf(here, this.#ctx.services.use(device).utc_ms()))
      }
    }
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

  #connect(): void {
    const { host, port = 2101, tls } = this.#source
    const mount = this.#mount
    if (mount === '' && this.#events.here() === undefined) {
      this.#become('waiting', 'the nearest mountpoint is not known before there is a position')
      return
    }
    this.#become('connecting', '')
    this.#notBefore_ms = this.#ctx.clock.monotonic() + apart_ms
    const reader = new AnswerReader()
    let take: (bytes: Buffer) => void = () => {}
    /** A refusal without its proper end is one all the same. */
    const noMoreAnswer = (otherwise: string, answered: boolean) => {
      reader.end()
      if (reader.answer?.kind === 'refused') this.#over(reader.answer.final, reader.answer.text)
      else this.#over(false, otherwise, answered)
    }
    const pause = new AnswerPause(this.#ctx.timers, () => {
      if (this.#line === line && reader.silent() && reader.answer) take = this.#taker(reader.answer, mount)
    })
    const answerIsLate = () => noMoreAnswer('the caster did not answer in 10 s', false)
    this.#ended = () => noMoreAnswer('the caster closed the connection without an answer', true)
    const line = dial(
      this.#ctx,
      { host, port, tls },
      {
        connected: (socket) => {
          this.#late = this.#ctx.timers.after(answer_ms, answerIsLate)
          const { version = 2, user, password } = this.#source
          const agent = `rtk-base/${this.#ctx.services.use(device).version}`
          socket.write(getRequest({ host, port, mount, version, user, password, agent }))
        },
        data: (bytes) => {
          try {
            const isFirst = reader.answer === undefined
            const parts = reader.push(bytes)
            if (reader.answer) pause.end()
            else pause.heard()
            if (isFirst && reader.answer) take = this.#taker(reader.answer, mount)
            for (const part of parts) if (this.#line === line) take(part)
            if (reader.over && this.#line === line) this.#ended()
          } catch (error) {
            this.#over(false, (error as Error).message)
          }
        },
        failed: (text, answered, code) => this.#over(code === 'flood', text, answered),
        closed: () => this.#ended(),
      },
      this.#out,
    )
    this.#line = line
  }

  /** @returns what reads the content of an answer */
  #taker(answer: Answer, mount: string): (bytes: Buffer) => void {
    void this.#late()
    if (answer.kind === 'table') return this.#tableReader(mount)
    if (answer.kind === 'stream') return this.#streamReader()
    this.#over(answer.final, answer.text)
    return () => {}
  }

  /** A table instead of a stream: a wrong mountpoint, a blocked address, or the requested source table. */
  #tableReader(mount: string): (bytes: Buffer) => void {
    const here = this.#events.here()
    let there = false
    let nearest: Nearest | undefined
    const table = new TableReader((row) => {
      if (mount !== '') there ||= row.mount === mount
      else if (here) nearest = nearer(nearest, row, here)
    })
    const done = () => {
      table.end()
      if (mount !== '')
        return this.#over(
          true,
          there ? 'the caster sends no stream: this address may be blocked' : `the caster has no mountpoint ${mount}`,
        )
      if (!nearest) return this.#over(true, 'the source table has no stream of RTCM 3 with a position')
      this.#mount = nearest.row.mount
      this.#wantsGga = this.#source.gga ?? nearest.row.nmea === 1
      this.#ctx.log.info(
        { mount: this.#mount, distance_km: Math.round(nearest.distance_m / 100) / 10 },
        'the nearest mountpoint',
      )
      this.#drop()
      this.#connect()
    }
    this.#ended = done
    this.#late = this.#ctx.timers.after(table_ms, () =>
      this.#over(false, `the source table did not end within ${table_ms / 1000} s`),
    )
    return (bytes) => {
      table.push(bytes)
      if (table.bytes > mostTable_bytes) this.#over(false, 'the source table is too large')
      else if (table.over) done()
    }
  }

  #streamReader(): (bytes: Buffer) => void {
    const { host, port = 2101 } = this.#source
    const remote = `ntrip ${host}:${port}/${this.#mount}`
    this.#begun_ms = this.#ctx.clock.monotonic()
    this.#good_ms = this.#begun_ms
    this.#gga_ms = Number.NEGATIVE_INFINITY
    this.#interval.interrupted()
    this.#become('streaming', '')
    this.#ended = () => this.#over(false, 'the caster ended the stream')
    const framer = new Framer({
      onFrame: (frame) => {
        if (frame.kind !== 'rtcm') return
        const { bytes, type } = frame
        this.#good_ms = this.#ctx.clock.monotonic()
        if (isObservation(type)) this.#interval.heard(this.#good_ms)
        this.frames += 1
        // A caster that gives a message and ends the connection is not to be asked again and again.
        if (this.#good_ms - this.#begun_ms >= lasting_ms) this.#backoff.reset()
        this.#events.frame(bytes, remote, host)
      },
    })
    return (bytes) => framer.push(bytes, this.#ctx.clock.monotonic())
  }

  /** @param answered the caster was reached: only it can change that */
  #over(final: boolean, text: string, answered = true): void {
    this.#drop()
    const wait_ms = final ? final_ms : this.#backoff.next()
    this.#notBefore_ms = this.#ctx.clock.monotonic() + wait_ms
    this.#out.failed(text, wait_ms, { answered })
    this.#ctx.log.warn({ caster: this.#source.host, wait_s: Math.round(wait_ms / 1000) }, text)
    this.#become('waiting', text)
    // The nearest one may be another next time.
    this.#mount = this.#source.mount ?? ''
  }

  #drop(): void {
    void this.#late()
    const line = this.#line
    this.#line = undefined
    line?.hangUp()
  }
}
