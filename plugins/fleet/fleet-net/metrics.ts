import type { PluginContext } from 'rtk-base/plugin'
import { fleetDatabase } from 'rtk-base/services'
import type { Judgements } from './judgement/judgements.js'
import type { WindowMetrics, Windows } from './windows/windows.js'

const look_ms = 60_000

/** Metrics of this instance, and of the pairs of all. */
export function addMetrics({ metrics }: PluginContext): WindowMetrics {
  const publications = metrics.counter({
    name: 'fleet_net_publications_total',
    help: 'Publications of RTCM that were recorded or refused.',
  })
  const vectors = metrics.counter({
    name: 'fleet_net_vectors_total',
    help: 'Windows of pairs that were computed, by the result.',
    labels: ['status'],
    zeros: ['fixed', 'float', 'none'].map((status) => ({ status })),
  })
  const seconds = metrics.counter({
    name: 'fleet_net_compute_seconds_total',
    help: 'Time that computing vectors took.',
  })
  return {
    publication: () => publications.inc(),
    vector(status, took_s) {
      vectors.inc(1, { status })
      seconds.inc(took_s)
    },
  }
}

export function watchPairs(ctx: PluginContext, windows: Windows, judgements: Judgements): void {
  const { metrics, services, timers, clock } = ctx
  let [pairs, behind_s] = [0, 0]
  timers.every(look_ms, async () => {
    const database = services.use(fleetDatabase)
    if (!database.connected) return
    const [row] = await database
      .query<{ pairs: number; due_s: number | null }>(
        `select count(*)::int as pairs, extract(epoch from min(due) filter (where leased_by = ''))::float8 as due_s from fleet_net_pair where gone is null`,
      )
      .catch(() => [])
    if (!row) return
    pairs = row.pairs
    behind_s = Math.max(0, clock.now() / 1_000 - (row.due_s ?? Number.POSITIVE_INFINITY))
  })
  metrics.gauge({
    name: 'fleet_net_pairs',
    help: 'Pairs of stations: all, and those that this instance compares now.',
    labels: ['which'],
    collect: (gauge) => {
      gauge.set(pairs, { which: 'all' })
      gauge.set(windows.pairs, { which: 'here' })
    },
  })
  metrics.gauge({
    name: 'fleet_net_behind_seconds',
    help: 'For how long the pair that waits longest is due.',
    collect: (gauge) => gauge.set(behind_s),
  })
  metrics.gauge({
    name: 'fleet_net_stations',
    help: 'Stations by the judgement of their position.',
    labels: ['state'],
    collect: (gauge) => {
      for (const [state, count] of Object.entries(judgements.counts)) gauge.set(count, { state })
    },
  })
}
