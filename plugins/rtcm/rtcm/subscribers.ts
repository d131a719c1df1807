import { isReferencePoint, roundTo } from 'rtk-base/gnss'
import type { RtcmClient, RtcmFrame, RtcmSubscriber, RtcmSubscription } from 'rtk-base/services'

/** Maximum number in the document, most recently seen first. */
const mostShown = 64

/** A subscriber whose `take` never throws: undefined: it failed or its plugin is gone. */
export interface GuardedSubscriber extends Omit<RtcmSubscriber, 'take'> {
  take(frame: RtcmFrame): boolean | undefined
}

interface Queued {
  readonly frame: RtcmFrame
  readonly epoch: number
}

export interface SubscriberDeps {
  /** Monotonic milliseconds. */
  now(): number
  /** Bytes that wait for one slow subscriber at most. */
  queue_bytes: number
  /** A subscriber gets nothing any more: it failed, or its plugin stopped. */
  left(subscriber: GuardedSubscriber): void
}

const isPosition = ({ frame }: Queued) => isReferencePoint(frame.type)

/** One subscriber with its queue of whole epochs, the oldest dropped first. */
class Subscription implements RtcmSubscription {
  readonly subscriber: GuardedSubscriber
  name: string
  seen_ms: number
  dropped = 0
  readonly #deps: SubscriberDeps
  readonly #leave: (subscription: Subscription) => void
  #queue: Queued[] = []
  #queued_bytes = 0
  /** The rest of this epoch is dropped, because its beginning was. */
  #skip = -1

  constructor(subscriber: GuardedSubscriber, deps: SubscriberDeps, leave: (subscription: Subscription) => void) {
    this.subscriber = subscriber
    this.name = subscriber.name
    this.#deps = deps
    this.seen_ms = deps.now()
    this.#leave = leave
  }

  /** The hot path: nothing is allocated for a subscriber that keeps up. */
  push(frame: RtcmFrame, epoch: number): void {
    if (epoch === this.#skip) return
    if (this.#queue.length === 0 && this.#offer(frame)) return
    this.#queue.push({ frame, epoch })
    this.#queued_bytes += frame.bytes.length
    if (this.#queued_bytes > this.#deps.queue_bytes) this.#makeRoom(epoch)
  }

  resume(): void {
    let taken = 0
    for (const { frame } of this.#queue) {
      if (!this.#offer(frame)) break
      this.#queued_bytes -= frame.bytes.length
      taken += 1
    }
    if (taken > 0) this.#queue = this.#queue.slice(taken)
  }

  touch(): void {
    this.seen_ms = this.#deps.now()
  }

  rename(name: string): void {
    this.name = name
  }

  /** The queue may no longer be sent. */
  clear(): void {
    this.#queue = []
    this.#queued_bytes = 0
  }

  close(): void {
    this.clear()
    this.#leave(this)
  }

  #offer(frame: RtcmFrame): boolean {
    const taken = this.subscriber.take(frame)
    if (taken !== undefined) return taken
    this.#deps.left(this.subscriber)
    this.close()
    return true
  }

  #makeRoom(current: number): void {
    for (const oldest of new Set(this.#queue.map(({ epoch }) => epoch))) {
      this.#dropEpoch(oldest, current)
      if (this.#queued_bytes <= this.#deps.queue_bytes) return
    }
  }

  #dropEpoch(oldest: number, current: number): void {
    const gone = this.#queue.filter(({ epoch }) => epoch === oldest)
    const rest = this.#queue.filter(({ epoch }) => epoch !== oldest)
    // The reference position is never dropped: the rover would use later epochs with the previous one.
    const position = rest.some(isPosition) ? undefined : gone.findLast(isPosition)
    this.#queue = position ? [{ ...position, epoch: rest[0]?.epoch ?? current }, ...rest] : rest
    this.#queued_bytes = this.#queue.reduce((sum, { frame }) => sum + frame.bytes.length, 0)
    this.dropped += 1
    if (oldest === current) this.#skip = current
  }
}

/** A client that is only listed. */
interface Listed {
  readonly client: RtcmClient
  seen_ms: number
}

interface Shown {
  via: string
  name: string
  ip: string
  connected: true | undefined
  relays: true | undefined
  seen_ms: number
}

/** All subscribers of the stream. A slow one never delays another. */
export class Subscribers {
  readonly #deps: SubscriberDeps
  readonly #all = new Set<Subscription>()
  /** Clients of epochs: apart from the subscriptions, so that no frame passes them. */
  readonly #listed = new Set<Listed>()

  constructor(deps: SubscriberDeps) {
    this.#deps = deps
  }

  /** @param prime frames that a newcomer gets at once */
  add(subscriber: GuardedSubscriber, prime: readonly RtcmFrame[], epoch: number): RtcmSubscription {
    const subscription = new Subscription(subscriber, this.#deps, (gone) => this.#all.delete(gone))
    this.#all.add(subscription)
    for (const frame of prime) subscription.push(frame, epoch)
    return subscription
  }

  push(frame: RtcmFrame, epoch: number): void {
    for (const subscription of this.#all) subscription.push(frame, epoch)
  }

  clear(): void {
    for (const subscription of this.#all) subscription.clear()
  }

  /** Lists a client of epochs in the document. */
  list(client: RtcmClient): Pick<RtcmSubscription, 'touch' | 'close'> {
    const listed: Listed = { client, seen_ms: this.#deps.now() }
    this.#listed.add(listed)
    return {
      touch: () => {
        listed.seen_ms = this.#deps.now()
      },
      close: () => void this.#listed.delete(listed),
    }
  }

  get count(): number {
    return this.#all.size + this.#listed.size
  }

  get rovers(): number {
    let rovers = 0
    for (const { relays } of this.#shown()) if (!relays) rovers += 1
    return rovers
  }

  /** For the document: `seen` is the seconds since its last sign of life, 0 while connected. */
  block(): { via: string; name: string; seen: number; ip: string }[] {
    const now_ms = this.#deps.now()
    const connected: Shown[] = []
    const others: Shown[] = []
    for (const shown of this.#shown()) {
      if (!shown.connected) others.push(shown)
      else if (connected.push({ ...shown, seen_ms: now_ms }) >= mostShown) break
    }
    return [...connected, ...others.sort((a, b) => b.seen_ms - a.seen_ms)]
      .slice(0, mostShown)
      .map(({ via, name, seen_ms, ip }) => ({ via, name, seen: roundTo((now_ms - seen_ms) / 1000, 1), ip }))
  }

  *#shown(): Generator<Shown> {
    for (const { subscriber, name, seen_ms } of this.#all) {
      const { via, ip, connected, relays, shown } = subscriber
      if (shown !== false) yield { via, name, ip, connected, relays, seen_ms }
    }
    for (const { client, seen_ms } of this.#listed) {
      const { via, name, ip, connected, relays } = client
      yield { via, name, ip, connected, relays, seen_ms }
    }
  }
}
