import type { PluginContext } from 'rtk-base/plugin'
import { type Device, receiver, rtcmStream } from 'rtk-base/services'

/** A station has this long after its start before missing RTCM means `degraded`. */
const startTime_ms = 120_000

/** `base.state.base`, from what the station does and not from what it was told. */
export function baseState(ctx: PluginContext, device: Device): 'starting' | 'ready' | 'degraded' {
  const stream = ctx.services.find(rtcmStream)
  const link = ctx.services.find(receiver)?.link
  if (stream?.open && link === 'up') return 'ready'
  return device.uptime_ms() < startTime_ms ? 'starting' : 'degraded'
}
