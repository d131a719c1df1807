/** How bodies are read and schemas are checked, the same for every route of every plugin. */
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { Dispose } from '../../../schemas/event.js'
import { RtkError } from '../../errors.js'
import type { Clock } from '../../platform/ports/clock.js'
import { deepest, isTooDeep, pointerNames, problemOf, withCleanHosts } from '../../platform/validate.js'

/** A request that is wrong in a way that its sender can correct. */
export class RequestError extends Error {
  readonly statusCode: number
  constructor(statusCode: 400 | 408, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** Carries the field that a schema rejected. */
export class ValidationError extends Error {
  readonly statusCode = 400
  readonly field: string
  /** @param problem with the field as a JSON pointer */
  constructor(part: string, { field, message }: { field: string; message: string }) {
    const path = pointerNames(field).join('.')
    super(`${part}${path === '' ? '' : `.${path}`} ${message}`)
    this.field = path
  }
}

/**
 * The one validator: TypeBox, compiled at first use. Bodies are neither converted nor stripped, but hosts in them are cleaned as in a
 * change; text values (query, params, headers) are converted to the type in the schema.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema | boolean> = ({ schema, httpPart = 'body' }) => {
  if (schema === false) {
    return () => ({ error: new ValidationError(httpPart, { field: '', message: 'is not accepted by this route' }) })
  }
  if (schema === true) return (value: unknown) => ({ value })
  if (typeof schema !== 'object' || schema === null) throw new TypeError(`the schema of ${httpPart} is not a schema`)
  return (given: unknown) => {
    const value = httpPart === 'body' ? withCleanHosts(schema, given) : Value.Convert(schema, given)
    const problem = problemOf(schema, value)
    return problem ? { error: new ValidationError(httpPart, problem) } : { value }
  }
}

const tooLarge = (limit: number) => new RtkError('RTK_ERR_BODY_TOO_LARGE', `the body is larger than ${limit} bytes`)

/** Reads a body of at most `limit` bytes within `timeout_ms`. */
function readBody(stream: IncomingMessage, limit: number, timeout_ms: number, clock: Clock): Promise<Buffer> {
  if (Number(stream.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) finish(() => reject(tooLarge(limit)))
      else chunks.push(chunk)
    }
    const onEnd = () => finish(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    const onGone = () => finish(() => reject(new RequestError(400, 'the body was cut off')))
    const disarm: Dispose = clock.timer(timeout_ms, () =>
      finish(() => reject(new RequestError(408, `the body did not arrive within ${timeout_ms} ms`))),
    )
    function finish(settle: () => void) {
      void disarm()
      stream.off('data', onData).off('end', onEnd).off('close', onGone)
      settle()
    }
    stream.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

/** A content-type parser for every type: `curl -d` labels JSON as a form. */
export function bodyParser(timeout_ms: number, clock: Clock) {
  return async (request: FastifyRequest, stream: IncomingMessage): Promise<unknown> => {
    const { config, bodyLimit } = request.routeOptions
    if (config.rawBody === 'stream') return stream
    const bytes = await readBody(stream, bodyLimit, timeout_ms, clock)
    if (config.rawBody === 'buffer') return bytes
    if (bytes.length === 0) return undefined
    let body: unknown
    try {
      // Skips a byte order mark, which editors of Windows write.
      body = JSON.parse(new TextDecoder().decode(bytes))
    } catch (error) {
      throw new RequestError(400, `the body is not JSON: ${(error as Error).message}`)
    }
    if (isTooDeep(body)) throw new RequestError(400, `the body is nested deeper than ${deepest} levels`)
    return body
  }
}
