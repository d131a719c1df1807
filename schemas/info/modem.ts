/** The `modem` block of the document, present while the modem plugin runs. Unknown is `''` or 0. */
import Type, { type Static } from 'typebox'

/** `modem.state.network` */
export const ModemNetwork = Type.Union(
  [
    Type.Literal('unregistered'),
    Type.Literal('home'),
    Type.Literal('searching'),
    Type.Literal('denied'),
    Type.Literal('unknown'),
    Type.Literal('roaming'),
  ],
  { description: 'Registration with a mobile network' },
)
export type ModemNetwork = Static<typeof ModemNetwork>

/** `modem.sim.state` */
export const SimState = Type.Union(
  [Type.Literal('absent'), Type.Literal('pin'), Type.Literal('puk'), Type.Literal('ready'), Type.Literal('error')],
  { description: 'State of the SIM; data read from the SIM is valid only while `ready`' },
)
export type SimState = Static<typeof SimState>

/** Access technology of a scanned operator (`modem.scan[].act`): a bitmask. */
export const accessTechnology = { gsm: 256, lte: 258, umts: 4 } as const

export const ModemInfo = Type.Object({
  imei: Type.String(),
  model: Type.String(),
  manuf: Type.String(),
  rev: Type.String({ description: 'firmware of the modem' }),
  support: Type.Object({ operator: Type.Boolean({ description: 'the modem can list and select operators' }) }),
  state: Type.Object({
    network: ModemNetwork,
    operator: Type.String({ description: 'full name of the network in use' }),
    carrier: Type.String({ description: 'name of the provider, often the same as `operator`' }),
    data: Type.String({ description: '`connected`, `disconnected` or empty while unknown' }),
    connection_type: Type.String({ description: 'e.g. LTE' }),
    cell_id: Type.String({ description: 'ID of the cell' }),
    rssi: Type.Integer({ description: 'dBm; 0: unknown' }),
    plmn: Type.Integer({ description: 'MCC and MNC of the network; 0: not registered' }),
    temp: Type.Integer({ description: 'degrees Celsius; valid only while `temp_valid`' }),
    temp_valid: Type.Boolean({ description: 'the modem reports its temperature' }),
    pending: Type.Array(Type.String(), {
      maxItems: 8,
      description: 'running and waiting jobs: `scan`, `operator`, `apn`, `reboot`',
    }),
    rsrp: Type.Optional(Type.Integer({ description: 'dBm' })),
    rsrq: Type.Optional(Type.Integer({ description: 'dB' })),
    sinr: Type.Optional(Type.Integer({ description: 'dB' })),
  }),
  cfg: Type.Object({
    plmn: Type.Integer({ description: 'MCC and MNC of the operator selected by hand; 0: automatic' }),
    ping_reboot: Type.String({ description: 'the router restarts if this host does not answer pings; empty: off' }),
    apn: Type.String({ description: 'APN configured in the router' }),
    user: Type.String(),
    pswd: Type.String(),
    apn_choice: Type.Optional(
      Type.Object({
        from: Type.String({ description: '`user` (mob-apn), `table`, `router` (unchanged) or empty' }),
        carrier: Type.String({ description: 'operator of the SIM, from the APN table; empty: unknown' }),
        alternatives: Type.Array(Type.Object({ apn: Type.String(), user: Type.String(), carrier: Type.String() }), {
          maxItems: 8,
          description: 'other APNs in the table for this SIM, the most likely first',
        }),
      }),
    ),
  }),
  sim: Type.Object({ imsi: Type.String(), iccid: Type.String(), state: SimState }),
  stats: Type.Object({
    sent: Type.Integer({ description: 'bytes, counted by the router' }),
    recvd: Type.Integer({ description: 'bytes, counted by the router' }),
  }),
  scan: Type.Array(
    Type.Object({
      plmn: Type.Integer({ description: 'MCC and MNC' }),
      name: Type.String({ description: 'name of the operator' }),
      act: Type.Integer({ description: 'bitmask: 256 GSM, 258 LTE, 4 any other' }),
    }),
    { maxItems: 6, description: 'result of the last `mobile-scan`' },
  ),
  history: Type.Optional(
    Type.Array(
      Type.Object({
        t: Type.Integer({ description: 'UTC seconds' }),
        rssi: Type.Optional(Type.Integer({ description: 'dBm' })),
        rsrp: Type.Optional(Type.Integer({ description: 'dBm' })),
        rsrq: Type.Optional(Type.Integer({ description: 'dB' })),
        sinr: Type.Optional(Type.Integer({ description: 'dB' })),
      }),
      { maxItems: 288, description: 'the last 24 h, every 5 min; only if the mask selects detail fields' },
    ),
  ),
})
export type ModemInfo = Static<typeof ModemInfo>
