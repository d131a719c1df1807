/** The neighbours with their streams, their comparisons one after the other, and the finding. */
import { isDeepStrictEqual } from 'node:util'
import { decimalYear, frameNamed, sameReference } from 'rtk-base/gnss'
import { pause } from 'rtk-base/link'
import type { EventSource, PluginContext } from 'rtk-base/plugin'
import { device, type Ecef, type NeighbourCheck, type NeighbourEffect, procedureStatus } from 'rtk-base/services'
import { compare, failureText, obstacleOf, rest_ms, withoutTwins } from './comparison.js'
import type { Curves } from './curve.js'
import { type Feed, feedOf } from './feed.js'
import { type Confirmation, confirmed, type EffectSetting, effectOf, type Finding, findingOf } from './finding.js'
import { evidenceOf, type Held, type HeldFile, type Kept } from './held-file.js'
import { Neighbour } from './neighbour.js'
import { OwnBase } from './own-base.js'
import { type NeighbourSetting, nameOf, sourceOf } from './setting.js'
import { vectorOf } from './vector.js'

const look_ms = 5_000
/** Each neighbour is compared so often. */
const hour_ms = 3_600_000
/** Two comparisons are at least so far apart: spread over the hour. */
const apart_ms = 300_000

export interface Member {
  readonly setting: NeighbourSetting
  readonly neighbour: Neighbour
  readonly feed: Feed
  /** Monotonic milliseconds of the next comparison. */
  next_ms: number
}

export interface WatchDeps {
  readonly ctx: PluginContext
  readonly effect: () => EffectSetting
  readonly curves: Curves
  readonly held: HeldFile
}

export class NeighbourWatch implements NeighbourCheck {
  readonly onChange: NeighbourCheck['onChange']
  readonly own: OwnBase
  readonly #deps: WatchDeps
  readonly #changed: EventSource<void>
  #members: Member[] = []
  #finding: Finding
  #confirmation: Confirmation | undefined
  #effect: NeighbourEffect = 'none'
  /** The effect that the listeners were told. */
  #reported: NeighbourEffect = 'none'
  #isComparing = false
  /** A stream may change many times a second: it is judged at the next look. */
  #isJudgementDue = false
  /** Evidence of an earlier run: it is judged when the position is known, and that of a file when the time is known, too. */
  #earlier: { readonly kept?: Kept | undefined; readonly held?: Held | undefined } | undefined
  #notBefore_ms = 0

  constructor(deps: WatchDeps) {
    const { ctx } = deps
    this.#deps = deps
    this.#changed = ctx.event()
    this.onChange = this.#changed.on
    this.own = new OwnBase(
      ctx,
      () => this.#members.length > 0,
      () => this.#ownChanged(),
    )
    this.#finding = findingOf({ arp: { x: 0, y: 0, z: 0 } }, [], 0)
  }

  get state() {
    return this.#finding.state
  }

  get effect() {
    return this.#isStillHeld ? 'holds' : this.#effect
  }

  get text() {
    if (this.#isStillHeld)
      return 'they did before the restart, and the station does not know yet how long ago, and whether its position is the same'
    return this.#members.length === 0 ? 'no neighbours are set' : this.#finding.text
  }

  get advice() {
    if (this.#isStillHeld) return 'wait until the receiver has a position'
    if (this.state !== 'contradicts') return ''
    return this.#finding.isStated
      ? 'if exact positions matter, enter a more accurate position, or survey with corrections'
      : 'check the entered position and its frame, or survey the position again'
  }

  get cause() {
    return this.#finding.cause
  }

  get values() {
    return this.#finding.values
  }

  get finding(): Finding {
    return this.#finding
  }

  get members(): readonly Member[] {
    return this.#members
  }

  get sources(): string[] {
    return this.#members.map(({ setting }) => sourceOf(setting))
  }

  /** @param kept evidence of the previous instance @param held evidence for a closed gate, of a file */
  start(list: readonly NeighbourSetting[], kept: Kept | undefined, held: Held | undefined): void {
    this.#earlier = { kept, held }
    this.own.listen()
    this.apply(list)
    this.#judgeEarlier()
    this.#deps.ctx.timers.every(look_ms, () => this.#checkMembers())
  }

  stop(): Kept | undefined {
    for (const { feed } of this.#members) feed.stop()
    return this.#earlier?.kept ?? this.#kept
  }

  get #kept(): Kept | undefined {
    const { arp } = this.own
    if (!arp) return undefined
    const vectors = this.#members.flatMap(({ neighbour, setting }) =>
      neighbour.arp ? [{ source: sourceOf(setting), arp: neighbour.arp, vectors: neighbour.vectors }] : [],
    )
    return { arp, ...(this.#confirmation && { confirmation: this.#confirmation }), vectors }
  }

  /** The evidence of a neighbour is kept while its stream comes from the same source. */
  apply(list: readonly NeighbourSetting[]): void {
    const before = this.#members
    this.#members = list.map((setting) => {
      const known = before.find((one) => sourceOf(one.setting) === sourceOf(setting))
      return known && isDeepStrictEqual(known.setting, setting) ? known : this.#member(setting, known)
    })
    for (const member of before) {
      if (this.#members.includes(member)) continue
      member.feed.stop()
      // A comparison of it is given up.
      if (!this.#members.some(({ neighbour }) => neighbour === member.neighbour)) member.neighbour.restart()
    }
    for (const member of this.#members) if (!before.includes(member)) member.feed.start()
    this.judge()
  }

  /** A message of the broker for the neighbour at this place of the list. */
  message(place: number, message: Parameters<NonNullable<Feed['message']>>[0]): void {
    this.#members[place]?.feed.message?.(message)
  }

  /** Judges by the evidence of now, and reports what changed. */
  judge(): void {
    const { ctx, effect } = this.#deps
    const now_ms = ctx.clock.monotonic()
    const { arp } = this.own
    // While another plugin is reloaded, its position is missing for a moment: the evidence stands until it is too old.
    if (!arp && !this.own.isUnsettled && this.#members.some(({ neighbour }) => neighbour.newest)) return
    const compared = withoutTwins(
      this.#members.flatMap(({ neighbour: { arp, name, vectors } }) =>
        arp && vectors.length > 0 ? [{ name, arp, vectors }] : [],
      ),
    )
    const year = decimalYear(ctx.services.use(device).utc_ms())
    const chosen = ctx.services.find(procedureStatus)?.chosen
    const announced = { acc_m: chosen?.acc_m, frame: frameNamed(chosen?.frame ?? '') }
    const finding = findingOf({ arp: arp ?? { x: 0, y: 0, z: 0 }, ...announced }, arp ? compared : [], year)
    this.#confirmation = confirmed(this.#confirmation, finding, now_ms)
    const before = { finding: this.#finding, effect: this.#reported }
    this.#finding = finding
    this.#effect = effectOf(finding, effect(), this.#confirmation)
    this.#reported = this.effect
    this.#store()
    if (isDeepStrictEqual(before, { finding, effect: this.#reported })) return
    const isOther = before.finding.state !== finding.state || before.effect !== this.#reported
    if (isOther) {
      const level = finding.state === 'contradicts' ? 'warn' : 'info'
      const { against } = finding
      ctx.log[level]({ state: finding.state, effect: this.#reported, against, ...finding.values }, this.text)
    }
    this.#changed.emit()
  }

  /** A base that is known to be wrong sends nothing until the evidence for it is judged. Without a procedure the gate tells the position. */
  get #isStillHeld(): boolean {
    const { ctx, effect } = this.#deps
    return (
      this.#earlier?.held !== undefined &&
      this.#members.length > 0 &&
      effect() === 'hold' &&
      ctx.services.find(procedureStatus) !== undefined
    )
  }

  #store(): void {
    const { ctx, held } = this.#deps
    if (this.#earlier) return
    const kept = this.#effect === 'holds' ? this.#kept : undefined
    if (kept) held.write(kept, ctx.services.use(device).utc_ms(), ctx.clock.monotonic())
    else held.remove()
  }

  #judgeEarlier(): void {
    const { ctx } = this.#deps
    const { kept, held } = this.#earlier ?? {}
    if (!this.#earlier || !this.own.arp) return
    const utc_ms = ctx.services.use(device).utc_ms()
    if (!kept && held && utc_ms === 0) return
    this.#earlier = undefined
    const evidence = kept ?? (held && evidenceOf(held, utc_ms, ctx.clock.monotonic()))
    if (evidence) this.#resume(evidence)
    this.judge()
  }

  #member(setting: NeighbourSetting, known: Member | undefined): Member {
    const { ctx } = this.#deps
    const neighbour =
      known?.neighbour ??
      new Neighbour((text) => {
        ctx.log.info({ neighbour: neighbour.name }, `the evidence of this neighbour starts again: ${text}`)
        this.#isJudgementDue = true
      })
    neighbour.name = nameOf(setting)
    const feed = feedOf(ctx, setting, {
      here: () => this.own.arp,
      frame: (bytes) => neighbour.receive(bytes, ctx.clock.monotonic(), this.own.now_s()),
    })
    return { setting, neighbour, feed, next_ms: known?.next_ms ?? 0 }
  }

  /** The evidence of the previous instance counts while both positions are the same. */
  #resume({ arp, confirmation, vectors }: Kept): void {
    if (!this.own.arp || !sameReference(arp, this.own.arp)) return
    for (const { neighbour, setting } of this.#members) {
      const kept = vectors.find(({ source }) => source === sourceOf(setting))
      if (kept) neighbour.resume(kept.arp, kept.vectors)
    }
    this.#confirmation = confirmation
  }

  #ownChanged(): void {
    for (const member of this.#members) {
      member.neighbour.restart()
      member.next_ms = 0
    }
    this.judge()
  }

  #checkMembers(): void {
    const now_ms = this.#deps.ctx.clock.monotonic()
    this.own.update()
    this.#judgeEarlier()
    const expired = this.#members.filter(({ neighbour }) => neighbour.expire(now_ms))
    if (expired.length > 0 || this.#isJudgementDue) this.judge()
    this.#isJudgementDue = false
    if (this.#isComparing || now_ms < this.#notBefore_ms) return
    const due = this.#members
      .filter(({ neighbour, next_ms }) => now_ms >= next_ms && obstacleOf(neighbour, this.own, now_ms) === '')
      .sort((p, q) => p.next_ms - q.next_ms)[0]
    const { arp } = this.own
    if (!due || !arp) return
    this.#isComparing = true
    this.#notBefore_ms = now_ms + apart_ms
    due.next_ms = now_ms + hour_ms
    void this.#compare(due, arp).finally(() => {
      this.#isComparing = false
    })
  }

  /** Never rejects. */
  async #compare({ neighbour, setting }: Member, arp: Ecef): Promise<void> {
    const { ctx, curves } = this.#deps
    const { generation } = neighbour
    const to = neighbour.arp as Ecef
    const rest = async () => {
      await pause(ctx.timers, rest_ms)
      if (neighbour.generation !== generation) throw new Abandoned()
    }
    try {
      const found = await compare(this.own, arp, neighbour, rest)
      const vector = vectorOf(found, arp, to, ctx.clock.monotonic())
      neighbour.failure = vector ? '' : failureText(found.reason)
      if (!vector) return
      neighbour.add(vector)
      const utc_ms = ctx.services.use(device).utc_ms()
      if (vector.status === 'fixed' && utc_ms > 0)
        curves.add(
          {
            id: sourceOf(setting),
            from: arp,
            antennas: `${this.own.recording.antenna} ${neighbour.recording.antenna}`,
          },
          vector,
          utc_ms / 1_000,
          this.sources,
        )
      this.judge()
    } catch (error) {
      if (error instanceof Abandoned) return
      neighbour.failure = `the comparison failed: ${(error as Error).message}`
      ctx.log.warn({ err: error as Error, neighbour: neighbour.name }, 'a comparison failed and is repeated in an hour')
    }
  }
}

/** The evidence became void during the comparison. */
class Abandoned extends Error {}
