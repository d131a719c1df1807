/** What is received, as metrics: without a value while the receiver is away. */
import type { PluginContext } from 'rtk-base/plugin'
import * as ubx from './ubx/index.js'
import type { ZedReceiver } from './zed.js'

/** Full scale of the indicator of interference. */
const mostInterference = 255

export function receivedFigures({ metrics }: Pick<PluginContext, 'metrics'>, zed: ZedReceiver): void {
  metrics.gauge({
    name: 'gnss_satellites_used',
    help: 'Satellites in the position.',
    collect: (gauge) => {
      if (zed.facts.fix) gauge.set(zed.facts.satellites.used || zed.facts.fix.satellitesUsed)
    },
  })
  metrics.gauge({
    name: 'gnss_satellites_visible',
    help: 'Satellites that are received.',
    collect: (gauge) => {
      if (zed.facts.fix) gauge.set(Math.max(zed.facts.satellites.visible, zed.facts.fix.satellitesUsed))
    },
  })
  metrics.gauge({
    name: 'gnss_cno_dbhz',
    help: 'Mean C/N0 of the signals in use, dB-Hz.',
    labels: ['band'],
    collect: (gauge) => {
      for (const [band, cno_dbhz] of meanCno(zed)) gauge.set(cno_dbhz, { band })
    },
  })
  metrics.gauge({
    name: 'gnss_interference_ratio',
    help: 'Tones in the band by the receiver, 0 to 1.',
    labels: ['band'],
    collect: (gauge) => {
      for (const { band, indicator } of zed.facts.radio.bands(zed.now_ms()))
        gauge.set(indicator / mostInterference, { band })
    },
  })
  metrics.gauge({
    name: 'antenna_faulty',
    help: '1 while the antenna line is open or short-circuited, else 0.',
    collect: (gauge) => {
      if (zed.link === 'up') gauge.set(zed.facts.antenna.fails ? 1 : 0)
    },
  })
}

function meanCno({ facts: { sky } }: ZedReceiver): readonly (readonly [band: string, cno_dbhz: number])[] {
  const bands = new Map<string, number[]>()
  for (const { signal, cno_dbhz, used } of sky?.satellites.flatMap(({ signals }) => signals) ?? []) {
    const band = ubx.bandOf(signal)
    if (used && band) bands.set(band, [...(bands.get(band) ?? []), cno_dbhz])
  }
  return [...bands].map(([band, all]) => [band, all.reduce((sum, one) => sum + one, 0) / all.length] as const)
}
