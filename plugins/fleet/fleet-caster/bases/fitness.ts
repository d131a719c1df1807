import type { FleetStation } from 'rtk-base/services'
import type { Settings } from '../options.js'

/** Why a station may not serve rovers, by what the fleet knows of it; `''`: it may. Unknown is not fit. */
export function whyUnfit(
  station: FleetStation | undefined,
  { allowDegraded }: Pick<Settings, 'allowDegraded'>,
): string {
  if (!station) return 'the fleet does not know this station'
  if (station.online !== 'online') return station.online === 'offline' ? 'it is offline' : 'it was never seen online'
  const isFit = station.verdict === 'fit' || (allowDegraded && station.verdict === 'degraded')
  if (!isFit) return `its verdict is ${station.verdict}${station.why ? `: ${station.why}` : ''}`
  return station.arp ? '' : 'the reference that it announces is not known'
}
