import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type DeviceTarget, runsOn } from '../device.js'
import { imageManifest, writeManifest } from '../image.js'
import { licencesFile } from './copyright.js'
import { writeSums } from './sums.js'

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
