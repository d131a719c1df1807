/** HTTP: the source without its password, its change, and the test of one. */
import { asSent, mayKeepLogin } from 'rtk-base/ntrip'
import { type ConfigKey, type PluginContext, unavailable } from 'rtk-base/plugin'
import { ChangeAnswer } from 'rtk-base/schemas'
import { type Ecef, station } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Source } from './source.js'
import { SourceTested, testSource } from './source-test.js'

const { password, ...open } = Source.properties
const Shown = Type.Object({ ...open, set: Type.Boolean({ description: 'A password is stored' }) })
const Sent = Type.Object({ source: Source }, { additionalProperties: false })

/** A missing password is the stored one, for the same host and port only, and not in plain text after TLS. */
function completed(sent: Source, stored: Source): Source {
  if (sent.password !== undefined || !mayKeepLogin(stored, sent) || stored.password === undefined) return sent
  return { ...sent, password: stored.password }
}

function shown({ password, ...open }: Source): Static<typeof Shown> {
  return { ...open, set: password !== undefined && password !== '' }
}

/** @param here where the station is, as far as it knows */
export function sourceRoutes(
  ctx: PluginContext,
  source: Pick<ConfigKey<Source>, 'name' | 'get'>,
  here: () => Ecef | undefined,
): void {
  const sentOf = ({ body }: { body: unknown }) => completed((body as Static<typeof Sent>).source, source.get())
  ctx.http.route({
    method: 'GET',
    url: '/ntrip-client',
    schema: {
      summary: 'The caster for corrections, without its password',
      response: { 200: Type.Object({ source: Shown }) },
    },
    handler: async () => ({ source: shown(source.get()) }),
  })
  ctx.http.route({
    method: 'PUT',
    url: '/ntrip-client',
    schema: {
      summary: 'Sets the caster for corrections',
      description:
        'A missing password keeps the stored one of the same host and port, but not in plain text after TLS.',
      body: Sent,
      response: { 200: ChangeAnswer },
    },
    handler: async (request) => {
      const by = { source: 'http', address: request.ip } as const
      const answer = await ctx.services.use(station).change({ [source.name]: sentOf(request) }, by)
      return asSent(answer, { [source.name]: (request.body as Static<typeof Sent>).source })
    },
  })
  let isTesting = false
  ctx.http.route({
    method: 'POST',
    url: '/ntrip-client/test',
    config: { timeout_ms: 120_000 },
    schema: {
      summary: 'Tests a caster for corrections: source table, login, stream, position of its base',
      description:
        'Takes up to 22 s, with a base of rare observations up to 100 s, one at a time. Nothing is stored. A missing password is taken from the stored source, as for PUT.',
      body: Sent,
      response: { 200: SourceTested },
    },
    handler: async (request) => {
      if (isTesting) throw unavailable('another caster is being tested: try again when that is done')
      isTesting = true
      try {
        return await testSource(ctx, sentOf(request), here())
      } finally {
        isTesting = false
      }
    },
  })
}
