import { Mutex } from 'async-mutex'
import type { PluginContext } from 'rtk-base/plugin'
import { type Broker, sameBroker } from '../broker.js'
import { onlineStatus } from './client.js'
import { leaveLimit_ms, type Session, within } from './session.js'

/** With less time left than this no session is begun: the end of the process would cut it off, and `L` would follow. */
const leastTime_ms = 500

/**
 * Announces that the station leaves its broker. `r` promises a reconnect. If the station is stopped or disabled before that, `q`
 * replaces the `r`, over the session being established, or over one made only for this.
 */
export class Farewell {
  readonly #clock: PluginContext['clock']
  readonly #open: (broker: Broker) => Session | undefined
  /** One after another: two sessions at once would end each other. */
  readonly #turn = new Mutex()
  /** The broker that has `r` retained. */
  #promised: Broker | undefined

  /** @param open starts a passive session; undefined if impossible */
  constructor(clock: PluginContext['clock'], open: (broker: Broker) => Session | undefined) {
    this.#clock = clock
    this.#open = open
  }

  /** Resolves when no farewell is in progress. Never rejects. */
  get over(): Promise<void> {
    return this.#turn.waitForUnlock()
  }

  get promised(): Broker | undefined {
    return this.#promised
  }

  /** @param promised the broker where the previous instance published `r` */
  load(promised: Broker | undefined): void {
    this.#promised = promised
  }

  /** A session published `y`. */
  published(): void {
    this.#promised = undefined
  }

  /** Leaves with `r`, because another session follows. Takes at most 1.5 s. */
  restart(session: Session | undefined): Promise<void> {
    const wasUp = session?.up
    const left = session?.leave(onlineStatus.restarting)
    return this.#inTurn(async () => {
      if ((await left) || wasUp) this.#promised = session?.broker
    })
  }

  /** Leaves with `q`, which also replaces an `r`. Resolves after at most 1.5 s. */
  quit(session: Session | undefined): Promise<void> {
    const latest_ms = this.#clock.monotonic() + leaveLimit_ms - leastTime_ms
    const left = session?.leave(onlineStatus.quitting)
    const quit = this.#inTurn(async () => {
      const promised = this.#promised
      this.#promised = undefined
      // The present session will do if it is with that broker; one with another broker is not waited for.
      const same = promised === undefined || sameBroker(promised, session?.broker)
      if ((same && (await left)) || promised === undefined) return
      const last = this.#clock.monotonic() < latest_ms ? this.#open(promised) : undefined
      await Promise.all([left, last?.leave(onlineStatus.quitting, { patient: true })])
    })
    return within(leaveLimit_ms, quit, undefined)
  }

  /** A status that cannot be published is lost. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#turn.runExclusive(work).catch(() => {})
  }
}
