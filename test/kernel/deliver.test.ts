/** Delivering by HTTP: what an answer means, and when the next attempt follows. */
import t from 'tap'
import { RtkError } from '../../runtime/errors.js'
import { addressRefused } from '../../runtime/platform/address/checked-resolve.js'
import { type DeliverOptions, deliver, Undelivered } from '../../runtime/platform/fetch/deliver.js'
import { waitAfter_ms } from '../../runtime/platform/time/backoff.js'

const url = 'https://example.org/secret-token'
const explain = ({ status }: Response) => `it answered ${status}`
const answering = (status: number, headers: Record<string, string> = {}, options: Partial<DeliverOptions> = {}) =>
  deliver(async () => new Response(null, { status, headers }), url, { explain, ...options })
const failing = (error: Error, options: Partial<DeliverOptions> = {}) =>
  deliver(() => Promise.reject(error), url, { explain, ...options })

/** What came of an attempt. */
const outcome = (attempt: Promise<Response>) => attempt.catch((error: unknown) => error)

t.test('one table says which answers take it, which are temporary and which are final', async (t) => {
  for (const status of [200, 201, 204]) t.equal((await answering(status)).status, status)
  for (const status of [408, 425, 429, 500, 502, 503, 504, 507])
    t.match(await outcome(answering(status)), { why: 'later', status, message: `it answered ${status}` })
  for (const status of [301, 400, 401, 403, 404, 409, 413, 428, 501])
    t.match(await outcome(answering(status)), { why: 'refused', status })
  const means = (status: number) => (status === 404 ? 'taken' : status === 413 ? 'item' : undefined)
  t.equal((await answering(404, {}, { means })).status, 404)
  t.match(await outcome(answering(413, {}, { means })), { why: 'item' })
  t.match(await outcome(answering(503, {}, { means })), { why: 'later' })
  const unreadable = () => Promise.reject(new Error('more than 9 bytes'))
  t.match(await outcome(answering(403, { 'retry-after': '7' }, { explain: unreadable })), {
    ...{ why: 'refused', status: 403, wait_ms: 900_000, message: 'it answered 403' },
  })
})

t.test(
  'no answer is temporary, an address that may not be dialled is not, and neither text has the path',
  async (t) => {
    const unanswered = (message: string) => message.replaceAll('/secret-token', '')
    const lost = new RtkError('RTK_ERR_FETCH_TIMEOUT', `${url}: no answer within 20 s`)
    t.match(await outcome(failing(lost, { unanswered })), {
      ...{ why: 'later', status: 0, code: 'RTK_ERR_FETCH_TIMEOUT' },
      message: 'https://example.org: no answer within 20 s',
    })
    const forbidden = (trouble: string) => `hook-url ${trouble}`
    const refused = new RtkError('RTK_ERR_FETCH_TARGET', 'x', { cause: addressRefused('is the station itself') })
    t.match(await outcome(failing(refused, { forbidden })), {
      ...{ why: 'refused', code: 'RTK_ERR_FETCH_TARGET', message: 'hook-url is the station itself' },
    })
  },
)

t.test(
  'the wait that an answer asks for is read in both forms, by the clock of the answer, and is bounded',
  async (t) => {
    const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
    for (const [header, wait_ms] of [
      ['120', 120_000],
      ['999999', 3_600_000],
      ['Wed, 21 Oct 2026 07:30:00 GMT', 120_000],
      ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
      ['soon', 0],
      ['-5', 0],
    ] as const)
      t.match(await outcome(answering(503, { 'retry-after': header, date })), { wait_ms }, header)
    t.match(await outcome(answering(503, { 'retry-after': '999999' }, { mostAsked_ms: 7_200_000 })), {
      wait_ms: 7_200_000,
    })
  },
)

t.test('waits double, each by chance, and never come before what is asked', (t) => {
  const waits = { first_ms: 10, longest_ms: 35 }
  const at = (failures: number, random: number, asked_ms?: number) =>
    waitAfter_ms(failures, { ...waits, spread: [0.5, 1.5], random: () => random }, asked_ms)
  t.strictSame([at(1, 0.5), at(2, 0.5), at(3, 0.5), at(1e6, 0.5)], [10, 20, 35, 35])
  t.strictSame([at(1, 0), at(1, 1)], [5, 15])
  t.strictSame([at(1, 0, 1_000), at(1, 1, 1_000)], [1_000, 1_500])
  const default_ms = [0, 0.5, 1].map((random) => waitAfter_ms(1, { ...waits, random: () => random }))
  t.strictSame(default_ms, [8, 10, 12], 'nobody forgets the spread')
  t.equal(new Undelivered('refused', '').wait_ms, 900_000, 'only a person can end a refusal')
  t.end()
})
