import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type RinexPresetName, type RinexVersion, rinexPresets, spanTrouble } from 'rtk-base/rinex'
import { device } from 'rtk-base/services'
import { rangeOf } from 'rtk-base/time'
import { Type } from 'typebox'
import type { Archive } from './archive.js'
import { type ArchivedHour, hour_ms } from './hour-files.js'
import { noteNames } from './notes.js'
import type { PushState } from './push.js'
import type { RinexConverter } from './rinex.js'
import { framesBetween } from './span.js'

const day_ms = 86_400_000
const mostNotes = 200
/** A client that reads slowly does not keep the others waiting for ever. */
const longestAnswer_ms = 3_600_000
/** The limit of a RINEX file: minutes of computing on a small machine. */
const longest_ms = 3 * day_ms

const span = ['from', 'to'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string' },
  description: 'ISO time or UTC seconds; default: the last 24 hours',
}))
const named = (name: string, schema: object, description: string) => ({ name, in: 'query', schema, description })
const presetNames = Object.keys(rinexPresets) as RinexPresetName[]

const Files = Type.Object({
  recording: Type.Boolean({ description: 'Observations are being recorded now' }),
  epochs: Type.Integer({ description: 'Recorded since the plugin started' }),
  lost_bytes: Type.Integer({ description: 'Not written, because the disk did not take them' }),
  push: Type.Optional(
    Type.Object(
      {
        waiting: Type.Integer({ description: 'Hours that are over and not pushed' }),
        deleted: Type.Integer({
          description: 'Hours that were deleted before they were pushed, since the plugin started',
        }),
        trouble: Type.String({ description: 'Why the last attempt failed; empty: it did not' }),
      },
      { description: 'Missing while nothing is pushed' },
    ),
  ),
  notes: Type.Array(
    Type.Object({
      t: Type.Integer({ description: 'UTC milliseconds' }),
      what: Type.Enum([...noteNames]),
    }),
    { description: 'Reasons why the positions of a time may differ, oldest first' },
  ),
  files: Type.Array(
    Type.Object({
      from: Type.Integer({ description: 'Start of the hour, UTC seconds' }),
      bytes: Type.Integer(),
      open: Type.Boolean({ description: 'The file of this hour' }),
      epochs: Type.Optional(Type.Integer()),
      interval: Type.Optional(Type.Number({ description: 'Seconds between two epochs, 0: unknown' })),
      missing: Type.Optional(Type.Integer({ description: 'Epochs that are missing between the first and the last' })),
      gap: Type.Optional(Type.Number({ description: 'The longest time without an epoch, seconds' })),
      pushed: Type.Optional(Type.Integer({ description: 'When the server had proved to have it, UTC seconds' })),
    }),
  ),
})

interface Deps {
  readonly ctx: PluginContext
  readonly archive: Archive
  readonly converter: RinexConverter
  /** Name of the point. */
  readonly marker: () => string
  readonly progress: () => { readonly recording: boolean; readonly epochs: number }
  readonly push: { state(hours: readonly ArchivedHour[]): PushState | undefined }
}

/** `GET /raw`, `/raw/files` and `/rinex`. */
export function addRoutes({ archive, converter, ctx, marker, progress, push }: Deps): void {
  /** Aborts when the answer is over, for whatever reason, or takes too long. */
  const untilGone = (response: ServerResponse): AbortSignal => {
    const gone = new AbortController()
    const cancel = ctx.timers.after(longestAnswer_ms, () => gone.abort())
    response.once('close', () => {
      void cancel()
      gone.abort()
    })
    return gone.signal
  }
  const spanOf = (query: unknown, others: readonly string[] = []) => {
    const range = rangeOf(query, others)
    const now_ms = Math.floor(ctx.services.use(device).utc_ms() || ctx.clock.now())
    const to_ms = Math.min(range.to_ms, now_ms + 1_000)
    return { from_ms: range.from_ms === 0 ? to_ms - day_ms : Math.min(range.from_ms, to_ms), to_ms }
  }

  ctx.http.route({
    method: 'GET',
    url: '/raw/files',
    schema: { summary: 'The files of the raw data archive', response: { 200: Files } },
    handler: async () => {
      const hours = await archive.list()
      const pushing = push.state(hours)
      return {
        ...{ ...progress(), lost_bytes: archive.lost_bytes, ...(pushing && { push: pushing }) },
        notes: (await archive.notes(0, Number.POSITIVE_INFINITY)).slice(-mostNotes),
        files: hours.map(({ bytes, contents, hour_ms: start_ms, isOpen, pushed }) => ({
          ...{ from: start_ms / 1000, bytes, open: isOpen },
          ...(contents && {
            ...{ epochs: contents.epochs, interval: contents.interval_s },
            ...{ missing: contents.missing, gap: contents.gap_s },
          }),
          ...(pushed !== undefined && { pushed }),
        })),
      }
    },
  })

  ctx.http.route({
    method: 'GET',
    url: '/raw',
    schema: {
      summary: 'Raw data of a span of time: the RTCM of the receiver, before the gate',
      parameters: span,
      response: { 200: { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } } },
    },
    handler: (request, reply) => {
      const { from_ms, to_ms } = spanOf(request.query)
      const name = `${marker().replaceAll(/[^\w-]/g, '') || 'raw'}-${new Date(from_ms).toISOString().slice(0, 13)}.rtcm3`
      reply.header('Content-Disposition', `attachment; filename="${name}"`).type('application/octet-stream')
      if (request.method === 'HEAD') return reply.send(Readable.from([]))
      const end = converter.begin()
      const signal = untilGone(reply.raw)
      const bytes = Readable.from(framesBetween(archive, from_ms, to_ms, signal), { objectMode: false, signal })
      bytes.once('close', end)
      bytes.once('error', () => {})
      return reply.send(bytes)
    },
  })

  ctx.http.route({
    method: 'GET',
    url: '/rinex',
    schema: {
      summary: 'RINEX of a span of time, gzip-compressed',
      description: `Presets: ${presetNames.map((name) => `\`${name}\` (${rinexPresets[name].text})`).join(', ')}`,
      parameters: [
        ...span,
        named('preset', { enum: presetNames }, 'Version, interval and constellations for a service. Default: `full`'),
        named('version', { enum: ['3.05', '2.11'] }, 'Instead of that of the preset'),
        named('interval', { type: 'number', minimum: 0.05, maximum: 3600 }, 'Seconds, instead of that of the preset'),
        named('kind', { enum: ['observations', 'navigation'] }, 'Default: `observations`'),
      ],
      response: { 200: { content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } } } },
    },
    // Reading the archive twice may take minutes before the first byte.
    config: { timeout_ms: 600_000 },
    handler: async (request, reply) => {
      const { name, ...choice } = choiceOf(request.query)
      const { from_ms, to_ms } = spanOf(request.query, ['preset', 'version', 'interval', 'kind'])
      if (to_ms - from_ms > longest_ms) {
        throw new RtkError('RTK_ERR_RECORD_RANGE', 'a RINEX file may span at most three days: ask for a shorter time')
      }
      const trouble = spanTrouble(name, (to_ms - from_ms) / 1000)
      if (trouble) throw new RtkError('RTK_ERR_RECORD_RANGE', trouble)
      if (request.method === 'HEAD') {
        // The name of the file, and whether it has observations, are not known without the work.
        const isThere = (hour: ArchivedHour) => hour.hour_ms + hour_ms > from_ms && hour.hour_ms < to_ms
        if (!(await archive.list()).some(isThere)) throw noObservations()
        return reply.type('application/gzip').send(Readable.from([]))
      }
      const end = converter.begin()
      const signal = untilGone(reply.raw)
      try {
        const opened = await converter.open({ ...choice, from_ms, to_ms, signal })
        // The client has gone, or was told that it took too long.
        signal.throwIfAborted()
        if (!opened) throw noObservations()
        const packed = createGzip()
        // Both end if the client goes away.
        void pipeline(Readable.from(opened.text), packed, { signal })
          .catch(() => {})
          .finally(end)
        reply.header('Content-Disposition', `attachment; filename="${opened.name}"`)
        return reply.type('application/gzip').send(packed)
      } catch (error) {
        end()
        throw error
      }
    },
  })
}

const noObservations = () => new RtkError('RTK_ERR_NOT_FOUND', 'no observations were recorded in this time')

/** @throws RTK_ERR_RECORD_RANGE for what the route does not know */
function choiceOf(query: unknown) {
  const given = query as Record<string, unknown>
  const one = <T extends string>(name: string, allowed: readonly T[]): T | undefined => {
    const value = given[name]
    if (value === undefined || allowed.includes(value as T)) return value as T | undefined
    throw new RtkError('RTK_ERR_RECORD_RANGE', `${name} is one of ${allowed.join(', ')}`)
  }
  const name = one('preset', presetNames) ?? 'full'
  const preset = rinexPresets[name]
  const version: RinexVersion = one('version', ['3.05', '2.11'] as const) ?? preset.version
  const interval_s = given.interval === undefined ? preset.interval_s : Number(given.interval)
  if (interval_s !== undefined && !(interval_s >= 0.05 && interval_s <= 3_600)) {
    throw new RtkError('RTK_ERR_RECORD_RANGE', 'interval is a number of seconds from 0.05 to 3600')
  }
  const kind = one('kind', ['observations', 'navigation'] as const) ?? 'observations'
  return { name, version, interval_s, systems: preset.systems, kind }
}
