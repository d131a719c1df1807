/**
 * S13: a plugin gets values of its previous version, which may have handed over another shape. Whatever that was, the plugin starts,
 * and nothing of it gets into the station. The names of the values are those that the plugins hand over and ask for.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import { type AnyPlugin, definePlugin, type Handoff } from '../../runtime/plugin.js'
import { InfoDocument } from '../../schemas/index.js'
import {
  createTestStation,
  few,
  freeTcpPort,
  freeUdpPort,
  ManualClock,
  type TestStation,
  type TestStationOptions,
} from '../harness/index.js'
import { shippedPlugin, shippedTogether } from '../harness/shipped.js'
import { FakeFleet } from './fleet/caster-rig.js'

type Pairs = [name: string, value: unknown][]

/** Marks that no plugin makes by itself. */
const markedText = 'garbage-of-an-older-version'
const markedNumber = 918_273_645
const marks = /garbage-of-an-older-version|918273645/
const unfit = /^the handoff \S+ does not fit this version/

/** A shipped plugin whose previous version hands over what a test wants. */
class Observed {
  readonly definition: AnyPlugin
  /** Names that were handed over or asked for. */
  readonly names = new Set<string>()
  /** Names that the newest `start` read. */
  readonly read = new Set<string>()
  /** What the newest `stop` returned. */
  real: Pairs = []
  /** Handed over in its place. */
  forged: Pairs | undefined

  constructor(plugin: AnyPlugin) {
    const observed = this
    this.definition = definePlugin({
      ...plugin,
      start(ctx, handoff, state) {
        observed.read.clear()
        const observing: Handoff = {
          get(name, schema) {
            observed.names.add(name)
            observed.read.add(name)
            return handoff.get(name, schema)
          },
          has: (name) => handoff.has(name),
        }
        return plugin.start?.(ctx, observing, state)
      },
      async stop(reason, state, ctx) {
        const real = [...((await plugin.stop?.(reason, state, ctx)) ?? [])]
        for (const [name] of real) observed.names.add(name)
        // A plugin may change its own value later.
        observed.real = structuredClone(real) as Pairs
        return observed.forged ?? real
      },
    })
  }
}

interface Forgery {
  readonly what: string
  /** In place of a real value, which is undefined if there was none. */
  of(real: unknown): unknown
  /** It may fit: only its kind is known of the real value, or not even that. */
  mayFit(real: unknown): boolean
}

const kindOf = (value: unknown) => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value)
const plainForgeries = Object.entries({
  null: null,
  'a number': markedNumber,
  'a text': markedText,
  'an empty list': [],
  'an empty object': {},
}).map(
  ([what, value]): Forgery => ({
    what,
    of: () => value,
    mayFit: (real) => real === undefined || kindOf(real) === kindOf(value),
  }),
)

type Path = readonly (string | number)[]

/** All members below a value; of a list, those of its first entry. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  const isPlain = typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)
  const members = isPlain ? Object.entries(value).slice(0, Array.isArray(value) ? 1 : undefined) : []
  return members.flatMap(([name, below]) => {
    const here = [...path, Array.isArray(value) ? Number(name) : name]
    return [here, ...pathsIn(below, here)]
  })
}

/** A copy with another value at a place. */
function changedAt(
  value: unknown,
  [name, ...path]: Path,
  change: (parent: Record<string, unknown>, name: string) => void,
) {
  const copy = structuredClone(value)
  let parent = copy as Record<string, unknown>
  let at = String(name)
  for (const next of path) {
    parent = parent[at] as Record<string, unknown>
    at = String(next)
  }
  change(parent, at)
  return copy
}

const changes: Record<string, (parent: Record<string, unknown>, name: string) => void> = {
  'of another kind': (parent, name) => {
    parent[name] = typeof parent[name] === 'string' ? markedNumber : markedText
  },
  null: (parent, name) => {
    parent[name] = null
  },
  missing: (parent, name) => {
    if (Array.isArray(parent)) parent.splice(Number(name), 1)
    else delete parent[name]
  },
}

/** The real values with one member changed, in all places: first all of another kind. */
function memberForgeries(values: Pairs): Forgery[] {
  return Object.entries(changes).flatMap(([how, change]) =>
    values.flatMap(([name, value]) =>
      pathsIn(value).map(
        (path): Forgery => ({
          what: `${name}: ${path.join('.')} ${how}`,
          of: (real) => (real === value ? changedAt(value, path, change) : real),
          mayFit: () => true,
        }),
      ),
    ),
  )
}

/** Hands over all forgeries, one reload each, and checks the plugin after each. @param values real ones @returns the faults */
async function faultsOf(station: TestStation, name: string, observed: Observed, values: Pairs): Promise<string[]> {
  const faults: string[] = []
  const realOf = (key: string) => values.find(([one]) => one === key)?.[1]
  const reloaded = async () => {
    observed.real = []
    try {
      await station.reload(name)
      await station.clock.advance(1_100)
    } catch (error) {
      return (error as Error).message
    }
    const state = station.station.plugins().find((one) => one.name === name)?.state
    return state === 'running' ? '' : `it is ${state}`
  }
  /** Nothing of a value that did not fit has become the state that is handed over next. */
  const keeps = (forgery: Forgery | undefined) =>
    observed.real
      .filter(([key, value]) => marks.test(JSON.stringify(value)) && key !== 'lines' && !isOfKind(forgery, realOf(key)))
      .map(([key]) => key)
  const isOfKind = (forgery: Forgery | undefined, real: unknown) =>
    plainForgeries.includes(forgery as Forgery) && forgery?.mayFit(real)
  let before: Forgery | undefined
  for (const forgery of [...plainForgeries, ...few(8, memberForgeries(values)), undefined]) {
    const lines = station.lines.length
    observed.forged = forgery && [...observed.names].map((key) => [key, forgery.of(realOf(key))])
    const fault = await reloaded()
    observed.forged = undefined
    const kept = keeps(before)
    if (kept.length > 0) faults.push(`${before?.what}: ${kept} is kept`)
    const own = station.lines.slice(lines).filter(({ plugin }) => plugin === name)
    const told = own.filter(({ msg }) => unfit.test(msg))
    const expected = forgery ? [...observed.read].filter((key) => !forgery.mayFit(realOf(key))) : []
    const document = JSON.stringify(station.station.document())
    const wrong = [
      fault,
      ...own.filter(({ level }) => level >= 50).map(({ msg }) => msg),
      ...expected.filter((key) => !told.some((line) => line.name === key)).map((key) => `nothing is said of ${key}`),
      marks.test(JSON.stringify(told)) ? 'the log shows the value' : '',
      marks.test(document) && ![...observed.names].some((key) => isOfKind(forgery, realOf(key)))
        ? 'the document shows the value'
        : '',
      ...Value.Errors(InfoDocument, JSON.parse(document))
        .slice(0, 3)
        .map(({ instancePath, message }) => `the document: ${instancePath} ${message}`),
    ].filter(Boolean)
    if (wrong.length > 0) faults.push(`${forgery?.what ?? 'the real values'}: ${wrong.join('; ')}`)
    if (fault) await reloaded()
    before = forgery
  }
  return faults
}

/** A station all of whose plugins are observed. */
async function observedStation(t: Test, options: TestStationOptions) {
  const plugins = new Map<string, Observed>()
  const definitions: NonNullable<TestStationOptions['plugins']> = {}
  for (const [name, given] of Object.entries(options.plugins ?? {})) {
    const [definition, own] = Array.isArray(given) ? given : [given, {}]
    const observed = new Observed(definition)
    plugins.set(name, observed)
    definitions[name] = [observed.definition, own]
  }
  const station = await createTestStation({ ...options, plugins: definitions })
  t.teardown(() => station.stop())
  const misfits = () => station.lines.filter(({ msg }) => unfit.test(msg)).map(({ plugin, msg }) => `${plugin}: ${msg}`)
  return {
    station,
    /** One subtest for each of these plugins that hands something over. */
    async check(t: Test, names: readonly string[], situation = '') {
      for (const name of names) {
        const observed = plugins.get(name) as Observed
        const before = misfits().length
        await station.reload(name)
        const { real } = observed
        await station.clock.advance(5_000)
        await station.reload(name)
        t.strictSame(misfits().slice(before), [], `${name} takes what it handed over itself`)
        if (observed.names.size === 0) continue
        await t.test(`S13: ${name} starts without what another version handed over${situation}`, async (t) => {
          t.comment(`${[...observed.names]}`)
          t.strictSame(await faultsOf(station, name, observed, real), [])
        })
      }
    },
  }
}

t.test('a station with a ZED', async (t) => {
  const variant = JSON.parse(readFileSync(join(process.cwd(), 'runtime', 'variants', 'simulator.json'), 'utf8'))
  const [names] = shippedTogether()
  const mqtt = await freeTcpPort()
  const plugins: NonNullable<TestStationOptions['plugins']> = {}
  for (const name of names) {
    const port = name === 'mqtt-broker' ? { port: mqtt } : {}
    plugins[name] = [await shippedPlugin(name), { ...variant.plugins[name], ...port }]
  }
  const changes = { ...variant.changes, 'mqtt-port': mqtt, 'udp-port': await freeUdpPort(), 'ntrip-caster-port': 0 }
  const { station, check } = await observedStation(t, {
    plugins,
    clock: new ManualClock(),
    variant: { ...variant, plugins: {}, http: { host: '127.0.0.1', port: 0 }, changes },
  })
  const status = () => station.field('gnss.state.status')
  const until = async (wanted: string) => {
    for (let seconds = 0; seconds < 240 && status() !== wanted; seconds++) await station.clock.advance(1_000)
    t.equal(status(), wanted)
  }
  await until('fixed')
  await station.clock.advance(30_000)
  await check(t, names)
  await until('fixed')
  await station.station.command('start-survey-in', { source: 'console' })
  await until('survey')
  await check(t, ['survey-in'], ', during a survey-in')
  await until('fixed')
  await station.clock.advance(30_000)
  await station.station.command('sim=move 0.3 0 0', { source: 'console' })
  await until('moved')
  await check(t, ['integrity', 'survey-in'], ', after a move')
})

for (const [simulator, driver] of [
  ['simulated-um980', 'gnss-unicore'],
  ['simulated-lg290p', 'gnss-quectel'],
  ['simulated-mosaic', 'gnss-septentrio'],
] as const)
  t.test(`a station with a ${simulator}`, async (t) => {
    const names = ['system', 'gnss', simulator, 'rtcm']
    const plugins: NonNullable<TestStationOptions['plugins']> = {
      [driver]: [await shippedPlugin(driver), { port: 'simulator' }],
    }
    for (const name of names) plugins[name] = await shippedPlugin(name)
    const { station, check } = await observedStation(t, { plugins })
    await station.clock.advance(20_000)
    await check(t, [simulator, driver])
  })

t.test('a station that looks for its receiver', async (t) => {
  const plugins = { system: await shippedPlugin('system'), 'gnss-auto': await shippedPlugin('gnss-auto') }
  const { check } = await observedStation(t, { plugins, variant: { standby: { 'gnss-zed': {} } } })
  await check(t, ['gnss-auto'])
})

t.test('a fleet', async (t) => {
  const nowhere = { query: async () => ({ rows: [] }), execProtocolRawSync: () => new Uint8Array() }
  const fleet = new FakeFleet(nowhere as never)
  const plugins: NonNullable<TestStationOptions['plugins']> = {
    'fake-fleet': fleet.plugin(),
    'ntrip-caster': [await shippedPlugin('ntrip-caster'), { host: '127.0.0.1' }],
    'fleet-caster': await shippedPlugin('fleet-caster'),
  }
  const { check } = await observedStation(t, { plugins, clock: fleet.clock })
  await check(t, ['fleet-caster'])
})
