/** What of the router answers which path. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Device } from '../device/device.js'
import { answerRest } from '../rest/rest.js'
import { answerUbus, largestBody_bytes, namesOf } from '../ubus/envelope.js'
import { writeHtml, writeJson } from './damage.js'

/** Of an upload: the RAM disk has no more. */
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
