import { onlineStatus } from './online-status.js'
import { leaveLimit_ms, type Session } from './session.js'
import { type Broker, sameBroker } from './settings.js'
import { within } from './within.js'

/** A session that is begun with less left would be cut off by the end of the process, which is `L`. */
const leastTime_ms = 500

/**
 * How the station leaves its broker. `r` promises that it comes back. When it is stopped or switched off before it has, `q`
 * takes the place of that `r`: over the session that is being made, or over one that is made for that alone.
 */
export class Farewell {
  readonly #open: (broker: Broker) => Session | undefined
  /** Where `r` stands. */
  #promised: Broker | undefined
  #over: Promise<void> = Promise.resolve()

  /** @param open a session that does nothing by itself; undefined when there can be none */
  constructor(open: (broker: Broker) => Session | undefined) {
    this.#open = open
  }

  /** What was said to the broker is said. Never rejects. */
  get over(): Promise<void> {
    return this.#over
  }

  get promised(): Broker | undefined {
    return this.#promised
  }

  /** @param promised where the instance before said `r` */
  load(promised: Broker | undefined): void {
    this.#promised = promised
  }

  /** A session said `y`. */
  kept(): void {
    this.#promised = undefined
  }

  /** Leaves with `r`, because another session follows. Takes at most 1.5 s. */
  restart(session: Session | undefined): Promise<void> {
    const wasUp = session?.up
    const left = session?.leave(onlineStatus.restarting)
    return this.#then(async () => {
      if ((await left) || wasUp) this.#promised = session?.broker
    })
  }

  /** Leaves with `q`, and takes an `r` back. Resolves after at most 1.5 s. */
  quit(session: Session | undefined): Promise<void> {
    const latest_ms = performance.now() + leaveLimit_ms - leastTime_ms
    const left = session?.leave(onlineStatus.quitting)
    const quit = this.#then(async () => {
      const promised = this.#promised
      this.#promised = undefined
      // Over the session that is there, where it is with that broker; one with another broker is no reason to wait.
      const same = promised === undefined || sameBroker(promised, session?.broker)
      if ((same && (await left)) || promised === undefined) return
      const last = performance.now() < latest_ms ? this.#open(promised) : undefined
      await Promise.all([left, last?.leave(onlineStatus.quitting, { patient: true })])
    })
    return within(leaveLimit_ms, quit, undefined)
  }

  /** One after another: two sessions at once would throw each other out. What cannot be said is lost. */
  #then(work: () => Promise<void>): Promise<void> {
    this.#over = this.#over.then(work).catch(() => {})
    return this.#over
  }
}
