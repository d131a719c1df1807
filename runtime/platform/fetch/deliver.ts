/**
 * Delivering by HTTP, again until it is taken: one attempt, and what its answer means. `waitAfter_ms` is the wait for the next one.
 *
 * | answer                              | meaning                                              |
 * |-------------------------------------|------------------------------------------------------|
 * | 2xx                                 | taken                                                |
 * | none, 408, 425, 429, 5xx except 501 | later: the other side is not well                    |
 * | all others                          | refused: a person has to do something                |
 *
 * What waits stays with its owner, who stores it over restarts.
 */
import { kindOf, RtkError } from '../../errors.js'
import { refusedAddress } from '../address/checked-resolve.js'
import type { Fetch, FetchOptions } from './types.js'

/** `item`: this one is refused, another one may be taken. */
export type Unwillingness = 'later' | 'refused' | 'item'

const refused_ms = 900_000

/** An attempt that failed. Its message is for a person, and has no secrets. */
export class Undelivered extends RtkError {
  readonly why: Unwillingness
  /** The status of the answer; 0: there is none. */
  readonly status: number
  /** The least wait for the next attempt: as long as the other side asks, and a while where only a person can end a refusal. */
  readonly wait_ms: number

  constructor(why: Unwillingness, message: string, rest: { status?: number; wait_ms?: number; cause?: Error } = {}) {
    super(rest.cause instanceof RtkError ? kindOf(rest.cause) : 'RTK_ERR_FETCH_ANSWER', message, { cause: rest.cause })
    this.why = why
    this.status = rest.status ?? 0
    this.wait_ms = Math.max(rest.wait_ms ?? 0, why === 'refused' ? refused_ms : 0)
  }
}

export interface DeliverOptions extends FetchOptions {
  /** Meaning of an answer with this status, where the table does not fit; undefined: it fits. */
  means?(status: number): 'taken' | Unwillingness | undefined
  /** For a person: an answer that does not take it. */
  explain(response: Response, wait_ms: number): string | Promise<string>
  /** For a person: there is no answer. @param message names the URL; default: the message itself */
  unanswered?(message: string): string
  /** For a person: the address may not be dialled. @param trouble continues the sentence; default: the trouble itself */
  forbidden?(trouble: string): string
  /** Limit of the wait that an answer asks for; default: 1 h. */
  mostAsked_ms?: number
}

const hour_ms = 3_600_000
const temporary = new Set([408, 425, 429])

function meaningOf(status: number): 'taken' | Unwillingness {
  if (status >= 200 && status < 300) return 'taken'
  const isTemporary = status >= 500 ? status !== 501 : temporary.has(status)
  return isTemporary ? 'later' : 'refused'
}

/** One attempt. @returns the answer that takes it, its body unread @throws Undelivered */
export async function deliver(fetch: Fetch, url: string | URL, options: DeliverOptions): Promise<Response> {
  const { means, explain, unanswered, forbidden, mostAsked_ms = hour_ms, ...request } = options
  try {
    const response = await fetch(url, request)
    const { headers, status } = response
    const why = means?.(status) ?? meaningOf(status)
    if (why === 'taken') return response
    const wait_ms = Math.min(retryAfter_ms(headers), mostAsked_ms)
    const text = await explained(explain, response, wait_ms)
    if (!response.bodyUsed) await response.body?.cancel()
    throw new Undelivered(why, text, { status, wait_ms })
  } catch (error) {
    if (error instanceof Undelivered) throw error
    const { message } = error as Error
    const trouble = refusedAddress(error)
    const cause = error as Error
    if (trouble !== undefined) throw new Undelivered('refused', forbidden?.(trouble) ?? trouble, { cause })
    throw new Undelivered('later', unanswered?.(message) ?? message, { cause })
  }
}

/** A refusal stays one though its body is too long, or breaks off. */
async function explained(explain: DeliverOptions['explain'], response: Response, wait_ms: number): Promise<string> {
  try {
    return await explain(response, wait_ms)
  } catch {
    return `it answered ${response.status}`
  }
}

/**
 * Seconds or a date (RFC 9110, section 10.2.3); 0 when neither is readable. A date counts from that of the answer: the clock of a station
 * may not be set.
 */
function retryAfter_ms(headers: Headers): number {
  const value = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const wait_ms = Date.parse(value) - Date.parse(headers.get('date') ?? '')
  return wait_ms > 0 ? wait_ms : 0
}
