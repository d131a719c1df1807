import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type FleetStation, fleet, fleetAccess, fleetDatabase } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { channel } from './engine.js'
import { Neighbourhood } from './neighbours.js'
import {
  isOpen,
  mostPlan_bytes,
  Plan,
  PlanRequest,
  planOf,
  type StoredPlan,
  shownPlan,
  storedPlan,
  wavesOf,
} from './plan.js'
import type { Target } from './steps.js'
import * as store from './store.js'

const mostLive = 20
/** Pairs of neighbours that a preview names. */
const mostPairs = 50
const mostListed = 200
/** Stations of each state beside a rollout, and of one state in a page. */
const firstTargets = 100
const mostTargets = 1_000

const Id = Type.Object({ id: Type.String({ pattern: '^\\d{1,12}$' }) })
const State = Type.Enum(['running', 'paused', 'stopping', 'stopped', 'done'])
const Listed = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  state: State,
  reason: Type.String({ description: 'Why it was stopped' }),
  wave: Type.Integer({ description: 'The current wave, from 0' }),
  created: Type.Integer({ description: 'UTC seconds' }),
  by: Type.String(),
})
const Summary = Type.Object({
  ...Listed.properties,
  plan: Type.Object(Plan.properties, { description: 'Without `filter.serials`: they are the stations of the rollout' }),
})
const TargetState = Type.Enum(['waiting', 'measuring', 'asked', 'proving', 'done', 'failed', 'undone'])
const TargetRow = Type.Object({
  serial: Type.String(),
  wave: Type.Integer(),
  state: TargetState,
  reason: Type.String({ description: 'Why it waits or failed' }),
  since: Type.Integer({ description: 'Since when it has this state, UTC seconds' }),
})
const Preview = Type.Object({
  waves: Type.Array(Type.Array(Type.String()), { description: 'Serial numbers by wave' }),
  waits: Type.Array(Type.Object({ serial: Type.String(), reason: Type.String() }), {
    description: 'Stations that could not be begun now, with the reason',
  }),
  neighbours: Type.Array(Type.Array(Type.String()), {
    description: `Pairs that are never changed at the same time, at most ${mostPairs}`,
  }),
  open: Type.Boolean({ description: 'The time window is open now' }),
})

const TargetQuery = Type.Object(
  {
    state: TargetState,
    after: Type.Optional(
      Type.String({ pattern: '^\\d{1,6} [A-Za-z0-9_-]{1,64}$', description: '`next` of the page before' }),
    ),
  },
  { additionalProperties: false },
)

const summaryOf = ({ id, plan, state, reason, wave, created_s, by }: store.StoredRollout) => ({
  ...{ id, name: plan.name, state, reason, wave, by, plan: shownPlan(plan) },
  created: created_s,
})
/** Waves begin with 0. */
const beforeAll: store.TargetKey = { wave: -1, serial: '' }
const rowOf = ({ serial, wave, state, reason, since_s }: Target) => ({ serial, wave, state, reason, since: since_s })

export function rolloutRoutes(ctx: PluginContext): void {
  const config = { role: 'viewer' } as const
  const database = () => ctx.services.use(fleetDatabase)
  const operator = (request: { user: string; role: string }) =>
    ctx.services.use(fleetAccess).demand(request, 'operator')
  const idOf = (request: { params: unknown }) => Number((request.params as { id: string }).id)
  /** Its names, by the settings of its first station: waves begin with stations that are online and fit. */
  const checked = async (plan: Plan, waves: readonly string[][]): Promise<StoredPlan> => {
    const known = ctx.services.use(fleet)
    const first = waves.flat()[0] ?? ''
    // Another make has neither.
    const says = 'change' in plan.what && known.station(first)?.source === 'state'
    return storedPlan(plan, first, says ? await known.settings(first).catch(() => undefined) : undefined)
  }
  const unknown = (id: number) => new RtkError('RTK_ERR_NOT_FOUND', `there is no rollout ${id}`)

  ctx.http.route({
    method: 'POST',
    url: '/fleet/rollouts/preview',
    config,
    bodyLimit: mostPlan_bytes,
    schema: {
      summary: 'What a rollout would do to whom; nothing is changed',
      body: PlanRequest,
      response: { 200: Preview },
    },
    handler: async (request) => {
      const plan = planOf(request.body as Static<typeof PlanRequest>)
      const shown = preview(plan, [...ctx.services.use(fleet).stations()], ctx.clock.now())
      await checked(plan, shown.waves)
      return shown
    },
  })
  ctx.http.route({
    method: 'POST',
    url: '/fleet/rollouts',
    config,
    bodyLimit: mostPlan_bytes,
    schema: { summary: 'Begins a rollout', body: PlanRequest, response: { 200: Summary } },
    handler: async (request) => {
      const by = operator(request)
      const plan = planOf(request.body as Static<typeof PlanRequest>)
      if ((await store.liveRollouts(database())).length >= mostLive)
        throw new RtkError('RTK_ERR_CONFLICT', `${mostLive} rollouts are under way: stop one first`)
      const waves = wavesOf(plan, [...ctx.services.use(fleet).stations()])
      if (waves.length === 0) throw new RtkError('RTK_ERR_CONFLICT', 'no station fits the filter')
      const id = await store.create(database(), await checked(plan, waves), waves, by)
      await database().notify(channel, String(id))
      ctx.services
        .use(fleet)
        .record({ serial: '', kind: 'rollout', text: `${plan.name} begun: ${waves.flat().length} stations`, by })
      const made = await store.rollout(database(), id)
      if (!made) throw unknown(id)
      return summaryOf(made)
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/rollouts',
    schema: {
      summary: `Rollouts without their plans, the newest first, ${mostListed} at a time`,
      querystring: Type.Object(
        { before: Type.Optional(Type.String({ pattern: '^\\d{1,12}$', description: '`id` of the last one before' })) },
        { additionalProperties: false },
      ),
      response: { 200: Type.Array(Listed) },
    },
    handler: async (request) => {
      const { before = '0' } = request.query as { before?: string }
      const found = await store.rolloutList(database(), { before: Number(before), most: mostListed })
      return found.map(({ created_s, ...rollout }) => ({ ...rollout, created: created_s }))
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/rollouts/:id',
    schema: {
      summary: `A rollout, how many stations it has of each state, and the first ${firstTargets} of each`,
      params: Id,
      response: {
        200: Type.Object({
          rollout: Summary,
          waves: Type.Integer({ description: 'How many there are' }),
          counts: Type.Record(Type.String(), Type.Integer(), { description: 'Stations by state' }),
          targets: Type.Array(TargetRow),
        }),
      },
    },
    handler: async (request) => {
      const id = idOf(request)
      const found = await store.rollout(database(), id)
      if (!found) throw unknown(id)
      const { counts, waves } = await store.countsOf(database(), id)
      const pages = await Promise.all(
        (Object.keys(counts) as (keyof typeof counts)[]).map((state) =>
          store.targetPage(database(), id, { state, after: beforeAll, most: firstTargets }),
        ),
      )
      return { rollout: summaryOf(found), waves, counts, targets: pages.flat().map(rowOf) }
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/rollouts/:id/targets',
    schema: {
      summary: `The stations of a rollout in one state, ${mostTargets} at a time`,
      params: Id,
      querystring: TargetQuery,
      response: {
        200: Type.Object({
          targets: Type.Array(TargetRow),
          next: Type.String({ description: 'Give it as `after` for the next stations; empty: these were the last' }),
        }),
      },
    },
    handler: async (request) => {
      const { state, after } = request.query as Static<typeof TargetQuery>
      const [wave = '-1', serial = ''] = after?.split(' ') ?? []
      const key = { wave: Number(wave), serial }
      const targets = await store.targetPage(database(), idOf(request), { state, after: key, most: mostTargets })
      const last = targets.length === mostTargets ? targets.at(-1) : undefined
      return { targets: targets.map(rowOf), next: last ? `${last.wave} ${last.serial}` : '' }
    },
  })
  const steps = {
    pause: { from: ['running'], to: 'paused', summary: 'Begins no further station; those under way are finished' },
    resume: { from: ['paused'], to: 'running', summary: 'Continues a paused rollout' },
    stop: {
      from: ['running', 'paused'],
      to: 'stopping',
      summary: 'Ends a rollout; stations that are on trial are told to go back',
    },
  } as const
  for (const [name, { from, to, summary }] of Object.entries(steps)) {
    ctx.http.route({
      method: 'POST',
      url: `/fleet/rollouts/:id/${name}`,
      config,
      schema: { summary, params: Id, response: { 200: Summary } },
      handler: async (request) => {
        const by = operator(request)
        const id = idOf(request)
        const isSet = await store.setState(database(), id, from, to, '')
        const found = await store.rollout(database(), id)
        if (!found) throw unknown(id)
        if (!isSet) throw new RtkError('RTK_ERR_CONFLICT', `the rollout is ${found.state}`)
        await database().notify(channel, String(id))
        ctx.services.use(fleet).record({ serial: '', kind: 'rollout', text: `${found.plan.name}: ${name}`, by })
        return summaryOf(found)
      },
    })
  }
}

function preview(plan: Plan, stations: readonly FleetStation[], now_ms: number) {
  const waves = wavesOf(plan, stations)
  const bySerial = new Map(stations.map((station) => [station.serial, station]))
  const chosen = waves.flat().map((serial) => bySerial.get(serial) as FleetStation)
  const waits = chosen.flatMap(({ serial, online, rovers }) => {
    if (online !== 'online') return [{ serial, reason: `it is ${online}` }]
    return rovers > 0 && !plan.force ? [{ serial, reason: `${rovers} rovers are connected` }] : []
  })
  const neighbours = new Neighbourhood(chosen).pairs(plan.apart_km, mostPairs)
  return { waves, waits, neighbours, open: isOpen(plan, now_ms / 1000) }
}
