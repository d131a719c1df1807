/** How fast the APN of a SIM is found. */
import { atMost, figure, lost, quantile } from './measurement.js'
import { definePart } from './part.js'
import { ofTree } from './tree.js'

type Lookup = typeof import('../../plugins/network/modem/apn/lookup.js')

export const part = definePart({
  // All SIMs take half a second.
  sizes: { full: {}, smoke: {} },
  async run() {
    const { apnsOf, knownNetworks } = await ofTree<Lookup>('plugins/network/modem/apn/lookup.js')
    const sims = [...knownNetworks(), '99999'].map((plmn) => ({ imsi: plmn.padEnd(15, '1'), iccid: '' }))
    let known = 0
    const times_ms = sims.map((sim) => {
      const start_ms = performance.now()
      known += Number(apnsOf(sim).length > 0)
      return performance.now() - start_ms
    })
    return [
      // Of every network of the table one is known; of the last SIM none.
      lost('networks without an APN', sims.length - 1, known),
      atMost('APN of a SIM, 99 % of the lookups', quantile(times_ms, 0.99), 1, 'ms', 10),
      figure('the slowest lookup', Math.max(...times_ms), 'ms'),
    ]
  },
})
