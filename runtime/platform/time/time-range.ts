/** Reads times and time spans from commands and queries. */
import { RtkError } from '../../errors.js'

const latest_ms = Date.UTC(2200, 0, 1)
/** The accepted forms of a time, for error messages. */
export const timeForms =
  'e.g. 2026-11-22T02:13, 2026-11-22T02:13:00Z, 2026-11-22T03:13+01:00, or epoch seconds; without a zone it is UTC'

/** UTC milliseconds of an ISO 8601 time or of epoch seconds; undefined for any other text. */
export function timeOf(text: string): number | undefined {
  if (/^\d{1,11}(\.\d{1,3})?$/.test(text)) {
    const ms = Math.round(Number(text) * 1000)
    return ms < latest_ms ? ms : undefined
  }
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(text)
  if (!form) return undefined
  const [, date, time = '00:00', zone = 'Z'] = form
  const ms = Date.parse(`${date}T${time.length === 5 ? `${time}:00` : time}${zone}`)
  // 2026-02-30 would be a day in March.
  return Number.isNaN(ms) || (zone === 'Z' && new Date(ms).toISOString().slice(0, 10) !== date) ? undefined : ms
}

const refused = (text: string) => new RtkError('RTK_ERR_RECORD_RANGE', text)

/**
 * The span of time in a query: `from` and `to`, UTC milliseconds.
 * @param others further names that the query may contain
 * @throws RTK_ERR_RECORD_RANGE
 */
export function rangeOf(query: unknown, others: readonly string[] = []): { from_ms: number; to_ms: number } {
  const given = query as Record<string, unknown>
  for (const name of Object.keys(given))
    if (!['from', 'to', ...others].includes(name))
      throw refused(`the query may have ${['from', 'to', ...others].join(', ')}, not '${name.slice(0, 40)}'`)
  const one = (name: string, otherwise: number) => {
    const text = given[name]
    if (text === undefined) return otherwise
    if (typeof text !== 'string') throw refused(`${name} is given more than once`)
    // In a query a plus sign means a blank.
    const at_ms = timeOf(text.replace(/ (?=\d\d:?\d\d$)/, (blank, at: number) => (at > 10 ? '+' : blank)))
    if (at_ms === undefined) throw refused(`${name}='${text.slice(0, 40)}' is not a time: ${timeForms}`)
    return at_ms
  }
  const from_ms = one('from', 0)
  const to_ms = one('to', latest_ms)
  if (from_ms > to_ms) throw refused(`from (${iso(from_ms)}) is after to (${iso(to_ms)})`)
  return { from_ms, to_ms }
}

/** UTC milliseconds as an ISO 8601 time, to the second. */
export const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
