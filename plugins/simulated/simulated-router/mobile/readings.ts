/** The modem's readings as plain facts; gsm objects, gsmctl and REST each have their own names and forms of them. */
import type { Device } from '../device/device.js'
import type { Modem } from './modem.js'
import { pinStates, registrationTexts, technologies } from './operators.js'

export interface Signal {
  rssi: number
  rsrp?: number
  rsrq?: number
  sinr?: number
  rscp?: number
  ecio?: number
}

/** Undefined: nothing is received. A technology has its own figures. */
export function signalOf(modem: Modem): Signal | undefined {
  const { rssi_dbm: rssi } = modem
  if (!modem.online || rssi === undefined) return undefined
  const technology = modem.registration.operator?.technology ?? modem.technology
  if (technology === 'GSM') return { rssi }
  // A weak signal is a bad one: from -57 dBm with 13 dB of SINR down to -111 dBm with -14 dB.
  const quality = Math.max(-14, Math.min(25, Math.round(13 + (rssi + 57) / 2)))
  if (technology === 'WCDMA') return { rssi, rscp: rssi - 6, ecio: Math.min(-2, quality - 18) }
  return { rssi, rsrp: rssi - 28, rsrq: Math.max(-20, Math.min(-6, quality - 23)), sinr: quality }
}

export function registrationOf(modem: Modem) {
  const { status, operator } = modem.registration
  const technology = technologies[operator?.technology ?? modem.technology]
  const registered = operator !== undefined
  return {
    status_id: status,
    status: registrationTexts[status],
    operator,
    registered,
    technology,
    lac: registered ? '2C1' : '',
    tac: registered && technology.act_id >= 8 ? '2C1' : '',
    cellId: registered ? '18B4D0F' : '',
  }
}

/** Facts of every dialect. Undefined: not available, which each dialect shows in its own way. */
export function factsOf({ modem, identity }: Device) {
  const { cellId, operator, registered, technology } = registrationOf(modem)
  const { connected, sim, temperature_dC, traffic } = modem
  const signal: Partial<Signal> = signalOf(modem) ?? {}
  const isReady = sim.state === 'ready'
  return {
    imei: identity.imei,
    serial: identity.serial,
    imsi: isReady ? sim.imsi : undefined,
    iccid: isReady ? sim.iccid : undefined,
    pin: pinStates[sim.state].text,
    operator: operator?.name,
    plmn: operator?.plmn,
    netMode: registered ? technology.netMode : undefined,
    cell: cellId === '' ? undefined : decimalCell(cellId),
    attached: registered ? 'Attached' : 'Detached',
    connection: connected ? 'Connected' : 'Disconnected',
    temperature: temperature_dC,
    ...traffic,
    ...signal,
  }
}
export type Facts = ReturnType<typeof factsOf>

/** A cell ID as decimal number, which REST and gsmctl show. */
const decimalCell = (hex: string) => String(Number.parseInt(hex, 16))

export const hardware = {
  legacy: { manuf: 'Quectel', model: 'EC25', firmware: 'EC25EFAR06A05M4G', usbId: '1-1.4' },
  current: { manuf: 'Quectel', model: 'EG06', firmware: 'EG06ELAR04A05M4G', usbId: '3-1' },
}

/** Result of a scan. */
export function scanOf(modem: Modem) {
  const current = modem.registration.operator
  return modem.operators.map((operator) => ({
    ...operator,
    ...technologies[operator.technology],
    state_id: operator.forbidden ? 3 : operator === current ? 2 : 1,
  }))
}
