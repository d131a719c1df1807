import { pluginNamespace, type Store } from '../../platform/store/store.js'
import type { PluginContext, PluginStore } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { type ContextHost, opening } from './host.js'

/** A view of the store limited to one namespace. */
function namespaceOf(store: Store, namespace: string): PluginStore {
  const batch = (values: Readonly<Record<string, unknown>>) =>
    store.batch(Object.entries(values).map(([key, value]) => ({ namespace, key, value })))
  return {
    get: (key) => store.get(namespace, key),
    set: (key, value) => batch({ [key]: value }),
    batch,
    entries: () => store.entries(namespace),
  }
}

/** `ctx.store`: the plugin's own values, and its protected ones. */
export function storeOf(plugin: string, store: Store): PluginContext['store'] {
  return Object.assign(namespaceOf(store, pluginNamespace(plugin)), {
    protected: namespaceOf(store, `protected.${plugin}`),
  })
}

/** `ctx.dataDir`: folders for data too large for the store. */
export function dataDirOf(instance: Instance, { files }: ContextHost): PluginContext['dataDir'] {
  return (folder = 'main', options) => {
    opening(instance, `data folder ${folder}`)
    return files.dir(instance.name, folder, options)
  }
}
