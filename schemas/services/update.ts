/** Updates: provided by the plugin ota (whole bundles) and by the runtime (single plugins). */
import type { Event } from '../event.js'
import type { UpdateStateName } from '../info/base.js'
import { defineService } from '../token.js'

/** Installs signed images, for `POST /update-firmware?esp`. */
export interface FirmwareInstaller {
  readonly state: UpdateStateName
  /** Where the bundle that runs lies, as whoever installs bundles names it; `''` unknown. */
  readonly running: string
  /** The version that runs is on trial: it does its work, and is not kept yet. */
  readonly onTrial: boolean
  /** `state`, `running` or `onTrial` changed. */
  readonly onState: Event<void>
  /**
   * Reads an image, verifies it and installs it. Resolves with its version when it is durable; a bundle is started soon after that.
   * @throws RTK_ERR_IMAGE, RTK_ERR_IMAGE_LARGE, RTK_ERR_UPDATE_RUNNING, RTK_ERR_UNAVAILABLE; what runs is untouched then
   */
  install(image: AsyncIterable<Uint8Array>): Promise<{ version: string }>
}
export const firmwareInstaller = defineService<FirmwareInstaller>('firmware-installer')

/** Single plugins in another version than the installed bundle has them. The caller has verified what it puts there. */
export interface PluginUpdates {
  /** The version of a plugin of this station; `''` where it has none of that name, or none that could be loaded. */
  version(name: string): string
  /** An empty folder for the prebuilt form of a plugin. @throws RTK_ERR_NOT_LOADED when the station has no such plugin */
  prepare(name: string): Promise<string>
  /**
   * Puts what is in the folder in force, in place of the version that runs, and keeps it over restarts. It is on trial for 60 s.
   * @throws RTK_ERR_PLUGIN_…, RTK_ERR_RELOAD_FAILED; the version before goes on then
   */
  install(name: string, folder: string): Promise<{ version: string }>
  /** Removes a folder that is not to be put in force. */
  abandon(folder: string): Promise<void>
}
export const pluginUpdates = defineService<PluginUpdates>('plugin-updates')
