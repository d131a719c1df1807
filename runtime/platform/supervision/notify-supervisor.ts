import { writeSync } from 'node:fs'
import type { Supervisor } from './supervisor.js'

/** A sign of life is sent at most this often. */
const shortest_ms = 1_000
const longestStatus = 200

/**
 * systemd's notify protocol (sd_notify(3)) over a descriptor that `notify-exec` has opened. A message that finds the queue full is
 * sent again with the next sign of life; `STOPPING=1` is not, as systemd sees the end itself.
 */
export class NotifySupervisor implements Supervisor {
  readonly #fd: number
  readonly #interval_ms: number
  readonly #monotonic: () => number
  #told_ms = Number.NEGATIVE_INFINITY
  #oweReady = false
  #status = ''
  #oweStatus = false

  /** @param watchdog_ms what systemd waits; 0: it does not */
  constructor(fd: number, watchdog_ms: number, monotonic: () => number = () => performance.now()) {
    this.#fd = fd
    this.#interval_ms = watchdog_ms === 0 ? Number.POSITIVE_INFINITY : Math.max(shortest_ms, watchdog_ms / 3)
    this.#monotonic = monotonic
  }

  /** Undefined if the service was not started by such a systemd. */
  static of(env: NodeJS.ProcessEnv = process.env, monotonic?: () => number): NotifySupervisor | undefined {
    const { NOTIFY_FD, WATCHDOG_USEC = '0' } = env
    if (NOTIFY_FD === undefined || !/^\d{1,3}$/.test(NOTIFY_FD)) return undefined
    const watchdog_us = /^\d{1,15}$/.test(WATCHDOG_USEC) ? Number(WATCHDOG_USEC) : 0
    return new NotifySupervisor(Number(NOTIFY_FD), watchdog_us / 1000, monotonic)
  }

  ready(): void {
    this.#oweReady = !this.#tell('READY=1')
  }

  alive(): void {
    if (this.#oweReady) this.ready()
    if (this.#oweStatus) this.status(this.#status)
    if (this.#interval_ms === Number.POSITIVE_INFINITY) return
    const now_ms = this.#monotonic()
    if (now_ms - this.#told_ms < this.#interval_ms) return
    if (this.#tell('WATCHDOG=1')) this.#told_ms = now_ms
  }

  /** Messages are separated by line breaks: it stays on its line. */
  status(text: string): void {
    this.#status = text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, longestStatus)
    this.#oweStatus = !this.#tell(`STATUS=${this.#status}`)
  }

  extendStart(ms: number): void {
    this.#tell(`EXTEND_TIMEOUT_USEC=${Math.round(ms * 1000)}`)
  }

  stopping(): void {
    this.#tell('STOPPING=1')
  }

  /** Whether it was sent. */
  #tell(text: string): boolean {
    try {
      writeSync(this.#fd, text)
      return true
    } catch {
      return false
    }
  }
}
