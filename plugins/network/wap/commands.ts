import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { AccessPoint } from './access-point.js'

/** Delay for the answer, which may go over the access point itself. */
const answer_ms = 200

export function addCommands(ctx: PluginContext, accessPoint: AccessPoint): void {
  const mustBeUp = (what: string) => {
    if (accessPoint.isUp) return
    const { text = 'the radio is not known yet', state } = accessPoint.radio?.accessPoint ?? {}
    throw unavailable(`${what}: the access point is ${state ?? 'not up'}${text === '' ? '' : ` (${text})`}`)
  }
  ctx.action({
    name: 'restart-wap',
    summary: 'restarts the access point with its settings; clients are dropped for some seconds',
    caution: 'All clients of the access point, perhaps you too, are disconnected for some seconds.',
    run: () => {
      mustBeUp('it is not started again')
      ctx.errors.while('wap-restart', false)
      ctx.timers.after(answer_ms, async () => {
        try {
          await accessPoint.restart()
        } catch (error) {
          ctx.errors.while('wap-restart', { reason: (error as Error).message })
        }
      })
      return 'the access point starts again: its clients are dropped for some seconds'
    },
  })
  ctx.action({
    name: 'restart-wap-fast',
    summary:
      'announces the channel again and sets the transmit power, without dropping clients; if the driver cannot, the access point restarts and drops them',
    run: () => {
      mustBeUp('it is not announced again')
      return accessPoint.restartFast()
    },
  })
  ctx.action({
    name: 'restart-wap-dhcps',
    summary:
      'makes the DHCP and DNS server of the access point clear its cache and read its host files again; clients stay connected',
    run: async () => {
      mustBeUp('its DHCP server does not run')
      await accessPoint.reloadDhcp()
      return 'the DHCP and DNS server reads its files again and has forgotten its cache; clients and their addresses stay'
    },
  })
}
