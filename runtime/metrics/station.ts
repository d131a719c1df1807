import type { PluginReport } from '../../schemas/services.js'
import type { MetricRegistry } from './index.js'
import { PromCounter, PromGauge } from './prom.js'

export interface StationFigures {
  plugins(): readonly PluginReport[]
  listeners(): readonly { plugin: string; listener: string; open: number; refused: number }[]
}

/** What the runtime itself has to say: plugins, stalls, listeners, the process. Returns what it counts as it happens. */
export function stationMetrics({ registry }: MetricRegistry, { plugins, listeners }: StationFigures) {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[], read: (gauge: PromGauge) => void) =>
    new PromGauge({
      ...{ name, help, labelNames, registers },
      collect() {
        this.reset()
        read(this)
      },
    })
  /** A counter whose figure is kept elsewhere. */
  const counter = (name: string, help: string, labelNames: string[], read: (counter: PromCounter) => void) =>
    new PromCounter({
      ...{ name, help, labelNames, registers },
      collect() {
        this.reset()
        read(this)
      },
    })
  const counted = (name: string, help: string) => new PromCounter({ name, help, labelNames: ['plugin'], registers })

  gauge('rtk_base_plugins', 'Plugins by state.', ['state'], (states) => {
    for (const { state } of plugins()) states.inc({ state })
  })
  gauge('rtk_base_listener_connections', 'Open connections of listeners.', ['plugin', 'listener'], (open) => {
    for (const figures of listeners()) open.inc(labelsOf(figures), figures.open)
  })
  const refused = 'rtk_base_listener_connections_refused_total'
  counter(refused, 'Connections that the limits of a listener refused.', ['plugin', 'listener'], (all) => {
    for (const figures of listeners()) all.inc(labelsOf(figures), figures.refused)
  })
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
  const failures = counted('rtk_base_plugin_failures_total', 'Failures of plugins: loading, starting, uncaught errors.')
  const stalls = counted(
    'rtk_base_event_loop_stalls_total',
    'Blocks of the event loop, by the plugin that caused them.',
  )
  return {
    failed: (plugin: string) => failures.inc({ plugin }),
    stalled: (plugin: string) => stalls.inc({ plugin }),
  }
}

function labelsOf({ plugin, listener }: { plugin: string; listener: string }): { plugin: string; listener: string } {
  return { plugin, listener }
}
