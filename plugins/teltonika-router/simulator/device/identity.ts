/** What is printed on a router's label and stored in its manufacturing data; all of it follows from the unit number. */
import type { Firmware } from './firmware.js'

export interface Identity {
  serial: string
  /** Of the LAN port: twelve hexadecimal digits, upper case. */
  mac: string
  /** Of the WAN port. */
  macEth: string
  /** Product code. */
  name: string
  hwver: string
  batch: string
  blver: string
  model: string
  imei: string
  wap: { ssid: string; bssid: string; key: string }
}

const products: Record<string, [code: string, model: string]> = {
  RUTX: ['RUTX11000000', 'RUTX11'],
  RUTM: ['RUTM50000000', 'RUTM50'],
  RUT9: ['RUT955T03520', 'RUT955'],
  RUT2M: ['RUT241015000', 'RUT241'],
  RUT9XX: ['RUT955H7V3C0', 'RUT955'],
  RUT2XX: ['RUT24007E000', 'RUT240'],
}

/** With the check digit of ISO/IEC 7812 (Luhn), which an IMEI ends with. */
function withLuhnDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, char, index) => {
    const value = Number(char) * (index % 2 === 0 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return digits + ((10 - (sum % 10)) % 10)
}

export const withColons = (mac: string) => mac.replace(/(..)(?!$)/g, '$1:')

export function identityOf(unit: number, firmware: Firmware): Identity {
  const [name, model] = products[firmware.family] ?? [`${firmware.family}00000000`.slice(0, 12), firmware.family]
  const hex = (offset: number) => (unit * 16 + offset).toString(16).toUpperCase().padStart(6, '0')
  const mac = `001E42${hex(0)}`
  return {
    serial: String(6_000_000_000 + unit),
    mac,
    macEth: `001E42${hex(1)}`,
    name,
    hwver: '0105',
    batch: '0012',
    blver: '3.0',
    model,
    imei: withLuhnDigit(`86000000${String(unit).padStart(6, '0')}`),
    wap: {
      ssid: `${model.slice(0, 4)}_${mac.slice(-4)}`,
      bssid: withColons(`001E42${hex(2)}`),
      key: `Qx7m${mac.slice(-4)}`,
    },
  }
}
