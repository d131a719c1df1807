/** The configuration as from the factory, by generation (reference §8). */
import { type Firmware, type Identity, withColons } from '../device/identity.js'

const common = ({ model, wap }: Identity, firmware: Firmware, maxRequests: number) => ({
  system: `
config system 'system'
  option hostname 'Teltonika-${model}'
  option devicename '${model}'
  option timezone 'UTC'
  option zoneName 'UTC'
  option device_fw_version '${firmware.version}'
`,
  wireless: `
config wifi-device 'radio0'
  option type 'mac80211'
  option channel '6'
  option hwmode '11g'
  option country 'US'
config wifi-iface 'default_radio0'
  option device 'radio0'
  option network 'lan'
  option mode 'ap'
  option ssid '${wap.ssid}'
  option encryption 'psk2'
  option key '${wap.key}'
`,
  uhttpd: `
config uhttpd 'main'
  list listen_http '0.0.0.0:80'
  list listen_https '0.0.0.0:443'
  option script_timeout '600'
  option network_timeout '30'
  option max_requests '${maxRequests}'
  option max_connections '100'
`,
})

const interfaces = ({ mac, macEth }: Identity) => `
config interface 'loopback'
  option proto 'static'
  option ipaddr '127.0.0.1'
config interface 'lan'
  option type 'bridge'
  option proto 'static'
  option ipaddr '192.168.1.1'
  option netmask '255.255.255.0'
  option macaddr '${withColons(mac)}'
config interface 'wan'
  option proto 'dhcp'
  option macaddr '${withColons(macEth)}'
  option metric '1'
`

function legacy(identity: Identity, firmware: Firmware, loginLimit: number): Record<string, string> {
  return {
    ...common(identity, firmware, 3),
    network: `${interfaces(identity)}
config interface 'ppp'
  option proto 'qmi2'
  option device '/dev/cdc-wdm0'
  option metric '2'
`,
    simcard: `
config simcard 'simcard'
  option default 'sim1'
config sim 'sim1'
  option apn ''
  option auto_apn '1'
  option auth 'none'
  option username ''
  option password ''
  option roaming '1'
  option service 'auto'
  option pdptype 'ip'
  option method 'nat'
  option mode 'auto'
config sim 'sim2'
  option apn ''
  option auto_apn '1'
  option mode 'auto'
`,
    operctl: `
config operctl 'general'
  option enabled '0'
`,
    ping_reboot: `
config ping_reboot
  option enable '0'
  option action '1'
  option time '5'
  option host '8.8.8.8'
  option retry '2'
  option fail_counter '0'
  option packet_size '56'
  option time_out '5'
  option interface '1'
`,
    logtrigger: `
config rule
  option name 'webui'
  option enabled '1'
  option maxfail '${loginLimit}'
`,
    blocklist: '',
  }
}

function current(identity: Identity, firmware: Firmware, loginLimit: number): Record<string, string> {
  const host = firmware.minor >= 10 ? `list host '8.8.8.8'` : `option host '8.8.8.8'`
  return {
    ...common(identity, firmware, 10),
    network: `${interfaces(identity)}
config interface 'mob1s1a1'
  option proto 'wwan'
  option modem '3-1'
  option sim '1'
  option pdp '1'
  option apn ''
  option auth 'none'
  option pdptype 'ip'
  option method 'nat'
  option auto_apn '1'
  option force_apn '-1'
  option deny_roaming '0'
  option metric '3'
`,
    simcard: `
config sim
  option modem '3-1'
  option position '1'
  option primary '1'
  option service 'lte_pref'
  option band 'auto'
  option operator 'auto'
  option volte 'auto'
config sim
  option modem '3-1'
  option position '2'
  option operator 'auto'
`,
    operctl: '',
    ping_reboot: `
config ping_reboot
  option enable '0'
  option action '1'
  option time '5'
  ${host}
  option retry '2'
  option fail_counter '0'
  option packet_size '56'
  option time_out '5'
  option interface '1'
  option type 'ping'
  option stop_action '0'
`,
    ip_blockd: `
config ${firmware.minor >= 11 ? "ip_blockd 'ip_blockd'" : 'globals'}
  option enabled '1'
  option max_attempt_count '${loginLimit}'
  option reboot_clear '0'
  ${firmware.minor >= 7 ? "option enabled_time_based '1'" : ''}
`,
  }
}

export function defaultConfig(identity: Identity, firmware: Firmware, loginLimit: number): Record<string, string> {
  return firmware.legacy ? legacy(identity, firmware, loginLimit) : current(identity, firmware, loginLimit)
}
