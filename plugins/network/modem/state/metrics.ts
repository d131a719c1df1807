import type { Counter, PluginContext } from 'rtk-base/plugin'
import type { ModemRegistration } from 'rtk-base/services'
import type { Readings } from './readings.js'

/** Metrics of the modem. Unknown values have no sample. */
export class ModemMetrics {
  readonly #technologyChanges: Counter
  readonly #reconnects: Counter
  readonly #scans: Counter
  #technology = ''
  /** The connection stood, and was lost since. */
  #stood = false
  #lost = false

  constructor({ metrics }: PluginContext, readings: Readings) {
    const gauge = (name: string, help: string, value: () => number | boolean | undefined) =>
      metrics.gauge({
        name,
        help,
        collect: (series) => {
          const now = value()
          if (now !== undefined && Number.isFinite(Number(now))) series.set(Number(now))
        },
      })
    const signal = () => readings.get('signal')
    gauge('modem_rssi_dbm', 'Received signal strength (RSSI) of the modem, dBm.', () => signal()?.rssi_dbm)
    gauge('modem_rsrp_dbm', 'Reference signal received power (RSRP) of the modem, dBm.', () => signal()?.rsrp_dbm)
    gauge('modem_rsrq_db', 'Reference signal received quality (RSRQ) of the modem, dB.', () => signal()?.rsrq_db)
    gauge('modem_sinr_db', 'Signal to interference and noise ratio of the modem, dB.', () => signal()?.sinr_db)
    gauge('modem_temperature_celsius', 'Temperature of the modem.', () => readings.get('temperature')?.celsius)
    gauge(
      'modem_registered',
      '1 while the modem is registered with a mobile network, else 0.',
      () => readings.registered,
    )
    this.#technologyChanges = metrics.counter({
      name: 'modem_technology_changes_total',
      help: 'Changes of the access technology, such as from LTE to 3G.',
    })
    this.#reconnects = metrics.counter({
      name: 'modem_reconnects_total',
      help: 'Mobile data connections that came back after they were lost.',
    })
    this.#scans = metrics.counter({
      name: 'modem_scans_total',
      help: 'Scans for operators, by result.',
      labels: ['result'],
      zeros: [{ result: 'ok' }, { result: 'failed' }],
    })
  }

  scanned(result: 'ok' | 'failed'): void {
    this.#scans.inc(1, { result })
  }

  /** @param stands the modem is registered and, where that is known, has a data connection */
  observe({ technology }: ModemRegistration, stands: boolean): void {
    if (technology !== '') {
      if (this.#technology !== '' && technology !== this.#technology) this.#technologyChanges.inc()
      this.#technology = technology
    }
    if (stands && this.#lost) this.#reconnects.inc()
    this.#lost = !stands && this.#stood
    this.#stood ||= stands
  }
}
