import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { readPlain, replaceFile } from 'rtk-base/files'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { device, receiver, reception, rtcmStream, station, verdict } from 'rtk-base/services'
import { figures, readFigures } from './figures.js'
import { SampleRing } from './ring.js'
import { Shading } from './shading.js'

const interval_s = 10
const day_s = 86_400
/** About 40 kB each time: 1 MB of flash a day. A power cut costs so much of the curves. */
const save_ms = 3_600_000
const largest_bytes = 1_048_576

/** Records the figures, and keeps them through a restart of the service. */
export class FigureRecorder {
  readonly #ctx: PluginContext
  readonly #ring = new SampleRing(figures, day_s / interval_s)
  readonly shading = new Shading()
  #bytes = 0
  #epochs = 0
  #before_ms = 0
  /**
   * The curves of the run before, until the time is known: a machine without a clock learns it minutes after its start.
   */
  #saved: { readonly curves: Buffer; readonly t: number } | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async start(): Promise<void> {
    const { clock, on, services, timers } = this.#ctx
    await this.#load()
    this.#before_ms = clock.monotonic()
    services.watch(rtcmStream, (stream): Dispose | undefined => {
      if (!stream) return undefined
      return on(stream.onEpoch, ({ frames }) => {
        this.#epochs += 1
        for (const { bytes } of frames) this.#bytes += bytes.length
      })
    })
    timers.every(interval_s * 1_000, () => this.#sample())
    timers.every(save_ms, () => this.save())
  }

  /** Never rejects: curves must not stop anything. */
  async save(): Promise<void> {
    const { log } = this.#ctx
    // It would replace a day by minutes without a time.
    if (this.#saved) return
    try {
      const t = Math.floor(this.#ctx.services.use(device).utc_ms() / 1_000)
      const shading = this.shading.save()
      const head = Buffer.alloc(12)
      head.writeDoubleLE(t)
      head.writeUInt32LE(shading.length, 8)
      await replaceFile(this.#file(), await promisify(gzip)(Buffer.concat([head, shading, this.#ring.save()])))
    } catch (error) {
      log.warn({ err: error }, 'the curves of the day could not be saved')
    }
  }

  /** @param names of figures; none: all */
  series(names: readonly string[], step: number) {
    const wanted = names.length > 0 ? names : figures.map(({ name }) => name)
    const t = Math.floor(this.#ctx.services.use(device).utc_ms() / 1_000)
    const units = Object.fromEntries(figures.map(({ name, unit }) => [name, unit]))
    return { t, interval_s: interval_s * step, units, figures: this.#ring.series(wanted, step) }
  }

  #sample(): void {
    const { clock, services } = this.#ctx
    const now_ms = clock.monotonic()
    const elapsed_s = (now_ms - this.#before_ms) / 1_000
    const rtcm = { bytes: this.#bytes, epochs: this.#epochs, elapsed_s }
    const source = services.find(receiver)
    const satellites = source?.satellites
    if (satellites) this.shading.add(satellites.satellites)
    this.#restore()
    this.#ring.add(
      readFigures({
        fitness: services.find(verdict)?.verdict.fitness,
        reception: services.find(reception),
        isUp: source?.link === 'up',
        satellites,
        document: services.use(station).document(),
        rtcm,
      }),
    )
    this.#bytes = 0
    this.#epochs = 0
    this.#before_ms = now_ms
  }

  #file(): string {
    return join(this.#ctx.dataDir('history').path, 'day.gz')
  }

  async #load(): Promise<void> {
    const { log } = this.#ctx
    try {
      const bytes = await promisify(gunzip)(await readPlain(this.#file(), largest_bytes), {
        maxOutputLength: largest_bytes,
      })
      const body = 12 + bytes.readUInt32LE(8)
      this.shading.load(bytes.subarray(12, body))
      const t = bytes.readDoubleLE(0)
      // Of a run that never knew the time: the gap to now is not known.
      if (t > 0) this.#saved = { curves: bytes.subarray(body), t }
      this.#restore()
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT')
        log.warn({ err: error }, 'the curves of the day could not be read')
    }
  }

  /** Prepends the saved recording to the current one. */
  #restore(): void {
    const now_s = Math.floor(this.#ctx.services.use(device).utc_ms() / 1_000)
    if (!this.#saved || now_s === 0) return
    const { curves, t } = this.#saved
    this.#saved = undefined
    const gap_s = now_s - t
    if (gap_s >= 0 && gap_s <= day_s) this.#ring.loadBefore(curves, Math.round(gap_s / interval_s) - this.#ring.length)
  }
}
