/** Updates: provided by the plugin ota (whole bundles) and by the runtime (single plugins). */

import { defineErrors } from '../error-table.js'
import type { Event } from '../event.js'
import type { UpdateStateName } from '../info/base.js'
import { defineService } from '../token.js'

/** Why an image or an update is refused. */
export const updateErrors = defineErrors({
  RTK_ERR_IMAGE: {
    status: 422,
    help: 'The message gives the reason: the image is incomplete or damaged, for another device, or not signed with a trusted key. The running version is untouched.',
  },
  RTK_ERR_IMAGE_LARGE: {
    status: 413,
    help: 'The image is larger than this device accepts.',
  },
  RTK_ERR_IMAGE_SLOW: {
    status: 408,
    help: 'The image arrived too slowly and would have delayed other updates: send it again over a better link.',
  },
  RTK_ERR_UPDATE_TARGET: {
    status: 400,
    help: 'Use `?rut` with a URL for the router, or `?esp` with an image of the service or of a plugin.',
  },
  RTK_ERR_UPDATE_UNKNOWN: { status: 404, help: 'Add the plugin that the message names to the variant.' },
  RTK_ERR_UPDATE_RUNNING: { status: 409, help: 'Wait until the update that is running has ended.' },
})

/** Installs signed images, for `POST /update-firmware?esp`. */
export interface FirmwareInstaller {
  readonly state: UpdateStateName
  /** Location of the running bundle, as named by the installer; `''` unknown. */
  readonly running: string
  /** The running version is on trial: it works, but is not permanent yet. */
  readonly onTrial: boolean
  /** `state`, `running` or `onTrial` changed. */
  readonly onState: Event<void>
  /**
   * Reads, verifies and installs an image. Resolves with its version when durable; a bundle starts soon after.
   * @throws RTK_ERR_IMAGE, RTK_ERR_IMAGE_LARGE, RTK_ERR_UPDATE_RUNNING, RTK_ERR_UNAVAILABLE; the running version is then unchanged
   */
  install(image: AsyncIterable<Uint8Array>): Promise<{ version: string }>
}
export const firmwareInstaller = defineService<FirmwareInstaller>('firmware-installer')

/** Single plugins in a different version than in the installed bundle. The caller must have verified their files. */
export interface PluginUpdates {
  /** The version of a plugin of this station; `''` if the plugin is unknown, or could not be loaded. */
  version(name: string): string
  /** An empty folder for a prebuilt plugin. @throws RTK_ERR_NOT_LOADED if the station has no such plugin */
  prepare(name: string): Promise<string>
  /**
   * Replaces the running version with the one in the folder, persistently. The new version is on trial for 60 s.
   * @throws RTK_ERR_PLUGIN_…, RTK_ERR_RELOAD_FAILED; the previous version then keeps running
   */
  install(name: string, folder: string): Promise<{ version: string }>
  /** Removes a folder that will not be installed. */
  abandon(folder: string): Promise<void>
}
export const pluginUpdates = defineService<PluginUpdates>('plugin-updates')
