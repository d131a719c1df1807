/** A Septentrio receiver as a service: its reports, and the commands that make it a base. */
import { sbf, septentrioReply } from 'rtk-base/gnss'
import {
  type Answer,
  type BytePort,
  CommandReceiver,
  type DriverOptions,
  isSame,
  type OwnFrame,
  pause,
  type WantedSetup,
} from 'rtk-base/link'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { Receiver, ReceiverIdentity } from 'rtk-base/services'
import * as blocks from './blocks.js'
import { type Block, command, commandInput, type Reply, readBlock, readReply } from './framing.js'
import { modeCommands, outputCommands } from './plan.js'
import { satellitesOf } from './sky.js'

const tries = 3
/** Characters of the listing that names the receiver: it has some thousand. */
const longestListing = 65_536
/** After a soft reset the receiver answers within 7 s. */
const restart_ms = 7_000
/** Commands without which the receiver is no base. */
const needed = /^set(DataInOut|SBFOutput|RTCMv3Output|StaticPosCartesian|PVTMode)/
const identification = 'lstInternalFile, Identification'

export interface Login {
  readonly user: string
  readonly password: string
}

export class SeptentrioReceiver extends CommandReceiver<Reply> {
  readonly #login: Login
  /** The receiver's own name of the port at which it answers. */
  #portName = ''
  #uptime: { readonly s: number; readonly at_ms: number } | undefined
  #leap_s: number | undefined
  /** The newest of each, for the epoch. */
  #accuracy: Block | undefined
  #measured: Block | undefined
  #status: Block | undefined
  /** Since the last start: a passive antenna never draws any. */
  #drewCurrent = false

  constructor(ctx: PluginContext, port: BytePort, options: DriverOptions, login: Login) {
    super(ctx, port, options, {
      ...{ plugin: 'gnss-septentrio', maker: 'Septentrio', framings: [sbf, septentrioReply], answer_ms: 2_000 },
      question: command(`${commandInput}\r\ngetReceiverCapabilities`),
      can: {
        ...{ settings: 'volatile', restarts: false, antennaDescriptor: false, rawObservations: ['MeasEpoch'] },
        reports: new Set(['antenna', 'interference', 'satellites', 'signals', 'spoofing']),
        intervals_s: [1, 2, 5, 10, 15, 30],
      },
    })
    this.#login = login
  }

  override get sinceReset_ms(): number | undefined {
    if (!this.#uptime || this.link !== 'up') return undefined
    return this.#uptime.s * 1000 + this.ctx.clock.monotonic() - this.#uptime.at_ms
  }

  // ── commands and answers ──────────────────────────────────────────────────────────────────────────────────────────

  protected encode(text: string): Uint8Array {
    return command(text)
  }

  /** The values are the lines after the echo. */
  protected answerTo(text: string, { kind, echo, lines }: Reply): Answer | undefined {
    // A refusal has no echo but the name of the command.
    if (kind === '?') return echo
    return (kind === ':' || kind === '!') && echo.toLowerCase() === text.toLowerCase() ? lines : undefined
  }

  protected override refusal(text: string, reason: string): string {
    return /not (logged|authori)|permission|access/i.test(reason)
      ? `the receiver wants a login: set gnss-septentrio.user and gnss-septentrio.password (${reason})`
      : super.refusal(text, reason)
  }

  protected async whoIsIt(): Promise<Partial<ReceiverIdentity> | undefined> {
    const { user, password } = this.#login
    if (user !== '') await this.#logIn(user, password)
    let listing = ''
    let refusal = ''
    const file = await this.dialog.ask(
      command(`${commandInput}\r\n${identification}`),
      ({ kind, echo, lines }) => {
        if (kind === '?') {
          refusal = echo
          return ''
        }
        if (kind === ';') listing = ''
        if (kind === '-' && listing.length < longestListing) listing += `${lines.join('\n')}\n`
        return listing.includes('</rxproduct>') || listing.includes('</firmware>') ? listing : undefined
      },
      tries,
    )
    if (refusal !== '') throw unavailable(this.refusal(identification, refusal))
    if (file === undefined) return undefined
    const attribute = (element: string, name: string) =>
      new RegExp(`<${element}\\s[^<>]*?\\b${name}="([^"]{1,80})"`).exec(file)?.[1] ?? ''
    return {
      ...{ module: attribute('hwplatform', 'product'), serial: attribute('hwplatform', 'serialnr') },
      ...{ firmware: attribute('firmware', 'version'), hardware: attribute('hwplatform', 'name') },
    }
  }

  /** The answer of the receiver does not repeat the password. */
  async #logIn(user: string, password: string): Promise<void> {
    const answer = await this.dialog.ask(
      command(`${commandInput}\r\nlogin, ${user}, ${password}`),
      ({ kind, echo }) => (/^log ?in\b/i.test(echo) ? kind : undefined),
      tries,
    )
    if (answer === '?')
      throw unavailable('the receiver refuses the login (gnss-septentrio.user, gnss-septentrio.password)')
  }

  protected async readMode(): ReturnType<Receiver['readTarget']> {
    const mode = await this.ask('getPVTMode')
    if (typeof mode !== 'object') return undefined
    const [, kind = '', , place = ''] = valuesOf(mode, 'PVTMode')
    if (kind !== 'Static') return { mode: 'rover' }
    if (!place.startsWith('Cartesian')) return { mode: 'survey-in' }
    const position = await this.ask(`getStaticPosCartesian, ${place}`)
    if (typeof position !== 'object') return undefined
    const [x = Number.NaN, y = Number.NaN, z = Number.NaN] = valuesOf(position, 'StaticPosCartesian')
      .slice(2, 5)
      .map(Number)
    return Number.isFinite(x + y + z) ? { mode: 'fixed', arp: { x, y, z }, acc_m: 0 } : { mode: 'survey-in' }
  }

  async restart(): Promise<void> {
    await this.need('exeResetReceiver, Soft, none')
    this.restarted()
    await pause(this.ctx.timers, restart_ms)
  }

  // ── how it is made a rover or a base ──────────────────────────────────────────────────────────────────────────────

  /** Ends a base at another position: the receiver would send that position as soon as its outputs are set. */
  protected async prepare({ target }: WantedSetup): Promise<string[]> {
    const held = await this.readMode()
    return !held || !isSame(held, target) ? this.send(modeCommands({ mode: 'rover' }), { needed, check: () => {} }) : []
  }

  protected async setUp(
    { target, settings, stationId }: WantedSetup,
    check: () => void,
  ): ReturnType<Receiver['configure']> {
    if (this.#portName === '') throw unavailable('the receiver does not say at which of its ports it is')
    const commands = [...outputCommands(settings, stationId, this.#portName), ...modeCommands(target)]
    const refused = await this.send(commands, { needed, check })
    return { written: commands.length - refused.length, refused }
  }

  // ── its reports ───────────────────────────────────────────────────────────────────────────────────────────────────

  protected heard(frame: OwnFrame): void {
    if (frame.kind !== 'other') return
    if (frame.framing === sbf.kind) this.#block(readBlock(frame.bytes), frame.arrival_ms)
    else this.#reply(readReply(frame.bytes))
  }

  #reply(reply: Reply): void {
    if (/^(USB|COM|IPS?|DSK|BT)\d/.test(reply.port)) this.#portName = reply.port
    this.dialog.hear(reply)
  }

  #block(block: Block, arrival_ms: number): void {
    const { id } = block
    if (id === blocks.ids.measEpoch) this.#measured = block
    else if (id === blocks.ids.channelStatus) this.#status = block
    else if (id === blocks.ids.posCovCartesian) this.#accuracy = block
    else if (id === blocks.ids.pvtCartesian) this.#position(block, arrival_ms)
    else if (id === blocks.ids.satVisibility) this.#sky(block, arrival_ms)
    else if (id === blocks.ids.receiverTime) this.#time(block)
    else if (id === blocks.ids.receiverStatus) this.#running(block)
    else if (id === blocks.ids.rfStatus) {
      const { bands, spoofing } = blocks.interferenceOf(block) ?? {}
      if (bands) this.events.interference.emit(bands)
      if (spoofing) this.events.spoofing.emit(spoofing)
    }
  }

  /** The covariance of a position comes behind it: that of the second before is as good. */
  #position(block: Block, arrival_ms: number): void {
    const acc_m = this.#accuracy && blocks.accuracyOf(this.#accuracy)
    this.#accuracy = undefined
    this.report(blocks.fixOf(block, { acc_m, leap_s: this.#leap_s }, arrival_ms))
  }

  #sky(visible: Block, arrival_ms: number): void {
    const measured = this.#measured
    this.#measured = undefined
    const { tow_ms } = visible
    if (!measured || tow_ms === undefined || measured.tow_ms !== tow_ms) return
    const status = this.#status?.tow_ms === tow_ms ? this.#status : undefined
    this.reportSatellites({ tow_ms, arrival_ms, hasSignals: true, satellites: satellitesOf(measured, status, visible) })
  }

  #time(block: Block): void {
    const time = blocks.timeOf(block)
    if (!time) return
    this.#leap_s = time.leap_s
    this.reportTime(time.utc_s)
  }

  #running(block: Block): void {
    const status = blocks.statusOf(block)
    if (!status) return
    const { uptime_s, drawsCurrent } = status
    if (this.#uptime && uptime_s < this.#uptime.s) {
      this.#drewCurrent = false
      this.restarted()
    }
    this.#uptime = { s: uptime_s, at_ms: this.ctx.clock.monotonic() }
    this.#drewCurrent ||= drawsCurrent
    const open = this.#drewCurrent ? 'open' : 'unknown'
    this.events.antenna.emit({ status: drawsCurrent ? 'ok' : open, isPowered: undefined })
  }
}

/** `PVTMode, Static, StandAlone+…, Cartesian1` of a reply, by its commas. */
function valuesOf(lines: readonly string[], name: string): string[] {
  const state = lines.find((line) => line.startsWith(`${name},`)) ?? ''
  return state.split(',').map((value) => value.trim())
}
