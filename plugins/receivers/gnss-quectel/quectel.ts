/** A Quectel receiver as a service: its reports, and the commands that make it a base. */
import { referencePoint, sameReference } from 'rtk-base/gnss'
import {
  type Answer,
  type BytePort,
  CommandReceiver,
  type DriverOptions,
  type OwnFrame,
  pause,
  type WantedSetup,
} from 'rtk-base/link'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { Receiver, ReceiverIdentity, ReceiverTarget } from 'rtk-base/services'
import { changed, evidenceCommands, outputCommands, storedSettings } from './plan.js'
import * as sentences from './sentences.js'
import { Sky } from './sky.js'

const tries = 3
/** A save writes flash. */
const saving_ms = 5_000
/** The receiver is down after `down_ms`, answers again after 2 s, and has a position after about 15. */
const restart = { down_ms: 500, looks: 20, every_ms: 1_000 }
/** Accuracy and 1005 come every second. */
const evidence = { looks: 5, every_ms: 1_000 }
/** A base costs two saves. More than these within 6 h come of a receiver that does not keep what is written, and wear its flash. */
const flash = { most: 20, within_ms: 6 * 3_600_000 }
/** Commands without which the receiver is no base. */
const needed = /,(PQTMPVT|PQTMEOE|RTCM3-1005|RTCM3-107X),/

export class QuectelReceiver extends CommandReceiver<sentences.Sentence> {
  readonly #sky = new Sky()
  #position: sentences.Sentence | undefined
  #acc_m: number | undefined
  #serial = ''
  /**
   * The receiver restarted after the last of its settings was written. Otherwise its settings may have no effect: a service that was
   * killed between a write and the restart leaves a receiver that reads back the right settings and behaves by others.
   */
  #isInEffect = false
  /** Stored settings that the receiver still did not have after a restart: they are not written again. */
  #refused = ''
  /** When flash was written, the oldest first. */
  #saves: number[] = []

  constructor(ctx: PluginContext, port: BytePort, options: DriverOptions) {
    super(ctx, port, options, {
      ...{ plugin: 'gnss-quectel', maker: 'Quectel', framings: [], question: sentences.command('PQTMVERNO') },
      answer_ms: 2_000,
      can: {
        ...{ settings: 'flash', restarts: true, antennaDescriptor: false, rawObservations: [] },
        ...{ reports: new Set(['satellites', 'signals']), intervals_s: [1, 2, 5, 10, 15, 30] },
      },
    })
  }

  // ── commands and answers ──────────────────────────────────────────────────────────────────────────────────────────

  protected encode(text: string): Uint8Array {
    return sentences.command(text)
  }

  protected answerTo(text: string, sentence: sentences.Sentence): Answer | undefined {
    return sentences.answerTo(text, sentence)
  }

  protected async whoIsIt(): Promise<Partial<ReceiverIdentity> | undefined> {
    const version = await this.dialog.ask(sentences.command('PQTMVERNO'), sentences.versionOf, tries)
    if (!version) return undefined
    // `PQTMUNIQID,OK,16,0123…`
    const unique = await this.ask('PQTMUNIQID')
    this.#serial = typeof unique === 'object' ? (unique[1] ?? '') : ''
    return { ...version, serial: this.#serial }
  }

  protected async readMode(): ReturnType<Receiver['readTarget']> {
    const mode = await this.ask('PQTMCFGRCVRMODE,R')
    const svin = typeof mode === 'object' ? await this.ask('PQTMCFGSVIN,R') : undefined
    return typeof mode === 'object' && typeof svin === 'object' ? sentences.targetOf(mode[0], svin) : undefined
  }

  async restart(): Promise<void> {
    if (!(await this.whoIsIt())) throw unavailable('the receiver does not answer')
    await this.#restart()
  }

  async #restart(): Promise<void> {
    const isThere = () => this.dialog.ask(sentences.command('PQTMVERNO'), sentences.versionOf)
    for (let left = tries; ; left--) {
      if (left === 0) throw unavailable('the receiver does not restart')
      this.write(sentences.command('PQTMSRR'))
      await pause(this.ctx.timers, restart.down_ms)
      // The command has no answer. A receiver that answers another question now has not received it.
      if (!(await isThere())) break
    }
    this.restarted()
    for (let look = 0; look < restart.looks; look++) {
      await pause(this.ctx.timers, restart.every_ms)
      if (!(await isThere())) continue
      this.#isInEffect = true
      return
    }
    throw unavailable('the receiver does not answer after its restart')
  }

  // ── how it is made a rover or a base ──────────────────────────────────────────────────────────────────────────────

  /** Settings in flash: read first, written only if they differ, because each time wears the flash and costs a restart. */
  protected async prepare({ target, settings }: WantedSetup): Promise<string[]> {
    let writes = await this.#differences(storedSettings(target, settings))
    if (writes.length === 0 && !this.#isInEffect && !(await this.#behavesAs(target))) {
      await this.#restart()
      writes = await this.#differences(storedSettings(target, settings))
    }
    if (writes.length === 0) {
      this.#isInEffect = true
      this.#refused = ''
      return []
    }
    const text = this.#serial + writes.join()
    if (text === this.#refused) return writes
    this.#spareFlash()
    this.#isInEffect = false
    for (const write of writes) await this.need(write)
    // The base mode sets others back.
    for (const write of await this.#differences(storedSettings(target, settings))) await this.need(write)
    await this.#save()
    await this.#restart()
    const left = await this.#differences(storedSettings(target, settings))
    this.#refused = left.length > 0 ? this.#serial + left.join() : ''
    return left
  }

  /** Only a rover states an accuracy, and only a base announces a place. */
  async #behavesAs(target: ReceiverTarget): Promise<boolean> {
    let isAnnounced = false
    const unsubscribe = this.onRtcm(({ bytes }) => {
      const announced = referencePoint(bytes)
      if (announced) isAnnounced = target.mode === 'fixed' && sameReference(announced.arp, target.arp)
    })
    try {
      for (const output of evidenceCommands) await this.need(output)
      for (let look = 0; look < evidence.looks; look++) {
        await pause(this.ctx.timers, evidence.every_ms)
        if (target.mode === 'rover' ? Number.isFinite(this.fix?.acc_m) : isAnnounced) return true
      }
      return false
    } finally {
      void unsubscribe()
    }
  }

  async #differences(stored: ReturnType<typeof storedSettings>): Promise<string[]> {
    const writes: string[] = []
    for (const setting of stored) {
      const values = changed(setting, await this.need(`${setting.name},R`))
      if (values) writes.push([setting.name, 'W', ...values].join())
    }
    return writes
  }

  #spareFlash(): void {
    const now_ms = this.ctx.clock.monotonic()
    this.#saves = this.#saves.filter((at_ms) => now_ms - at_ms < flash.within_ms)
    const [oldest_ms] = this.#saves
    if (oldest_ms !== undefined && this.#saves.length >= flash.most) {
      const wait_min = Math.ceil((oldest_ms + flash.within_ms - now_ms) / 60_000)
      throw unavailable(
        `its flash is spared after ${flash.most} saves within 6 h, for ${wait_min} min: it does not keep its settings`,
      )
    }
    this.#saves.push(now_ms)
  }

  /** The save is sent once: a second command right behind it would lose its answer. */
  async #save(): Promise<void> {
    const answer = this.ask('PQTMSAVEPAR', 1)
    const late = pause(this.ctx.timers, saving_ms)
    if ((await answer) === undefined) await late
  }

  protected async setUp({ settings, stationId }: WantedSetup, check: () => void): ReturnType<Receiver['configure']> {
    const outputs = outputCommands(settings, stationId)
    // The receiver keeps its own MSM type.
    if (this.#refused.includes('PQTMCFGRTCM')) this.msm = undefined
    const refused = await this.send(outputs, { needed, check })
    return { written: outputs.length - refused.length, refused }
  }

  // ── its reports ───────────────────────────────────────────────────────────────────────────────────────────────────

  protected heard(frame: OwnFrame): void {
    if (frame.kind !== 'nmea') return
    const sentence = sentences.sentenceOf(frame.bytes)
    const [name = ''] = sentence
    if (name === 'PQTMPVT') this.#position = sentence
    else if (name === 'PQTMEPE') this.#acc_m = sentences.accuracyOf(sentence)
    else if (name === 'PQTMEOE') this.#epoch(sentences.towOf(sentence), frame.arrival_ms)
    else if (name.startsWith('PQTM')) this.dialog.hear(sentence)
    else this.#sky.read(sentence)
  }

  /** All sentences of an epoch have come. */
  #epoch(tow_ms: number | undefined, arrival_ms: number): void {
    const fix = this.#position && sentences.fixOf(this.#position, this.#acc_m, arrival_ms)
    this.#position = undefined
    this.#acc_m = undefined
    if (fix) this.report(fix)
    if (fix && fix.t > 0) this.reportTime(fix.t)
    const satellites = this.#sky.end()
    if (satellites && tow_ms !== undefined) this.reportSatellites({ tow_ms, arrival_ms, hasSignals: true, satellites })
  }
}
