import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deviceArguments, deviceVariant, startBroker } from './device.js'
import { atMost, figure, lost, quantile } from './measurement.js'
import { definePart } from './part.js'
import { rtkBase, startStation } from './stations.js'

async function startTimes(mqttPort: number, rounds: number, entry?: string) {
  const times: number[] = []
  let clean = 0
  for (let i = 0; i < rounds; i++) {
    const args = await deviceArguments(mqttPort)
    const started = performance.now()
    const station = await startStation(args, { entry })
    await station.info()
    times.push(performance.now() - started)
    clean += Number((await station.end()).code === 0)
  }
  return { times, clean }
}

/** Of a device's plugin set: start-up to the first HTTP answer, as bundle and from source. `idle` measures what it takes then. */
export const part = definePart({
  sizes: { full: { rounds: 7 }, smoke: { rounds: 1 } },
  async run({ rounds }) {
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
    const out = join(folder, 'device')
    await rtkBase(['build', deviceVariant(), '--out', out])
    const broker = await startBroker()
    const device = await startTimes(broker.port, rounds, join(out, 'rtk-base.mjs'))
    const source = await startTimes(broker.port, rounds)
    await broker.stop()
    rmSync(folder, { recursive: true, force: true })
    const what = 'start to the first HTTP answer, median'
    return [
      // Ten starts of Node at rest; a busy machine takes seconds for one.
      atMost(`device bundle: ${what}`, quantile(device.times, 0.5), 300, 'ms', 2_500),
      figure(`from source: ${what}`, quantile(source.times, 0.5), 'ms', 3_000),
      lost('starts that did not end with 0', 2 * rounds, device.clean + source.clean),
    ]
  },
})
