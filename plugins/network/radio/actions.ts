/** Actions on an interface: they may take the station off the air, and end within a limit. */
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { mqttLink, type NetworkInterface } from 'rtk-base/services'
import { hasAddress } from './roles.js'

/**
 * Runs an action that takes an interface away from the uplink. If the broker is reached through it, the MQTT link ends with `q`
 * first and reconnects afterwards.
 */
export async function leaving(
  ctx: Pick<PluginContext, 'services' | 'log'>,
  one: NetworkInterface,
  reason: string,
  work: () => Promise<void>,
): Promise<void> {
  const link = ctx.services.find(mqttLink)
  const isUplink = one.wifi?.mode === 'station' && hasAddress(one)
  let release = () => {}
  if (isUplink && link?.via === 'sta') {
    release = await link.hold(reason).catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'the MQTT link could not be ended before the WiFi uplink is left')
      return () => {}
    })
  }
  try {
    await work()
  } finally {
    release()
  }
}

/** @throws RTK_ERR_UNAVAILABLE after `limit_ms` */
export async function limited<T>(
  { timers }: Pick<PluginContext, 'timers'>,
  work: Promise<T>,
  limit_ms: number,
  what: string,
): Promise<T> {
  let cancel: () => unknown = () => {}
  const late = new Promise<never>((_resolve, reject) => {
    cancel = timers.after(limit_ms, () =>
      reject(new RtkError('RTK_ERR_UNAVAILABLE', `${what} did not end within ${limit_ms / 1000} s`)),
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    void cancel()
  }
}
