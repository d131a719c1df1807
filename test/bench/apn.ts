/** How fast the APN of a SIM is found. */
import { apnsOf, knownNetworks } from '../../plugins/modem/apn/lookup.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const budget_ms = 1

export async function benchApn(): Promise<Measurement[]> {
  const sims = [...knownNetworks(), '99999'].map((plmn) => ({ imsi: plmn.padEnd(15, '1'), iccid: '' }))
  const times_ms = sims.map((sim) => {
    const start_ms = performance.now()
    apnsOf(sim)
    return performance.now() - start_ms
  })
  return [
    atMost('APN of a SIM, 99 % of the lookups', quantile(times_ms, 0.99), budget_ms, 'ms'),
    { name: 'the slowest lookup', value: Math.max(...times_ms), unit: 'ms' },
  ]
}
