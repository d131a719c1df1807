import type { FleetDatabase } from 'rtk-base/services'
import type { StoredPlan } from './plan.js'
import type { Before, Rollout, Target, TargetState } from './steps.js'

export const tables = [
  `create table fleet_rollout (
     id bigint generated always as identity primary key,
     plan jsonb not null,
     state text not null default 'running',
     reason text not null default '',
     wave int not null default 0,
     created timestamptz not null default now(),
     ended timestamptz,
     actor text not null);
   create index fleet_rollout_live on fleet_rollout (id) where ended is null;
   create table fleet_rollout_target (
     rollout bigint not null references fleet_rollout on delete cascade,
     serial text not null,
     wave int not null,
     state text not null default 'waiting',
     reason text not null default '',
     since timestamptz not null default now(),
     asked int not null default 0,
     asked_at timestamptz not null default 'epoch',
     well timestamptz not null default 'epoch',
     before jsonb,
     primary key (rollout, serial));
   create index fleet_rollout_target_state on fleet_rollout_target (rollout, state, wave, serial)`,
]

export interface StoredRollout extends Rollout {
  readonly plan: StoredPlan
  readonly reason: string
  readonly created_s: number
  readonly by: string
}

interface RolloutRow {
  readonly id: number
  readonly plan: StoredPlan
  readonly state: Rollout['state']
  readonly reason: string
  readonly wave: number
  readonly created: Date
  readonly actor: string
}
interface TargetRow {
  readonly serial: string
  readonly wave: number
  readonly state: TargetState
  readonly reason: string
  readonly since: Date
  readonly asked: number
  readonly asked_at: Date
  readonly well: Date
  readonly before: Before | null
}

const rolloutColumns = 'id, plan, state, reason, wave, created, actor'
const targetColumns = 'serial, wave, state, reason, since, asked, asked_at, well, before'
const seconds = (t: Date) => Math.floor(t.getTime() / 1000)
const rolloutOf = ({ created, actor, ...row }: RolloutRow): StoredRollout => ({
  ...row,
  created_s: seconds(created),
  by: actor,
})
const asTarget = ({ since, asked_at, well, before, ...row }: TargetRow): Target => ({
  ...row,
  since_s: seconds(since),
  asked_s: seconds(asked_at),
  well_s: seconds(well),
  before: before ?? undefined,
})

type Database = Pick<FleetDatabase, 'query' | 'transaction'>

export async function create(
  { transaction }: Database,
  plan: StoredPlan,
  waves: readonly string[][],
  by: string,
): Promise<number> {
  return transaction(async (query) => {
    const [row] = await query<{ id: number }>('insert into fleet_rollout (plan, actor) values ($1, $2) returning id', [
      JSON.stringify(plan),
      by,
    ])
    const id = row?.id ?? 0
    const targets = waves.flatMap((serials, wave) => serials.map((serial) => ({ serial, wave })))
    await query(
      `insert into fleet_rollout_target (rollout, serial, wave)
       select $1, serial, wave from jsonb_to_recordset($2::jsonb) as row (serial text, wave int)`,
      [id, JSON.stringify(targets)],
    )
    return id
  })
}

/** Rollouts that are not over, the newest first. */
export async function liveRollouts({ query }: Database): Promise<StoredRollout[]> {
  const rows = await query<RolloutRow>(
    `select ${rolloutColumns} from fleet_rollout where ended is null order by id desc limit 200`,
  )
  return rows.map(rolloutOf)
}

/** Without their plans, the newest first. @param before only those with a lower id; 0: all */
export async function rolloutList(
  { query }: Database,
  { before, most }: { before: number; most: number },
): Promise<Omit<StoredRollout, 'plan'>[]> {
  const rows = await query<Omit<RolloutRow, 'plan'> & { name: string }>(
    `select id, plan->>'name' as name, state, reason, wave, created, actor from fleet_rollout
     where $1::bigint = 0 or id < $1 order by id desc limit $2`,
    [before, most],
  )
  return rows.map(({ created, actor, ...row }) => ({ ...row, created_s: seconds(created), by: actor }))
}

export async function rollout({ query }: Database, id: number): Promise<StoredRollout | undefined> {
  const [row] = await query<RolloutRow>(`select ${rolloutColumns} from fleet_rollout where id = $1`, [id])
  return row && rolloutOf(row)
}

export async function targetsOf({ query }: Database, id: number): Promise<Target[]> {
  const rows = await query<TargetRow>(
    `select ${targetColumns} from fleet_rollout_target where rollout = $1 order by wave, serial`,
    [id],
  )
  return rows.map(asTarget)
}

export async function targetOf(
  { query }: Pick<Database, 'query'>,
  id: number,
  serial: string,
): Promise<Target | undefined> {
  const [row] = await query<TargetRow>(
    `select ${targetColumns} from fleet_rollout_target where rollout = $1 and serial = $2`,
    [id, serial],
  )
  return row && asTarget(row)
}

/** How many targets there are of each state, and the number of waves. */
export async function countsOf({ query }: Database, id: number): Promise<{ counts: Counts; waves: number }> {
  const rows = await query<{ state: TargetState; count: number; wave: number }>(
    `select state, count(*)::int as count, max(wave) as wave from fleet_rollout_target where rollout = $1 group by state`,
    [id],
  )
  const counts = Object.fromEntries(rows.map(({ state, count }) => [state, count]))
  return { counts, waves: Math.max(-1, ...rows.map(({ wave }) => wave)) + 1 }
}
export type Counts = Partial<Record<TargetState, number>>

/** Where a page of targets begins: after this one. */
export interface TargetKey {
  readonly wave: number
  readonly serial: string
}

/** Targets of one state in order of their waves. */
export async function targetPage(
  { query }: Database,
  id: number,
  { state, after, most }: { state: TargetState; after: TargetKey; most: number },
): Promise<Target[]> {
  const rows = await query<TargetRow>(
    `select ${targetColumns} from fleet_rollout_target
     where rollout = $1 and state = $2 and (wave, serial) > ($3::int, $4::text) order by wave, serial limit $5`,
    [id, state, after.wave, after.serial, most],
  )
  return rows.map(asTarget)
}

/** Rollouts that ended this long ago are deleted with their targets. */
export async function forget({ query }: Database, days: number): Promise<void> {
  await query('delete from fleet_rollout where ended < now() - make_interval(days => $1)', [days])
}

/** @returns false: it is not in one of these states (any more) */
export async function setState(
  { query }: Pick<Database, 'query'>,
  id: number,
  from: readonly Rollout['state'][],
  to: Rollout['state'],
  reason: string,
): Promise<boolean> {
  const rows = await query(
    `update fleet_rollout set state = $3, reason = $4, ended = case when $3 in ('stopped', 'done') then now() end
     where id = $1 and state = any($2) returning id`,
    [id, [...from], to, reason],
  )
  return rows.length > 0
}

/** @returns false: another instance has changed one of them meanwhile */
export async function storeTargets(
  query: FleetDatabase['query'],
  id: number,
  steps: readonly { before: Target; now: Target }[],
): Promise<boolean> {
  if (steps.length === 0) return true
  const rows = steps.map(({ before, now }) => ({
    ...now,
    before: now.before ?? null,
    old_state: before.state,
    old_asked: before.asked,
  }))
  const stored = await query(
    `update fleet_rollout_target as target set state = row.state, reason = row.reason, since = to_timestamp(row.since_s),
       asked = row.asked, asked_at = to_timestamp(row.asked_s), well = to_timestamp(row.well_s), before = row.before
     from jsonb_to_recordset($2::jsonb) as row (serial text, state text, reason text, since_s bigint, asked int,
       asked_s bigint, well_s bigint, before jsonb, old_state text, old_asked int)
     where target.rollout = $1 and target.serial = row.serial and target.state = row.old_state and target.asked = row.old_asked
     returning target.serial`,
    [id, JSON.stringify(rows)],
  )
  return stored.length === steps.length
}
