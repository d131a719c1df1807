/** Version strings, what the versions differ in, and images of the simulator's own format. */
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
  if (family === undefined) throw badValue(`'${version}' is no firmware version, e.g. RUTX_R_00.07.06 is one`)
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

/** @returns the version, or why the image is no good for this router */
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
