import type { PluginContext } from 'rtk-base/plugin'
import { fleetDatabase, fleetJobs } from 'rtk-base/services'
import type { Judgements } from './judgement/judgements.js'
import { pairJob } from './pairs/pair-store.js'
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
  const { metrics, services, timers } = ctx
  let [pairs, behind_s] = [0, 0]
  timers.every(look_ms, async () => {
    if (!services.use(fleetDatabase).connected) return
    const waiting = await services
      .use(fleetJobs)
      .waiting(pairJob)
      .catch(() => undefined)
    if (waiting) [pairs, behind_s] = [waiting.count, waiting.behind_s]
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
