import type { PluginContext } from 'rtk-base/plugin'
import { receiver } from 'rtk-base/services'

const look_ms = 1_000

/** Calls `identified` once, when the receiver has reported its unique id (SEC-UNIQID, class 0x27, id 0x03). */
export function whenIdentified(ctx: PluginContext, identified: () => void): void {
  const stop = ctx.timers.every(look_ms, () => {
    if ((ctx.services.find(receiver)?.identity.serial ?? '') === '') return
    void stop()
    identified()
  })
}
