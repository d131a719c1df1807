/** HTTP: the rovers' logins, listed without passwords, set and deleted one by one. */
import { unseenRefused } from 'rtk-base/ntrip'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { Type } from 'typebox'
import type { Caster } from './caster.js'
import type { StoredLogins } from './logins/stored.js'
import { deleteUser, setUser, userName, userPassword } from './users.js'

const Name = Type.Object({
  name: Type.String({
    pattern: userName.source,
    description: `Letters of any script, digits, _ . @ -; ${unseenRefused}`,
  }),
})
const mounts = Type.Array(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,32}$' }), {
  maxItems: 16,
  description: 'Mountpoints of this login; empty: every mountpoint',
})
const most = Type.Integer({ minimum: 1, maximum: 9_999, description: 'Connections at the same time; default 4' })

const Listed = Type.Object({
  users: Type.Array(Type.Object({ name: Type.String(), mounts, most })),
  anonymous: Type.Object({
    now: Type.Boolean({ description: 'Rovers of the local network need no login now' }),
    withLogins: Type.Boolean({
      description:
        'ntrip-caster-anonymous: they need none either once there is a login. false: the first login ends them',
    }),
  }),
  mounts: Type.Array(Type.String(), { description: 'Mountpoints that a rover can use' }),
  port: Type.Integer({ minimum: 0, description: '0: the caster does not listen' }),
})
const Sent = Type.Object(
  {
    password: Type.String({
      pattern: userPassword.source,
      description: `4 to 64 printable characters of any script, no space; ${unseenRefused}`,
    }),
    mounts: Type.Optional(mounts),
    most: Type.Optional(most),
  },
  { additionalProperties: false },
)
const ended = Type.Integer({ minimum: 0, description: 'Connections that were ended: they log in again' })
const SetAnswer = Type.Object({
  name: Type.String(),
  ended,
  unknown: Type.Array(Type.String(), { description: 'Named mountpoints that are not there (yet)' }),
})

interface Parts {
  readonly caster: Caster
  readonly users: StoredLogins
  /** The change parameter `ntrip-caster-anonymous`. */
  readonly anonymous: () => boolean
}

export function userRoutes(ctx: PluginContext, { caster, users, anonymous }: Parts): void {
  const url = '/ntrip-caster/users'
  ctx.http.route({
    method: 'GET',
    url,
    // Who the rovers are is not for viewers.
    config: { role: 'operator' },
    schema: { summary: 'The logins of rovers, without passwords', response: { 200: Listed } },
    handler: async () => ({
      users: users.list(),
      anonymous: { now: anonymous() || users.isEmpty, withLogins: anonymous() },
      mounts: caster.mounts.names,
      port: caster.address?.port ?? 0,
    }),
  })
  ctx.http.route({
    method: 'PUT',
    url: `${url}/:name`,
    schema: { summary: 'Sets the login of a rover', params: Name, body: Sent, response: { 200: SetAnswer } },
    handler: async (request) => {
      const { name } = request.params as { name: string }
      const { password, mounts = [], most = 4 } = request.body as { password: string; mounts?: string[]; most?: number }
      return { name, ...(await setUser(caster, users, { name, password, mounts, most })) }
    },
  })
  ctx.http.route({
    method: 'DELETE',
    url: `${url}/:name`,
    schema: {
      summary: 'Deletes the login of a rover',
      params: Name,
      response: { 200: Type.Object({ name: Type.String(), ended }) },
    },
    handler: async (request) => {
      const { name } = request.params as { name: string }
      const done = await deleteUser(caster, users, name)
      if (!done) throw new RtkError('RTK_ERR_NOT_FOUND', `there is no user ${name}`)
      return { name, ...done }
    },
  })
}
