import type { Counter, Gauge, Registry } from 'prom-client'
import type { PluginReport } from '../../../schemas/services.js'
import { prom } from './family.js'

export interface StationSources {
  plugins(): readonly PluginReport[]
  listeners(): readonly { plugin: string; listener: string; open: number; refused: number }[]
  /** By metric. */
  dropped(): ReadonlyMap<string, number>
}

/** The runtime's own metrics: plugins, blocks of the event loop, listeners, the process. */
export class StationMetrics {
  readonly #sources: StationSources
  /** By plugin. */
  readonly #failures = new Map<string, number>()
  readonly #stalls = new Map<string, number>()

  constructor(sources: StationSources) {
    this.#sources = sources
  }

  failed(plugin: string): void {
    this.#failures.set(plugin, (this.#failures.get(plugin) ?? 0) + 1)
  }

  stalled(plugin: string): void {
    this.#stalls.set(plugin, (this.#stalls.get(plugin) ?? 0) + 1)
  }

  /** Every one reads its values when the metrics are read. */
  register(registry: Registry): void {
    const { plugins, listeners, dropped } = this.#sources
    const { gauge, counter } = readersIn(registry)
    type Counts = ReadonlyMap<string, number>
    const counts = (name: string, help: string, label: string, all: () => Counts, zeros = () => [] as string[]) =>
      counter(name, help, [label], (metric) => {
        for (const key of new Set([...zeros(), ...all().keys()])) metric.inc({ [label]: key }, all().get(key) ?? 0)
      })
    const names = () => plugins().map(({ name }) => name)

    gauge('rtk_base_plugins', 'Plugins by state.', ['state'], (states) => {
      for (const { state } of plugins()) states.inc({ state })
    })
    const failures = 'Failures of plugins: loading, starting, uncaught errors.'
    counts('rtk_base_plugin_failures_total', failures, 'plugin', () => this.#failures, names)
    const stalls = 'Blocks of the event loop, by the plugin that caused them.'
    counts('rtk_base_event_loop_stalls_total', stalls, 'plugin', () => this.#stalls, names)
    const drops = 'Values that were dropped because their metric has too many combinations of labels.'
    counts('rtk_base_metric_values_dropped_total', drops, 'metric', dropped)
    gauge('rtk_base_listener_connections', 'Open connections of listeners.', ['plugin', 'listener'], (all) => {
      for (const { plugin, listener, open } of listeners()) all.inc({ plugin, listener }, open)
    })
    const refusals = 'Connections that the limits of a listener refused.'
    counter('rtk_base_listener_connections_refused_total', refusals, ['plugin', 'listener'], (all) => {
      for (const { plugin, listener, refused } of listeners()) all.inc({ plugin, listener }, refused)
    })
    registerProcess(registry)
  }
}

function registerProcess(registry: Registry): void {
  const { gauge, counter } = readersIn(registry)
  gauge('process_resident_memory_bytes', 'Resident memory of the process.', [], (memory) => {
    memory.set(process.memoryUsage.rss())
  })
  gauge('process_start_time_seconds', 'Start of the process, UTC since 1970.', [], (start) => {
    start.set(Math.round(Date.now() / 1000 - process.uptime()))
  })
  counter('process_cpu_seconds_total', 'CPU time of the process.', [], (cpu) => {
    const { user, system } = process.cpuUsage()
    cpu.inc((user + system) / 1e6)
  })
  gauge('nodejs_heap_size_used_bytes', 'Used heap of JavaScript.', [], (heap) => {
    heap.set(process.memoryUsage().heapUsed)
  })
}

/** Makes metrics that are read on request, with all their labels. */
function readersIn(registry: Registry) {
  const registers = [registry]
  return {
    gauge: (name: string, help: string, labelNames: string[], read: (gauge: Gauge) => void) =>
      new (prom().Gauge)({
        ...{ name, help, labelNames, registers },
        collect() {
          this.reset()
          read(this)
        },
      }),
    counter: (name: string, help: string, labelNames: string[], read: (counter: Counter) => void) =>
      new (prom().Counter)({
        ...{ name, help, labelNames, registers },
        collect() {
          this.reset()
          read(this)
        },
      }),
  }
}
