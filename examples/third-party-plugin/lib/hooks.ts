import type { PluginContext } from 'rtk-base/plugin'
import { valueAt } from 'rtk-base/schemas'
import type { Meter } from './meter.js'

/** The four hook points: events outside the meter that concern it. */
export function tapHooks(ctx: PluginContext, meter: Meter): void {
  // Beside the received and the corrupt frames, which are another plugin's. A mask may have left that block out.
  ctx.hooks.onInfoBuild.tap((document, { runtime }) => {
    const counts = valueAt(document, 'gnss.rtcm.stat')
    if (runtime && counts) Object.assign(counts, { poor: meter.totals().poor })
  })

  // Epochs of another reference are no longer comparable.
  ctx.hooks.onChange.tap(({ source, values }) => {
    if (![...values.keys()].some((name) => name.startsWith('gnss-ref-'))) return
    meter.reset()
    ctx.status(`counters reset: ${source} changed the reference`)
  })

  // A survey-in under a poor sky gives a poor reference. Undefined: the command's owner answers.
  ctx.hooks.onSystemCommand.tap(({ name }) =>
    name === 'start-survey-in' && meter.isPoor
      ? 'survey-in not started: the newest epoch has too few satellites (epoch-meter-min-satellites)'
      : undefined,
  )

  // Whoever watches knows the totals at once, also after a time without the broker.
  ctx.hooks.onMqttConnect.tap(({ reconnect }) => {
    ctx.mqtt.publish('base/{SN}/epoch-meter', JSON.stringify({ ...meter.totals(), reconnect }))
  })
}
