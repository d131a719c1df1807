/** Antenna motion by the carrier phases, in the document (unknown: 0) and as metrics (unknown: no value). */
import { roundTo, sigmasOf } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { AntennaMove, Integrity } from 'rtk-base/services'

/** Antenna motion from the carrier phases. */
export interface AntennaMotion {
  /** Displacement within 10 s, metres; undefined in the first 20 s after a start or a gap, with fewer than 6 satellites, and with observations every 10 s or less often. */
  readonly net_m: number | undefined
  /** RMS distance from the mean position over 10 s, metres. */
  readonly sway_m: number | undefined
  /** Satellites that agree on the displacement; 0 while unknown. */
  readonly satellites: number
  /** Share of the satellites that lost lock within 3 s, 0 to 1. */
  readonly lostShare: number
}

function shownMove({ by, t, size_m, isLeast, moves, vector }: AntennaMove) {
  const found = { by, t, size_m: roundTo(size_m, 4), at_least: isLeast, moves }
  if (!vector) return found
  const { east_m, north_m, up_m } = sigmasOf(vector)
  return {
    ...found,
    ...{ east_m: roundTo(vector.east_m, 4), north_m: roundTo(vector.north_m, 4), up_m: roundTo(vector.up_m, 4) },
    ...{ sigma_east_m: roundTo(east_m, 4), sigma_north_m: roundTo(north_m, 4), sigma_up_m: roundTo(up_m, 4) },
  }
}

export function publishMotion(
  { info, metrics }: Pick<PluginContext, 'info' | 'metrics'>,
  monitor: Pick<Integrity, 'suspicion'> & { readonly motion: AntennaMotion | undefined },
): void {
  info.block('gnss.state.motion', () => {
    const { net_m = 0, sway_m = 0, satellites = 0, lostShare = 0 } = monitor.motion ?? {}
    const move = monitor.suspicion?.move
    const motion = { net: roundTo(net_m, 3), sway: roundTo(sway_m, 4), satellites, lost: roundTo(lostShare, 2) }
    return { ...motion, ...(move && { move: shownMove(move) }) }
  })
  const gauge = (name: string, of: keyof AntennaMotion, help: string) =>
    metrics.gauge({
      name,
      help,
      collect(gauge) {
        const value = monitor.motion?.[of]
        if (value !== undefined) gauge.set(value)
      },
    })
  gauge(
    'antenna_displacement_meters',
    'net_m',
    'How far the antenna is from where it was 10 s ago, by the carrier phases.',
  )
  gauge(
    'antenna_sway_meters',
    'sway_m',
    'Rms of the distance of the antenna from its mean position over 10 s, by the carrier phases.',
  )
  gauge(
    'carrier_lock_lost_ratio',
    'lostShare',
    'Satellites that lost their carrier lock within 3 s, of those that were tracked.',
  )
}
