/** CSRS-PPP of NRCan: its interface, and its report. */

import { randomUUID } from 'node:crypto'
import { deliver, type FetchOptions, type PluginContext, Undelivered } from 'rtk-base/plugin'
import { findInZip } from './zip.js'

export const csrsUrl = 'https://webapp.csrs-scrs.nrcan-rncan.gc.ca/CSRS-PPP/service'
/** The service answers browsers only, and this name. */
const agent = 'CSRS-PPP access via Python Browser Emulator'
const mostReport_bytes = 8_388_608
/** The service refuses an account for a while. */
export const blocked_ms = 6 * 3_600_000

export type CsrsStatus = 'processing' | 'done' | 'error'

export class Csrs {
  readonly #ctx: PluginContext
  readonly #url: string

  constructor(ctx: PluginContext, url: string) {
    this.#ctx = ctx
    this.#url = url
  }

  /** @returns the key of the job @throws Undelivered */
  async submit(account: string, name: string, rinex: Uint8Array): Promise<string> {
    const boundary = `rtk-base-${randomUUID()}`
    const fields: Readonly<Record<string, string>> = {
      ...{ return_email: 'dummy_email', cmd_process_type: 'std', ppp_access: 'nobrowser_status', language: 'en' },
      ...{ user_name: account, process_type: 'Static', sysref: 'ITRF', nad83_epoch: 'CURR', v_datum: 'cgvd2013' },
      output_pdf: 'lite',
    }
    const part = (head: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n`
    const body = Buffer.concat([
      ...Object.entries(fields).map(([field, value]) => Buffer.from(`${part(`name="${field}"`)}\r\n${value}\r\n`)),
      Buffer.from(`${part(`name="rfile_upload"; filename="${name}"`)}Content-Type: application/gzip\r\n\r\n`),
      rinex,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ])
    const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
    const text = await this.#text('/submit', { method: 'POST', headers, body, timeout_ms: 300_000 })
    if (/ERROR \[002\]/.test(text)) {
      throw new Undelivered('later', 'the service blocks this account for a while', { wait_ms: blocked_ms })
    }
    if (/ERROR/.test(text)) throw new Undelivered('refused', `the service says: ${plain(text)}`)
    // A page instead of a key: the service is being maintained, or the account is not known.
    if (!/^[\w-]{4,64}$/.test(text)) throw new Undelivered('later', 'the service answers with a page instead of a key')
    return text
  }

  async status(key: string): Promise<CsrsStatus> {
    const text = await this.#text(`/results/status?id=${encodeURIComponent(key)}`, {})
    const [word] = text.toLowerCase().match(/\b(?:processing|done|error)\b/) ?? []
    if (word === undefined) throw new Undelivered('later', 'the service says neither processing, done nor error')
    return word as CsrsStatus
  }

  /** The report of a job that is done. @throws Undelivered */
  async report(key: string): Promise<string> {
    const response = await this.#fetch(`/results/file?id=${encodeURIComponent(key)}`, { maxBytes: mostReport_bytes })
    const zip = Buffer.from(await response.arrayBuffer())
    const sum = findInZip(zip, /\.sum$/i)
    if (!sum) throw new Undelivered('later', 'the report of the service is not complete')
    return sum.toString('latin1')
  }

  async #text(path: string, options: FetchOptions): Promise<string> {
    return (await (await this.#fetch(path, { ...options, maxBytes: 65_536 })).text()).trim()
  }

  /** A refusal is tried again too: the service answers so while it is being maintained. */
  #fetch(path: string, options: FetchOptions): Promise<Response> {
    const headers = { ...(options.headers as Record<string, string>), 'User-Agent': agent, Accept: 'text/plain' }
    return deliver(this.#ctx.fetch, `${this.#url}${path}`, {
      ...{ timeout_ms: 60_000, redirects: 3, ...options, headers },
      means: (status) => (status < 200 || status > 299 ? 'later' : undefined),
      explain: ({ status }) => `the service answers ${status}`,
      unanswered: (message) => `the service cannot be reached: ${message}`,
    })
  }
}

const plain = (text: string) =>
  text
    .replaceAll(/<[^>]*>|\s+/g, ' ')
    .trim()
    .slice(0, 200)
