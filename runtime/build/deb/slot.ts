import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { digestImage, imageManifest } from '../image.js'
import { writeJson } from '../prebuild.js'
import { filesBelow } from '../release.js'
import { writeSums } from './sums.js'

/** Packages that only a compiler needs. */
const headers = ['node-addon-api']

/**
 * Makes a slot of a device folder: native code of one machine only, with the time that the package states and the digests by which
 * the launcher checks it.
 * @param machine as `prebuilds` names it, e.g. linux-arm64
 */
export function makeSlot(device: string, slot: string, machine: string, built: Date): void {
  cpSync(device, slot, { recursive: true })
  for (const name of headers) rmSync(join(slot, 'node_modules', name), { recursive: true, force: true })
  const prebuilds = [...filesBelow(join(slot, 'node_modules'))].flatMap(
    (file) => /^.*\/prebuilds(?=\/)/.exec(file)?.[0] ?? [],
  )
  for (const folder of new Set(prebuilds)) keepMachine(folder, machine)
  const manifest = join(slot, imageManifest)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  const files = digestImage(slot)
  const sha256 = createHash('sha256').update(JSON.stringify(files)).digest('hex')
  writeJson(manifest, { version, sha256, built: built.toISOString(), files })
  writeSums(slot)
}

/** The systems that count have glibc. */
function keepMachine(prebuilds: string, machine: string): void {
  for (const name of readdirSync(prebuilds)) {
    if (name !== machine) rmSync(join(prebuilds, name), { recursive: true })
  }
  const own = join(prebuilds, machine)
  for (const name of existsSync(own) ? readdirSync(own) : []) {
    if (name.endsWith('.musl.node')) rmSync(join(own, name))
  }
}
