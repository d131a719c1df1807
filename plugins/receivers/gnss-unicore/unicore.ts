/** A Unicore receiver as a service: its reports, and the commands that make it a base. */
import { unicoreLine, unicoreLog } from 'rtk-base/gnss'
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
import { command, type Log, readLine, readLog } from './framing.js'
import * as messages from './messages.js'
import { modeCommand, outputCommands, signalGroupOf } from './plan.js'

const tries = 3
/** A change of the signal group restarts the receiver; in recordings it answers again after 5 s. */
const restart_ms = 5_000
/** Time from `MODE BASE` until the answer to CONFIG tells a refused position. */
const judged_ms = 1_000
/** Commands without which the receiver is no base. */
const needed = /^(BESTNAVB|RTCM1005|RTCM107)/

export class UnicoreReceiver extends CommandReceiver {
  /** SATSINFO of the epoch whose BESTSAT has not come yet. */
  #seen: Log | undefined
  /** The signal group that was asked for, with the serial number: written once, whatever is read back. */
  #groupAsked = ''

  constructor(ctx: PluginContext, port: BytePort, options: DriverOptions) {
    super(ctx, port, options, {
      ...{ plugin: 'gnss-unicore', maker: 'Unicore', framings: [unicoreLine, unicoreLog] },
      ...{ question: command('VERSIONA'), answer_ms: 1_500 },
      can: {
        ...{ settings: 'volatile', restarts: true, antennaDescriptor: false, rawObservations: ['OBSVM'] },
        ...{ reports: new Set(['satellites', 'signals']), intervals_s: [1, 2, 5, 10, 15, 30] },
      },
    })
  }

  // ── commands and answers ──────────────────────────────────────────────────────────────────────────────────────────

  protected encode(text: string): Uint8Array {
    return command(text)
  }

  protected answerTo(text: string, line: string): Answer | undefined {
    return messages.answerTo(text, line)
  }

  protected whoIsIt(): Promise<Partial<ReceiverIdentity> | undefined> {
    return this.dialog.ask(command('VERSIONA'), messages.versionOf, tries)
  }

  protected readMode(): ReturnType<Receiver['readTarget']> {
    return this.dialog.ask(command('MODE'), messages.modeOf, tries)
  }

  #signalGroup(): Promise<string | undefined> {
    return this.dialog.ask(command('CONFIG'), (line) => messages.configOf('SIGNALGROUP', line), tries)
  }

  /** Whether the receiver's configuration calls the position not correct; undefined: no answer. */
  #refusesPosition(): Promise<boolean | undefined> {
    // The answer to MASK comes after that to CONFIG.
    return this.dialog.ask(
      command('CONFIG\r\nMASK'),
      (line) => {
        if (line.startsWith('$CONFIG,') && /not correct/i.test(line)) return true
        return messages.configOf('MASK', line) === undefined ? undefined : false
      },
      tries,
    )
  }

  async restart(): Promise<void> {
    const { life } = this
    const answer = await this.ask('RESET', 1)
    // The receiver may have restarted before it answered.
    if (answer === undefined && life === this.life) throw unavailable('the receiver does not answer')
    if (typeof answer === 'string') throw unavailable(this.refusal('RESET', answer))
  }

  // ── how it is made a rover or a base ──────────────────────────────────────────────────────────────────────────────

  /** Ends a base at another position, and sets the tracked signals, for which the receiver restarts. */
  protected async prepare({ target }: WantedSetup, { module, serial }: ReceiverIdentity): Promise<string[]> {
    const held = await this.readMode()
    if (!held || !isSame(held, target)) await this.need('MODE ROVER SURVEY')
    const group = signalGroupOf(module)
    const asked = `CONFIG SIGNALGROUP ${group}`
    const before = await this.#signalGroup()
    if (before === group) return []
    // Each time costs the flash a write and the base a restart.
    const isAsked = this.#groupAsked === serial + asked
    this.#groupAsked = serial + asked
    if (before === undefined || isAsked || typeof (await this.ask(asked)) !== 'object') return [asked]
    await pause(this.ctx.timers, restart_ms)
    await this.need('MODE ROVER SURVEY')
    return []
  }

  protected async setUp(
    { target, settings, stationId }: WantedSetup,
    check: () => void,
  ): ReturnType<Receiver['configure']> {
    const outputs = outputCommands(settings)
    const refused = await this.send(outputs, { needed, check })
    check()
    if (target.mode === 'fixed') {
      await this.need(modeCommand(target, stationId))
      await pause(this.ctx.timers, judged_ms)
      const refuses = await this.#refusesPosition()
      if (refuses === undefined) throw unavailable('the receiver does not answer')
      if (refuses)
        throw unavailable('the receiver refuses the position: it is more than 300 m from where it finds itself')
    }
    return { written: outputs.length - refused.length + 1, refused }
  }

  // ── its reports ───────────────────────────────────────────────────────────────────────────────────────────────────

  protected heard(frame: OwnFrame): void {
    if (frame.kind !== 'other') return
    if (frame.framing === unicoreLine.kind) this.#line(readLine(frame.bytes))
    else this.#log(readLog(frame.bytes), frame.arrival_ms)
  }

  #line(line: string): void {
    // The end of a restart.
    if (messages.isGreeting(line)) this.restarted()
    const version = messages.versionOf(line)
    if (version) this.identified(version)
    this.dialog.hear(line)
  }

  #log(log: Log, arrival_ms: number): void {
    if (log.id === messages.bestNav) this.report(messages.fixOf(log, arrival_ms))
    else if (log.id === messages.recTime) this.reportTime(messages.utcOf(log))
    else if (log.id === messages.satsInfo) {
      // Without BESTSAT it is unknown which are used.
      this.#sky(new Set(), arrival_ms)
      this.#seen = log
    } else if (log.id === messages.bestSat) this.#sky(messages.usedSatellitesOf(log), arrival_ms)
  }

  #sky(used: ReadonlySet<string>, arrival_ms: number): void {
    const tow_ms = this.#seen?.time?.tow_ms
    if (!this.#seen || tow_ms === undefined) return
    const satellites = messages.satellitesOf(this.#seen, used)
    this.#seen = undefined
    this.reportSatellites({ tow_ms, arrival_ms, hasSignals: true, satellites })
  }
}
