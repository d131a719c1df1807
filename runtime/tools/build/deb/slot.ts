import { createHash } from 'node:crypto'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { imageManifest } from '../../../platform/installed-files.js'
import { filesBelow } from '../../../platform/release.js'
import { type DeviceTarget, runsOn } from '../device.js'
import { writeManifest } from '../image.js'
import { licencesFile } from './copyright.js'

/** Packages that only a compiler needs. */
const headers = ['node-addon-api']

/**
 * Makes a slot of a device folder: native code of one machine only, with the time that the package states and the digests by which
 * the launcher checks it.
 */
export function makeSlot(device: string, slot: string, machine: DeviceTarget, built: Date): void {
  cpSync(device, slot, { recursive: true, filter: (path) => runsOn(machine, path) })
  // The package has them where Debian looks.
  rmSync(join(slot, licencesFile), { force: true })
  for (const name of headers) rmSync(join(slot, 'node_modules', name), { recursive: true, force: true })
  const { version } = JSON.parse(readFileSync(join(device, imageManifest), 'utf8')) as { version: string }
  writeManifest(slot, version, built)
  writeSums(slot)
}

/** By this file the launcher knows that a slot is whole. */
const sumsFile = 'SHA256SUMS'

/** Writes the digest of every file of a slot, as `sha256sum -c` reads them. */
export function writeSums(slot: string): void {
  const paths = [...filesBelow(slot)].map((file) => relative(slot, file)).filter((path) => path !== sumsFile)
  const lines = paths.map(
    (path) =>
      `${createHash('sha256')
        .update(readFileSync(join(slot, path)))
        .digest('hex')}  ${path}\n`,
  )
  writeFileSync(join(slot, sumsFile), lines.join(''))
}
