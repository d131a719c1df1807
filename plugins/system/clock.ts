import type { PluginContext } from 'rtk-base/plugin'
import type { Device } from 'rtk-base/services'

const look_ms = 10_000
const tolerated_ms = 2_000

/**
 * Sets the system clock from the receiver, once, where nothing else keeps it and it is off by more than 2 s: a base
 * station often boots without a clock, and TLS needs one.
 */
export function keepSystemClock(ctx: PluginContext, device: Device): void {
  const stop = ctx.timers.every(look_ms, async () => {
    if (!device.knowsUtc) return
    const off_ms = device.utc_ms() - ctx.clock.now()
    if (Math.abs(off_ms) <= tolerated_ms) return
    await stop()
    if (await device.isClockSynchronised().catch(() => false)) return
    try {
      await device.setSystemClock()
      ctx.log.info({ off_ms: Math.round(off_ms) }, 'system clock set from the receiver')
    } catch (error) {
      // Of a program that failed: what it said last.
      const cause = (error as Error).message.trim().split('\n').at(-1)
      ctx.errors.raise(
        'clock',
        `the system clock is off by ${Math.round(Math.abs(off_ms) / 1000)} s and could not be set (${cause}): ` +
          'let NTP keep it, or run the service as a user that may set it',
      )
    }
  })
}
