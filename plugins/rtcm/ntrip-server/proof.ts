/** Whether a caster gives to rovers what it gets: from its source table, and by reading the own mountpoint. */
import { checksumOf } from 'rtk-base/gnss'
import { isIP, normalAddress } from 'rtk-base/link'
import { visit_ms } from 'rtk-base/ntrip'
import type { Dispose, PluginContext, Resolve } from 'rtk-base/plugin'
import { device, rtcmStream } from 'rtk-base/services'
import { probe } from './probe.js'
import type { Target } from './target.js'

/** The first look comes soon, the next ones so seldom that no caster minds. */
const firstTable_ms = [60_000, 120_000] as const
const firstEcho_ms = [180_000, 240_000] as const
/** Two connections to one caster do not follow each other sooner. */
const apart_ms = 15_000
const table_ms = [300_000, 900_000] as const
const echo_ms = [1_800_000, 3_600_000] as const
const resolve_ms = 600_000
/** An echo is compared with the messages sent within this time, or while it was read. */
const kept_ms = 60_000
const mostKept = 4_096

export type ProofState = 'none' | 'proven' | 'failed'

export interface ProofDeps {
  random(): number
  resolve: Resolve
}

/** The proof of one push, while it stands. */
export class Proof {
  readonly #ctx: PluginContext
  readonly #target: Target
  readonly #moved: (text: string) => void
  readonly #deps: ProofDeps
  /** Checksum of a frame → monotonic ms when it was sent. */
  readonly #sent = new Map<number, number>()
  #cancels: Dispose[] = []
  /** Monotonic ms before which no connection is made. */
  #next_ms = 0
  #address = ''
  #echo: ProofState = 'none'
  #text = ''
  #tableText = ''

  /** @param moved called when the name leads elsewhere now, and the caster that was left does not forward */
  constructor(
    ctx: PluginContext,
    target: Target,
    moved: (text: string) => void,
    { random = Math.random, resolve = ctx.net.resolve }: Partial<ProofDeps> = {},
  ) {
    this.#ctx = ctx
    this.#target = target
    this.#moved = moved
    this.#deps = { random, resolve }
  }

  get state(): ProofState {
    return this.#echo
  }

  /** For a person. */
  get text(): string {
    return [this.#text, this.#tableText].filter(Boolean).join('; ')
  }

  /** The caster accepted. @param address connected address */
  start(address: string): void {
    this.stop()
    this.#address = address
    const { proof = 'table', host } = this.#target
    if (proof === 'off') return
    this.#repeat(firstTable_ms, table_ms, () => this.#lookAtTable())
    if (proof !== 'echo') return
    this.#repeat(firstEcho_ms, echo_ms, () => this.#lookAtEcho())
    if (isIP(host) === 0) this.#repeat([resolve_ms, resolve_ms], [resolve_ms, resolve_ms], () => this.#lookAtAddress())
  }

  stop(): void {
    for (const cancel of this.#cancels) void cancel()
    this.#cancels = []
    this.#sent.clear()
    this.#echo = 'none'
    this.#text = ''
    this.#tableText = ''
  }

  /** Whole frames that go to the caster. */
  sent(frames: Uint8Array): void {
    if (this.#target.proof !== 'echo') return
    const now_ms = this.#ctx.clock.monotonic()
    for (let at = 0; at + 6 <= frames.length; ) {
      const size = ((((frames[at + 1] as number) & 3) << 8) | (frames[at + 2] as number)) + 6
      const key = checksumOf(frames.subarray(at, at + size))
      this.#sent.delete(key)
      this.#sent.set(key, now_ms)
      at += size
    }
    for (const oldest of this.#sent.keys()) {
      if (this.#sent.size <= mostKept) break
      this.#sent.delete(oldest)
    }
  }

  #repeat(first: readonly [number, number], then: readonly [number, number], look: () => Promise<void>): void {
    const slot = this.#cancels.length
    const wait = ([least, most]: readonly [number, number]) => {
      this.#cancels[slot] = this.#ctx.timers.after(least + (most - least) * this.#deps.random(), async () => {
        const cancels = this.#cancels
        const now_ms = this.#ctx.clock.monotonic()
        if (now_ms < this.#next_ms) return wait([this.#next_ms - now_ms, this.#next_ms - now_ms])
        this.#next_ms = now_ms + this.#read_ms + apart_ms
        await look()
        // Another connection has proofs of its own.
        if (cancels === this.#cancels) wait(then)
      })
    }
    wait(first)
  }

  /** How long an echo is read: until RTCM would no longer flow. */
  get #read_ms(): number {
    return Math.max(visit_ms, 1_000 * (this.#ctx.services.find(rtcmStream)?.flowLimit_s ?? 0))
  }

  get #agent(): string {
    return `rtk-base/${this.#ctx.services.use(device).version}`
  }

  async #lookAtTable(): Promise<void> {
    const cancels = this.#cancels
    const { mount } = this.#target
    const result = await probe(this.#ctx, { target: this.#target, mount: '', agent: this.#agent })
    if (cancels !== this.#cancels) return
    if (result.kind === 'table') this.#tableText = tableState(result.rows, mount).text
    // An unreadable table is inconclusive.
    else this.#tableText = ''
  }

  async #lookAtEcho(): Promise<void> {
    const cancels = this.#cancels
    let delay_ms: number | undefined
    const limit_ms = this.#read_ms
    const wanted = (frame: Uint8Array) => {
      const age_ms = this.#ctx.clock.monotonic() - (this.#sent.get(checksumOf(frame)) ?? Number.NEGATIVE_INFINITY)
      // Old buffered data does not prove that the caster forwards now.
      if (age_ms > Math.max(kept_ms, limit_ms)) return false
      delay_ms ??= age_ms
      return true
    }
    const result = await probe(this.#ctx, {
      target: this.#target,
      mount: this.#target.mount,
      agent: this.#agent,
      wanted,
      limit_ms,
    })
    if (cancels !== this.#cancels) return
    const isProven = result.kind === 'stream' && result.found
    if (isProven) {
      this.#echo = 'proven'
      this.#text = `proven at ${this.#timeOfDay()}, delay ${((delay_ms ?? 0) / 1_000).toFixed(1)} s`
    } else {
      this.#echo = 'failed'
      const why =
        result.kind === 'failed'
          ? `not proven: ${result.text}`
          : 'accepted, not forwarded: a rover gets no message of this station'
      this.#text = why
    }
    this.#ctx.log[isProven ? 'debug' : 'warn']({ caster: this.#target.host, mount: this.#target.mount }, this.#text)
  }

  /** Only where the echo fails too: many names have addresses that change, and all of them lead to the caster. */
  async #lookAtAddress(): Promise<void> {
    const cancels = this.#cancels
    const addresses = await this.#deps.resolve(this.#target.host).catch(() => [])
    if (cancels !== this.#cancels || addresses.length === 0 || this.#echo !== 'failed') return
    const plain = normalAddress(this.#address)
    if (addresses.some(({ address }) => address === plain)) return
    this.#moved(`address changed: ${this.#target.host} leads to ${addresses[0]?.address} now`)
  }

  #timeOfDay(): string {
    const utc_ms = this.#ctx.services.use(device).utc_ms()
    return utc_ms > 0 ? `${new Date(utc_ms).toISOString().slice(11, 16)} UTC` : 'an unknown time'
  }
}

interface Row {
  readonly mount: string
  readonly identifier: string
  readonly misc: string
}

/** State of a mountpoint in the caster's source table. */
export function tableState(
  rows: readonly Row[],
  mount: string,
): { state: 'listed' | 'not-listed' | 'sandbox'; text: string } {
  const row = rows.find((one) => one.mount === mount)
  if (!row)
    return {
      state: 'not-listed',
      text: `the caster’s source table has no row for ${mount}: it is not known there, or not reserved`,
    }
  if (/sandbox/i.test(`${row.identifier} ${row.misc}`))
    return { state: 'sandbox', text: `the caster keeps ${mount} in its sandbox: the mountpoint is not reserved` }
  return { state: 'listed', text: 'listed in the caster’s source table' }
}
