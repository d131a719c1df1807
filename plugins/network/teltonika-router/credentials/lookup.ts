import { readRecord } from 'rtk-base/files'
import { isIP } from 'rtk-base/link'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { RouterLookupAnswer, type RouterLookupRequest } from 'rtk-base/schemas'
import { Value } from 'typebox/value'
import { macOf } from '../operations/parse.js'
import { parseLabel, type RouterLabel } from './label.js'

const limit_ms = 15_000
const mostBytes = 4_096
/** Minimum interval of requests for the same router, after any answer. */
const pause_ms = 10 * 60_000

export interface LookupOptions {
  /** Without it nothing is looked up. */
  qrUrl?: string
  /** PEM file of the server's authority, beside the public ones. */
  qrCa?: string
}

type LookupEdges = Pick<PluginContext, 'fetch' | 'clock' | 'serial'>

/** The credentials of a router by its MAC address: `POST {qr_url}/rtr`. */
export class CredentialLookup {
  readonly #edges: LookupEdges
  readonly #options: LookupOptions
  #last: { mac: string; at_ms: number; label: RouterLabel | undefined } | undefined

  constructor(edges: LookupEdges, options: LookupOptions) {
    this.#edges = edges
    this.#options = options
  }

  /**
   * The label of a router; undefined if the server does not know it, or none is configured.
   * @throws RTK_ERR_FETCH_…, RTK_ERR_UNAVAILABLE for an answer that is not a label of this router
   */
  async find(mac: string, signal: AbortSignal): Promise<RouterLabel | undefined> {
    const { qrUrl } = this.#options
    if (qrUrl === undefined || mac === '') return undefined
    const now_ms = this.#edges.clock.monotonic()
    const last = this.#last
    if (last?.mac === mac && now_ms - last.at_ms < pause_ms) return last.label
    this.#last = { mac, at_ms: now_ms, label: undefined }
    const label = await this.#ask(`${qrUrl.replace(/\/+$/, '')}/rtr`, mac, signal)
    this.#last = { mac, at_ms: now_ms, label }
    return label
  }

  async #ask(url: string, mac: string, signal: AbortSignal): Promise<RouterLabel | undefined> {
    const { qrCa } = this.#options
    const request: RouterLookupRequest = { mac, station: this.#edges.serial }
    const response = await this.#edges.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/plain' },
      body: JSON.stringify(request),
      timeout_ms: limit_ms,
      maxBytes: mostBytes,
      signal,
      ...(qrCa !== undefined && { extraCa: await readRecord(qrCa) }),
    })
    const text = await response.text()
    if (response.status === 404) return undefined
    const bad = (what: string) => new RtkError('RTK_ERR_UNAVAILABLE', `the credential lookup ${what}`)
    if (response.status !== 200) throw bad(`answered with HTTP status ${response.status}`)
    const label = parseLabel(labelIn(text))
    if (!label || label.pswd === '') throw bad('answered with something else than a label')
    if (label.macaddr !== '' && label.macaddr !== mac) throw bad('answered with the label of another router')
    return label
  }
}

/** JSON `{ "qr": … }`, or the bare text. */
function labelIn(text: string): string {
  if (!text.trimStart().startsWith('{')) return text
  try {
    const answer: unknown = JSON.parse(text)
    return Value.Check(RouterLookupAnswer, answer) ? answer.qr : ''
  } catch {
    return ''
  }
}

/** The MAC address of a neighbour by its IP address, as the kernel knows it; `''` where it does not. */
export async function neighbourMac(
  process: PluginContext['process'],
  address: string,
  signal: AbortSignal,
): Promise<string> {
  if (isIP(address) === 0) return ''
  try {
    const { stdout } = await process.execFile('ip', ['neigh', 'show', 'to', address], { signal, timeout_ms: 5_000 })
    return macOf(/\blladdr\s+([0-9a-fA-F:]{17})/.exec(stdout)?.[1])
  } catch {
    // No iproute2, or not allowed: the address of the last login has to do.
    return ''
  }
}
