/** How the record is read: whole, as a timeline, as the answer to one question. */
import { Readable } from 'node:stream'
import { badValue, type PluginContext, unavailable } from 'rtk-base/plugin'
import { content, RecordEntry, RecordValue } from 'rtk-base/schemas'
import { device } from 'rtk-base/services'
import { rangeOf } from 'rtk-base/time'
import { Type } from 'typebox'
import { between, entries } from './history.js'
import { momentOf } from './moment.js'
import type { FlightRecorder } from './recorder.js'
import type { RecordRing } from './ring.js'
import { mostSpans, timeline, withoutSentences } from './timeline.js'
import { answer } from './why/answer.js'
import { find } from './why/found.js'

/** Each reads the whole record from the disk. */
const mostReaders = 2

const day_ms = 86_400_000

const queryParameters = ['from', 'to'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string' },
  description: 'ISO time or UTC seconds',
}))

const Timeline = Type.Object({
  spans: Type.Array(
    Type.Object({
      from: Type.Integer({ description: 'UTC milliseconds' }),
      to: Type.Integer({ description: 'UTC milliseconds: `from` of the next span' }),
      cause: Type.String({ description: '`sent`, or a stable code of the cause' }),
      values: RecordValue,
    }),
    { maxItems: mostSpans },
  ),
})

/** Routes and command. */
export function offerReading(ctx: PluginContext, ring: RecordRing, recorder: FlightRecorder): void {
  const texts = () => ring.read()
  let readers = 0
  /** @returns a function that ends the reading. @throws RTK_ERR_UNAVAILABLE while too many are reading */
  const beginReading = () => {
    if (readers >= mostReaders) throw unavailable(`${mostReaders} others read the record: try again in a moment`)
    readers += 1
    return () => {
      readers -= 1
    }
  }
  ctx.http.route({
    method: 'GET',
    url: '/record',
    // It has commands of people, and the addresses of clients.
    config: { role: 'operator' },
    schema: {
      summary: 'The flight record, JSON lines; `?from=` and `to=` as ISO time or UTC seconds',
      parameters: queryParameters,
      response: { 200: { ...content('application/x-ndjson', RecordEntry), description: 'One entry a line' } },
    },
    handler: (request, reply) => {
      const { from_ms, to_ms } = rangeOf(request.query)
      const endReading = beginReading()
      const lines = Readable.from(jsonLines(between(entries(texts), from_ms, to_ms)), { objectMode: false })
      lines.once('close', endReading)
      return reply.type('application/x-ndjson').send(lines)
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/record/timeline',
    schema: {
      summary: 'When RTCM was sent, and the cause of each interruption',
      description:
        'Contiguous spans, the oldest first, at most 500. Default: the last 24 hours. The causes are in the README of the plugin.',
      parameters: queryParameters,
      response: { 200: Timeline },
    },
    handler: async (request) => {
      const range = rangeOf(request.query)
      const unit = ctx.services.use(device)
      const now_ms = Math.floor(unit.utc_ms() || ctx.clock.now())
      const to_ms = Math.min(range.to_ms, now_ms)
      const from_ms = range.from_ms === 0 ? to_ms - day_ms : Math.min(range.from_ms, to_ms)
      recorder.recordChanges()
      const endReading = beginReading()
      try {
        const spans = await timeline(entries(texts), { from_ms, to_ms }, now_ms)
        return { spans: request.role === 'operator' ? spans : spans.map(withoutSentences) }
      } finally {
        endReading()
      }
    },
  })
  ctx.action({
    name: 'why-no-rtcm',
    summary:
      'why-no-rtcm=02:13 explains why no RTCM was sent at that time (UTC; also an ISO time or epoch seconds); without a value: explains the present',
    input: { at: Type.Optional(Type.String()) },
    run: async ({ input: { at } }) => {
      const unit = ctx.services.use(device)
      const now_ms = unit.utc_ms() || ctx.clock.now()
      const at_ms = at === undefined ? now_ms : momentOf(at, now_ms)
      if (at_ms > now_ms + 60_000) throw badValue(`'${at}' is in the future`)
      recorder.recordChanges()
      const endReading = beginReading()
      try {
        return answer(await find(entries(texts), at_ms), now_ms).join('\n')
      } finally {
        endReading()
      }
    },
  })
}

/** In pieces of some kilobytes: a line each would cost a packet each. */
async function* jsonLines(all: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let text = ''
  for await (const entry of all) {
    text += `${JSON.stringify(entry)}\n`
    if (text.length < 16_384) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
