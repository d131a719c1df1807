/** HTTP: the casters without their passwords, their change, and the test of one. */
import { asSent } from 'rtk-base/ntrip'
import { type ConfigKey, type PluginContext, unavailable } from 'rtk-base/plugin'
import { ChangeAnswer } from 'rtk-base/schemas'
import { station } from 'rtk-base/services'
import { Type } from 'typebox'
import { CasterTested, testCaster } from './caster-test.js'
import { completed, nameOf, SentTarget, ShownTarget, shown, type Target } from './target.js'

const Listed = Type.Object({ casters: Type.Array(ShownTarget) })
const Sent = Type.Object({ casters: Type.Array(SentTarget, { maxItems: 8 }) }, { additionalProperties: false })
const Tried = Type.Object({ caster: SentTarget }, { additionalProperties: false })

/** @param isPushing whether the station pushes to the mountpoint of this name now */
export function casterRoutes(
  ctx: PluginContext,
  targets: Pick<ConfigKey<Target[]>, 'name' | 'get'>,
  isPushing: (name: string) => boolean,
): void {
  ctx.http.route({
    method: 'GET',
    url: '/ntrip-server',
    schema: { summary: 'The casters to push to, without passwords', response: { 200: Listed } },
    handler: async () => ({ casters: targets.get().map(shown) }),
  })
  ctx.http.route({
    method: 'PUT',
    url: '/ntrip-server',
    schema: {
      summary: 'Sets the list of casters',
      description:
        'A missing password keeps the stored one of the same host, port and mountpoint, or of the only caster of this host and port, but not in plain text after TLS.',
      body: Sent,
      response: { 200: ChangeAnswer },
    },
    handler: async (request) => {
      const { casters } = request.body as { casters: SentTarget[] }
      const stored = targets.get()
      const list = casters.map((caster) => completed(caster, stored))
      const by = { source: 'http', address: request.ip } as const
      return asSent(await ctx.services.use(station).change({ [targets.name]: list }, by), { [targets.name]: casters })
    },
  })
  let isTesting = false
  ctx.http.route({
    method: 'POST',
    url: '/ntrip-server/test',
    schema: {
      summary: 'Tests a caster: name, connection, TLS, login, source table',
      description:
        'Takes up to 15 s, one at a time. Nothing is stored and no RTCM is sent. A missing password is taken from the stored caster, as for PUT.',
      body: Tried,
      response: { 200: CasterTested },
    },
    handler: async (request) => {
      if (isTesting) throw unavailable('another caster is being tested: try again in 15 s')
      const { caster } = request.body as { caster: SentTarget }
      const target = completed(caster, targets.get())
      isTesting = true
      try {
        return await testCaster(ctx, target, isPushing(nameOf(target)))
      } finally {
        isTesting = false
      }
    },
  })
}
