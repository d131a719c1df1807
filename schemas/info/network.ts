/** The `eth`, `wap`, `sta` and `udp` blocks of the document, each present while its plugin runs (`sta`: while station mode is in use). Unknown is `''` or 0. */
import Type, { type Static } from 'typebox'

export const EthInfo = Type.Object({
  mac: Type.String({ description: 'MAC of the interface' }),
  enabled: Type.Boolean({ description: '`eth-en`' }),
  cable: Type.Boolean({ description: 'a cable is plugged in, and the other end is powered' }),
  ip: Type.String({ description: 'IPv4 address' }),
  mask: Type.String({ description: 'IPv4 netmask, dotted' }),
  gw: Type.String({ description: 'IPv4 address of the gateway' }),
  arp: Type.Array(Type.String(), { maxItems: 64, description: 'MACs of the neighbours on this interface' }),
})
export type EthInfo = Static<typeof EthInfo>

export const WapInfo = Type.Object({
  bssid: Type.String({ description: 'MAC of the access point; empty while it is not up' }),
  ssid: Type.String({ description: 'name of the network' }),
  enabled: Type.Boolean({ description: '`wap-en`' }),
  pwd: Type.String({ description: 'current password of the access point; empty for a viewer' }),
  tx_power: Type.Integer({ description: 'current transmit power, dBm; 0 while the access point is not up' }),
  max_sta: Type.Integer({ description: 'maximum number of clients; 0: unknown, or the access point is not up' }),
  beacon: Type.Integer({
    description: 'beacon interval, time units of 1.024 ms; 0: unknown, or the access point is not up',
  }),
  bandwidth: Type.Integer({ description: 'width of the channel, MHz; 0 while the access point is not up' }),
  channel: Type.Integer({ description: '2.4 GHz channel' }),
  inactive_time: Type.Integer({ description: 's of silence after which a client is removed; 0: never' }),
  reg: Type.Object({
    cc: Type.String({ description: 'current country, ISO 3166' }),
    max_chan: Type.Integer({ description: 'highest 2.4 GHz channel allowed in the country' }),
    max_txpwr: Type.Integer({ description: 'highest transmit power allowed in the country, dBm' }),
  }),
  revgw: Type.Object({
    mac: Type.String({ description: '`wap-revgw-mac`: client that provides internet access' }),
    ip: Type.String({ description: 'address of this client; empty: unknown' }),
    dns: Type.String({ description: 'DNS server of this connection' }),
  }),
  sta: Type.Array(
    Type.Object({
      mac: Type.String({ description: 'MAC of the client' }),
      ip: Type.String({ description: 'from the DHCP leases; empty: unknown' }),
      rssi: Type.Integer({ description: 'signal strength of the client, dBm' }),
    }),
    { maxItems: 64, description: 'clients of the access point, strongest first' },
  ),
})
export type WapInfo = Static<typeof WapInfo>

export const StaAuth = Type.Union(
  [
    Type.Literal('open'),
    Type.Literal('wep'),
    Type.Literal('wpa-psk'),
    Type.Literal('wpa2-psk'),
    Type.Literal('wpa3-sae'),
    Type.Literal('wpa-eap'),
  ],
  { description: 'Authentication of the joined network; invalid while `bssid` is empty' },
)
export type StaAuth = Static<typeof StaAuth>

export const StaInfo = Type.Object({
  mac: Type.String({ description: 'MAC of the interface' }),
  ssid: Type.String({ description: '`sta-ssid`' }),
  bssid: Type.String({ description: 'MAC of the joined access point; empty while not joined' }),
  auth: StaAuth,
  ip4: Type.String({ description: 'IPv4 address' }),
  ip6: Type.Array(Type.String(), { maxItems: 16, description: 'IPv6 addresses' }),
  inactive_time: Type.Integer({ description: 's since the last frame from the access point' }),
  channel: Type.Integer({ description: 'channel of the joined network; 0 while not joined' }),
  channel2: Type.Integer({ description: 'second channel of a 40 MHz network, 0 if none' }),
  bandwidth: Type.Integer({ description: 'width of the channel, MHz' }),
  rssi: Type.Integer({ description: 'signal strength of the access point, dBm' }),
})
export type StaInfo = Static<typeof StaInfo>

export const UdpInfo = Type.Object({
  enabled: Type.Boolean({ description: '`udp-en`' }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: '`udp-port`' }),
})
export type UdpInfo = Static<typeof UdpInfo>
