import { Mutex } from 'async-mutex'
import type { EventSource, PluginContext } from 'rtk-base/plugin'
import { mqttLink } from 'rtk-base/services'
import type { Access } from './access.js'

/** Long jobs that interrupt the mobile connection: `modem.state.pending`. */
export type JobName = 'scan' | 'operator' | 'apn' | 'reboot'

/** Delay for the answer, which may go over the interrupted connection. */
const answer_ms = 200

export class Jobs {
  readonly #ctx: PluginContext
  readonly #access: Access
  readonly #turns = new Mutex()
  readonly #changed: EventSource<void>
  readonly #pending = new Set<JobName>()
  /** Lets the link to the broker come back. */
  #release: () => void = () => {}

  constructor(ctx: PluginContext, access: Access) {
    this.#ctx = ctx
    this.#access = access
    this.#changed = ctx.event<void>()
    // Ends waits when the plugin stops.
    ctx.defer(() => this.#free())
  }

  /** A job began, or ended with the values that it leaves behind. */
  get onChange(): EventSource<void>['on'] {
    return this.#changed.on
  }

  get pending(): JobName[] {
    return [...this.#pending]
  }

  has(name: JobName): boolean {
    return this.#pending.has(name)
  }

  /**
   * Does `work` soon, when the work before it is done, and not twice at a time. Where the broker is reached through the modem, the
   * link to it ends with `q` first and comes back afterwards.
   * @param work must not reject
   */
  begin(name: JobName, reason: string, work: () => Promise<void>): void {
    if (this.#pending.has(name)) return
    this.#pending.add(name)
    this.#announce()
    this.#ctx.timers.after(answer_ms, () =>
      this.#turns.runExclusive(async () => {
        this.#release = await this.#holdLink(reason)
        try {
          await work()
        } finally {
          this.#free()
          // The job then stays pending for the next instance.
          if (!this.#ctx.signal.aborted) {
            this.#pending.delete(name)
            this.#announce()
          }
        }
      }),
    )
  }

  #announce(): void {
    this.#changed.emit()
    this.#access.source?.refresh('registration', 'signal')
  }

  #free(): void {
    this.#release()
    this.#release = () => {}
  }

  async #holdLink(reason: string): Promise<() => void> {
    const link = this.#ctx.services.find(mqttLink)
    if (link?.via !== 'cellular') return () => {}
    return link.hold(reason).catch((error: unknown) => {
      this.#ctx.log.warn({ err: error }, 'the MQTT link could not be ended before the mobile connection is cut')
      return () => {}
    })
  }
}
