import type { MetricRegistry } from '../../metrics/index.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'

/** `ctx.metrics`: figures for Prometheus. */
export function metricsOf(instance: Instance, metrics: MetricRegistry): PluginContext['metrics'] {
  return {
    counter(options) {
      const family = metrics.create(instance, 'counter', options, instance.live)
      return { inc: (value = 1, labels) => family.add(value, labels) }
    },
    gauge(options) {
      const family = metrics.create(instance, 'gauge', options, instance.live)
      return { set: (value, labels) => family.add(value, labels), remove: (labels) => family.remove(labels) }
    },
    histogram(options) {
      const family = metrics.create(instance, 'histogram', options, instance.live)
      return { observe: (value, labels) => family.add(value, labels) }
    },
  }
}
