import type { PluginContext } from 'rtk-base/plugin'
import { refusals } from './bases/base-feed.js'

/** Metrics of this instance. Counts by base are at `GET /fleet/delivery`: a series for each of 10,000 bases would be too many. */
export function addMetrics({ metrics }: PluginContext) {
  const refused = metrics.counter({
    name: 'fleet_caster_refused_total',
    help: 'Publications of bases that were not relayed.',
    labels: ['why'],
    zeros: refusals.map((why) => ({ why })),
  })
  const garbage = metrics.counter({
    name: 'fleet_caster_garbage_bytes_total',
    help: 'Bytes in publications that belong to no valid RTCM frame.',
  })
  const epochs = metrics.counter({
    name: 'fleet_caster_epochs_total',
    help: 'Epochs that were relayed to at least one rover.',
  })
  const written = metrics.counter({
    name: 'fleet_caster_rover_epochs_total',
    help: 'Epochs times the rovers that they were written to.',
  })
  const moved = metrics.counter({
    name: 'fleet_caster_near_changes_total',
    help: 'Rovers of the nearest base that were moved to another base, or have none any more.',
  })
  return {
    refused: (why: string) => refused.inc(1, { why }),
    garbage: (bytes: number) => garbage.inc(bytes),
    relayed: (count: number, rovers: number) => {
      epochs.inc(count)
      written.inc(count * rovers)
    },
    moved: (isFirst: boolean) => {
      if (!isFirst) moved.inc()
    },
    watch({ subscribed, rovers }: { subscribed: () => number; rovers: () => number }) {
      metrics.gauge({
        name: 'fleet_caster_bases_subscribed',
        help: 'Bases whose RTCM is subscribed.',
        collect: (gauge) => gauge.set(subscribed()),
      })
      metrics.gauge({
        name: 'fleet_caster_rovers',
        help: 'Rovers connected to mountpoints of the fleet.',
        collect: (gauge) => gauge.set(rovers()),
      })
    },
  }
}
