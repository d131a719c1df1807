import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type pino from 'pino'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../runtime/index.js'
import { createLogger } from '../../runtime/platform/log/log.js'
import { SimulatedMachine } from '../../runtime/platform/ports/machine.js'
import type { AnyPlugin } from '../../runtime/plugin.js'
import type { Variant } from '../../schemas/variant.js'
import { withBeside } from './beside.js'
import { keepLine } from './last-log.js'
import { ManualClock } from './manual-clock.js'
import { MemoryStore } from './memory-store.js'
import { shippedPlugin, withTexts } from './shipped.js'

/** A log line as JSON. */
export type LogLine = Record<string, unknown> & { msg: string; level: number }

/** All are optional. The members of `RuntimeOptions` are passed on to `createRuntime`. */
export interface TestStationOptions extends Partial<Omit<RuntimeOptions, 'variant' | 'log' | 'clock' | 'store'>> {
  /** Plugins of the station by name: the definition, or the definition and its options. */
  plugins?: Record<string, AnyPlugin | [AnyPlugin, Record<string, unknown>]>
  /** Further keys of the variant's `plugins`: names, paths. */
  sources?: Variant['plugins']
  variant?: Partial<Variant>
  clock?: ManualClock
  store?: RuntimeOptions['store']
  /** Print the log too. */
  verbose?: boolean
}

/** The real application on simulated edges: memory store, manual clock, HTTP on a free loopback port. */
export interface TestStation extends Runtime {
  readonly clock: ManualClock
  readonly store: MemoryStore
  readonly data: string
  /** Everything that was logged. */
  readonly lines: LogLine[]
  /** Provides another version of a plugin, which the next reload loads. */
  define(name: string, definition: AnyPlugin): void
  /** How often the machine was asked to restart. */
  readonly restarts: () => number
  readonly url: string
  /** One HTTP request to the station. */
  request(
    path: string,
    init?: RequestInit,
  ): Promise<{ status: number; text: string; json: () => unknown; headers: Headers }>
  /** The document now, as HTTP gives it. */
  info(): Promise<Record<string, unknown>>
  /** One field of the document by its dotted path. */
  field(path: string): unknown
}

/** Starts a station for a test; `t.teardown(() => station.stop())` ends it. */
export async function createTestStation(options: TestStationOptions = {}): Promise<TestStation> {
  const {
    plugins = {},
    sources = {},
    clock = new ManualClock(),
    store = new MemoryStore(),
    verbose,
    variant,
    ...rest
  } = options
  const lines: LogLine[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as LogLine)
      keepLine(String(chunk))
      if (verbose) process.stderr.write(String(chunk))
      done()
    },
  })
  const definitions: Record<string, AnyPlugin> = {}
  const wanted: Variant['plugins'] = { ...sources }
  for (const [name, plugin] of Object.entries(plugins)) {
    const [definition, pluginOptions] = Array.isArray(plugin) ? plugin : [plugin, {}]
    definitions[name] = withTexts(definition)
    wanted[name] = pluginOptions
  }
  const complete = withBeside({ ...wanted, ...variant?.plugins })
  for (const name of complete.added) definitions[name] = withTexts(await shippedPlugin(name))
  const data = rest.data ?? mkdtempSync(join(tmpdir(), 'rtk-base-test-'))
  let restarts = 0
  const runtime = await createRuntime({
    base: process.cwd(),
    machine: new SimulatedMachine(() => {
      restarts += 1
    }),
    release: { version: '0.0.0-test', sha256: '0'.repeat(64), built: '2026-01-01T00:00:00.000Z' },
    ...rest,
    data,
    clock,
    store,
    log: createLogger({ level: 'debug', destination: destination as unknown as pino.DestinationStream }),
    definitions,
    variant: {
      name: 'test',
      hardware: 'test',
      serial: 'TEST0001',
      simulator: true,
      http: { host: '127.0.0.1', port: 0 },
      ...variant,
      plugins: complete.plugins,
    },
  })
  const url = `http://127.0.0.1:${runtime.address.port}`
  const field = (path: string) =>
    path
      .split('.')
      .reduce<unknown>(
        (part, name) => (part as Record<string, unknown> | undefined)?.[name],
        runtime.station.document(),
      )
  return {
    ...runtime,
    clock,
    store: store as MemoryStore,
    data,
    lines,
    define: (name, definition) => {
      definitions[name] = withTexts(definition)
    },
    restarts: () => restarts,
    url,
    field,
    async request(path, init) {
      // A clock that jumps ends connections that are kept for the next request.
      const response = await fetch(`${url}${path}`, { ...init, headers: { connection: 'close', ...init?.headers } })
      const text = await response.text()
      return { status: response.status, text, json: () => JSON.parse(text) as unknown, headers: response.headers }
    },
    async info() {
      return (await (await fetch(`${url}/get-info`)).json()) as Record<string, unknown>
    },
    async stop() {
      await runtime.stop()
      // A thread of a plugin that was stopped while it began writes for a moment more.
      if (!rest.data) rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    },
  }
}
