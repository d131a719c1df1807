import type { ImageManifest } from 'rtk-base/image'
import { RtkError } from 'rtk-base/plugin'
import lt from 'semver/functions/lt.js'
import valid from 'semver/functions/valid.js'

/** What this station is, as far as it decides which image it takes. */
export interface StationFacts {
  hardware: string
  /** Names of the variant that runs, and of the one that the installed bundle was made of. */
  variants: readonly string[]
  /** `linux-arm64` and alike. */
  machine: string
  /** Digest of the bundle that runs. */
  bundle: string
  /** What runs of what the image replaces: the version of the service, or of that plugin; `''` nothing. */
  running: string
  /** No older version of it is taken; `''`: any. */
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
  const names = [image.name, ...(image.replaces ?? [])]
  if (image.type === 'bundle' && !station.variants.some((name) => names.includes(name))) {
    refuse(`it is for the variant ${names.join(', ')}, and this is ${station.variants.join(', ')}`)
  }
  if (isBefore(image.version, station.minVersion)) {
    refuse(`this station takes no version before ${station.minVersion}`)
  }
  if (!image.downgrade && isBefore(image.version, station.running)) {
    refuse(`${station.running} runs, and the image does not say that it may replace a newer version`)
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

/** A plugin may call its version what it likes: one that cannot be compared is no limit. */
const isBefore = (version: string, limit: string) => valid(limit) !== null && lt(version, limit)
