import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type FleetAccess, type FleetRole, fleet } from 'rtk-base/services'
import { Type } from 'typebox'
import type { People } from './people.js'

const Name = Type.String({
  pattern: '^[\\w.@-]{1,64}$',
  description: 'Name of a person: letters, digits and ._@-',
})
const Role = Type.Union([Type.Literal('viewer'), Type.Literal('operator'), Type.Literal('admin')], {
  description: 'A viewer reads, an operator acts on stations, an admin also manages people and accounts',
})
const Person = Type.Object({ user: Name, role: Role, created: Type.String({ description: 'ISO 8601' }) })

export const accessOf = (people: People): FleetAccess => ({
  may: ({ user, role }, needed) => people.may(user, role === 'operator', needed),
  demand({ user, role }, needed: FleetRole) {
    if (!people.may(user, role === 'operator', needed))
      throw new RtkError('RTK_ERR_FORBIDDEN_ROLE', `this needs the role ${needed} in the fleet`)
    return user || (people.isOn ? 'token' : 'local')
  },
})

const Me = Type.Object({
  user: Type.String({ description: 'Name of the person; empty: not a person, but a token, or nobody has to log in' }),
  role: Role,
  people: Type.Boolean({ description: 'There are people. Without any, everybody is an admin' }),
})

/** Only an admin sees and changes people; everybody sees the own role. */
export function peopleRoutes(ctx: PluginContext, people: People, access: FleetAccess): void {
  const record = (text: string, by: string) =>
    ctx.services.find(fleet)?.record({ serial: '', kind: 'person', text, by })
  const config = { role: 'viewer' } as const
  ctx.http.route({
    method: 'GET',
    url: '/fleet/me',
    config,
    schema: { summary: 'The caller and its role in the fleet', response: { 200: Me } },
    handler: async ({ user, role }) => ({
      user,
      role: people.roleOfCaller(user, role === 'operator'),
      people: people.list().length > 0,
    }),
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/people',
    config,
    schema: { summary: 'The people who may log in', response: { 200: Type.Array(Person) } },
    handler: async (request) => {
      access.demand(request, 'admin')
      return people.list()
    },
  })
  ctx.http.route({
    method: 'POST',
    url: '/fleet/people',
    config,
    schema: {
      summary: 'Adds a person. The answer has the access key, which is shown only once',
      body: Type.Object({ user: Name, role: Role }, { additionalProperties: false }),
      response: { 200: Type.Object({ user: Name, role: Role, key: Type.String({ description: 'The access key' }) }) },
    },
    handler: async (request) => {
      const by = access.demand(request, 'admin')
      const { user, role } = request.body as { user: string; role: FleetRole }
      const key = await people.add(user, role)
      ctx.log.info({ user, role, by }, 'a person was added')
      record(`${user} added as ${role}`, by)
      return { user, role, key }
    },
  })
  ctx.http.route({
    method: 'DELETE',
    url: '/fleet/people/:user',
    config,
    schema: {
      summary: 'Removes a person and ends all sessions of that person',
      params: Type.Object({ user: Name }),
      response: { 200: Type.Object({ deleted: Type.Boolean() }) },
    },
    handler: async (request) => {
      const by = access.demand(request, 'admin')
      const { user } = request.params as { user: string }
      const deleted = await people.delete(user)
      ctx.log.info({ user, by, deleted }, 'a person was removed')
      if (deleted) record(`${user} removed`, by)
      return { deleted }
    },
  })
}
