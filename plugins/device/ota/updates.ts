import { join } from 'node:path'
import { disk } from 'rtk-base/files'
import { type ImageManifest, unpackImage } from 'rtk-base/image'
import { pause } from 'rtk-base/link'
import { type EventSource, type PluginContext, RtkError, Undelivered, unavailable } from 'rtk-base/plugin'
import type { UpdateStateName } from 'rtk-base/schemas'
import { device, type FirmwareInstaller, pluginUpdates, updateErrors } from 'rtk-base/services'
import { waitAfter_ms } from 'rtk-base/time'
import { checkUrl, type Download } from './download.js'
import { type BundleInstaller, type FolderInstaller, type Installer, OutcomeUnknown } from './installer.js'
import type { UpdateMemory } from './memory.js'
import { DownloadPace, leastWindow_bytes, longest_ms } from './pace.js'
import { checkImage } from './policy.js'
import { beginning, receive } from './receive.js'
import type { StationSigns } from './signs.js'

const errorCode = 'update-failed'
/** The answer goes out first. */
const restart_ms = 1_000
/** Attempts without a byte more. */
const mostRetries = 7
const waits = { first_ms: 2_000, longest_ms: 60_000 }
const hopeless = /^RTK_ERR_(FETCH_(URL|CERTIFICATE|REDIRECT|TOO_LARGE)|IMAGE_LARGE|ABORTED|DATA_|STORE_)/
const mebi = 1_048_576

export interface UpdatesDeps {
  memory: UpdateMemory
  signs: StationSigns
  download(): Download
  /** The installer; undefined if no further bundle can be installed. */
  folders(): FolderInstaller | undefined
  /** Takes bundles of another format instead, which are kept in `folder` until then. */
  bundles?: { installer: BundleInstaller; folder(): string } | undefined
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
  readonly #changed: EventSource<void>
  #state: UpdateStateName = 'idle'
  #progress = 0
  #failed = false
  #running = false
  #cancel: AbortController | undefined

  constructor(ctx: PluginContext, deps: UpdatesDeps) {
    this.#ctx = ctx
    this.#deps = deps
    this.#changed = ctx.event<void>()
  }

  get state(): UpdateStateName {
    return this.#state
  }

  get onState() {
    return this.#changed.on
  }

  get onTrial(): boolean {
    return this.#ctx.services.use(device).onTrial || this.#deps.isTrial()
  }

  get running(): string {
    return this.#deps.partition()
  }

  /** `base.update` */
  get fields(): { state: UpdateStateName; failed: boolean; progress: number } {
    return { state: this.#state, failed: this.#failed, progress: this.#progress }
  }

  /** Until its signed head is verified an upload holds nothing: anybody may begin one. */
  async install(image: AsyncIterable<Uint8Array>): Promise<{ version: string }> {
    this.#throwIfBusy()
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
      if (isOurs) this.#running = false
      if (!this.#running) this.#tellFailed(error)
      throw error
    }
  }

  /** Ends the download or the upload under way. @throws RTK_ERR_UNAVAILABLE when there is none, or it is installed already */
  cancel(): void {
    if (!this.#cancel || this.#state === 'rebooting') throw unavailable('no update is under way that can be cancelled')
    this.#cancel.abort()
  }

  /** Begins to fetch and install what is behind a URL. @throws when it cannot begin */
  fetch(text: string): void {
    const url = this.#checked(text)
    this.#begin('downloading')
    void this.#attempt(async () => {
      const download = this.#deps.download()
      await this.#download(download, url)
      this.#show('verifying', 0)
      try {
        await this.#install(disk.createReadStream(download.file), () => {}, download.file)
      } finally {
        // Refused is refused: the same bytes are not tried again.
        await download.discard()
      }
    }).catch(() => {})
  }

  /** A sender over MQTT gets no answer, but sees `base.update`. A running update stays shown. */
  #checked(text: string): URL {
    try {
      return checkUrl(text)
    } catch (error) {
      if (!this.#running && !this.onTrial) this.showFailure(`the update was refused: ${(error as Error).message}`)
      throw error
    }
  }

  /** The running version or its trial changed. */
  look(): void {
    this.#changed.emit()
  }

  /** Shows an earlier failed update, or a trial, in `base.update`. */
  show(state: UpdateStateName, progress: number): void {
    this.#show(state, progress)
  }

  /** @param isStuck only a restart of the machine helps */
  showFailure(reason: string, isStuck = false): void {
    this.#failed = true
    this.#show('failed', 0)
    this.#ctx.errors.while(errorCode, { reason, _stuck: isStuck })
  }

  /** Starts what was installed. */
  restartSoon(): void {
    this.#running = true
    this.#show('rebooting', 100)
    this.#ctx.timers.after(restart_ms, async () => {
      try {
        await this.#installer()?.restart()
      } catch (error) {
        this.#running = false
        this.showFailure(`the installed version was not started: ${(error as Error).message}`, true)
      }
    })
  }

  /** @throws RTK_ERR_UPDATE_RUNNING */
  #throwIfBusy(): void {
    if (this.#running) {
      throw new RtkError(
        updateErrors.RTK_ERR_UPDATE_RUNNING,
        `an update is running (${this.#state}, ${this.#progress} %)`,
      )
    }
    if (this.onTrial) {
      const { version } = this.#ctx.services.use(device)
      throw new RtkError(
        updateErrors.RTK_ERR_UPDATE_RUNNING,
        `${version} is on trial: wait until it is confirmed or given up`,
      )
    }
  }

  /** @throws RTK_ERR_UPDATE_RUNNING */
  #begin(state: UpdateStateName): void {
    this.#throwIfBusy()
    this.#cancel = new AbortController()
    this.#running = true
    this.#failed = false
    this.#ctx.errors.while(errorCode, false)
    this.#show(state, 0)
  }

  async #attempt<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      this.#running = false
      this.#tellFailed(error)
      throw error
    }
  }

  #tellFailed(error: unknown): void {
    this.#cancel = undefined
    // Node's word for a request whose sender went away.
    const isCut = (error as Error).message === 'aborted'
    const text = `the update failed: ${isCut ? 'the sender broke off, send the image again' : (error as Error).message}`
    this.#ctx.log.warn({ err: error }, `${text}; the running version is unchanged`)
    this.showFailure(text)
  }

  async #download(download: Download, url: URL): Promise<void> {
    const { log, clock } = this.#ctx
    const signal = this.#endSignal()
    const { largest_bytes } = this.#deps
    const begun_ms = clock.monotonic()
    let received = 0
    let size = largest_bytes
    for (let failures = 0; ; ) {
      const before = received
      try {
        await download.attempt(url, {
          largest_bytes,
          signal,
          paced: (pieces) => new DownloadPace(this.#ctx, false).watch(pieces),
          progress: (bytes, total) => {
            received = bytes
            if (total > 0) size = total
            this.#show('downloading', total > 0 ? Math.min(100, Math.floor((100 * bytes) / total)) : 0)
          },
        })
        return
      } catch (error) {
        const { code = '', message } = error as { code?: string; message: string }
        if (this.#cancel?.signal.aborted) throw new RtkError('RTK_ERR_ABORTED', 'it was cancelled')
        const isRefused = error instanceof Undelivered && error.why === 'refused'
        if (signal.aborted || hopeless.test(code) || isRefused) throw error
        if (clock.monotonic() - begun_ms > longest_ms(size)) throw error
        // Trickling data is not progress.
        failures = received - before >= leastWindow_bytes ? 1 : failures + 1
        if (failures > mostRetries) throw error
        const pause_ms = waitAfter_ms(failures, waits, error instanceof Undelivered ? error.wait_ms : 0)
        log.warn({ err: error }, `the download stopped: ${message}; it resumes in ${Math.round(pause_ms / 1000)} s`)
        await pause(this.#ctx.timers, pause_ms)
        if (this.#cancel?.signal.aborted) throw new RtkError('RTK_ERR_ABORTED', 'it was cancelled')
      }
    }
  }

  /** Aborts with the plugin, and when a person cancels the update. */
  #endSignal(): AbortSignal {
    const { signal } = this.#ctx
    const cancel = this.#cancel as AbortController
    if (signal.aborted) cancel.abort()
    signal.addEventListener('abort', () => cancel.abort(), { once: true, signal: cancel.signal })
    return cancel.signal
  }

  #installer(): Installer | undefined {
    return this.#deps.bundles?.installer ?? this.#deps.folders()
  }

  /**
   * @param begin called once when it is known that it is worth the station's time
   * @param file where the image lies already
   */
  async #install(image: AsyncIterable<Uint8Array>, begin: () => void, file?: string): Promise<{ version: string }> {
    const { bundles } = this.#deps
    if (!bundles) return this.#installImage(image, begin)
    const { first, whole, drop } = await beginning(this.#whileRunning(image))
    // A manifest, of a plugin.
    if (first === 0x7b) return this.#installImage(whole, begin)
    if (first === undefined) throw new RtkError(updateErrors.RTK_ERR_IMAGE, 'the upload is empty: a bundle is required')
    // Its signature lies at its end.
    begin()
    if (file !== undefined) {
      await drop()
      return this.#installBundle(bundles.installer, file)
    }
    const kept = join(bundles.folder(), 'bundle')
    try {
      await receive(whole, kept, this.#deps.largest_bytes)
      return await this.#installBundle(bundles.installer, kept)
    } finally {
      await disk.rm(kept, { force: true })
    }
  }

  async #installBundle(installer: BundleInstaller, file: string): Promise<{ version: string }> {
    const { memory, signs } = this.#deps
    const { version: from, bootId } = this.#ctx.services.use(device)
    let version = ''
    try {
      await installer.install(file, {
        begin: async (bundle) => {
          version = bundle.version
          await memory.begin({ version }, { from, slot: bundle.slot, before: signs.before(), boot: bootId })
          await this.#ctx.services.use(device).keepSettings()
          this.#show('installing', 0)
        },
        progress: (percent) => this.#show('installing', percent),
      })
    } catch (error) {
      // If it was installed all the same, the next start of the machine finds it on trial.
      if (version !== '' && !(error instanceof OutcomeUnknown)) await memory.end()
      throw error
    }
    await memory.installed()
    this.#ctx.log.info({ version }, `bundle ${version} is installed`)
    this.restartSoon()
    return { version }
  }

  async #installImage(image: AsyncIterable<Uint8Array>, begin: () => void): Promise<{ version: string }> {
    const { memory, largest_bytes } = this.#deps
    let place: Place | undefined
    let manifest: ImageManifest
    try {
      manifest = await unpackImage(this.#whileRunning(image), {
        keys: await memory.keys(),
        largest_bytes,
        accept: async (found) => {
          await this.check(found)
          begin()
          this.#show('installing', 0)
          place = found.type === 'plugin' ? this.#pluginPlace(found) : this.#slotPlace(found)
          return place.prepare()
        },
        progress: (received, total) => this.#show('installing', Math.floor((100 * received) / total)),
      })
      this.#throwIfStopped()
      await place?.commit()
    } catch (error) {
      await place?.abandon().catch((reason) => this.#ctx.log.error({ err: reason }, (reason as Error).message))
      throw error
    }
    const { type, name, version } = manifest
    this.#ctx.log.info({ type, version }, `${name} ${version} is installed`)
    if (type === 'bundle') this.restartSoon()
    else {
      this.#running = false
      this.#cancel = undefined
      this.#show('idle', 100)
    }
    return { version }
  }

  /** A leftover after this plugin's end would write in parallel with its successor. */
  async *#whileRunning(image: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of image) {
      this.#throwIfStopped()
      yield piece
    }
  }

  #throwIfStopped(): void {
    if (this.#ctx.signal.aborted) throw unavailable('the plugin ota was stopped: send the image again')
    if (this.#cancel?.signal.aborted) throw new RtkError('RTK_ERR_ABORTED', 'it was cancelled')
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
    const installer = this.#deps.folders()
    if (this.#deps.bundles) {
      throw new RtkError(
        updateErrors.RTK_ERR_IMAGE,
        'this station is updated by RAUC: send a RAUC bundle, or the image of a plugin',
      )
    }
    if (!installer) {
      const text = 'the service was not started from slots, so another version cannot be installed'
      throw unavailable(`${text}: install the Debian package`)
    }
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

  #show(state: UpdateStateName, progress: number): void {
    if (state === this.#state && progress === this.#progress) return
    const isOther = state !== this.#state
    this.#state = state
    this.#progress = progress
    this.#deps.changed()
    if (isOther) this.#changed.emit()
  }
}

/** Where an image goes. */
interface Place {
  prepare(): Promise<string>
  commit(): Promise<void>
  abandon(): Promise<void>
}

export const bytesOf = (megabytes: number): number => megabytes * mebi
