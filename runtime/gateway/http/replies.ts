/** How errors look on the wire: JSON `{ error, message, help, field? }`, or text if the route selects it. */
import type { ServerResponse } from 'node:http'
import type { ErrorKind } from '../../../schemas/error-table.js'
import { kindOf, type RtkError } from '../../errors.js'

export interface ErrorBody {
  error: string
  message: string
  help: string
  /** The field that is wrong, in validation errors. */
  field?: string
}

export function errorBody({ code, help }: ErrorKind, message: string, field?: string): ErrorBody {
  const body: ErrorBody = { error: code, message, help }
  if (field !== undefined) body.field = field
  return body
}

/** The extra headers that a refusal carries. */
export function headersOf({ code, status }: ErrorKind): Record<string, string> {
  if (code === 'RTK_ERR_UNAUTHORIZED') return { 'www-authenticate': 'Bearer' }
  if (code === 'RTK_ERR_TOO_MANY_TRIES') return { 'retry-after': '60' }
  if (code === 'RTK_ERR_TOO_MANY_REQUESTS') return { 'retry-after': '1' }
  // `refresh` is for a browser that shows the answer: it has the page as soon as the station does.
  if (status === 503) return { 'retry-after': '1', refresh: '2' }
  return {}
}

/** An error as the body of an answer: JSON, or one line of text. */
export function errorText(body: ErrorBody, as: 'text' | undefined): { type: string; text: string } {
  return as === 'text'
    ? { type: 'text/plain; charset=utf-8', text: `${body.message.trimEnd()}\n` }
    : { type: 'application/json; charset=utf-8', text: JSON.stringify(body) }
}

/** Answers past Fastify. */
export function sendError(response: ServerResponse, error: RtkError, as?: 'text'): void {
  const { type, text } = errorText(errorBody(kindOf(error), error.message), as)
  response.writeHead(error.statusCode, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    ...headersOf(kindOf(error)),
  })
  response.end(text)
}

const reasons: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
}

/** A whole answer for a bare socket, which is closed after it. */
export function rawAnswer(error: RtkError): string {
  const kind = kindOf(error)
  const text = JSON.stringify(errorBody(kind, error.message))
  const { status } = kind
  const extra = Object.entries(headersOf(kind)).map(([name, value]) => `${name}: ${value}`)
  return [
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    ...extra,
    'connection: close',
    '',
    text,
  ].join('\r\n')
}
