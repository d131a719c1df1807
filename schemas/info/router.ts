/** The `router` block of the document: both shapes of the specification merged. Unknown is `''`, 0 or false. */
import Type, { type Static } from 'typebox'

/** `router.state.link` */
export const RouterLinkState = Type.Union(
  [
    Type.Literal('searching', { description: 'the router has not answered since the start' }),
    Type.Literal('offline', { description: 'the router does not answer; retried with back-off' }),
    Type.Literal('locked', {
      description: 'every known password was rejected, or the router blocks logins; retried at longer intervals',
    }),
    Type.Literal('certificate', { description: 'the certificate changed: a person has to confirm the new one' }),
    Type.Literal('restarting', { description: 'restarting on request' }),
    Type.Literal('online', { description: 'logged in' }),
  ],
  { description: 'Link to the router' },
)
export type RouterLinkState = Static<typeof RouterLinkState>

export const RouterInfo = Type.Object({
  serial: Type.String(),
  macaddr: Type.String({ description: 'MAC of the Ethernet port, upper case with colons' }),
  hw: Type.String({ description: 'product code' }),
  hwver: Type.String({ description: 'hardware version' }),
  hwbatch: Type.String({ description: 'production batch' }),
  swver: Type.String({ description: 'firmware version reported by the router' }),
  state: Type.Object({
    uptime: Type.Integer({ description: 'seconds since the router started' }),
    time: Type.Integer({ description: 'router clock, epoch seconds' }),
    age: Type.Integer({ description: 'seconds since the oldest of the live values was read; 0 while not online' }),
    link: RouterLinkState,
    error: Type.String({ description: 'why the link is not `online`; empty while it is online' }),
    transport: Type.String({ description: '`ubus`, `rest` or empty' }),
    generation: Type.String({ description: '`legacy`, `7` or empty' }),
  }),
  wap: Type.Object({ bssid: Type.String(), ssid: Type.String(), pswd: Type.String() }),
  default: Type.Object(
    { user: Type.String(), pswd: Type.String() },
    { description: 'credentials in the protected store, saved after a login or set with `--protected`' },
  ),
  certificate: Type.String({ description: 'SHA-256 of the pinned certificate, hexadecimal; empty over plain HTTP' }),
  'wap-ssid': Type.String({ description: 'same as `wap.ssid`' }),
  model: Type.String({ description: 'model of the modem' }),
  imei: Type.String({ description: 'IMEI of the modem' }),
  'sim-iccid': Type.String({ description: 'ICCID of the SIM' }),
  'sim-imsi': Type.String({ description: 'IMSI of the SIM' }),
  operator: Type.String({ description: 'name of the network in use' }),
  'network-type': Type.String({ description: 'e.g. LTE' }),
  'cell-id': Type.String({ description: 'ID of the cell' }),
  plmn: Type.Integer({ description: 'MCC and MNC of the network; 0: unknown' }),
  signal: Type.Integer({ description: 'RSSI, dBm; 0: unknown' }),
  connected: Type.Boolean({ description: 'a mobile data connection is up' }),
})
export type RouterInfo = Static<typeof RouterInfo>
