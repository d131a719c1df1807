/** A plugin's reports about itself: its block of the status document, its errors, its status, its metrics. */
import type { MetricRegistry } from '../../platform/metrics/index.js'
import { StandingErrors, withoutText } from '../../platform/standing-errors.js'
import { textOf } from '../../platform/texts/text-of.js'
import type { InfoBuilder, InfoParts, PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import type { InfoPart } from '../instance/registrations.js'
import { argument, type ContextHost, members, placed } from './host.js'

/** The parts of a block, in merge order. */
function infoParts(path: string, build: InfoBuilder | InfoParts): InfoPart[] {
  if (typeof build === 'function') return [{ class: 'runtime', detail: false, fallback: false, build }]
  const groups = { static: 'function', runtime: 'function', config: 'function' } as const
  members(`block ${path}`, build, { ...groups, detail: 'object', fallback: 'object' })
  for (const group of ['detail', 'fallback'] as const)
    members(`block ${path}: its ${group}`, build[group] ?? {}, groups)
  const parts: InfoPart[] = []
  for (const group of ['basic', 'detail', 'fallback'] as const) {
    const builders = group === 'basic' ? build : build[group]
    for (const part of ['static', 'runtime', 'config'] as const) {
      const builder = builders?.[part]
      if (!builder) continue
      parts.push({ class: part, detail: group === 'detail', fallback: group === 'fallback', build: builder })
    }
  }
  return parts
}

/** `ctx.info` */
export function infoOf(instance: Instance, host: ContextHost): PluginContext['info'] {
  return {
    block(path, build) {
      placed(instance, path)
      if (typeof build !== 'function') argument(`block ${path}: what builds it`, build, 'object')
      const record = { owner: instance, path, parts: infoParts(path, build), cache: new Map() }
      instance.registered.blocks.push(record)
      return {
        changed() {
          record.cache.clear()
          host.documentChanged()
        },
      }
    },
  }
}

/** `ctx.errors` */
export function errorsOf(instance: Instance, host: ContextHost): PluginContext['errors'] {
  const { log, registered, scope } = instance
  const errors = new StandingErrors({
    texts: () => registered.texts.files.get('en') ?? {},
    utc_s: () => host.utc_s(),
    since: (code, text) => instance.lastingSince(code, text),
    raised: (code, text) => log[host.isStopping() ? 'debug' : 'warn']({ code }, text),
    textMissing: (code) => log.warn({ code }, `texts/en.json has no text for the error ${code}: its values are shown`),
    changed: () => host.errorsChanged(),
  })
  instance.errors = errors
  return {
    while: (code, condition, standing) =>
      scope.closed && condition ? undefined : errors.while(code, condition, standing),
  }
}

/** `ctx.text` */
export const englishOf =
  ({ registered }: Instance): PluginContext['text'] =>
  (key, values = {}) =>
    textOf(registered.texts.files.get('en') ?? {}, key, values, String) ?? withoutText(key, values)

/** `ctx.status` */
export function statusOf(instance: Instance, host: ContextHost): PluginContext['status'] {
  return (given) => {
    // Plugins are not type-checked when they are loaded.
    const text = String(given)
    if (instance.ownStatus === text) return
    instance.ownStatus = text
    host.documentChanged()
  }
}

/** `ctx.metrics`, for Prometheus. */
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
