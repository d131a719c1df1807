import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { hostTable } from '../../runtime/host-table.js'
import { describeHandle, leftOpen, noteRawHandles } from '../../runtime/kernel/instance/raw-handles.js'
import { Loader } from '../../runtime/loader/load.js'
import { shippedPlugins } from '../../runtime/platform/release.js'
import { type AnyPlugin, definePlugin } from '../../runtime/plugin.js'
import { during, settled } from './drive.js'
import { ManualClock } from './manual-clock.js'
import { createTestStation, type LogLine, type TestStation, type TestStationOptions } from './station.js'

/** Looks at what is open, each after all work has ended: the other end of a socket may be in another process. */
const mostLooks = 50

/** What the runtime logs of a plugin that misbehaves; its other errors may be those of hardware that is missing. */
const misbehaviour =
  /^(stop failed|could not undo|uncaught error|registered after the plugin was stopped|the handoff \S+ does not fit)|; the plugin keeps running$/

/**
 * Checks every plugin: it starts, stops and starts again. A refused reload, and a reload whose new version cannot start, leave the
 * running version as it was. Nothing is left behind: no timer, socket, server, watcher, child process or listener of the
 * process. Throws one error with all failures.
 * @param plugin a definition, or the path of a plugin (source or prebuilt). A plugin that imports texts or other assets needs the path
 * @param surroundings other plugins that the plugin needs
 */
export async function conformance(
  plugin: AnyPlugin | string,
  options: Record<string, unknown> = {},
  surroundings: TestStationOptions = {},
): Promise<void> {
  const definition = typeof plugin === 'string' ? await definitionAt(plugin) : plugin
  const stopNoting = noteRawHandles()
  try {
    const problems = await examine(definition, options, surroundings)
    if (problems.length > 0) throw new Error(`${definition.name}: ${problems.join('; ')}`)
  } finally {
    stopNoting()
  }
}

/** Loads the definition of a plugin. @param path path of the plugin, or name of a shipped plugin */
export async function definitionAt(path: string): Promise<AnyPlugin> {
  const cache = mkdtempSync(join(tmpdir(), 'rtk-base-conformance-'))
  try {
    // A name stays a name: of a shipped plugin, or of an npm package.
    const source = existsSync(path) ? resolve(path) : path
    const loader = new Loader({ host: hostTable, builtIn: shippedPlugins(), base: process.cwd(), cache })
    return (await loader.load(source)).definition
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}

async function examine(
  definition: AnyPlugin,
  options: Record<string, unknown>,
  surroundings: TestStationOptions,
): Promise<string[]> {
  const { name } = definition
  const clock = surroundings.clock ?? new ManualClock()
  const problems = new Set<string>()
  const began_ms = performance.now()
  // What hangs runs into the runtime's time limits.
  const driven = <T>(work: Promise<T>) => during(clock, work, `${name}: a step of its life`)
  const station = await driven(
    createTestStation({ ...surroundings, clock, plugins: { ...surroundings.plugins, [name]: [definition, options] } }),
  )
  const report = () => station.station.plugins().find((one) => one.name === name)
  const state = () => `${report()?.state} ${report()?.reason}`.trim()
  try {
    if (report()?.state !== 'running') return [`did not start: ${state()}`, ...complaints(station, name)]
    const registered = picture(station, name)
    const replace = (next: AnyPlugin) => {
      station.define(name, next)
      return driven(station.reload(name)).then(
        () => undefined,
        (error: Error) => error,
      )
    }
    const expect = (after: string) => {
      if (report()?.state !== 'running') problems.add(`does not run after ${after}: ${state()}`)
      else if (picture(station, name) !== registered)
        problems.add(`commands, parameters or blocks differ after ${after}`)
    }

    await replace(refusedAfterSetup(definition))
    expect('a reload that was refused')
    await replace(failingAfterStart(definition))
    expect('a new version that could not start')
    // What hangs would hang every time.
    if (complaints(station, name).length === 0) {
      await replace(definition)
      const timers = station.clock.pending
      for (let i = 0; i < 3; i++) await replace(definition)
      expect('several reloads')
      const more = station.clock.pending - timers
      if (more > 0) problems.add(`${more} timers are left behind by three reloads`)
    }

    await driven(station.unload(name))
    if (report()) problems.add('is still listed after unload')
    if (station.station.actions().some(({ plugin }) => plugin === name)) problems.add('left a command behind')
    for (const handle of await stillOpen(name, began_ms)) problems.add(`left open: ${handle}`)
    for (const complaint of complaints(station, name)) problems.add(complaint)
    return [...problems]
  } finally {
    await driven(station.stop())
  }
}

/** What the plugin shows of itself: the same before and after everything that must not change it. */
function picture({ station }: TestStation, name: string): string {
  const actions = station.actions().filter(({ plugin }) => plugin === name)
  return JSON.stringify([actions, Object.keys(station.document())])
}

/** The runtime's log lines that say what the plugin did wrong, but for what was provoked here. */
function complaints({ lines }: TestStation, name: string): string[] {
  const of = ({ plugin, msg }: LogLine) => plugin === name && misbehaviour.test(msg) && !msg.includes(provoked)
  return lines.filter(of).map(({ msg }) => msg)
}

const provoked = 'provoked by the conformance test'

/** A second instance is set up beside the first and thrown away: what every reload does that is refused. */
function refusedAfterSetup(definition: AnyPlugin): AnyPlugin {
  return definePlugin({
    ...definition,
    setup(ctx, options) {
      definition.setup(ctx, options)
      throw new Error(provoked)
    },
  })
}

/** It opens everything and fails then: `stop` has to close it again, and the version before starts once more. */
function failingAfterStart(definition: AnyPlugin): AnyPlugin {
  return definePlugin({
    ...definition,
    async start(ctx, handoff, state) {
      await definition.start?.(ctx, handoff, state)
      throw new Error(provoked)
    },
  })
}

/** What is open when everything had its time to close. */
async function stillOpen(name: string, since_ms: number): Promise<string[]> {
  for (let looks = 0; looks < mostLooks && leftOpen(name, since_ms).length > 0; looks++) {
    await pause(10)
    await settled()
  }
  return [...new Set(leftOpen(name, since_ms).map(describeHandle))]
}

/** Real time; the clock of the station may stand. */
const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))
