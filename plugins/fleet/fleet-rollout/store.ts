import type { FleetDatabase } from 'rtk-base/services'
import type { Plan } from './plan.js'
import type { Before, Rollout, Target, TargetState } from './steps.js'

export const tables = [
  `create table fleet_rollout (
     id bigint generated always as identity primary key,
     plan jsonb not null,
     state text not null default 'running',
     reason text not null default '',
     wave int not null default 0,
     created timestamptz not null default now(),
     actor text not null);
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
     primary key (rollout, serial))`,
]

export interface StoredRollout extends Rollout {
  readonly reason: string
  readonly created_s: number
  readonly by: string
}

interface RolloutRow {
  readonly id: number
  readonly plan: Plan
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

const seconds = (t: Date) => Math.floor(t.getTime() / 1000)
const rolloutOf = ({ created, actor, ...row }: RolloutRow): StoredRollout => ({
  ...row,
  created_s: seconds(created),
  by: actor,
})
const targetOf = ({ since, asked_at, well, before, ...row }: TargetRow): Target => ({
  ...row,
  since_s: seconds(since),
  asked_s: seconds(asked_at),
  well_s: seconds(well),
  before: before ?? undefined,
})

type Database = Pick<FleetDatabase, 'query' | 'transaction'>

export async function create(
  { transaction }: Database,
  plan: Plan,
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

export async function rollouts({ query }: Database, { live }: { live: boolean }): Promise<StoredRollout[]> {
  const rows = await query<RolloutRow>(
    `select id, plan, state, reason, wave, created, actor from fleet_rollout
     where not $1 or state not in ('stopped', 'done') order by id desc limit 200`,
    [live],
  )
  return rows.map(rolloutOf)
}

export async function rollout({ query }: Database, id: number): Promise<StoredRollout | undefined> {
  const [row] = await query<RolloutRow>(
    'select id, plan, state, reason, wave, created, actor from fleet_rollout where id = $1',
    [id],
  )
  return row && rolloutOf(row)
}

export async function targetsOf({ query }: Database, id: number): Promise<Target[]> {
  const rows = await query<TargetRow>(
    `select serial, wave, state, reason, since, asked, asked_at, well, before from fleet_rollout_target
     where rollout = $1 order by wave, serial`,
    [id],
  )
  return rows.map(targetOf)
}

/** Stations that were told to go back since then, each by its newest rollout. @param since_s UTC seconds */
export async function sentBack({ query }: Database, since_s: number): Promise<{ id: number; serial: string }[]> {
  return query<{ id: number; serial: string }>(
    `select distinct on (serial) rollout as id, serial from fleet_rollout_target
     where state in ('failed', 'undone') and before is not null and since > to_timestamp($1) order by serial, rollout desc limit 10000`,
    [since_s],
  )
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
    'update fleet_rollout set state = $3, reason = $4 where id = $1 and state = any($2) returning id',
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
