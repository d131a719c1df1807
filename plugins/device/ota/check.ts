import { type ImageManifest, readImageHead } from 'rtk-base/image'
import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import { device, updateErrors } from 'rtk-base/services'
import gt from 'semver/functions/gt.js'
import valid from 'semver/functions/valid.js'
import { type Static, Type } from 'typebox'
import { checkUrl } from './download.js'
import type { UpdateMemory } from './memory.js'
import { DownloadPace } from './pace.js'

export const CheckedVersion = Type.Object({
  version: Type.String({ description: 'Version of the image at the address, by its signed manifest' }),
  running: Type.String(),
  isNewer: Type.Boolean(),
  date: Type.Integer({ description: '`Last-Modified` of the server, which nobody signs. UTC seconds; 0: unknown' }),
  url: Type.String({ description: 'For the command `firmware`' }),
})
export type CheckedVersion = Static<typeof CheckedVersion>

/** The manifest and its signature, at their largest. */
const head_bytes = 1_048_576 + 128
const redirects = 5
const silence_ms = 10_000

export interface CheckDeps {
  memory: UpdateMemory
  /** `''`: none. */
  address(): string
  /** An authority that is trusted beside the public ones, PEM. */
  ca(): string
  /** Largest image. */
  largest_bytes: number
  /** @throws RTK_ERR_IMAGE when this station would refuse the image */
  fits(manifest: ImageManifest): Promise<void>
}

/** Which version lies at the operator's address: only the signed head of the image is fetched, and nothing is installed. */
export class VersionCheck {
  readonly #ctx: PluginContext
  readonly #deps: CheckDeps
  #running: Promise<CheckedVersion> | undefined

  constructor(ctx: PluginContext, deps: CheckDeps) {
    this.#ctx = ctx
    this.#deps = deps
  }

  /** Callers during a check get the same answer. @throws RTK_ERR_UNAVAILABLE, RTK_ERR_FETCH_…, RTK_ERR_IMAGE… */
  run(): Promise<CheckedVersion> {
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #check(): Promise<CheckedVersion> {
    const url = this.#deps.address()
    if (url === '') throw unavailable('no address for updates is set: set update-url first')
    const { manifest, date } = await this.#head(checkUrl(url))
    const { version: running } = this.#ctx.services.use(device)
    const { name, version, type } = manifest
    if (type === 'plugin') {
      throw new RtkError(
        updateErrors.RTK_ERR_IMAGE,
        `the address has the plugin ${name} ${version}, and not a version of the service`,
      )
    }
    const isNewer = valid(running) === null || gt(version, running)
    if (isNewer) await this.#deps.fits(manifest)
    return { version, running, isNewer, date, url }
  }

  async #head(url: URL): Promise<{ manifest: ImageManifest; date: number }> {
    const { ca, largest_bytes, memory } = this.#deps
    const own = ca()
    const response = await this.#ctx.fetch(url, {
      headers: { 'accept-encoding': 'identity', range: `bytes=0-${head_bytes - 1}` },
      timeout_ms: silence_ms,
      // A server without ranges sends all of the image. It is cut off behind its head.
      maxBytes: largest_bytes,
      signal: this.#ctx.signal,
      ...(url.protocol === 'https:' && { redirects }),
      ...(own !== '' && { extraCa: own }),
    })
    if (response.status !== 200 && response.status !== 206) {
      await response.body?.cancel()
      throw new RtkError('RTK_ERR_FETCH_ANSWER', `${url.host} answered ${response.status}`)
    }
    const pieces = (response.body ?? []) as AsyncIterable<Uint8Array>
    const manifest = await readImageHead(new DownloadPace(this.#ctx).watch(pieces), await memory.keys())
    const date = Date.parse(response.headers.get('last-modified') ?? '')
    return { manifest, date: Number.isNaN(date) ? 0 : Math.floor(date / 1_000) }
  }
}
