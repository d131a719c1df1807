import type { ImageManifest } from 'rtk-base/image'
import { RtkError } from 'rtk-base/plugin'
import lt from 'semver/functions/lt.js'

/** What this station is, as far as it decides which image it takes. */
export interface StationFacts {
  hardware: string
  /** `linux-arm64` and alike. */
  machine: string
  /** Digest of the bundle that runs. */
  bundle: string
  /** No older bundle is taken; `''`: any. */
  minVersion: string
  /** Of everything that an image unpacks. */
  largest_bytes: number
}

/** Decides by what was signed, before anything is written. @throws RTK_ERR_IMAGE, RTK_ERR_IMAGE_LARGE */
export function checkImage(image: ImageManifest, station: StationFacts): void {
  const refuse = (text: string) => {
    throw new RtkError('RTK_ERR_IMAGE', `${image.name} ${image.version} is refused: ${text}`)
  }
  if (!image.hardware.includes(station.hardware)) {
    refuse(`it is for the hardware ${image.hardware.join(', ')}, and this is ${station.hardware}`)
  }
  if (image.arch !== 'any' && image.arch !== station.machine)
    refuse(`it is for ${image.arch}, and this is ${station.machine}`)
  if (image.type === 'bundle' && station.minVersion !== '' && lt(image.version, station.minVersion)) {
    refuse(`this station takes no version before ${station.minVersion}`)
  }
  if (image.type === 'plugin' && image.bundle !== undefined && image.bundle !== station.bundle) {
    refuse(`it was made for the bundle ${image.bundle.slice(0, 12)}…, and this is ${station.bundle.slice(0, 12)}…`)
  }
  const bytes = image.files.reduce((sum, { size }) => sum + size, 0)
  if (bytes > station.largest_bytes) {
    const text = `${image.name} ${image.version} unpacks ${bytes} bytes, more than the ${station.largest_bytes} that are allowed`
    throw new RtkError('RTK_ERR_IMAGE_LARGE', text)
  }
}
