/** Where the code of plugins comes from: the shipped ones, sources, updates of one plugin. */
import { join } from 'node:path'
import type { HostTable } from '../../loader/host.js'
import { Loader } from '../../loader/load.js'
import { UpdatedPlugins } from '../../loader/plugin-updates.js'
import { SourceWatcher } from '../../loader/watch.js'
import { readyFolder, shippedPlugins } from '../../platform/release.js'
import type { Manager, ManagerDeps } from '../plugins/manager.js'
import type { RuntimeOptions } from '../runtime-options.js'
import type { Foundation } from './foundation.js'

export interface Code {
  readonly updates: UpdatedPlugins
  /** The manager's requests and notifications. */
  readonly forManager: Pick<ManagerDeps, 'load' | 'digest' | 'forgotten' | 'unreadable' | 'loaded'>
  /** Ends the watch of the sources. */
  close(): void
}

export function openCode(
  options: RuntimeOptions,
  { clock, device, troubles }: Foundation,
  host: HostTable,
  manager: () => Manager,
): Code {
  const { base, builtIn, data, log, watch } = options
  const loader = new Loader({
    host,
    builtIn: builtIn ?? shippedPlugins(),
    base,
    cache: join(data, 'plugins'),
    ready: builtIn === undefined ? readyFolder() : undefined,
    watch,
  })
  const updates = new UpdatedPlugins({
    folder: join(data, 'plugin-updates'),
    bundle: device.sha256,
    onTrial: device.onTrial,
    load: (place) => loader.load(place),
    clock,
    log,
    raise: (code, trouble) => troubles.raise(code, trouble),
    clear: (code) => troubles.clear(code),
    plugins: manager,
  })
  const changed = (plugin: string) => void reloadChanged(manager(), plugin, log)
  const watcher = watch ? new SourceWatcher(clock, log, changed) : undefined
  return {
    updates,
    forManager: {
      load: (source, check) => updates.load(source, check),
      digest: (source) => loader.digest(source),
      forgotten: (source) => void loader.forget(source),
      unreadable: (plugin, source) => watcher?.add(plugin, loader.looked(source)),
      loaded: (plugin, inputs) => (inputs.length > 0 ? watcher?.set(plugin, inputs) : watcher?.drop(plugin)),
    },
    close: () => watcher?.close(),
  }
}

async function reloadChanged(manager: Manager, plugin: string, log: RuntimeOptions['log']): Promise<void> {
  try {
    await manager.reloadIfChanged(plugin)
  } catch (error) {
    const runs = manager.report().some(({ name, state }) => name === plugin && state === 'running')
    const next = runs ? 'the old version keeps running' : 'it does not run; save it again when it is corrected'
    log.error({ plugin, err: error }, `not reloaded: ${(error as Error).message}; ${next}`)
  }
}
