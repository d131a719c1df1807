import type { Logger } from 'pino'
import type { Variant } from '../../schemas/index.js'
import type { Clock } from '../platform/ports/clock.js'
import type { Machine } from '../platform/ports/machine.js'
import type { NetworkPort } from '../platform/ports/network.js'
import type { ProcessPort } from '../platform/ports/processes.js'
import type { RunningSlot } from '../platform/ports/slots.js'
import type { Release } from '../platform/release.js'
import type { Notice } from '../platform/standing-errors.js'
import type { Store } from '../platform/store/store.js'
import type { Watchdog } from '../platform/supervision/index.js'
import type { Supervisor } from '../platform/supervision/supervisor.js'
import type { PluginDefinition } from '../plugin.js'
import type { SetOption } from './options.js'

export interface RuntimeOptions {
  variant: Variant
  /** Folder from which relative plugin paths of the variant are resolved. */
  base: string
  /** Data folder: store, bundle cache, bulk files of plugins. */
  data: string
  log: Logger
  machine: Machine
  /** Values of `--set`, by the name of a plugin or of a section of the variant (`http`, `net`, …). */
  sets?: ReadonlyMap<string, readonly SetOption[]>
  /** Values of `--change`, stored after `setup` and before `start`. Each text is converted by the schema of its parameter. */
  changes?: Readonly<Record<string, string>>
  /** Reload a plugin when its source changes. */
  watch?: boolean
  /** Handle uncaught errors of the process: an error of a plugin restarts the plugin, any other error ends the process. */
  ownProcess?: boolean
  /**
   * Trace every timer, socket and process listener to its plugin, so that leaks are attributed. Slows down each call a
   * little.
   */
  tracesHandles?: boolean
  /** Detects a blocked event loop. The caller closes the watchdog. */
  watchdog?: Watchdog
  /** The supervisor that started and watches the service, e.g. systemd. */
  supervisor?: Supervisor
  /** The slot that the service runs from; default: from the launcher's environment. */
  slots?: RunningSlot
  /** Only listen to receivers: sets the option `configure` of all plugins to false. */
  careful?: boolean
  /** Failures from before the service started, for `base.state.errors`. */
  notices?: readonly Notice[]
  /** Aborts a start that is under way, between two of its steps. */
  signal?: AbortSignal
  // For tests and embedding:
  clock?: Clock
  store?: Store
  processes?: ProcessPort
  network?: NetworkPort
  /** Id of this start of the machine. */
  bootId?: string
  release?: Release
  /** Plugin definitions passed directly, without loading a file. The key is the plugin's key in the variant. */
  definitions?: Readonly<Record<string, PluginDefinition>>
  /** Folder of the shipped plugins. */
  builtIn?: string
}
