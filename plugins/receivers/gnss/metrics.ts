/** Reception metrics, without a value while the receiver is absent. */
import { bandOf } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { Observed } from './observed.js'

/** Full scale of the indicator of interference. */
const mostInterference = 255

export function receptionMetrics({ metrics }: Pick<PluginContext, 'metrics'>, observed: Observed): void {
  metrics.gauge({
    name: 'gnss_satellites_used',
    help: 'Satellites used in the position.',
    collect: (gauge) => {
      if (observed.satellitesUsed !== undefined) gauge.set(observed.satellitesUsed)
    },
  })
  metrics.gauge({
    name: 'gnss_satellites_visible',
    help: 'Satellites received.',
    collect: (gauge) => {
      if (observed.satellitesVisible !== undefined) gauge.set(observed.satellitesVisible)
    },
  })
  metrics.gauge({
    name: 'gnss_cno_dbhz',
    help: 'Mean C/N0 of the signals in use, dB-Hz.',
    labels: ['band'],
    collect: (gauge) => {
      for (const [band, cno_dbhz] of meanCno(observed)) gauge.set(cno_dbhz, { band })
    },
  })
  metrics.gauge({
    name: 'gnss_interference_ratio',
    help: 'Tones in the band by the receiver, 0 to 1.',
    labels: ['band'],
    collect: (gauge) => {
      for (const { band, indicator } of observed.radio.bands(observed.now_ms()))
        if (Number.isFinite(indicator)) gauge.set(indicator / mostInterference, { band })
    },
  })
  metrics.gauge({
    name: 'antenna_faulty',
    help: '1 while the antenna line is open or short-circuited, else 0.',
    collect: (gauge) => {
      // `init` and `unknown` give no value.
      if (observed.antennaWatch.fails) gauge.set(1)
      else if (observed.antenna === 'ok') gauge.set(0)
    },
  })
}

function meanCno({ sky }: Observed): readonly (readonly [band: string, cno_dbhz: number])[] {
  const bands = new Map<string, number[]>()
  for (const { signal, cno_dbhz, used } of sky?.satellites.flatMap(({ signals }) => signals) ?? []) {
    const band = bandOf(signal)
    if (used && band) bands.set(band, [...(bands.get(band) ?? []), cno_dbhz])
  }
  return [...bands].map(([band, all]) => [band, all.reduce((sum, one) => sum + one, 0) / all.length] as const)
}
