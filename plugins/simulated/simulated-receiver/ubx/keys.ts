/**
 * The simulated part of the ZED-F9P configuration: keys by name with factory values (HPG 1.32). A key id consists of the size of its value
 * (bits 30-28), its group (23-16) and its item (11-0). The table is independent of the driver's table. A test compares the two, and compares
 * this table with a dump of a real receiver.
 */

/** L: 1 bit in a byte. E, U: without a sign. */
type Type = 'L' | 'E1' | 'U1' | 'I1' | 'U2' | 'U4' | 'I4'
const sizeBits: Readonly<Record<Type, number>> = { L: 1, E1: 2, U1: 2, I1: 2, U2: 3, U4: 4, I4: 4 }

/** Group → its number and items: name, number, type, factory value (0 when left out). */
const groups: Readonly<Record<string, readonly [number, string]>> = {
  'CFG-TMODE': [
    0x03,
    `MODE 01 E1, POS_TYPE 02 E1, ECEF_X 03 I4, ECEF_Y 04 I4, ECEF_Z 05 I4, ECEF_X_HP 06 I1, ECEF_Y_HP 07 I1,
    ECEF_Z_HP 08 I1, LAT 09 I4, LON 0a I4, HEIGHT 0b I4, LAT_HP 0c I1, LON_HP 0d I1, HEIGHT_HP 0e I1,
    FIXED_POS_ACC 0f U4, SVIN_MIN_DUR 10 U4, SVIN_ACC_LIMIT 11 U4`,
  ],
  'CFG-RTCM': [0x09, 'DF003_OUT 01 U2, DF003_IN 08 U2, DF003_IN_FILTER 09 E1'],
  'CFG-UART1': [0x52, 'BAUDRATE 01 U4 38400, STOPBITS 02 E1 1, DATABITS 03 E1, PARITY 04 E1, ENABLED 05 L 1'],
  'CFG-UART2': [0x53, 'BAUDRATE 01 U4 38400, ENABLED 05 L 1'],
  'CFG-USB': [0x65, 'ENABLED 01 L 1'],
  'CFG-I2C': [0x51, 'ENABLED 03 L 1'],
  'CFG-SPI': [0x64, 'ENABLED 06 L'],
  'CFG-UART1INPROT': [0x73, 'UBX 01 L 1, NMEA 02 L 1, RTCM3X 04 L 1'],
  'CFG-UART1OUTPROT': [0x74, 'UBX 01 L 1, NMEA 02 L 1, RTCM3X 04 L 1'],
  'CFG-UART2INPROT': [0x75, 'UBX 01 L 1, NMEA 02 L, RTCM3X 04 L 1'],
  'CFG-UART2OUTPROT': [0x76, 'UBX 01 L, NMEA 02 L, RTCM3X 04 L 1'],
  'CFG-USBINPROT': [0x77, 'UBX 01 L 1, NMEA 02 L 1, RTCM3X 04 L 1'],
  'CFG-USBOUTPROT': [0x78, 'UBX 01 L 1, NMEA 02 L 1, RTCM3X 04 L 1'],
  'CFG-I2CINPROT': [0x71, 'RTCM3X 04 L 1'],
  'CFG-SPIINPROT': [0x79, 'RTCM3X 04 L 1'],
  'CFG-RATE': [0x21, 'MEAS 01 U2 1000, NAV 02 U2 1, TIMEREF 03 E1 1'],
  'CFG-NAVSPG': [
    0x11,
    `DYNMODEL 21 E1, FIXMODE 11 E1 3, INIFIX3D 13 L, UTCSTANDARD 1c E1, INFIL_MINELEV a4 I1 10, INFIL_MINCNO a3 U1 6,
    OUTFIL_PDOP b1 U2 250, OUTFIL_PACC b3 U2 100, CONSTR_DGNSSTO c4 U1 60`,
  ],
  'CFG-NAVHPG': [0x14, 'DGNSSMODE 11 E1 3'],
  'CFG-NAV2': [0x17, 'OUT_ENABLED 01 L'],
  'CFG-SIGNAL': [
    0x31,
    `GPS_ENA 1f L 1, GPS_L1CA_ENA 01 L 1, GPS_L2C_ENA 03 L 1, SBAS_ENA 20 L 1, SBAS_L1CA_ENA 05 L 1, GAL_ENA 21 L 1,
    GAL_E1_ENA 07 L 1, GAL_E5B_ENA 0a L 1, BDS_ENA 22 L 1, BDS_B1_ENA 0d L 1, BDS_B2_ENA 0e L 1, QZSS_ENA 24 L 1,
    GLO_ENA 25 L 1, GLO_L1_ENA 18 L 1, GLO_L2_ENA 1a L 1, PLAN 3a E1 2`,
  ],
  'CFG-SBAS': [0x36, 'USE_DIFFCORR 04 L 1'],
  'CFG-HW': [
    0xa3,
    `ANT_CFG_VOLTCTRL 2e L, ANT_CFG_SHORTDET 2f L, ANT_CFG_SHORTDET_POL 30 L 1, ANT_CFG_OPENDET 31 L,
    ANT_CFG_OPENDET_POL 32 L 1, ANT_CFG_PWRDOWN 33 L, ANT_CFG_PWRDOWN_POL 34 L 1, ANT_CFG_RECOVER 35 L`,
  ],
  'CFG-ITFM': [0x41, 'ENABLE 0d L'],
  'CFG-NMEA': [0x93, 'HIGHPREC 06 L, PROTVER 01 E1 42, MAINTALKERID 31 E1'],
}

/** The item of CFG-MSGOUT (group 91) by which a message is sent on I2C; UART1, UART2, USB and SPI follow. NMEA is on at the factory. */
const outputs = `
  UBX_NAV_STATUS 01a, UBX_NAV_DOP 038, UBX_NAV_PVT 006, UBX_NAV_HPPOSECEF 02e, UBX_NAV_HPPOSLLH 033, UBX_NAV_TIMEGPS 047,
  UBX_NAV_TIMELS 060, UBX_NAV_SAT 015, UBX_NAV_SVIN 088, UBX_NAV_RELPOSNED 08d, UBX_NAV_SIG 345, UBX_NAV_EOE 15f,
  UBX_NAV2_PVT 490, UBX_MON_HW 1b4, UBX_MON_RF 359, UBX_MON_COMMS 34f, UBX_RXM_RTCM 268, UBX_RXM_COR 6b6,
  UBX_RXM_RAWX 2a4, UBX_RXM_SFRBX 231, UBX_TIM_TP 17d,
  RTCM_3X_TYPE1005 2bd, RTCM_3X_TYPE1074 35e, RTCM_3X_TYPE1077 2cc, RTCM_3X_TYPE1084 363, RTCM_3X_TYPE1087 2d1,
  RTCM_3X_TYPE1094 368, RTCM_3X_TYPE1097 318, RTCM_3X_TYPE1124 36d, RTCM_3X_TYPE1127 2d6, RTCM_3X_TYPE1230 303,
  RTCM_3X_TYPE4072_0 2fe, RTCM_3X_TYPE4072_1 381,
  NMEA_ID_GGA 0ba, NMEA_ID_GLL 0c9, NMEA_ID_GSA 0bf, NMEA_ID_GSV 0c4, NMEA_ID_RMC 0ab, NMEA_ID_VTG 0b0`

export const ports = ['I2C', 'UART1', 'UART2', 'USB', 'SPI'] as const
export type PortName = (typeof ports)[number]

export interface Key {
  readonly name: string
  readonly id: number
  readonly isSigned: boolean
  readonly factory: number
}

const idOf = (type: Type, group: number, item: number) => sizeBits[type] * 2 ** 28 + group * 2 ** 16 + item

function everyKey(): Key[] {
  const keys: Key[] = []
  for (const [group, [number, items]] of Object.entries(groups)) {
    for (const text of items.split(',')) {
      const [name, item, type, factory = '0'] = text.trim().split(' ')
      const id = idOf(type as Type, number, Number.parseInt(item ?? '', 16))
      keys.push({ name: `${group}-${name}`, id, isSigned: type?.[0] === 'I', factory: Number(factory) })
    }
  }
  for (const [i, port] of ports.entries()) {
    for (const text of outputs.trim().split(',')) {
      const [name = '', item = ''] = text.trim().split(' ')
      const id = idOf('U1', 0x91, Number.parseInt(item, 16) + i)
      const factory = name.startsWith('NMEA') ? 1 : 0
      keys.push({ name: `CFG-MSGOUT-${name}_${port}`, id, isSigned: false, factory })
    }
    keys.push({ name: `CFG-INFMSG-UBX_${port}`, id: idOf('U1', 0x92, 1 + i), isSigned: false, factory: 0 })
  }
  return keys.sort((p, q) => p.id - q.id)
}

/** By rising id. */
export const keys: readonly Key[] = everyKey()
const byName = new Map(keys.map((key) => [key.name, key]))
const byId = new Map(keys.map((key) => [key.id, key]))

export const keyOf = (id: number): Key | undefined => byId.get(id >>> 0)
export const isKey = (name: string): boolean => byName.has(name)

/** @throws RangeError for a name that the table does not have */
export function keyId(name: string): number {
  const key = byName.get(name)
  if (!key) throw new RangeError(`the simulated receiver has no configuration key ${name}`)
  return key.id
}

/** A periodic message: UBX by name, RTCM by number, or NMEA. */
export type Output = `NAV-${string}` | `NAV2-${string}` | `MON-${string}` | `RXM-${string}` | 'GGA' | number

/** The key of a message's output interval (in epochs) on a port; undefined if none. */
export function outputKey(output: Output, port: PortName): number | undefined {
  const name =
    typeof output === 'number'
      ? `RTCM_3X_TYPE${output}`
      : output === 'GGA'
        ? 'NMEA_ID_GGA'
        : `UBX_${output.replace('-', '_')}`
  return byName.get(`CFG-MSGOUT-${name}_${port}`)?.id
}
