import type { IncomingMessage } from 'node:http'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import Type from 'typebox'
import { AntennaEntry, AntennaFile, type AntennaTable, antennaIn, antennasWith } from './antennas.js'
import { ownAntenna } from './facts.js'

/** The limit of an upload: 64 MiB over a slow mobile link. */
const longestUpload_ms = 900_000
const mostEntries = 100

const Found = Type.Object({
  entries: Type.Array(AntennaEntry, { description: 'Those whose code contains `search`, in the order of their codes' }),
  file: Type.Optional({ ...AntennaFile, description: 'Absent: there is no table' }),
  own: Type.Optional({
    ...AntennaEntry,
    description: 'Antenna of `gnss-antenna-descriptor` and `-serial`. Absent: the table does not have it',
  }),
})
const Search = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 40, description: 'A part of the IGS code' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostEntries, description: 'Default: 20' })),
})
const Named = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 80, description: 'Name of the file, to show it' })),
})

/** `GET`, `PUT` and `DELETE /antennas`. */
export function addAntennaRoutes(ctx: PluginContext, table: AntennaTable): void {
  let isBusy = false
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isBusy) throw unavailable('another ANTEX file is being read: try again when it has ended')
    isBusy = true
    try {
      return await work()
    } finally {
      isBusy = false
    }
  }

  ctx.http.route({
    method: 'GET',
    url: '/antennas',
    schema: { summary: 'Searches the table of antennas', querystring: Search, response: { 200: Found } },
    handler: async (request) => {
      const { limit = 20, search = '' } = request.query as { limit?: number; search?: string }
      const found = await table.read()
      if (!found) return { entries: [] }
      const { serial, type } = ownAntenna(ctx)
      const own = antennaIn(found, type, serial)
      return { entries: antennasWith(found, search, Number(limit)), file: found.file, ...(own && { own }) }
    },
  })
  ctx.http.route({
    method: 'PUT',
    url: '/antennas',
    config: { rawBody: 'stream', timeout_ms: longestUpload_ms },
    schema: {
      summary: 'Replaces the table of antennas by the receiver antennas of the ANTEX file in the body',
      description: 'At most 64 MiB. A file that cannot be used leaves the former table',
      querystring: Named,
      requestBody: {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
      response: { 200: AntennaFile },
    },
    handler: (request, reply) =>
      alone(async () => {
        const { name = '' } = request.query as { name?: string }
        const body = request.body as IncomingMessage | undefined
        // A client that sends a byte a minute does not keep others waiting for ever.
        const end = () => void body?.destroy()
        const cancel = ctx.timers.after(longestUpload_ms, end)
        // After a reload the next instance alone writes the table.
        ctx.signal.addEventListener('abort', end)
        try {
          return await table.replace(body ?? [], name.replaceAll(/[^\x20-\x7e]/g, '') || 'ANTEX')
        } catch (error) {
          // The rest of the body is not read: the client must not send another request behind it.
          if (!request.raw.complete) reply.header('connection', 'close')
          throw error
        } finally {
          void cancel()
          ctx.signal.removeEventListener('abort', end)
        }
      }),
  })
  ctx.http.route({
    method: 'DELETE',
    url: '/antennas',
    schema: { summary: 'Deletes the table of antennas', response: { 200: Found } },
    handler: () =>
      alone(async () => {
        await table.remove()
        return { entries: [] }
      }),
  })
}
