/** HTTP: accounts of rovers, and the rovers of this instance. */
import { loginForm, loginNamePattern, unseenRefused } from 'rtk-base/ntrip'
import { forViewer, type PluginContext, RtkError } from 'rtk-base/plugin'
import { fleet, fleetAccess } from 'rtk-base/services'
import { Type } from 'typebox'
import type { NearRover } from '../near/near.js'
import type { Accounts, Terms } from './accounts.js'

const Name = Type.String({
  pattern: loginNamePattern,
  description: `Letters of any script, digits, _ . @ -; ${unseenRefused}`,
})
const time = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 99_999_999_999, description: `${description}: UTC seconds, 0: no limit` })
const terms = {
  mounts: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }), {
    maxItems: 100,
    description: 'Mountpoints of this account; empty: every mountpoint',
  }),
  most: Type.Integer({ minimum: 1, maximum: 100_000, description: 'Connections at the same time, on all instances' }),
  from_s: time('Valid from'),
  until_s: time('Valid until'),
  note: Type.String({ maxLength: 500, description: 'For people' }),
}
const AccountEntry = Type.Object({ name: Name, ...terms, created: Type.String({ description: 'ISO 8601' }) })
const Added = Type.Object(
  { name: Name, ...Type.Partial(Type.Object(terms)).properties },
  { additionalProperties: false },
)
const Changed = Type.Object(
  {
    ...Type.Partial(Type.Object(terms)).properties,
    password: Type.Optional(Type.Literal('new', { description: 'Generates a new password' })),
  },
  { additionalProperties: false },
)
const Password = Type.String({ description: 'Generated. It cannot be read again' })
const NearEntry = Type.Object({
  user: Type.String(),
  address: Type.String(),
  base: Type.String({ description: '{SN} of the base that serves it; empty: none' }),
  why: Type.String({ description: 'Why it has this base, or none' }),
  distance_m: Type.Number({ description: 'From the base, -1: unknown' }),
  lat: Type.Number(),
  lon: Type.Number(),
  changes: Type.Integer({ description: 'How often its base changed' }),
})
const Rovers = Type.Object({
  accounts: Type.Array(Type.Object({ mount: Type.String(), user: Type.String(), connections: Type.Integer() }), {
    description: 'Connections by mountpoint and account',
  }),
  near: Type.Array(NearEntry, { description: 'Rovers of the mountpoint that chooses the nearest base' }),
  silent: Type.Array(Type.Object({ mount: Type.String(), why: Type.String() }), {
    description: 'Mountpoints with rovers that get nothing now',
  }),
})

interface Parts {
  readonly accounts: Accounts
  near(): readonly NearRover[]
  connections(): readonly { mount: string; user: string; connections: number }[]
  why(mount: string): string
}

const config = { role: 'viewer' } as const
const url = '/fleet/rovers/accounts'

export function accountRoutes(ctx: PluginContext, { accounts, near, connections, why }: Parts): void {
  const demand = (request: { user: string; role: string }) => ctx.services.use(fleetAccess).demand(request, 'admin')
  const record = (text: string, by: string) => ctx.services.use(fleet).record({ serial: '', kind: 'account', text, by })
  const missing = (name: string) => new RtkError('RTK_ERR_NOT_FOUND', `there is no account ${name}`)
  const inOrder = ({ from_s = 0, until_s = 0 }: Partial<Terms>) => {
    if (until_s > 0 && until_s <= from_s)
      throw new RtkError('RTK_ERR_COMMAND_VALUE', 'until_s is before from_s: the account would never be valid')
  }

  ctx.http.route({
    method: 'GET',
    url,
    config,
    schema: { summary: 'The accounts of rovers, without passwords', response: { 200: Type.Array(AccountEntry) } },
    handler: async (request) => {
      demand(request)
      return accounts.list()
    },
  })
  ctx.http.route({
    method: 'POST',
    url,
    config,
    schema: {
      summary: 'Adds an account. The answer has its password, which is shown only once',
      body: Added,
      response: { 200: Type.Object({ name: Name, password: Password }) },
    },
    handler: async (request) => {
      const by = demand(request)
      const { name: typed, ...given } = request.body as { name: string } & Partial<Terms>
      const name = loginForm(typed)
      inOrder(given)
      const password = await accounts.add(name, { mounts: [], most: 1, from_s: 0, until_s: 0, note: '', ...given })
      record(`rover account ${name} added`, by)
      return { name, password }
    },
  })
  ctx.http.route({
    method: 'PATCH',
    url: `${url}/:name`,
    config,
    schema: {
      summary: 'Changes an account. Except for a note, its connections end on all instances, and log in again',
      params: Type.Object({ name: Name }),
      body: Changed,
      response: { 200: Type.Object({ name: Name, password: Type.Optional(Password) }) },
    },
    handler: async (request) => {
      const by = demand(request)
      const name = loginForm((request.params as { name: string }).name)
      const { password, ...given } = request.body as Partial<Terms> & { password?: 'new' }
      inOrder(given)
      const changed = await accounts.change(name, given, password === 'new')
      if (!changed) throw missing(name)
      record(`rover account ${name} changed: ${Object.keys(request.body as object).join(', ')}`, by)
      return { name, ...changed }
    },
  })
  ctx.http.route({
    method: 'DELETE',
    url: `${url}/:name`,
    config,
    schema: {
      summary: 'Deletes an account and ends its connections on all instances',
      params: Type.Object({ name: Name }),
      response: { 200: Type.Object({ name: Name }) },
    },
    handler: async (request) => {
      const by = demand(request)
      const name = loginForm((request.params as { name: string }).name)
      if (!(await accounts.delete(name))) throw missing(name)
      record(`rover account ${name} deleted`, by)
      return { name }
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/rovers',
    config,
    schema: { summary: 'The rovers of this instance', response: { 200: Rovers } },
    handler: async (request) => {
      const all = connections()
      const mounts = [...new Set(all.map(({ mount }) => mount))]
      const answer = {
        accounts: all,
        near: near().map(({ distance_m = -1, lat = 0, lon = 0, ...rest }) => ({ ...rest, distance_m, lat, lon })),
        silent: mounts.map((mount) => ({ mount, why: why(mount) })).filter(({ why }) => why !== ''),
      }
      return ctx.services.use(fleetAccess).may(request, 'operator') ? answer : forViewer(answer)
    },
  })
}
