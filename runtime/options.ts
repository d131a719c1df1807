import type { Logger } from 'pino'
import type { Variant } from '../schemas/index.js'
import type { Release } from './build/release.js'
import type { SetOption } from './kernel/options.js'
import type { PluginDefinition } from './plugin.js'
import type { Clock } from './ports/clock.js'
import type { Machine } from './ports/machine.js'
import type { ProcessPort } from './ports/processes.js'
import type { RunningSlot } from './ports/slots.js'
import type { Store } from './ports/store/store.js'
import type { Supervisor } from './ports/supervisor.js'
import type { Notice } from './station-error.js'
import type { Watchdog } from './watchdog/index.js'

export interface RuntimeOptions {
  variant: Variant
  /** Where relative plugin paths of the variant are resolved from. */
  base: string
  /** Data folder: store, bundle cache, bulk files of plugins. */
  data: string
  log: Logger
  machine: Machine
  /** `--set`, sorted by plugin or section name. */
  sets?: ReadonlyMap<string, readonly SetOption[]>
  /** `--change`: stored after `setup`, before `start`. Texts are read by the parameter's own schema. */
  changes?: Readonly<Record<string, string>>
  /** Reload a plugin when its source changes. */
  watch?: boolean
  /** Handle uncaught errors of the process: those of a plugin end the plugin, others end the process. */
  ownProcess?: boolean
  /**
   * Trace every timer, socket and process listener to its plugin, so that leaks are attributed. Slows down each call a
   * little.
   */
  tracesHandles?: boolean
  /** Detects a blocked event loop. The caller closes it. */
  watchdog?: Watchdog
  /** The supervisor that started and watches the service, e.g. systemd. */
  supervisor?: Supervisor
  /** The slot that the service runs from; default: from the launcher's environment. */
  slots?: RunningSlot
  /** Only listen to receivers: the option `configure` of every plugin that has it is false. */
  careful?: boolean
  /** Failures from before the service started, for `base.state.errors`. */
  notices?: readonly Notice[]
  /** Aborts a start that is under way, between two of its steps. */
  signal?: AbortSignal
  // For tests and embedding:
  clock?: Clock
  store?: Store
  processes?: ProcessPort
  /** Id of this start of the machine. */
  bootId?: string
  release?: Release
  /** Definitions given in the process; the key is the plugin's key in the variant. */
  definitions?: Readonly<Record<string, PluginDefinition>>
  /** Folder of the shipped plugins. */
  builtIn?: string
}
