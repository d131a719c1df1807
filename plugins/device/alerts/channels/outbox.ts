import { type PluginContext, RtkError, Undelivered } from 'rtk-base/plugin'
import { waitAfter_ms } from 'rtk-base/time'
import { Type } from 'typebox'
import type { Channel, Message } from './channel.js'

/** Notices that are kept; a notice that leaves undelivered is given up. */
export const mostNotices = 200
export const waits = { first_ms: 30_000, longest_ms: 3_600_000 }
const givenUp_ms = 24 * 3_600_000
/** A single failure is no error of the station yet. */
const reportedFrom = 2

const text = (maxLength: number) => Type.String({ maxLength })

export const Delivery = Type.Object({
  state: Type.Enum(['waiting', 'delivered', 'failed']),
  tries: Type.Number(),
  next_ms: Type.Number(),
  /** Why the last attempt failed; empty: it did not. */
  reason: text(300),
})
export type Delivery = Type.Static<typeof Delivery>

export const StoredNotice = Type.Object({
  id: text(64),
  t_s: Type.Number(),
  made_ms: Type.Number(),
  from: text(64),
  what: Type.Enum(['begin', 'worse', 'repeat', 'end', 'more', 'test']),
  kind: text(1_000),
  severity: Type.Enum(['warning', 'critical']),
  group: text(1_000),
  count: Type.Number(),
  subject: text(1_000),
  text: text(20_000),
  names: text(4_000),
  /** Name of a channel → what became of it there. */
  deliveries: Type.Record(Type.String(), Delivery),
})
export type StoredNotice = Type.Static<typeof StoredNotice>

interface Deps {
  readonly ctx: PluginContext
  /** Stores the state durably. Never rejects. */
  readonly save: () => Promise<void>
  /** False: another instance of the fleet sends. */
  readonly maySend: () => boolean
}

/** Sends notices: each channel its own, one at a time, again and again until it is accepted. */
export class Outbox {
  readonly #deps: Deps
  #channels: readonly Channel[] = []
  #notices: StoredNotice[] = []
  #ended = new AbortController()
  readonly #busy = new Map<string, Promise<void>>()
  /** Channels that could not be reached at the last attempt: what waits for them keeps its order. */
  readonly #away = new Set<string>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The oldest first. */
  get notices(): readonly StoredNotice[] {
    return this.#notices
  }

  get channels(): readonly Channel[] {
    return this.#channels
  }

  restore(notices: readonly StoredNotice[]): void {
    this.#notices = notices.slice(-mostNotices)
  }

  /** Other settings may be the remedy: what waits is tried at once. */
  apply(channels: readonly Channel[]): void {
    this.#ended.abort()
    this.#ended = new AbortController()
    this.#channels = channels
    this.#away.clear()
    const names = new Set(channels.map(({ name }) => name))
    for (const notice of this.#notices)
      for (const [name, delivery] of Object.entries(notice.deliveries)) {
        if (delivery.state !== 'waiting') continue
        if (names.has(name)) this.#set(notice, name, { ...delivery, next_ms: 0 })
        else this.#set(notice, name, { ...delivery, state: 'failed', reason: 'the channel was removed' })
      }
    this.#report()
  }

  /** @param to names of the channels */
  add(notice: Omit<StoredNotice, 'deliveries'>, to: readonly string[]): void {
    const delivery: Delivery = { state: 'waiting', tries: 0, next_ms: 0, reason: '' }
    this.#notices.push({ ...notice, deliveries: Object.fromEntries(to.map((name) => [name, delivery])) })
    while (this.#notices.length > mostNotices) {
      const gone = this.#notices.shift()
      if (gone && Object.values(gone.deliveries).some(({ state }) => state === 'waiting'))
        this.#deps.ctx.log.warn({ id: gone.id }, 'a notice was given up: too many wait')
    }
  }

  /** Begins what is due. */
  work(): void {
    if (!this.#deps.maySend()) return
    for (const channel of this.#channels) {
      if (this.#busy.has(channel.name)) continue
      const next = this.#next(channel.name)
      if (!next) continue
      const done = this.#deliver(channel, next, this.#ended.signal).finally(() => {
        this.#busy.delete(channel.name)
        if (!this.#deps.ctx.signal.aborted) this.work()
      })
      this.#busy.set(channel.name, done)
    }
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await Promise.all(this.#busy.values())
  }

  #next(channel: string): StoredNotice | undefined {
    const now_ms = this.#deps.ctx.clock.monotonic()
    const waiting = this.#waiting(channel)
    const due = waiting.find(({ deliveries }) => (deliveries[channel]?.next_ms ?? 0) <= now_ms)
    // A newer notice is a reason to try again, but an all-clear never comes before what it ends.
    return due && this.#away.has(channel) ? waiting[0] : due
  }

  #waiting(channel: string): StoredNotice[] {
    return this.#notices.filter(
      ({ deliveries }) => Object.hasOwn(deliveries, channel) && deliveries[channel]?.state === 'waiting',
    )
  }

  async #deliver(channel: Channel, notice: StoredNotice, signal: AbortSignal): Promise<void> {
    const { ctx, save } = this.#deps
    const trouble = await attempt(channel, notice, signal)
    // It was cut off: the settings changed, or the plugin stops. That is no failure of the channel.
    if (signal.aborted && trouble) return
    const before = this.#notices.find(({ id }) => id === notice.id)?.deliveries[channel.name]
    if (!before) return
    const tries = before.tries + 1
    if (!trouble) {
      this.#set(notice, channel.name, { state: 'delivered', tries, next_ms: 0, reason: '' })
      this.#resume(channel.name)
    } else {
      const now_ms = ctx.clock.monotonic()
      const isOver = now_ms - notice.made_ms >= givenUp_ms
      const next_ms = now_ms + waitAfter_ms(tries, waits, trouble.wait_ms)
      if (trouble.why === 'later') this.#postpone(channel.name, next_ms)
      else this.#away.delete(channel.name)
      const reason = trouble.message.slice(0, 300)
      this.#set(notice, channel.name, { state: isOver ? 'failed' : 'waiting', tries, next_ms, reason })
      const then = isOver ? 'it is given up' : 'it is tried again'
      ctx.log[tries < reportedFrom ? 'debug' : 'info'](
        { channel: channel.name, reason },
        `a notice was not sent: ${then}`,
      )
    }
    this.#report()
    await save()
  }

  /** The channel is away: everything waits for it. */
  #postpone(channel: string, until_ms: number): void {
    this.#away.add(channel)
    for (const notice of this.#waiting(channel)) {
      const own = notice.deliveries[channel]
      if (own) this.#set(notice, channel, { ...own, next_ms: Math.max(own.next_ms, until_ms) })
    }
  }

  /** The channel is back: the notices that waited for it follow at once. */
  #resume(channel: string): void {
    if (!this.#away.delete(channel)) return
    for (const notice of this.#waiting(channel)) {
      const own = notice.deliveries[channel]
      if (own) this.#set(notice, channel, { ...own, next_ms: 0 })
    }
  }

  #set(notice: StoredNotice, channel: string, delivery: Delivery): void {
    const at = this.#notices.findIndex(({ id }) => id === notice.id)
    const found = this.#notices[at]
    if (found) this.#notices[at] = { ...found, deliveries: { ...found.deliveries, [channel]: delivery } }
  }

  /** Errors of the station: channels that fail. */
  #report(): void {
    const { errors } = this.#deps.ctx
    const failing = this.#channels.flatMap(({ name }) => {
      const reason = troubleOf(this.#notices, name)
      return reason === '' ? [] : [{ name, reason }]
    })
    const [first] = failing
    const channels = failing.map(({ name }) => name).join(', ')
    errors.while('alerts-not-sent', first && { channels, reason: first.reason })
  }

  /** One attempt by every channel, beside what waits. @returns channel → what went wrong; empty: it was accepted */
  async test(message: Message): Promise<{ channel: string; reason: string }[]> {
    const { signal } = this.#ended
    return Promise.all(
      this.#channels.map(async (channel) => {
        const trouble = await attempt(channel, message, signal)
        return { channel: channel.name, reason: trouble?.message ?? '' }
      }),
    )
  }
}

/** Why a channel fails; `''`: it does not. @param notices the oldest first */
export function troubleOf(notices: readonly StoredNotice[], channel: string): string {
  for (const { deliveries } of notices.toReversed()) {
    const own = Object.hasOwn(deliveries, channel) ? deliveries[channel] : undefined
    if (own?.state === 'delivered') return ''
    if (own && own.tries >= reportedFrom) return own.reason
  }
  return ''
}

async function attempt(channel: Channel, given: Message, signal: AbortSignal): Promise<Undelivered | undefined> {
  const { id, t_s, from, what, kind, severity, group, count, subject, text, names } = given
  const message: Message = { id, t_s, from, what, kind, severity, group, count, subject, text, names }
  try {
    await channel.send(message, signal)
    return undefined
  } catch (error) {
    if (error instanceof Undelivered) return error
    // Texts of other errors may have secrets.
    const text = error instanceof RtkError ? error.code : 'an error of this program'
    return new Undelivered('later', text)
  }
}
