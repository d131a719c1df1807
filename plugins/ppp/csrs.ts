/** CSRS-PPP of NRCan: its interface, and its report. */

import { randomUUID } from 'node:crypto'
import type { PluginContext } from 'rtk-base/plugin'
import { findInZip } from './zip.js'

export const csrsUrl = 'https://webapp.csrs-scrs.nrcan-rncan.gc.ca/CSRS-PPP/service'
/** The service answers browsers only, and this name. */
const agent = 'CSRS-PPP access via Python Browser Emulator'
const mostReport_bytes = 8_388_608

/** `retry`: the service is not well. `blocked`: it refuses this account for a while. `refused`: it will not take it. */
export class CsrsTrouble extends Error {
  readonly kind: 'retry' | 'blocked' | 'refused'

  constructor(kind: CsrsTrouble['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export type CsrsStatus = 'processing' | 'done' | 'error'

export class Csrs {
  readonly #ctx: PluginContext
  readonly #url: string

  constructor(ctx: PluginContext, url: string) {
    this.#ctx = ctx
    this.#url = url
  }

  /** @returns the key of the job @throws CsrsTrouble */
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
    if (/ERROR \[002\]/.test(text)) throw new CsrsTrouble('blocked', 'the service blocks this account for a while')
    if (/ERROR/.test(text)) throw new CsrsTrouble('refused', `the service says: ${plain(text)}`)
    // A page instead of a key: the service is being maintained, or the account is not known.
    if (!/^[\w-]{4,64}$/.test(text)) throw new CsrsTrouble('retry', 'the service answers with a page instead of a key')
    return text
  }

  async status(key: string): Promise<CsrsStatus> {
    const text = await this.#text(`/results/status?id=${encodeURIComponent(key)}`, {})
    const [word] = text.toLowerCase().match(/\b(?:processing|done|error)\b/) ?? []
    if (word === undefined) throw new CsrsTrouble('retry', 'the service says neither processing, done nor error')
    return word as CsrsStatus
  }

  /** The report of a job that is done. @throws CsrsTrouble */
  async report(key: string): Promise<string> {
    const response = await this.#fetch(`/results/file?id=${encodeURIComponent(key)}`, { maxBytes: mostReport_bytes })
    const zip = Buffer.from(await response.arrayBuffer())
    const sum = findInZip(zip, /\.sum$/i)
    if (!sum) throw new CsrsTrouble('retry', 'the report of the service is not complete')
    return sum.toString('latin1')
  }

  async #text(path: string, options: Parameters<PluginContext['fetch']>[1]): Promise<string> {
    return (await (await this.#fetch(path, { ...options, maxBytes: 65_536 })).text()).trim()
  }

  async #fetch(path: string, options: NonNullable<Parameters<PluginContext['fetch']>[1]>): Promise<Response> {
    try {
      const headers = { ...(options.headers as Record<string, string>), 'User-Agent': agent, Accept: 'text/plain' }
      const response = await this.#ctx.fetch(`${this.#url}${path}`, {
        timeout_ms: 60_000,
        redirects: 3,
        ...options,
        headers,
      })
      if (response.ok) return response
      void response.body?.cancel()
      throw new CsrsTrouble('retry', `the service answers ${response.status}`)
    } catch (error) {
      if (error instanceof CsrsTrouble) throw error
      throw new CsrsTrouble('retry', `the service cannot be reached: ${(error as Error).message}`)
    }
  }
}

const plain = (text: string) =>
  text
    .replaceAll(/<[^>]*>|\s+/g, ' ')
    .trim()
    .slice(0, 200)
