/** Writes answers, and spoils them on demand. */
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Damage } from '../device/faults.js'
import { isObject } from '../ubus/object.js'

export interface Answer {
  status: number
  body: unknown
}

export const page = (title: string, text = '') =>
  `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1>${text}</body></html>\n`

export function writeHtml(response: ServerResponse, status: number, title: string, text?: string): void {
  const body = page(title, text)
  response.writeHead(status, { 'Content-Type': 'text/html', 'Content-Length': Buffer.byteLength(body) }).end(body)
}

type Change = (value: unknown) => unknown

const asText: Change = (value) => {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (Array.isArray(value)) return value.map(asText)
  return isObject(value) ? mapped(value, asText) : value
}
const otherType: Change = (value) => {
  if (typeof value === 'string') return { value }
  if (typeof value === 'number') return null
  if (typeof value === 'boolean') return [value]
  return Array.isArray(value) ? 'list' : isObject(value) ? mapped(value, otherType) : 0
}
const mapped = (value: Record<string, unknown>, change: Change) =>
  Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)]))

/** The data of a ubus or REST answer, changed; the envelope stays. */
function changeData(body: unknown, change: Change): unknown {
  if (Array.isArray(body)) return body.map((one) => changeData(one, change))
  if (!isObject(body)) return body
  if (Array.isArray(body.result)) return { ...body, result: [body.result[0], ...body.result.slice(1).map(change)] }
  return body.data === undefined ? body : { ...body, data: change(body.data) }
}

function changed(body: unknown, damage: Damage | undefined): unknown {
  if (damage === 'strings') return changeData(body, asText)
  if (damage === 'wrong') return changeData(body, otherType)
  if (damage === 'id' && isObject(body) && 'id' in body) return { ...body, id: 999_999 }
  return body
}

const huge_bytes = 8 * 1024 * 1024
const depth = 20_000

function spoiled(text: string, damage: Damage | undefined): string | Buffer {
  if (damage === 'json') return text.slice(0, Math.ceil(text.length / 2))
  if (damage === 'html') return page('Teltonika WebUI', '<form action="/login"></form>')
  if (damage === 'empty') return ''
  if (damage === 'huge') return `{"padding":"${'x'.repeat(huge_bytes)}",${text.slice(1)}`
  if (damage === 'deep') return '['.repeat(depth) + ']'.repeat(depth)
  if (damage === 'binary') return randomBytes(512)
  return text
}

export function writeJson(response: ServerResponse, { status, body }: Answer, damage?: Damage): void {
  // The power went, or the client, while it was made.
  if (response.destroyed || response.socket === null) return
  const text = spoiled(JSON.stringify(changed(body, damage)), damage)
  const bytes = Buffer.from(text)
  if (damage === 'reset') {
    response.socket.destroy()
    return
  }
  const type = damage === 'html' ? 'text/html' : 'application/json'
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length })
  if (damage !== 'cut') {
    response.end(bytes)
    return
  }
  const { socket } = response
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => socket.destroy())
}
