/** Provided by the runtime: the controller that runs the service, and who counts as its local network. */
import type { Dispose } from '../event.js'
import { defineService } from '../token.js'

/** How a run of the service ended. */
export interface RunEnd {
  /**
   * `first`: there was none; `stopped`: gracefully; `failed`: an error, or its heap was full; `blocked`: a watchdog ended it; `killed`:
   * SIGKILL, or no memory; `power`: the machine restarted under it.
   */
  how: 'first' | 'stopped' | 'failed' | 'blocked' | 'killed' | 'power'
  /** For a person. */
  text: string
  /** UTC milliseconds by the system clock; 0 unknown. */
  at_ms: number
  /** Of a block: innermost first. */
  stack: string[]
}

/**
 * How bad it is. `silences`: where no RTCM goes out, this is why. `doubts`: RTCM goes out, but the position in it may be wrong.
 * `degrades`: anything else that should be mended.
 */
export type Severity = 'silences' | 'doubts' | 'degrades'

/** What is wrong, as whoever found it says it. */
export interface Trouble {
  /** What happened. */
  readonly text: string
  /** What a person can do, or what follows by itself. */
  readonly advice?: string
  /** `degrades` when left out. */
  readonly severity?: Severity
}

/** An entry of `base.state.errors`, with its parts. */
export interface StationError {
  readonly code: string
  /** As the document shows it: `why; advice`. */
  readonly text: string
  readonly why: string
  /** `''` where its plugin gives none. */
  readonly advice: string
  readonly severity: Severity
  /** Since when: UTC seconds, 0 without a credible clock. */
  readonly t: number
}

/** The controller that runs the service. */
export interface Device {
  /** The variant's hardware name. */
  readonly hardware: string
  /** The variant's name. */
  readonly variant: string
  /** Name of the variant that the installed bundle was made of; `''` where it runs from sources. */
  readonly bundle: string
  /** Release, digest of the installed image (or source tree), build time (ISO), running OTA slot. */
  readonly version: string
  readonly sha256: string
  readonly built: string
  readonly partition: string
  /** Where updates are installed, and which slot runs; undefined where nothing starts the service from slots. */
  readonly slots: { readonly root: string; readonly running: string } | undefined
  /**
   * Keeps the settings as they are now, for this version: if an update writes what it cannot read and is given up, it uses them.
   * Durable when it resolves. @throws RTK_ERR_STORE_WRITE
   */
  keepSettings(): Promise<void>
  /** The trial of the version that runs goes on: the supervisor waits so much longer from now until it calls the start failed. */
  extendStart(ms: number): void
  /** The version that runs is on trial: unless `confirmed()` is called, the one before it comes back. */
  readonly onTrial: boolean
  /** The trial succeeded, durably: whoever supervises the service gets to know that it is ready. */
  confirmed(): void
  /** Reports what the service does, in a line for whoever supervises it (`systemctl status`). */
  describe(text: string): void
  /** Where the HTTP server listens, and how this machine reaches it (`http://127.0.0.1:80`); undefined before it listens. */
  readonly http: { readonly host: string; readonly port: number; readonly url: string } | undefined
  /** How the run before this one ended; undefined where that is not recorded (a station inside another process). */
  readonly lastEnd: RunEnd | undefined
  /** Id of this start of the machine: another one after a restart; `''` unknown. */
  readonly bootId: string
  /** Milliseconds since the service started. */
  uptime_ms(): number
  /**
   * Restarts the machine; in a simulator variant the service in place. Resolves when it is under way.
   * @param after_ms for the answer to whoever asked: it goes out first
   */
  reboot(after_ms?: number): Promise<void>
  /** A restart of the machine was asked for. */
  readonly stopping: boolean
  /** Ends this run of the service, which is then started again: from the slot that is to run then. */
  restartService(): void
  /** Clears settings, references, logs and user namespaces (the protected ones stay), then restarts. */
  factory(): Promise<void>
  /** What is wrong right now: `base.state.errors`, newest last, at most 32. */
  errors(): StationError[]
  /**
   * UTC in milliseconds: from the receiver once that has reported it, else by the system clock, 0 if neither is credible (before
   * the build date).
   */
  utc_ms(): number
  /** Sets the fully resolved time of a receiver. */
  setUtc(utc_ms: number): void
  /** Whether a receiver has reported the time. */
  readonly knowsUtc: boolean
  /** Whether something (NTP, PTP) keeps the system clock. */
  isClockSynchronised(): Promise<boolean>
  /** Sets the system clock to `utc_ms()`. Rejects where that is not permitted. */
  setSystemClock(): Promise<void>
}
export const device = defineService<Device>('device')

/** Who counts as the local network: the rule that HTTP goes by. */
export interface LocalNetwork {
  /** Loopback, link-local, private, or inside a prefix of one of its own interfaces. */
  isLocal(address: string): boolean
  /** Loopback, or inside a prefix of one of its own interfaces: nobody else's address comes from there. */
  isNeighbour(address: string): boolean
  /**
   * Phones on an access point with these own addresses are led to the station's page when they look for the internet. Until the returned
   * function is called: `ctx.defer(network.redirectProbes(…))`.
   */
  redirectProbes(addresses: () => readonly string[]): Dispose
}
export const localNetwork = defineService<LocalNetwork>('local-network')
