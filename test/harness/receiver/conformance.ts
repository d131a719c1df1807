import type { AnyPlugin } from '../../../runtime/plugin.js'
import { definitionAt } from '../conformance.js'
import type { TestStationOptions } from '../station.js'
import { Bench } from './bench.js'
import { checks } from './checks.js'
import type { ReceiverDevice } from './device.js'

export interface ReceiverConformanceOptions {
  /** Options of the plugin, such as its port. */
  options?: Record<string, unknown>
  /** Further parts of the station, e.g. the plugin of the simulator. */
  surroundings?: TestStationOptions
}

/**
 * Checks the plugin of a receiver, in a station that makes the receiver a base: link states, identity, setting and reading back a
 * reference, a restart, a refusal, silence, a wrong 1005, a reload, and exactly the reports that the plugin claims. Throws one
 * error with all failures. `conformance` checks every plugin.
 * @param plugin a definition, or the path of a plugin
 * @param device controls the receiver, or its simulator or recording
 */
export async function receiverConformance(
  plugin: AnyPlugin | string,
  device: ReceiverDevice,
  { options = {}, surroundings = {} }: ReceiverConformanceOptions = {},
): Promise<void> {
  const definition = typeof plugin === 'string' ? await definitionAt(plugin) : plugin
  const bench = await Bench.create(definition, device, options, surroundings)
  try {
    const mine = bench.station.station.plugins().find(({ name }) => name === definition.name)
    if (mine?.state !== 'running') throw new Error(`${definition.name} did not start: ${mine?.state} ${mine?.reason}`)
    await device.begin?.(bench.station)
    for (const [name, check] of checks) {
      const before = bench.problems.length
      const goesOn = await check(bench, definition.name)
      for (const text of bench.witness.problems) bench.problem(text)
      bench.witness.problems.clear()
      bench.problems.splice(
        before,
        Number.POSITIVE_INFINITY,
        ...bench.problems.slice(before).map((text) => `${name}: ${text}`),
      )
      // What follows needs a base that works.
      if (goesOn === false) break
    }
  } finally {
    await bench.station.stop()
    await device.end?.()
  }
  const problems = [...new Set(bench.problems)]
  if (problems.length > 0) throw new Error(`${definition.name}: ${problems.join('; ')}`)
}
