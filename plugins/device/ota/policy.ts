import type { ImageManifest } from 'rtk-base/image'
import { RtkError } from 'rtk-base/plugin'
import { updateErrors } from 'rtk-base/services'
import lt from 'semver/functions/lt.js'
import valid from 'semver/functions/valid.js'

/** The station properties that decide which images are accepted. */
export interface StationFacts {
  hardware: string
  /** Names of the running variant, and of the variant of the installed bundle. */
  variants: readonly string[]
  /** `linux-arm64` and alike. */
  machine: string
  /** Digest of the bundle that runs. */
  bundle: string
  /** Running version of the service or plugin that the image replaces; `''` none. */
  running: string
  /** No older version of it is taken; `''`: any. */
  minVersion: string
  /** The largest sum of everything that an image unpacks. */
  largest_bytes: number
}

/** Checks the signed manifest before anything is written. @throws RTK_ERR_IMAGE, RTK_ERR_IMAGE_LARGE */
export function checkImage(image: ImageManifest, station: StationFacts): void {
  const refuse = (text: string) => {
    throw new RtkError(updateErrors.RTK_ERR_IMAGE, `${image.name} ${image.version} is refused: ${text}`)
  }
  if (!image.hardware.includes(station.hardware)) {
    refuse(`it is for the hardware ${image.hardware.join(', ')}, and this is ${station.hardware}`)
  }
  if (image.arch !== 'any' && image.arch !== station.machine)
    refuse(`it is for ${image.arch}, and this is ${station.machine}`)
  const names = [image.name, ...(image.replaces ?? [])]
  if (image.type === 'bundle' && !station.variants.some((name) => names.includes(name))) {
    refuse(`it is for the variant ${names.join(', ')}, and this is ${station.variants.join(', ')}`)
  }
  if (isBefore(image.version, station.minVersion)) {
    refuse(`this station takes no version before ${station.minVersion}`)
  }
  if (!image.downgrade && isBefore(image.version, station.running)) {
    refuse(`the running version ${station.running} is newer, and the image does not allow a downgrade`)
  }
  if (image.type === 'plugin' && image.bundle !== undefined && image.bundle !== station.bundle) {
    refuse(`it was made for the bundle ${image.bundle.slice(0, 12)}…, and this is ${station.bundle.slice(0, 12)}…`)
  }
  const bytes = image.files.reduce((sum, { size }) => sum + size, 0)
  if (bytes > station.largest_bytes) {
    const text = `${image.name} ${image.version} unpacks ${bytes} bytes, more than the ${station.largest_bytes} that are allowed`
    throw new RtkError(updateErrors.RTK_ERR_IMAGE_LARGE, text)
  }
}

/** Plugin versions are free text: an incomparable version does not limit. */
const isBefore = (version: string, limit: string) => valid(limit) !== null && lt(version, limit)
