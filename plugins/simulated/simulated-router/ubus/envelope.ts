/** JSON-RPC as implemented by the router's web server: checks, their order, and answers (reference §1). */
import type { Device } from '../device/device.js'
import { fileObject } from './file-object.js'
import { gsmObjects } from './gsm-objects.js'
import { networkObjects } from './network-objects.js'
import { isObject, type Objects, type Reply, type UbusObject, ubusStatus } from './object.js'
import { isFree, sessionObject, systemObjects } from './system-objects.js'
import { uciObject, vuciObjects } from './uci-objects.js'

const all: Objects = {
  session: sessionObject,
  file: fileObject,
  uci: uciObject,
  ...systemObjects,
  ...networkObjects,
  ...gsmObjects,
  ...vuciObjects,
}

/** Undefined: this router does not have it, or not now. */
export function findObject(device: Device, name: string): UbusObject | undefined {
  const object = Object.hasOwn(all, name) ? all[name] : undefined
  if (object === undefined || device.faults.isMissing(name)) return undefined
  return object.present === undefined || object.present(device) ? object : undefined
}

/** A longer body cannot be parsed. */
export const largestBody_bytes = 65_536

const errors = {
  parse: [-32_700, 'Parse error'],
  method: [-32_601, 'Method not found'],
  parameters: [-32_602, 'Invalid parameters'],
  object: [-32_000, 'Object not found'],
  access: [-32_002, 'Access denied'],
  timeout: [-32_003, 'ubus request timed out'],
} as const

type Outcome = { result: Reply } | { error: keyof typeof errors }

interface Request {
  sid: string
  object: string
  method: string
  args: Record<string, unknown>
}

function parseRequest(message: unknown): Request | { error: 'parse' | 'method' } {
  if (!isObject(message) || message.jsonrpc !== '2.0' || typeof message.method !== 'string') return { error: 'parse' }
  if (message.method !== 'call') return { error: 'method' }
  const [sid, object, method, args] = Array.isArray(message.params) ? message.params : []
  if (typeof sid !== 'string' || typeof object !== 'string' || typeof method !== 'string' || !isObject(args)) {
    return { error: 'parse' }
  }
  return { sid, object, method, args }
}

/** Name of a call in faults and in the list of calls. */
const nameOf = (message: unknown): string => {
  const request = parseRequest(message)
  return 'error' in request ? 'invalid' : `${request.object}.${request.method}`
}
export const namesOf = (body: unknown): string => (Array.isArray(body) ? body.map(nameOf).join(',') : nameOf(body))

async function call(device: Device, request: Request, address: string): Promise<Outcome> {
  const { sid, object, method, args } = request
  const found = findObject(device, object)
  if (found === undefined) return { error: 'object' }
  const session = device.sessions.use(sid)
  const allowed = isFree(object, method) || (session !== undefined && !device.faults.isDenied(object, method))
  if (!allowed) return { error: 'access' }
  if (Object.hasOwn(args, 'ubus_rpc_session')) return { error: 'parameters' }
  const run = Object.hasOwn(found.methods, method) ? found.methods[method] : undefined
  if (run === undefined) return { result: [ubusStatus.methodNotFound] }
  const isLogin = object === 'session' && method === 'login'
  if (isLogin) device.logins.most = Math.max(device.logins.most, ++device.logins.now)
  try {
    await device.delays.wait(device.faults.delay_ms(`${object}.${method}`))
    const failure = device.faults.failure(`${object}.${method}`)
    if (failure !== undefined) return { result: 'status' in failure ? [failure.status] : [ubusStatus.ok, failure] }
    return { result: await run(args, { device, session, sid, address }) }
  } finally {
    if (isLogin) device.logins.now--
  }
}

/** Ends a call that takes too long. The started operation continues. */
async function limited(device: Device, request: Request, address: string): Promise<Outcome> {
  let cancel = () => {}
  const limit = new Promise<Outcome>((resolve) => {
    cancel = device.delays.after(device.options.scriptTimeout_s * 1000, () => resolve({ error: 'timeout' }))
  })
  return Promise.race([call(device, request, address), limit]).finally(cancel)
}

async function answerOne(device: Device, message: unknown, address: string): Promise<unknown> {
  const id = isObject(message) && Object.hasOwn(message, 'id') ? message.id : null
  const request = parseRequest(message)
  const outcome = 'error' in request ? request : await limited(device, request, address)
  if ('error' in outcome) {
    const [code, text] = errors[outcome.error]
    device.saw(nameOf(message), code)
    return { jsonrpc: '2.0', id, error: { code, message: text } }
  }
  device.saw(nameOf(message), outcome.result[0])
  return { jsonrpc: '2.0', id, result: outcome.result }
}

/** @param body undefined: not JSON, or too long */
export async function answerUbus(device: Device, body: unknown, address: string): Promise<unknown> {
  if (!Array.isArray(body)) return answerOne(device, body, address)
  const answers: unknown[] = []
  for (const message of body) answers.push(await answerOne(device, message, address))
  return answers
}
