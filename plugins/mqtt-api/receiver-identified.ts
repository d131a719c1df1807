import type { PluginContext } from 'rtk-base/plugin'
import { receiver } from 'rtk-base/services'

/** Calls `identified` once, when the receiver has reported its unique id (SEC-UNIQID, class 0x27, id 0x03). */
export function whenIdentified(ctx: PluginContext, identified: () => void): void {
  let reported = false
  ctx.services.watch(receiver, (source) => {
    const look = () => {
      if (reported || !source || source.identity.serial === '') return
      reported = true
      identified()
    }
    look()
    return source && !reported ? ctx.on(source.onState, look) : undefined
  })
}
