import type { AnyPlugin } from '../../runtime/plugin.js'
import { createTestStation, type TestStationOptions } from './station.js'

/**
 * What every plugin must stand: start, stop, start again, reload, and leave nothing behind. Throws with what is wrong.
 * `surroundings` are the plugins that it needs.
 */
export async function conformance(
  definition: AnyPlugin,
  options: Record<string, unknown> = {},
  surroundings: TestStationOptions = {},
): Promise<void> {
  const { name } = definition
  const station = await createTestStation({
    ...surroundings,
    plugins: { ...surroundings.plugins, [name]: [definition, options] },
  })
  const problem = (what: string) => new Error(`${name}: ${what}`)
  const stateOf = () => station.station.plugins().find((plugin) => plugin.name === name)
  try {
    if (stateOf()?.state !== 'running') throw problem(`did not start: ${stateOf()?.state} ${stateOf()?.reason}`)
    const commands = station.station.commands().length
    const document = JSON.stringify(Object.keys(station.station.document()))
    await station.reload(name)
    if (stateOf()?.state !== 'running') throw problem(`did not start again: ${stateOf()?.reason}`)
    const timers = station.clock.pending
    for (let i = 0; i < 3; i++) await station.reload(name)
    if (station.clock.pending > timers)
      throw problem(`${station.clock.pending - timers} timers are left behind by three reloads`)
    if (station.station.commands().length !== commands) throw problem('commands differ after a reload')
    if (JSON.stringify(Object.keys(station.station.document())) !== document)
      throw problem('blocks differ after a reload')
    await station.unload(name)
    if (stateOf()) throw problem('is still listed after unload')
    if (station.station.commands().some(({ plugin }) => plugin === name)) throw problem('left a command behind')
  } finally {
    await station.stop()
  }
}
