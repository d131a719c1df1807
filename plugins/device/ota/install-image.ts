import { type ImageManifest, unpackImage } from 'rtk-base/image'
import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import { type BundleInstaller, device, pluginUpdates, updateErrors } from 'rtk-base/services'
import type { FolderInstaller } from './installer.js'
import type { UpdateMemory } from './memory.js'
import { checkImage } from './policy.js'
import type { Progress } from './progress.js'
import type { StationSigns } from './signs.js'

/** Where an image goes. */
interface Place {
  prepare(): Promise<string>
  commit(): Promise<void>
  abandon(): Promise<void>
}

export interface ImageInstallDeps {
  readonly memory: UpdateMemory
  readonly signs: StationSigns
  readonly progress: Progress
  /** Maximum size of a sent image. */
  readonly largest_bytes: number
  /** For images of the whole service. @throws when this station takes none */
  slots(): FolderInstaller
}

/** Signed images: of the service into a slot, of a plugin into its folder. */
export class ImageInstall {
  readonly #ctx: PluginContext
  readonly #deps: ImageInstallDeps

  constructor(ctx: PluginContext, deps: ImageInstallDeps) {
    this.#ctx = ctx
    this.#deps = deps
  }

  /** @param begin called once when the signed head is verified and the image is wanted */
  async run(image: AsyncIterable<Uint8Array>, begin: () => void): Promise<ImageManifest> {
    const { memory, progress, largest_bytes } = this.#deps
    let place: Place | undefined
    let manifest: ImageManifest
    try {
      manifest = await unpackImage(progress.whileRunning(image), {
        keys: await memory.keys(),
        largest_bytes,
        accept: async (found) => {
          await this.check(found)
          begin()
          progress.show('installing', 0)
          place = found.type === 'plugin' ? this.#pluginPlace(found) : this.#slotPlace(found)
          return place.prepare()
        },
        progress: (received, total) => progress.show('installing', Math.floor((100 * received) / total)),
      })
      progress.throwIfStopped()
      await place?.commit()
    } catch (error) {
      await place?.abandon().catch((reason) => this.#ctx.log.error({ err: reason }, (reason as Error).message))
      throw error
    }
    const { type, name, version } = manifest
    this.#ctx.log.info({ type, version }, `${name} ${version} is installed`)
    return manifest
  }

  /** Whether the station takes an image with this manifest. @throws RTK_ERR_IMAGE, RTK_ERR_IMAGE_LARGE */
  async check(manifest: ImageManifest): Promise<void> {
    const { services } = this.#ctx
    const { memory } = this.#deps
    const { hardware, sha256, version, variant, bundle } = services.use(device)
    const { type, name } = manifest
    const plugin = services.use(pluginUpdates)
    checkImage(manifest, {
      hardware,
      variants: [...new Set([variant, bundle])].filter((one) => one !== ''),
      machine: `${process.platform}-${process.arch}`,
      bundle: sha256,
      running: type === 'plugin' ? plugin.version(name) : version,
      minVersion: await (type === 'plugin' ? memory.pluginFloor(name) : memory.minVersion()),
      // Images are packed to a quarter, about.
      largest_bytes: 4 * this.#deps.largest_bytes,
    })
  }

  #slotPlace(manifest: ImageManifest): Place {
    const installer = this.#deps.slots()
    const { memory, signs } = this.#deps
    let slot = ''
    return {
      async prepare() {
        const prepared = await installer.prepare(manifest)
        slot = prepared.slot
        return prepared.folder
      },
      commit: async () => {
        // In this order: the next start must know the health to restore.
        const { version } = this.#ctx.services.use(device)
        await memory.begin(manifest, { from: version, slot, before: signs.before() })
        await this.#ctx.services.use(device).keepSettings()
        await installer.commit(manifest)
      },
      abandon: () => installer.abandon(),
    }
  }

  #pluginPlace(manifest: ImageManifest): Place {
    const { name } = manifest
    const { memory } = this.#deps
    const updates = this.#ctx.services.use(pluginUpdates)
    let folder = ''
    return {
      async prepare() {
        folder = await updates.prepare(name)
        return folder
      },
      async commit() {
        await updates.install(name, folder)
        await memory.raisePluginFloor(manifest)
      },
      async abandon() {
        if (folder !== '') await updates.abandon(folder)
      },
    }
  }
}

/** @throws when the station takes no image of the whole service */
export function slotsOf(slots: FolderInstaller | undefined, bundles: BundleInstaller | undefined): FolderInstaller {
  if (bundles) {
    const { title } = bundles
    const text = `this station is updated by ${title}: send a ${title} bundle, or the image of a plugin`
    throw new RtkError(updateErrors.RTK_ERR_IMAGE, text)
  }
  if (slots) return slots
  const text = 'the service was not started from slots, so another version cannot be installed'
  throw unavailable(`${text}: install the Debian package`)
}
