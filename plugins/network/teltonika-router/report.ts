import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { anySignal } from 'rtk-base/time'
import type { Output } from './operations/operations.js'
import type { Router } from './router.js'
import type { Polled } from './state/poll.js'

/** A command has 30 s. */
const limit_ms = 25_000

/** Readings in this order. */
const readings = [
  'board',
  'deviceName',
  'system',
  'accessPoint',
  'modemIdentity',
  'sim',
  'registration',
  'signal',
  'temperature',
  'traffic',
  'apn',
  'operatorSelection',
  'pingReboot',
  'ipBlock',
] as const satisfies readonly Polled[]

/** Reads everything from the router now. @returns a line for each, without passwords */
export async function readEverything(ctx: PluginContext, router: Router, signal: AbortSignal): Promise<string> {
  const over = anySignal([signal])
  const cancel = ctx.timers.after(limit_ms, () => over.abort(new Error('not read in time')))
  const lines = [`firmware ${router.connected?.version ?? ''} (${router.connected?.transport.kind ?? 'not connected'})`]
  let count = 0
  try {
    for (const name of readings) {
      try {
        lines.push(`${name}: ${shown(await router.poll.read(name, { signal: over.signal }))}`)
        count++
      } catch (error) {
        if (!(error instanceof RtkError)) throw error
        if (count === 0 && error.code !== 'RTK_ERR_ROUTER_UNSUPPORTED' && error.code !== 'RTK_ERR_ROUTER_REFUSED')
          throw error
        lines.push(`${name}: ${over.signal.aborted ? 'not read in time' : error.message}`)
      }
    }
  } finally {
    void cancel()
    over.release()
  }
  return lines.join('\n')
}

/** The known values without a request: for `teltonika info`. */
export function shortReport(router: Router): string {
  const { facts, state, error } = router
  const board = facts.get('board')
  const modem = facts.get('modemIdentity')
  const sim = facts.get('sim')
  const registration = facts.get('registration')
  const modems = facts.get('modems')
  const others = modems && modems.count > 1 ? `(${modems.used}, one of ${modems.count}: the others are not used)` : ''
  const rows: [string, string][] = [
    ['link', error === '' ? state : `${state}: ${error}`],
    ['router', [board?.hw, board?.serial && `serial ${board.serial}`, router.macaddr].filter(Boolean).join(', ')],
    ['firmware', [facts.get('version'), router.connected?.transport.kind].filter(Boolean).join(', ')],
    ['user', router.credentials.user],
    ['modem', [modem?.manuf, modem?.model, modem?.imei && `IMEI ${modem.imei}`, others].filter(Boolean).join(' ')],
    ['SIM', sim ? [sim.state, sim.iccid && `ICCID ${sim.iccid}`].filter(Boolean).join(', ') : ''],
    [
      'network',
      registration
        ? [registration.network, registration.operator, registration.technology, registration.plmn || '']
            .filter(Boolean)
            .join(', ')
        : '',
    ],
    ['signal', facts.get('signal')?.rssi_dbm === undefined ? '' : `${facts.get('signal')?.rssi_dbm} dBm`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(9)}${value || 'unknown'}`).join('\n')
}

function shown(value: Output<Polled>): string {
  if (typeof value !== 'object') return String(value)
  const pairs = Object.entries(value).map(([name, one]) => {
    if (name === 'pswd') return `${name}=${one === '' ? '(none)' : '…'}`
    return `${name}=${one === undefined || one === '' ? '-' : one}`
  })
  return pairs.join(' ')
}
