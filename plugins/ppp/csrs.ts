/** CSRS-PPP of NRCan: its interface, and its report. */

import { randomUUID } from 'node:crypto'
import { type FrameName, frameNames } from 'rtk-base/gnss'
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

/** A determined position: of the marker. */
export interface Determined {
  readonly position: { readonly x: number; readonly y: number; readonly z: number }
  /** 1 sigma of each axis, metres. */
  readonly sigma_m: readonly [number, number, number]
  readonly frame: FrameName
  /** Decimal year. */
  readonly epoch: number
  /** The antenna reference point above the marker, as the service read it from the file, metres; undefined: not in the report. */
  readonly height_m: number | undefined
}

/** Names of the frame in the report; IGS20 and its update are ITRF2020 to a fraction of a millimetre. */
const aliases: Readonly<Record<string, FrameName>> = {
  IGS20: 'ITRF2020',
  IGB20: 'ITRF2020',
  IGC20: 'ITRF2020',
  IGB14: 'ITRF2014',
  IGS14: 'ITRF2014',
}

/**
 * The position in a report (`.sum`): `POS X|Y|Z frame yy:ddd:sssss apriori estimate difference sigma95 …`.
 * `ARP north east up`: the antenna reference point, from the submitted file.
 * @returns a text that says what is wrong with it
 */
export function readSum(text: string): Determined | string {
  const rows = ['X', 'Y', 'Z'].map((axis) =>
    text
      .split(/\r?\n/)
      .map((line) => line.trim().split(/\s+/))
      .find((fields) => fields[0] === 'POS' && fields[1] === axis),
  )
  const [first] = rows
  if (!first || rows.some((row) => row === undefined)) return 'it has no position: lines POS X, POS Y, POS Z'
  const numbers = (column: number) => rows.map((row) => Number(row?.[column])) as [number, number, number]
  const [x, y, z] = numbers(5)
  const sigma_m = numbers(7).map((sigma95) => sigma95 / 1.96) as [number, number, number]
  const radius = Math.hypot(x, y, z)
  if (!(radius > 6_330_000 && radius < 6_400_000)) return 'its position is not on the earth'
  if (!sigma_m.every((sigma) => sigma > 0 && sigma < 1_000)) return 'its accuracy cannot be read'
  const named = (first[2] ?? '').toUpperCase()
  // Its epochs and accuracies stand in other columns.
  if (named.startsWith('NAD83')) return 'it is in NAD83: ask the service for ITRF, which the station converts'
  const frame = aliases[named] ?? frameNames.find((name) => name.toUpperCase() === named)
  if (!frame) return `its frame '${named.slice(0, 16)}' is not known`
  const epoch = epochOf(first[3] ?? '')
  if (epoch === undefined) return `its epoch '${(first[3] ?? '').slice(0, 16)}' cannot be read`
  const up = Number(/^\s*ARP\s+\S+\s+\S+\s+(\S+)/m.exec(text)?.[1] ?? Number.NaN)
  return { position: { x, y, z }, sigma_m, frame, epoch, height_m: Number.isFinite(up) ? up : undefined }
}

/** `26:331:43200`: year, day of the year, second of the day. */
function epochOf(text: string): number | undefined {
  const [, yy, day, second] = /^(\d{2}):(\d{3}):(\d{5})$/.exec(text) ?? []
  if (yy === undefined) return undefined
  const year = 2000 + Number(yy)
  const length = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1 ? 366 : 365
  return year + (Number(day) - 1 + Number(second) / 86_400) / length
}
