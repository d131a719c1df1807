/** `/api`: who may call, with what body, and which endpoint answers. */
import type { Device } from '../device/device.js'
import { isObject } from '../ubus/object.js'
import { failure, type RestAnswer } from './answer.js'
import { findEndpoint } from './endpoints.js'

export interface RestCall {
  method: string
  /** Without `/api/`. */
  path: string
  authorization: string
  contentType: string
  raw: Buffer
  address: string
}

function dataOf({ raw, path }: RestCall): Record<string, unknown> | undefined {
  if (raw.length === 0) return {}
  try {
    const body: unknown = JSON.parse(raw.toString())
    if (!isObject(body)) return undefined
    if (path === 'login') return body
    return body.data === undefined ? {} : isObject(body.data) ? body.data : undefined
  } catch {
    return undefined
  }
}

export async function answerRest(device: Device, call: RestCall): Promise<RestAnswer> {
  const { method, path, authorization, contentType, raw, address } = call
  const entry = findEndpoint(method, path, device.firmware)
  const token = /^Bearer (.+)$/.exec(authorization)?.[1]
  const session = token === undefined ? undefined : device.tokens.use(token)
  if (entry?.open !== true && session === undefined) return failure(token === undefined ? 'unauthorised' : 'token')
  if (entry === undefined) return failure('notImplemented', `${method} /api/${path}`)
  if (device.faults.isDenied(path, method)) return failure('unauthorised')
  const data = entry.upload ? {} : dataOf(call)
  if (data === undefined) return failure('request', 'Body')
  const isLogin = path === 'login'
  if (isLogin) device.logins.most = Math.max(device.logins.most, ++device.logins.now)
  try {
    await device.delays.wait(device.faults.delay_ms(`${method} /api/${path}`))
    const failing = device.faults.failure(path)
    if (failing !== undefined)
      return failure('request', 'error' in failing ? failing.error : `status ${failing.status}`)
    return await entry.run({ device, session, path: entry.path, data, raw, contentType, address })
  } finally {
    if (isLogin) device.logins.now--
  }
}
