import { badValue, RtkError } from 'rtk-base/plugin'
import { parseMask } from 'rtk-base/schemas'

/** The query as it came off the wire, without the `?`; these routes have bare values that a query parser would lose. */
export function rawQuery(url = ''): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

function decoded(query: string): string {
  try {
    return decodeURIComponent(query.replaceAll('+', ' '))
  } catch {
    throw new RtkError('RTK_ERR_COMMAND_VALUE', `the query "${query.slice(0, 60)}" is not percent-encoded text`)
  }
}

/** @throws RTK_ERR_MASK */
export function maskOf(query: string): number {
  const mask = parseMask(query)
  if (mask !== undefined) return mask
  throw new RtkError('RTK_ERR_MASK', `the mask is a number from 0 to 0xFFFFFFFF, not "${query.slice(0, 60)}"`)
}

/** Commands with a URL as value: `+` and `%2F` of a signed URL must arrive unchanged. */
const verbatim = /^(firmware|ota-upgrade)=./

/**
 * `?reboot`, `?log=d`, `?cmd=reboot` and `?cmd=log=d` are the same to the caller.
 * @throws RTK_ERR_COMMAND_VALUE without a command.
 */
export function commandText(query: string): string {
  const written = query.startsWith('cmd=') ? query.slice('cmd='.length) : query
  if (verbatim.test(written)) return written
  const text = decoded(written)
  // A form-like client writes a bare name as `name=`.
  const command = /^[^=]+=$/.test(text) ? text.slice(0, -1) : text
  if (command === '') throw new RtkError('RTK_ERR_COMMAND_VALUE', 'send a command: POST /system?<command>')
  return command
}

const longestSecret = 4_096

/**
 * The value of a command in the body, without the line break at its end.
 * @throws RTK_ERR_COMMAND_VALUE
 */
export function secretText(body: unknown): string {
  if (!Buffer.isBuffer(body)) return ''
  if (body.length > longestSecret) throw badValue(`a value in the body has at most ${longestSecret} bytes`)
  return body.toString('utf8').replace(/\r?\n$/, '')
}

/** The `namespace` parameter; undefined when there is none. */
export function namespaceOf(query: unknown): string | undefined {
  const { namespace } = query as { namespace?: unknown }
  if (namespace === undefined) return undefined
  if (typeof namespace !== 'string') throw new RtkError('RTK_ERR_NVS_VALUE', 'name one namespace')
  return namespace
}
