/** Provided by the runtime: the running service with its machine, and the local network. */
import type { Dispose, Event } from '../event.js'
import { defineService } from '../token.js'

/** Where the HTTP server listens. */
export interface HttpAddress {
  readonly host: string
  readonly port: number
  /** On this machine, e.g. `http://127.0.0.1:80`. */
  readonly url: string
  /** SHA-256 of the server's certificate; undefined: it speaks plain HTTP. */
  readonly fingerprint256?: string | undefined
}

/** How a run of the service ended. */
export interface RunEnd {
  /**
   * `first`: no previous run. `stopped`: gracefully. `failed`: an error, or heap exhausted. `blocked`: ended by a watchdog. `killed`:
   * SIGKILL, or out of memory. `power`: the machine restarted.
   */
  how: 'first' | 'stopped' | 'failed' | 'blocked' | 'killed' | 'power'
  /** For a person. */
  text: string
  /** UTC milliseconds by the system clock; 0 unknown. */
  at_ms: number
  /** Stack of the blocking code, innermost first. */
  stack: string[]
}

/**
 * `silences`: a reason why no RTCM is sent. Raising it does not close the gate. `doubts`: RTCM is sent, but its position may be
 * wrong. `degrades`: anything else that needs attention.
 */
export type Severity = 'silences' | 'doubts' | 'degrades'

/**
 * At most 8 values. A longer text is cut to 64 characters. A value is left out if its name has more than 24 characters, or if the JSON of
 * all values would exceed 240 characters (less for a long error text, 70 for one of 480 characters).
 */
export type ErrorValues = Readonly<Record<string, string | number | boolean>>

/** An entry of `base.state.errors`, with its parts. */
export interface StationError {
  readonly code: string
  /** As the document shows it: `why; advice`. */
  readonly text: string
  readonly why: string
  /** `''` if the plugin gives none. */
  readonly advice: string
  readonly severity: Severity
  readonly values?: ErrorValues
  /** Since when: UTC seconds, 0 without a credible clock. */
  readonly t: number
}

/** The service and the machine that runs it. */
export interface Device {
  /** The variant's hardware name. */
  readonly hardware: string
  /** The variant's name. */
  readonly variant: string
  /** Variant of the installed bundle; `''` when running from sources. */
  readonly bundle: string
  /** Release of rtk-base. */
  readonly version: string
  /** Digest of the installed image, or of the source tree. */
  readonly sha256: string
  /** Build time, ISO 8601. */
  readonly built: string
  /** Running OTA slot. */
  readonly partition: string
  /** Folder for updates and the running slot; undefined if the service is not started from slots. */
  readonly slots: { readonly root: string; readonly running: string } | undefined
  /**
   * Saves a copy of the current settings for this version. If an update is rolled back after writing settings that this version
   * cannot read, this version uses the copy. Durable when it resolves. @throws RTK_ERR_STORE_WRITE
   */
  keepSettings(): Promise<void>
  /**
   * Extends the trial of the running version: the supervisor waits `ms` from now before it considers the start failed.
   */
  extendStart(ms: number): void
  /** The running version is on trial: unless `confirmed()` is called, the previous version is restored. */
  readonly onTrial: boolean
  /** Call it when the success of the trial is stored durably. Tells the supervisor that the service is ready. */
  confirmed(): void
  /** Sets the status line for the supervisor (`systemctl status`). */
  describe(text: string): void
  /** Undefined until the HTTP server listens. */
  readonly http: HttpAddress | undefined
  /** How the previous run ended; undefined if not recorded (a station inside another process). */
  readonly lastEnd: RunEnd | undefined
  /** Boot id of the machine, new after each restart; `''` unknown. */
  readonly bootId: string
  /** Milliseconds since the service started. */
  uptime_ms(): number
  /**
   * Restarts the machine. In a variant with `simulator: true`, restarts only the service. Resolves once the restart has begun.
   * @param after_ms delay, so that the answer to the caller goes out first
   */
  reboot(after_ms?: number): Promise<void>
  /** Switches the machine off. In a variant with `simulator: true`, ends only the service. `after_ms` and the promise are as for `reboot`. */
  shutDown(after_ms?: number): Promise<void>
  /** A restart or a shutdown of the machine was requested. */
  readonly stopping: boolean
  /** Ends this run of the service, which is then started again from the selected slot. */
  restartService(): void
  /** Clears settings, references, logs and user namespaces (the protected ones stay), then restarts. */
  factory(): Promise<void>
  /** Current errors: `base.state.errors`, newest last, at most 32. */
  errors(): StationError[]
  /** `errors()` may have changed; at most 10 times a second. */
  readonly onErrors: Event<void>
  /**
   * UTC in milliseconds: from the receiver once it has reported the time, else from the system clock, 0 if neither is credible
   * (before the build date).
   */
  utc_ms(): number
  /** Sets the fully resolved time of a receiver. */
  setUtc(utc_ms: number): void
  /** Whether a receiver has reported the time. */
  readonly knowsUtc: boolean
  /** The last time that a receiver reported (`utc_ms`), and when it did (`at_ms`, monotonic); undefined: none yet. */
  readonly toldUtc: { readonly utc_ms: number; readonly at_ms: number } | undefined
  /** Whether NTP or PTP synchronises the system clock. */
  isClockSynchronised(): Promise<boolean>
  /** Sets the system clock to `utc_ms()`. Rejects if not permitted. */
  setSystemClock(): Promise<void>
}
export const device = defineService<Device>('device')

/** Decides which addresses are local. HTTP uses the same rule. */
export interface LocalNetwork {
  /** Loopback, link-local, private, or inside a prefix of one of the station's interfaces. */
  isLocal(address: string): boolean
  /** Loopback, or inside a prefix of one of the station's interfaces: a remote host cannot have such an address. */
  isNeighbour(address: string): boolean
  /**
   * Redirects connectivity checks of phones to the station's page, on an access point with these station addresses. Lasts until the
   * returned function is called: `ctx.defer(network.redirectProbes(…))`.
   */
  redirectProbes(addresses: () => readonly string[]): Dispose
}
export const localNetwork = defineService<LocalNetwork>('local-network')
