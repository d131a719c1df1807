import { definePlugin } from 'rtk-base/plugin'
import type { WapInfo } from 'rtk-base/schemas'
import { localNetwork, network, networkErrors, radio } from 'rtk-base/services'
import { Type } from 'typebox'
import { AccessPoint } from './access-point.js'
import { addCommands } from './commands.js'
import { defineParameters, devicePassword, type Parameters } from './parameters.js'

/** The WiFi access point: its settings, its clients, its DHCP server, and a client that provides internet access. */
export default definePlugin({
  name: 'wap',
  version: '1.0.0',
  api: '^1.0.0',
  errors: networkErrors,
  commands: ['restart-wap', 'restart-wap-fast', 'restart-wap-dhcps'],
  needs: [network, radio, localNetwork],
  options: Type.Object(
    {
      address: Type.String({
        default: '192.168.4.1/24',
        pattern: '^(\\d{1,3}\\.){3}\\d{1,3}/(8|9|[12]\\d|30)$',
        description: 'IPv4 of the station on its own network',
      }),
      leases: Type.String({ default: '/var/lib/NetworkManager', description: 'Folder of the lease files' }),
      dropIn: Type.String({
        default: '/etc/NetworkManager/dnsmasq-shared.d',
        description: 'Folder of the settings that NetworkManager hands to its DHCP server',
      }),
      run: Type.String({ default: '/run', description: 'Folder of the process ids of that server' }),
    },
    { additionalProperties: false },
  ),

  setup(ctx, options) {
    const parameters = defineParameters(ctx, (caller) => accessPoint.reaches(caller))
    const accessPoint: AccessPoint = new AccessPoint(ctx, parameters, options, () => block.changed())
    const block = ctx.info.block('wap', { runtime: () => wapBlock(accessPoint, parameters) })
    ctx.config.onChange(
      Object.values(parameters).map(({ name }) => name),
      (changed) => accessPoint.apply(changed),
    )
    addCommands(ctx, accessPoint)
    ctx.banner('WiFi', () => {
      if (parameters.enabled.get() === 0) return ''
      // The banner ends in the journal of the system, where no password belongs.
      const password = accessPoint.hasDevicePassword ? ' (its password: `info wap.pwd` in the console)' : ''
      return `network ${parameters.ssid.get()}${password}`
    })
    return accessPoint
  },

  async start(ctx, _handoff, accessPoint) {
    ctx.defer(ctx.services.use(localNetwork).redirectProbes(() => accessPoint.addresses))
    await accessPoint.start(ctx.services.use(radio), ctx.services.use(network), await devicePassword(ctx))
  },

  async stop(reason, accessPoint) {
    if (reason === 'remove') await accessPoint.end()
    if (reason === 'shutdown') await accessPoint.pause()
  },
})

/** The `wap` block: the driver's values while the access point is up, otherwise the settings. */
export function wapBlock(accessPoint: AccessPoint, parameters: Parameters): WapInfo {
  const { facts, regulatory, stations, gateway, isUp } = accessPoint
  const { radio } = facts
  const { country = '', maxChannel = 0, maxTxPower_dbm = 0 } = regulatory.rules ?? {}
  return {
    bssid: (isUp && radio?.mac) || '',
    ssid: (isUp && radio?.ssid) || parameters.ssid.get(),
    enabled: parameters.enabled.get() === 1,
    pwd: accessPoint.password,
    tx_power: isUp ? Math.round(radio?.txPower_dbm ?? 0) : 0,
    max_sta: facts.maxStations,
    beacon: facts.beacon_tu,
    bandwidth: radio?.width_mhz ?? 0,
    channel: (isUp && radio?.channel) || parameters.channel.get(),
    inactive_time: parameters.inactiveTime.get(),
    reg: { cc: country, max_chan: maxChannel, max_txpwr: maxTxPower_dbm },
    revgw: { mac: parameters.gatewayMac.get().toLowerCase(), ...gateway.current },
    sta: stations.listed,
  }
}
