/** Looks at the caster from a rover's side: its source table, or the own mountpoint. */
import { type StreamRow, type Visited, visit } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import type { Target } from './target.js'

export type Probed =
  /** The rows of the target's mountpoint. */
  { kind: 'table'; rows: StreamRow[] } | Exclude<Visited, { kind: 'table' }>

export interface ProbeRequest {
  target: Target
  /** `''`: the source table. */
  mount: string
  /** The agent of the station, for the request. */
  agent: string
  /** Whether this is the expected frame, which ends the probe. */
  wanted?(frame: Uint8Array): boolean
  /** Default: 10 s. */
  limit_ms?: number
}

/** Connects, reads for 10 s at most, and ends the connection. Never rejects. */
export async function probe(ctx: PluginContext, request: ProbeRequest): Promise<Probed> {
  const { target, mount, agent, wanted, limit_ms } = request
  const { host, port, tls, version = 1, user, password, echo } = target
  const login = mount === '' ? {} : { user: echo?.user ?? user, password: echo?.password ?? password }
  const rows: StreamRow[] = []
  const answer = await visit(ctx, {
    ...{ host, port, tls, mount, version, agent, ...login },
    ...(limit_ms !== undefined && { limit_ms }),
    ...(wanted && { frame: wanted }),
    row: (row) => row.mount === target.mount && rows.push(row) > 0,
  })
  return answer.kind === 'table' ? { kind: 'table', rows } : answer
}
