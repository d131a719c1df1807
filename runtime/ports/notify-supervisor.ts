import { writeSync } from 'node:fs'
import type { Supervisor } from './supervisor.js'

/** At most this often the supervisor is told that the service lives; its own limit is 30 s. */
const shortest_ms = 1_000

/**
 * systemd's notify protocol (sd_notify(3)) over a descriptor that `notify-exec` has opened. A full queue loses a message, which the
 * next one makes up for.
 */
export class NotifySupervisor implements Supervisor {
  readonly #fd: number
  readonly #interval_ms: number
  readonly #monotonic: () => number
  #told_ms = Number.NEGATIVE_INFINITY

  /** @param watchdog_ms what systemd waits; 0: it does not */
  constructor(fd: number, watchdog_ms: number, monotonic: () => number = () => performance.now()) {
    this.#fd = fd
    this.#interval_ms = watchdog_ms === 0 ? Number.POSITIVE_INFINITY : Math.max(shortest_ms, watchdog_ms / 3)
    this.#monotonic = monotonic
  }

  /** Undefined where no systemd of this kind started the service. */
  static of(env: NodeJS.ProcessEnv = process.env): NotifySupervisor | undefined {
    const { NOTIFY_FD, WATCHDOG_USEC = '0' } = env
    if (NOTIFY_FD === undefined || !/^\d{1,3}$/.test(NOTIFY_FD)) return undefined
    const watchdog_us = /^\d{1,15}$/.test(WATCHDOG_USEC) ? Number(WATCHDOG_USEC) : 0
    return new NotifySupervisor(Number(NOTIFY_FD), watchdog_us / 1000)
  }

  ready(): void {
    this.#tell('READY=1')
  }

  alive(): void {
    const now_ms = this.#monotonic()
    if (now_ms - this.#told_ms < this.#interval_ms) return
    this.#told_ms = now_ms
    this.#tell('WATCHDOG=1')
  }

  stopping(): void {
    this.#tell('STOPPING=1')
  }

  #tell(text: string): void {
    try {
      writeSync(this.#fd, text)
    } catch {}
  }
}
