/** Updates: by the plugin ota (whole bundles), by installers of other formats, and by the runtime (single plugins). */

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

/** Installs bundles of the whole system in a format of its own, and verifies their signature: the plugin ota sends them here. */
export interface BundleInstaller {
  /** The program that installs, as people call it. */
  readonly title: string
  /** Name of the running slot; `''` until `ready`. */
  readonly running: string
  /** Name of the running slot for people, in `esp.partition`; `''` until `ready`. */
  readonly partition: string
  /** Resolves when the running slot is known. The installer reports what is in its way until then. */
  ready(): Promise<void>
  /**
   * Installs the bundle in a file, to be started next.
   * @returns `lost`: the installation was lost from sight for this reason, and may succeed all the same
   * @throws RTK_ERR_IMAGE when it is refused, RTK_ERR_UPDATE_RUNNING, RTK_ERR_UNAVAILABLE
   */
  install(file: string, steps: InstallSteps): Promise<{ lost?: string }>
  /**
   * Waits for an installation that is under way, e.g. since before the plugin was started.
   * @returns whether it succeeded; undefined when there is none
   */
  follow(steps: Pick<InstallSteps, 'signal' | 'progress'>): Promise<boolean | undefined>
  /** The trial succeeded: the running slot is started from now on. Durable once resolved. */
  confirm(): Promise<void>
  /** The trial failed: the slot before is started from now on. */
  giveUp(): Promise<void>
  /** Ends this run and starts the next version. */
  restart(): Promise<void>
}

export interface InstallSteps {
  /** Aborts when nobody waits for the end any more. The installation is not ended by that. */
  readonly signal: AbortSignal
  /** Called before anything is written. */
  begin(bundle: { version: string; slot: string }): Promise<void>
  progress(percent: number): void
}

export const bundleInstaller = defineService<BundleInstaller>('bundle-installer', {
  shape: {
    title: 'value',
    running: 'value',
    partition: 'value',
    ready: 'function',
    install: 'function',
    follow: 'function',
    confirm: 'function',
    giveUp: 'function',
    restart: 'function',
  },
})

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
