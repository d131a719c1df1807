import type { ClientBundle, ClientFile } from '../../../schemas/services/runtime.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { registering } from './host.js'

/** Characters: the title is shown in the navigation. */
const longestTitle = 40

/**
 * `ctx.ui`: a plugin's additions to the station page. They are only recorded here; without a plugin that serves a page,
 * they are unused.
 */
export function uiOf(instance: Instance): PluginContext['ui'] {
  const { panels } = instance.registered
  return {
    panel({ title, module }) {
      registering(instance, 'panel')
      // Plugins are not type-checked when they are loaded.
      if (typeof title !== 'string' || title.trim() === '' || title.length > longestTitle)
        throw new Error(`panel ${JSON.stringify(title)}: its title has 1 to ${longestTitle} characters`)
      if (!isBundle(module))
        throw new Error(`panel "${title}": its module is not the result of an import that ends with ?client`)
      const [first] = panels
      if (first) throw new Error(`panel "${title}": a plugin has one panel, and "${first.title}" is registered already`)
      const { entry, styles, files } = module
      // A copy: later changes by the plugin do not reach the page.
      panels.push({ owner: instance, title, module: { entry, styles: [...styles], files: [...files] } })
    },
  }
}

function isBundle(module: Partial<ClientBundle> | undefined): module is ClientBundle {
  const { entry, styles, files } = module ?? {}
  if (!Array.isArray(styles) || !Array.isArray(files)) return false
  const names = files.map((file: Partial<ClientFile> | undefined) => file?.name)
  const isFile = (name: unknown) => typeof name === 'string' && names.includes(name)
  return isFile(entry) && styles.every(isFile)
}
