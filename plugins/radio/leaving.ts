import type { PluginContext } from 'rtk-base/plugin'
import { mqttLink, type NetworkInterface } from 'rtk-base/services'
import { hasAddress } from './roles.js'

/**
 * Does what takes an interface away from the uplink. Where the broker is reached through it, the link to the broker ends with `q`
 * first and comes back afterwards.
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
