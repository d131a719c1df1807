import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import { type BundleInstaller, device, type InstallSteps, updateErrors } from 'rtk-base/services'
import { OutcomeUnknown, type RaucService, type RaucSlot, type Watching, withRauc } from './service.js'

/** Whole file systems, which RAUC writes and the boot loader starts. RAUC verifies who has signed a bundle by its own keyring. */
export class Rauc implements BundleInstaller {
  readonly title = 'RAUC'
  readonly #ctx: PluginContext
  readonly #address: string
  #booted: RaucSlot | undefined
  #failure = 'RAUC was not asked yet'
  readonly #ready: Promise<void>
  #found: () => void = () => {}

  /** @param address of the system bus */
  constructor(ctx: PluginContext, address: string) {
    this.#ctx = ctx
    this.#address = address
    this.#ready = new Promise((resolve) => {
      this.#found = resolve
    })
  }

  /** Name of the slot that was booted; `''` unknown. */
  get running(): string {
    return this.#booted?.name ?? ''
  }

  /** Name of the booted slot in the boot loader. */
  get partition(): string {
    return this.#booted?.bootName || this.running
  }

  ready(): Promise<void> {
    return this.#ready
  }

  /** Asks which slot runs. @throws RTK_ERR_UNAVAILABLE */
  async find(): Promise<void> {
    try {
      this.#booted = (await this.#with((rauc) => rauc.slots())).find(({ booted }) => booted)
      if (!this.#booted)
        throw unavailable('RAUC knows no slot that was booted: compare system.conf with the boot loader')
      this.#found()
    } catch (error) {
      this.#failure = (error as Error).message
      throw error
    }
  }

  async install(file: string, steps: InstallSteps): Promise<{ lost?: string }> {
    try {
      await this.#with((rauc) => this.#install(rauc, file, steps))
      return {}
    } catch (error) {
      if (error instanceof OutcomeUnknown) return { lost: error.message }
      throw error
    }
  }

  async #install(rauc: RaucService, file: string, { signal, begin, progress }: InstallSteps): Promise<void> {
    const booted = this.#booted
    if (!booted) throw unavailable(this.#failure)
    if (!(await rauc.isIdle()))
      throw new RtkError(updateErrors.RTK_ERR_UPDATE_RUNNING, 'RAUC is busy: wait until it is idle')
    const other = (await rauc.slots()).find((slot) => slot.class === booted.class && !slot.booted)
    if (!other) throw unavailable(`RAUC has one slot of the class ${booted.class}: another version cannot be installed`)
    const version = await rauc.versionOf(file)
    // In this order: the next start must know the health to restore.
    await begin({ version: version || 'a bundle', slot: other.name })
    const { result, hasWritten } = await rauc.install(file, { signal, progress })
    if (result === 0) return
    const reason = (await rauc.lastError().catch(() => '')) || 'no reason given'
    if (hasWritten) throw unavailable(`RAUC could not install ${version}: ${reason}`)
    throw new RtkError(updateErrors.RTK_ERR_IMAGE, `RAUC refused the bundle: ${reason}`)
  }

  async follow(steps: Watching): Promise<boolean | undefined> {
    const completion = await this.#with((rauc) => rauc.follow(steps))
    return completion && completion.result === 0
  }

  async confirm(): Promise<void> {
    await this.#mark('good', 'booted')
  }

  /** In this order: if only the first is done, the other slot is started all the same. */
  async giveUp(): Promise<void> {
    await this.#mark('active', 'other')
    await this.#mark('bad', 'booted')
  }

  async restart(): Promise<void> {
    await this.#ctx.services.use(device).reboot()
  }

  async #mark(state: 'good' | 'bad' | 'active', slot: string): Promise<void> {
    const message = await this.#with((rauc) => rauc.mark(state, slot))
    this.#ctx.log.info(`RAUC: ${message}`)
  }

  #with<T>(run: (rauc: RaucService) => Promise<T>): Promise<T> {
    return withRauc(this.#ctx, this.#address, run)
  }
}
