/** Writes answers, and spoils them on demand. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Device } from '../device/device.js'
import type { Damage } from '../device/faults.js'
import { answerRest } from '../rest/rest.js'
import { answerUbus, largestBody_bytes, namesOf } from '../ubus/envelope.js'
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

/** The largest upload: the RAM disk has no more. */
const largestUpload_bytes = 40 * 1024 * 1024

/** @returns undefined: it is longer than that. The rest is read nevertheless, or the client would not hear the answer. */
async function readBody(request: IncomingMessage, most_bytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= most_bytes) chunks.push(chunk)
    else if (size > 2 * largestUpload_bytes) request.destroy()
  }
  return size <= most_bytes ? Buffer.concat(chunks) : undefined
}

function parsed(raw: Buffer | undefined): unknown {
  try {
    return raw && JSON.parse(raw.toString())
  } catch {
    return undefined
  }
}

async function ubus(
  device: Device,
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
): Promise<void> {
  const body = parsed(await readBody(request, largestBody_bytes))
  const call = namesOf(body)
  const status = device.faults.takeHttp(call)
  if (status !== undefined) {
    device.saw(call, status)
    writeHtml(response, status, 'Bad Gateway')
    return
  }
  const damage = device.faults.takeDamage(call)
  writeJson(response, { status: 200, body: await answerUbus(device, body, address) }, damage)
}

async function rest(
  device: Device,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  address: string,
): Promise<void> {
  const { method = 'GET', headers } = request
  const call = `${method} /api/${path}`
  const contentType = headers['content-type'] ?? ''
  const limit = contentType.startsWith('multipart/form-data') ? largestUpload_bytes : largestBody_bytes
  const raw = await readBody(request, limit)
  const status = device.faults.takeHttp(call) ?? (raw === undefined ? 413 : undefined)
  if (status !== undefined || raw === undefined) {
    device.saw(call, status ?? 413)
    writeHtml(response, status ?? 413, 'Error')
    return
  }
  const damage = device.faults.takeDamage(call)
  const authorization = headers.authorization ?? ''
  const answer = await answerRest(device, { method, path, authorization, contentType, raw, address })
  device.saw(call, answer.status)
  writeJson(response, answer, damage)
}

/** @throws when the connection ends meanwhile */
export async function answerRequest(device: Device, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { requests } = device
  requests.most = Math.max(requests.most, ++requests.now)
  // Also when the router or the client goes away before there is an answer; a restart counts from 0.
  response.once('close', () => {
    requests.now = Math.max(0, requests.now - 1)
  })
  await route(device, request, response)
}

async function route(device: Device, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const address = request.socket.remoteAddress ?? ''
  if (path === '/ubus' && device.ubusOn) {
    if (request.method === 'POST') await ubus(device, request, response, address)
    else writeHtml(response, 400, 'Bad Request', 'Invalid Request')
  } else if (path.startsWith('/api/') && device.restOn) {
    await rest(device, request, response, path.slice('/api/'.length).replace(/\/$/, ''), address)
  } else if (path === '/' || path.startsWith('/cgi-bin/luci')) {
    writeHtml(response, 200, `${device.identity.model} - Teltonika`)
  } else {
    await readBody(request, 0)
    device.saw(`${request.method} ${path}`, 404)
    writeHtml(response, 404, 'Not Found', 'The requested URL was not found on this server.')
  }
}
