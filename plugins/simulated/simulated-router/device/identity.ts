/** Which router it is: firmware and its images, serial number and addresses. */
import { createHash } from 'node:crypto'
import { badValue } from 'rtk-base/plugin'

export interface Firmware {
  version: string
  /** e.g. `RUTX`, `RUT9XX`: an image for another family is rejected. */
  family: string
  legacy: boolean
  /** 6 of `00.07.06.21`; 0 on legacy. */
  minor: number
}

const pattern = /^([A-Z0-9]+)_[A-Z]+(?:_[A-Z]+)?_00\.(\d{2})\.(\d+)(?:\.(\d+))?$/

export function parseFirmware(version: string): Firmware {
  const [, family, major, minor] = pattern.exec(version) ?? []
  if (family === undefined) throw badValue(`'${version}' is not a firmware version, e.g. RUTX_R_00.07.06`)
  const legacy = Number(major) < 7
  return { version, family, legacy, minor: legacy ? 0 : Number(minor) }
}

const magic = 'RUTOS-SIM'

/** An image that the simulated router accepts: a header line with version and digest, then `size` bytes. */
export function firmwareImage(version: string, size = 4096): Buffer {
  const payload = Buffer.alloc(size, `${version}\n`)
  const digest = createHash('sha256').update(payload).digest('hex')
  return Buffer.concat([Buffer.from(`${magic} ${version} ${digest}\n`), payload])
}

/** @returns the version, or why the image does not fit this router */
export function verifyImage(image: Buffer, installed: Firmware): { version: string } | { error: string } {
  const end = image.subarray(0, 256).indexOf('\n')
  const [mark, version = '', digest] = image.subarray(0, Math.max(0, end)).toString('latin1').split(' ')
  if (mark !== magic || !pattern.test(version)) return { error: 'Image metadata not found' }
  const actual = createHash('sha256')
    .update(image.subarray(end + 1))
    .digest('hex')
  if (actual !== digest) return { error: 'Image check failed: wrong digest' }
  if (parseFirmware(version).family !== installed.family) {
    return { error: `Device ${installed.family} not supported by this image` }
  }
  return { version }
}

export interface Identity {
  serial: string
  /** The MAC address of the LAN port: twelve hexadecimal digits, upper case. */
  mac: string
  /** The MAC address of the WAN port. */
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
