/**
 * The configuration keys that the service uses, by name. Ids and units as in the interface description of the F9 HPG
 * 1.1x-1.5x firmware. A test holds them against a dump of a real ZED-F9P with HPG 1.32.
 */

export interface ConfigKey {
  readonly name: string
  readonly id: number
  readonly signed: boolean
}

/** name → [id, 'i' for signed values] */
const table: Record<string, readonly [id: number, signed?: 'i']> = {
  // Time mode: 0 off, 1 survey-in, 2 fixed. Positions in cm and 0.1 mm, or 1e-7° and 1e-9°.
  'CFG-TMODE-MODE': [0x20030001],
  'CFG-TMODE-POS_TYPE': [0x20030002],
  'CFG-TMODE-ECEF_X': [0x40030003, 'i'],
  'CFG-TMODE-ECEF_Y': [0x40030004, 'i'],
  'CFG-TMODE-ECEF_Z': [0x40030005, 'i'],
  'CFG-TMODE-ECEF_X_HP': [0x20030006, 'i'],
  'CFG-TMODE-ECEF_Y_HP': [0x20030007, 'i'],
  'CFG-TMODE-ECEF_Z_HP': [0x20030008, 'i'],
  'CFG-TMODE-LAT': [0x40030009, 'i'],
  'CFG-TMODE-LON': [0x4003000a, 'i'],
  'CFG-TMODE-HEIGHT': [0x4003000b, 'i'],
  'CFG-TMODE-LAT_HP': [0x2003000c, 'i'],
  'CFG-TMODE-LON_HP': [0x2003000d, 'i'],
  'CFG-TMODE-HEIGHT_HP': [0x2003000e, 'i'],
  'CFG-TMODE-FIXED_POS_ACC': [0x4003000f],
  'CFG-TMODE-SVIN_MIN_DUR': [0x40030010],
  'CFG-TMODE-SVIN_ACC_LIMIT': [0x40030011],

  // RTCM station ID: output and accepted input.
  'CFG-RTCM-DF003_OUT': [0x30090001],
  'CFG-RTCM-DF003_IN': [0x30090008],
  'CFG-RTCM-DF003_IN_FILTER': [0x20090009],

  // Ports and protocols.
  'CFG-UART1-BAUDRATE': [0x40520001],
  'CFG-UART1-STOPBITS': [0x20520002],
  'CFG-UART1-DATABITS': [0x20520003],
  'CFG-UART1-PARITY': [0x20520004],
  'CFG-UART1-ENABLED': [0x10520005],
  'CFG-UART2-BAUDRATE': [0x40530001],
  'CFG-UART2-ENABLED': [0x10530005],
  'CFG-USB-ENABLED': [0x10650001],
  'CFG-I2C-ENABLED': [0x10510003],
  'CFG-SPI-ENABLED': [0x10640006],
  'CFG-UART1INPROT-UBX': [0x10730001],
  'CFG-UART1INPROT-NMEA': [0x10730002],
  'CFG-UART1INPROT-RTCM3X': [0x10730004],
  'CFG-UART1OUTPROT-UBX': [0x10740001],
  'CFG-UART1OUTPROT-NMEA': [0x10740002],
  'CFG-UART1OUTPROT-RTCM3X': [0x10740004],
  'CFG-UART2INPROT-UBX': [0x10750001],
  'CFG-UART2INPROT-NMEA': [0x10750002],
  'CFG-UART2INPROT-RTCM3X': [0x10750004],
  'CFG-UART2OUTPROT-UBX': [0x10760001],
  'CFG-UART2OUTPROT-NMEA': [0x10760002],
  'CFG-UART2OUTPROT-RTCM3X': [0x10760004],
  'CFG-USBINPROT-UBX': [0x10770001],
  'CFG-USBINPROT-NMEA': [0x10770002],
  'CFG-USBINPROT-RTCM3X': [0x10770004],
  'CFG-I2CINPROT-RTCM3X': [0x10710004],
  'CFG-SPIINPROT-RTCM3X': [0x10790004],
  'CFG-USBOUTPROT-UBX': [0x10780001],
  'CFG-USBOUTPROT-NMEA': [0x10780002],
  'CFG-USBOUTPROT-RTCM3X': [0x10780004],

  // Rate (ms, epochs per solution), navigation, signals.
  'CFG-RATE-MEAS': [0x30210001],
  'CFG-RATE-NAV': [0x30210002],
  'CFG-RATE-TIMEREF': [0x20210003],
  'CFG-NAVSPG-DYNMODEL': [0x20110021],
  'CFG-NAVSPG-FIXMODE': [0x20110011],
  'CFG-NAVSPG-INIFIX3D': [0x10110013],
  'CFG-NAVSPG-UTCSTANDARD': [0x2011001c],
  'CFG-NAVSPG-INFIL_MINELEV': [0x201100a4, 'i'],
  'CFG-NAVSPG-INFIL_MINCNO': [0x201100a3],
  'CFG-NAVSPG-OUTFIL_PDOP': [0x301100b1],
  'CFG-NAVSPG-OUTFIL_PACC': [0x301100b3],
  'CFG-NAVSPG-CONSTR_DGNSSTO': [0x201100c4],
  'CFG-NAVHPG-DGNSSMODE': [0x20140011],
  // The second navigation output, from HPG 1.30 on.
  'CFG-NAV2-OUT_ENABLED': [0x10170001],
  'CFG-SIGNAL-GPS_ENA': [0x1031001f],
  'CFG-SIGNAL-GPS_L1CA_ENA': [0x10310001],
  'CFG-SIGNAL-GPS_L2C_ENA': [0x10310003],
  'CFG-SIGNAL-SBAS_ENA': [0x10310020],
  'CFG-SIGNAL-SBAS_L1CA_ENA': [0x10310005],
  'CFG-SIGNAL-GAL_ENA': [0x10310021],
  'CFG-SIGNAL-GAL_E1_ENA': [0x10310007],
  'CFG-SIGNAL-GAL_E5B_ENA': [0x1031000a],
  'CFG-SIGNAL-BDS_ENA': [0x10310022],
  'CFG-SIGNAL-BDS_B1_ENA': [0x1031000d],
  'CFG-SIGNAL-BDS_B2_ENA': [0x1031000e],
  'CFG-SIGNAL-QZSS_ENA': [0x10310024],
  'CFG-SIGNAL-GLO_ENA': [0x10310025],
  'CFG-SIGNAL-GLO_L1_ENA': [0x10310018],
  'CFG-SIGNAL-GLO_L2_ENA': [0x1031001a],
  // The X20P alone. @see u-blox X20 HPG 2.10 interface description
  'CFG-SIGNAL-PLAN': [0x2031003a],
  'CFG-SBAS-USE_DIFFCORR': [0x10360004],

  // Antenna supervisor, interference monitor, NMEA.
  'CFG-HW-ANT_CFG_VOLTCTRL': [0x10a3002e],
  'CFG-HW-ANT_CFG_SHORTDET': [0x10a3002f],
  'CFG-HW-ANT_CFG_SHORTDET_POL': [0x10a30030],
  'CFG-HW-ANT_CFG_OPENDET': [0x10a30031],
  'CFG-HW-ANT_CFG_OPENDET_POL': [0x10a30032],
  'CFG-HW-ANT_CFG_PWRDOWN': [0x10a30033],
  'CFG-HW-ANT_CFG_PWRDOWN_POL': [0x10a30034],
  'CFG-HW-ANT_CFG_RECOVER': [0x10a30035],
  'CFG-ITFM-ENABLE': [0x1041000d],
  'CFG-NMEA-HIGHPREC': [0x10930006],
  'CFG-NMEA-PROTVER': [0x20930001],
  'CFG-NMEA-MAINTALKERID': [0x20930031],
}

/** The ports that a message can be sent on, and how far their key is from that of UART1. */
export const portOffset = { I2C: -1, UART1: 0, UART2: 1, USB: 2, SPI: 3 } as const
export type PortName = keyof typeof portOffset

/** By the portId of MON-COMMS; UART2 is 0x0200 on the X20P. */
export const portNames: Readonly<Record<number, PortName>> = {
  0: 'I2C',
  256: 'UART1',
  512: 'UART2',
  513: 'UART2',
  768: 'USB',
  1024: 'SPI',
}

/** message → its CFG-MSGOUT key for UART1. The value is a divider: every n-th epoch, 0 off. */
const messageTable = {
  'NAV-STATUS': 0x2091001b,
  'NAV-DOP': 0x20910039,
  'NAV-PVT': 0x20910007,
  'NAV-HPPOSECEF': 0x2091002f,
  'NAV-HPPOSLLH': 0x20910034,
  'NAV-TIMEGPS': 0x20910048,
  'NAV-TIMELS': 0x20910061,
  'NAV-SAT': 0x20910016,
  'NAV-SVIN': 0x20910089,
  'NAV-RELPOSNED': 0x2091008e,
  'NAV-SIG': 0x20910346,
  'NAV-EOE': 0x20910160,
  'NAV2-PVT': 0x20910491,
  'MON-HW': 0x209101b5,
  'MON-RF': 0x2091035a,
  'MON-COMMS': 0x20910350,
  'RXM-RTCM': 0x20910269,
  'RXM-COR': 0x209106b7,
  'RXM-RAWX': 0x209102a5,
  'RXM-SFRBX': 0x20910232,
  'TIM-TP': 0x2091017e,
  1005: 0x209102be,
  1074: 0x2091035f,
  1077: 0x209102cd,
  1084: 0x20910364,
  1087: 0x209102d2,
  1094: 0x20910369,
  1097: 0x20910319,
  1124: 0x2091036e,
  1127: 0x209102d7,
  1230: 0x20910304,
  '4072.0': 0x209102ff,
  '4072.1': 0x20910382,
  GGA: 0x209100bb,
  GLL: 0x209100ca,
  GSA: 0x209100c0,
  GSV: 0x209100c5,
  RMC: 0x209100ac,
  VTG: 0x209100b1,
} as const
export type OutputMessage = keyof typeof messageTable
export const outputMessages = Object.keys(messageTable) as `${OutputMessage}`[]

/** The key that sets how often `message` is sent on `port`. */
export function messageOutKey(message: OutputMessage | `${OutputMessage}`, port: PortName): number {
  return messageTable[message as OutputMessage] + portOffset[port]
}

/** Which INF messages are sent as UBX on UART1; bit 0 error, 1 warning, 2 notice. */
const infMessages = 0x20920002

/** The key of the INF messages that `port` sends as UBX. */
export function infKey(port: PortName): number {
  return infMessages + portOffset[port]
}

function messageName(message: string): string {
  if (/^\d/.test(message)) return `RTCM_3X_TYPE${message.replace('.', '_')}`
  return message.includes('-') ? `UBX_${message.replace('-', '_')}` : `NMEA_ID_${message}`
}

function allKeys(): ConfigKey[] {
  const keys = Object.entries(table).map(([name, [id, signed]]): ConfigKey => ({ name, id, signed: signed === 'i' }))
  for (const message of outputMessages) {
    for (const port of Object.keys(portOffset) as PortName[]) {
      const name = `CFG-MSGOUT-${messageName(message)}_${port}`
      keys.push({ name, id: messageOutKey(message, port), signed: false })
    }
  }
  for (const port of Object.keys(portOffset) as PortName[]) {
    keys.push({ name: `CFG-INFMSG-UBX_${port}`, id: infKey(port), signed: false })
  }
  return keys.sort((p, q) => p.id - q.id)
}

/** Every known key, by rising id. */
export const configKeys: readonly ConfigKey[] = allKeys()
const byId = new Map(configKeys.map((key) => [key.id, key]))
const byName = new Map(configKeys.map((key) => [key.name, key]))

/** The table entry of a key; undefined if missing. */
export function keyOf(id: number): ConfigKey | undefined {
  return byId.get(id >>> 0)
}

/** The id of a key by its name, e.g. `CFG-TMODE-MODE`. @throws RangeError when the table does not have it */
export function keyId(name: string): number {
  const key = byName.get(name)
  if (!key) throw new RangeError(`no configuration key ${name}: add it to ubx/keys.ts`)
  return key.id
}

/** The name of a key for people; its id where the table does not have it. */
export function keyName(id: number): string {
  return keyOf(id)?.name ?? `0x${(id >>> 0).toString(16).padStart(8, '0')}`
}
