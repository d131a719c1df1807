/** Deploy-time options of the simulated router. */
import type { Dispose } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'

/** The only source of time: `ctx.clock` and `ctx.timers.after` together, or a manual clock in tests. */
export interface SimulatorClock {
  now(): number
  monotonic(): number
  after(ms: number, fn: () => void): Dispose
}

const Seconds = (fallback: number, description: string) =>
  Type.Number({ default: fallback, minimum: 0, maximum: 86_400, description })
const Text = (fallback: string, description: string) => Type.String({ default: fallback, maxLength: 128, description })

export const SimulatedSim = Type.Object(
  {
    state: Type.Union(
      [Type.Literal('ready'), Type.Literal('absent'), Type.Literal('pin'), Type.Literal('puk'), Type.Literal('error')],
      { default: 'ready', description: 'State of the SIM' },
    ),
    imsi: Type.String({
      default: '246031234567890',
      pattern: '^\\d{6,15}$',
      description: '6 to 15 digits; the home network is the first five',
    }),
    iccid: Type.String({
      default: '8937003123456789014',
      pattern: '^\\d{6,20}F?$',
      description: 'The serial number of the SIM, 6 to 20 digits, with or without an F behind them',
    }),
    apn: Type.Array(Type.String({ maxLength: 100 }), {
      default: ['internet', 'internet.tele2.lt'],
      maxItems: 16,
      description: 'APN names that the network accepts; with any other one no data connection is made',
    }),
    user: Text('', 'User that the network wants for the APN; empty: none'),
    pswd: Text('', 'Password that the network wants for the APN'),
  },
  { additionalProperties: false, default: {}, description: 'The SIM' },
)

export const RouterOptions = Type.Object(
  {
    generation: Type.Union([Type.Literal('legacy'), Type.Literal('7')], {
      default: '7',
      description: 'legacy: 1.x and 06.x, gsmctl through file.exec; 7: gsm.* objects, REST',
    }),
    transports: Type.Array(Type.Union([Type.Literal('ubus'), Type.Literal('rest')]), {
      default: ['ubus'],
      minItems: 1,
      maxItems: 2,
      description: 'Transports: /ubus, /api or both (legacy: only /ubus)',
    }),
    https: Type.Boolean({ default: false, description: 'It listens with a self-signed certificate as well' }),
    redirect: Type.Boolean({ default: true, description: 'With https: plain HTTP answers 307 to it' }),
    firmware: Type.String({
      default: '',
      pattern: '^(|[A-Z0-9]+_[A-Z]+(_[A-Z]+)?_00\\.\\d{2}\\.\\d+(\\.\\d+)?)$',
      description:
        'A version string such as RUTX_R_00.07.06; empty: RUT9XX_R_00.06.09.5, RUTX_R_00.07.06 (ubus only) or RUTX_R_00.07.20',
    }),
    credentials: Type.Object(
      {
        user: Text('', 'Empty: admin, on legacy root'),
        pswd: Text('Ab3+cD5!', 'Password of that user'),
      },
      { additionalProperties: false, default: {}, description: 'The one login that fits' },
    ),
    sim: SimulatedSim,
    unit: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 9999,
      description: 'Which of the simulated routers it is: serial number, MAC address and IMEI follow from it',
    }),
    loginLimit: Type.Integer({
      default: 10,
      minimum: 1,
      maximum: 1000,
      description: 'Failed logins until it blocks the address, as configured at first',
    }),
    block_s: Seconds(600, 'How long a time-based block lasts (7.07 and later)'),
    sessionLife_s: Seconds(300, 'A session ends when it was not used for so long'),
    uptime_s: Seconds(3600, 'It has been on for so long at the start'),
    scan_s: Seconds(200, 'A scan for operators takes so long'),
    select_s: Seconds(20, 'The modem takes so long to accept an operator'),
    register_s: Seconds(8, 'From the start of the search to the registration'),
    modemBoot_s: Seconds(20, 'The modem is away for so long after its start'),
    reboot_s: Seconds(90, 'A restart takes it offline for so long'),
    flash_s: Seconds(180, 'A firmware upgrade or a factory reset takes it offline for so long'),
    scriptTimeout_s: Seconds(600, 'A ubus call is ended with -32003 after so long'),
    execTimeout_s: Seconds(0, 'file.exec is ended with status 7 after so long; 0: 120 (legacy), 200 or 300 (7.13)'),
  },
  { additionalProperties: false },
)
export type RouterOptions = Static<typeof RouterOptions>
export type SimulatedSim = Static<typeof SimulatedSim>
export type SimState = SimulatedSim['state']
