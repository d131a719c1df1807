import { join } from 'node:path'
import { disk } from 'rtk-base/files'
import type { ImageManifest } from 'rtk-base/image'
import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import type { UpdateStateName } from 'rtk-base/schemas'
import { type BundleInstaller, device, type FirmwareInstaller, updateErrors } from 'rtk-base/services'
import { checkUrl, type Download } from './download.js'
import { fetchImage } from './fetch-image.js'
import { ImageInstall, slotsOf } from './install-image.js'
import type { FolderInstaller } from './installer.js'
import type { UpdateMemory } from './memory.js'
import { DownloadPace } from './pace.js'
import { Progress } from './progress.js'
import { beginning, receive } from './receive.js'
import type { StationSigns } from './signs.js'

/** The answer goes out first. */
const restart_ms = 1_000
const mebi = 1_048_576

export interface UpdatesDeps {
  memory: UpdateMemory
  signs: StationSigns
  download(): Download
  /** The installer; undefined if no further bundle can be installed. */
  folders(): FolderInstaller | undefined
  /** The plugin that takes bundles of another format instead, if there is one. */
  bundles(): BundleInstaller | undefined
  /** Where a bundle is kept until it is installed. */
  folder(): string
  /** The running version is on trial. */
  isTrial(): boolean
  /** Location of the running version; `''` unknown. */
  partition(): string
  /** Maximum size of a sent image. */
  largest_bytes: number
  changed(): void
}

/** One update at a time: from a stream or a URL, through the signature, to where the next start finds it. */
export class Updates implements FirmwareInstaller {
  readonly #ctx: PluginContext
  readonly #deps: UpdatesDeps
  readonly #progress: Progress
  readonly #images: ImageInstall

  constructor(ctx: PluginContext, deps: UpdatesDeps) {
    this.#ctx = ctx
    this.#deps = deps
    this.#progress = new Progress(ctx, () => deps.changed())
    const slots = () => slotsOf(deps.folders(), deps.bundles())
    this.#images = new ImageInstall(ctx, { ...deps, progress: this.#progress, slots })
  }

  get state(): UpdateStateName {
    return this.#progress.state
  }

  get onState() {
    return this.#progress.onState
  }

  get onTrial(): boolean {
    return this.#ctx.services.use(device).onTrial || this.#deps.isTrial()
  }

  get running(): string {
    return this.#deps.partition()
  }

  /** `base.update`, and what is told of it. */
  get progress(): Progress {
    return this.#progress
  }

  /** Until its signed head is verified an upload holds nothing: anybody may begin one. */
  async install(image: AsyncIterable<Uint8Array>): Promise<{ version: string }> {
    this.#throwIfBusy()
    const progress = this.#progress
    let isOurs = false
    const pace = new DownloadPace(this.#ctx)
    const begin = () => {
      this.#begin('verifying')
      isOurs = true
      pace.headIsThere()
    }
    try {
      return await this.#install(pace.watch(image), begin)
    } catch (error) {
      // Another update may have started meanwhile and owns the shown state.
      if (isOurs) progress.release()
      if (!progress.isRunning) progress.fail(error)
      throw error
    }
  }

  /** Begins to fetch and install what is behind a URL. @throws when it cannot begin */
  fetch(text: string): void {
    const url = this.#checked(text)
    this.#begin('downloading')
    this.#fetch(url).catch((error: unknown) => {
      this.#progress.release()
      this.#progress.fail(error)
    })
  }

  async #fetch(url: URL): Promise<void> {
    const download = this.#deps.download()
    await fetchImage(this.#ctx, this.#progress, download, url, this.#deps.largest_bytes)
    this.#progress.show('verifying', 0)
    try {
      await this.#install(disk.createReadStream(download.file), () => {}, download.file)
    } finally {
      // Refused is refused: the same bytes are not tried again.
      await download.discard()
    }
  }

  /** A sender over MQTT gets no answer, but sees `base.update`. A running update stays shown. */
  #checked(text: string): URL {
    try {
      return checkUrl(text)
    } catch (error) {
      if (!this.#progress.isRunning && !this.onTrial)
        this.#progress.showFailure(`the update was refused: ${(error as Error).message}`)
      throw error
    }
  }

  /** Whether the station takes an image with this manifest. @throws RTK_ERR_IMAGE, RTK_ERR_IMAGE_LARGE */
  check(manifest: ImageManifest): Promise<void> {
    return this.#images.check(manifest)
  }

  /** Starts what was installed. */
  restartSoon(): void {
    this.#progress.restarts()
    this.#ctx.timers.after(restart_ms, async () => {
      try {
        await (this.#deps.bundles() ?? this.#deps.folders())?.restart()
      } catch (error) {
        this.#progress.release()
        this.#progress.showFailure(`the installed version was not started: ${(error as Error).message}`, true)
      }
    })
  }

  /** @throws RTK_ERR_UPDATE_RUNNING */
  #throwIfBusy(): void {
    const { isRunning, fields } = this.#progress
    const { version } = this.#ctx.services.use(device)
    if (isRunning)
      throw new RtkError(
        updateErrors.RTK_ERR_UPDATE_RUNNING,
        `an update is running (${fields.state}, ${fields.progress} %)`,
      )
    if (this.onTrial)
      throw new RtkError(
        updateErrors.RTK_ERR_UPDATE_RUNNING,
        `${version} is on trial: wait until it is confirmed or given up`,
      )
  }

  /** @throws RTK_ERR_UPDATE_RUNNING */
  #begin(state: UpdateStateName): void {
    this.#throwIfBusy()
    this.#progress.begin(state)
  }

  /**
   * @param begin called once when it is known that it is worth the station's time
   * @param file where the image lies already
   */
  async #install(image: AsyncIterable<Uint8Array>, begin: () => void, file?: string): Promise<{ version: string }> {
    const installer = this.#deps.bundles()
    if (!installer) return this.#installImage(image, begin)
    const { first, whole, drop } = await beginning(this.#progress.whileRunning(image))
    // A manifest, of a plugin.
    if (first === 0x7b) return this.#installImage(whole, begin)
    if (first === undefined) throw new RtkError(updateErrors.RTK_ERR_IMAGE, 'the upload is empty: a bundle is required')
    // Its signature lies at its end.
    begin()
    if (file !== undefined) {
      await drop()
      return this.#installBundle(installer, file)
    }
    const kept = join(this.#deps.folder(), 'bundle')
    try {
      await receive(whole, kept, this.#deps.largest_bytes)
      return await this.#installBundle(installer, kept)
    } finally {
      await disk.rm(kept, { force: true })
    }
  }

  async #installImage(image: AsyncIterable<Uint8Array>, begin: () => void): Promise<{ version: string }> {
    const { type, version } = await this.#images.run(image, begin)
    if (type === 'bundle') this.restartSoon()
    else this.#progress.succeed()
    return { version }
  }

  async #installBundle(installer: BundleInstaller, file: string): Promise<{ version: string }> {
    const { memory, signs } = this.#deps
    const { version: from, bootId } = this.#ctx.services.use(device)
    let version = ''
    let lost: string | undefined
    try {
      const steps = {
        signal: this.#ctx.signal,
        begin: async (bundle: { version: string; slot: string }) => {
          version = bundle.version
          await memory.begin({ version }, { from, slot: bundle.slot, before: signs.before(), boot: bootId })
          await this.#ctx.services.use(device).keepSettings()
          this.#progress.show('installing', 0)
        },
        progress: (percent: number) => this.#progress.show('installing', percent),
      }
      lost = (await installer.install(file, steps)).lost
    } catch (error) {
      if (version !== '') await memory.end()
      throw error
    }
    // If it is installed all the same, the next start of the machine finds it on trial.
    if (lost !== undefined) throw unavailable(lost)
    await memory.installed()
    this.#ctx.log.info({ version }, `bundle ${version} is installed`)
    this.restartSoon()
    return { version }
  }
}

export const bytesOf = (megabytes: number): number => megabytes * mebi
