/** Small words that the columns of the table are written with. */
import type { RestCall, UbusCall } from '../transport/index.js'
import type { Way } from './operations.js'
import { outputOf } from './parse.js'

type More = Pick<UbusCall, 'limit_ms' | 'optional' | 'accepts'>
type RestMore = Pick<RestCall, 'limit_ms' | 'optional'>

export const ubus = (object: string, method: string, args: UbusCall['args'] = {}, more: More = {}): UbusCall => ({
  object,
  method,
  args,
  ...more,
})
export const run = (command: string, params: readonly string[], more: More = {}) =>
  ubus('file', 'exec', { command, params: [...params] }, more)
export const gsmctl = (params: readonly string[], more: More = {}) => run('gsmctl', params, more)
export const uciGet = (config: string, section?: string, more: More = {}) =>
  ubus('uci', 'get', section === undefined ? { config } : { config, section }, more)
export const uciSet = (config: string, section: string, values: Readonly<Record<string, string>>, more: More = {}) =>
  ubus('uci', 'set', { config, section, values }, more)
export const uciCommit = (config: string, more: More = {}) => ubus('uci', 'commit', { config }, more)

export const get = (path: string, more: RestMore = {}): RestCall => ({ verb: 'GET', path, ...more })
export const put = (path: string, data: unknown, more: RestMore = {}): RestCall => ({
  verb: 'PUT',
  path,
  data,
  ...more,
})
export const post = (path: string, data?: unknown, more: RestMore = {}): RestCall =>
  data === undefined ? { verb: 'POST', path, ...more } : { verb: 'POST', path, data, ...more }

/** A way that changes something and gives nothing. */
export function write<I>(way: Omit<Way<I, true>, 'read' | 'writes'>): Way<I, true> {
  return { ...way, writes: true, read: () => true }
}

/** For a command that has to end with 0. */
export const mustSucceed = { accepts: (answer: unknown) => outputOf(answer) !== undefined }
