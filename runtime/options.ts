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
  /** Reload plugins whose source changes. */
  watch?: boolean
  /** Take uncaught errors of the process: a plugin's end the plugin, others the process. */
  ownProcess?: boolean
  /** Follow every timer, socket and process listener back to its plugin, so that what one leaves open is named. Costs some of each call. */
  tracesHandles?: boolean
  /** Sees blocks of the event loop; the caller closes it. */
  watchdog?: Watchdog
  /** Who started the service and watches it, e.g. systemd. */
  supervisor?: Supervisor
  /** From which slot the service runs; left out: as the launcher says in the environment. */
  slots?: RunningSlot
  /** Receivers are only listened to: the option `configure` of every plugin that has it is false. */
  careful?: boolean
  /** What went wrong before the service was there, for `base.state.errors`. */
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
