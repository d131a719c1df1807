import type { PluginContext } from 'rtk-base/plugin'
import { cellularUplink } from 'rtk-base/services'
import type { Jobs } from './jobs.js'
import type { Readings } from './state/readings.js'

/** The service `cellularUplink`. @returns to be called when the registration was read */
export function provideUplink(ctx: PluginContext, readings: Readings, jobs: Jobs): () => void {
  const changed = ctx.event<void>()
  let wasConnected: boolean | undefined
  ctx.services.provide(cellularUplink, {
    get connected() {
      return readings.connected
    },
    get pending() {
      return jobs.pending
    },
    onChange: changed.on,
  })
  return () => {
    const { connected } = readings
    if (connected === undefined || connected === wasConnected) return
    wasConnected = connected
    changed.emit()
  }
}
