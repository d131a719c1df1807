/** What the carrier phases say of the antenna, as figures: in the document and as metrics. */
import { roundTo } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { Conductor } from './procedure/conductor.js'

export function motionFigures({ info, metrics }: Pick<PluginContext, 'info' | 'metrics'>, conductor: Conductor): void {
  info.block('gnss.state.motion', () => {
    const report = conductor.motion
    if (!report) return { net: 0, sway: 0, satellites: 0, lost: 0 }
    const { net, sway_m, lostShare } = report
    return {
      net: roundTo(net?.distance_m ?? 0, 3),
      sway: roundTo(sway_m ?? 0, 4),
      satellites: net?.satellites ?? 0,
      lost: roundTo(lostShare, 2),
    }
  })
  metrics.gauge({
    name: 'antenna_reference_distance_meters',
    help: 'How far the antenna is from its reference, by evidence other than the position that a base repeats.',
    collect: (gauge) => setKnown(gauge, conductor.delta_m),
  })
  metrics.gauge({
    name: 'antenna_displacement_meters',
    help: 'How far the antenna is from where it was 10 s ago, by the carrier phases.',
    collect: (gauge) => setKnown(gauge, conductor.motion?.net?.distance_m),
  })
  metrics.gauge({
    name: 'antenna_sway_meters',
    help: 'Rms of the distance of the antenna from its mean position over 10 s, by the carrier phases.',
    collect: (gauge) => setKnown(gauge, conductor.motion?.sway_m),
  })
  metrics.gauge({
    name: 'carrier_lock_lost_ratio',
    help: 'Satellites that lost their carrier lock within 3 s, of those that were tracked.',
    collect: (gauge) => setKnown(gauge, conductor.motion?.lostShare),
  })
}

function setKnown(gauge: { set(value: number): void }, value: number | undefined): void {
  if (value !== undefined) gauge.set(value)
}
