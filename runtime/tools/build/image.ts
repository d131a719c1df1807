import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { digestOf, imageManifest } from '../../platform/installed-files.js'
import { filesBelow } from '../../platform/release.js'
import { writeJson } from './prebuild.js'

/** Path → SHA-256 of every file of a device folder but its manifest. */
function digestImage(folder: string): Record<string, string> {
  const paths = [...filesBelow(folder)].map((file) => relative(folder, file)).filter((path) => path !== imageManifest)
  return Object.fromEntries(paths.map((path) => [path, digestOf(readFileSync(join(folder, path)))]))
}

/** Writes the manifest of a device folder, which is complete. @returns the digest of the image */
export function writeManifest(folder: string, version: string, built: Date): string {
  const files = digestImage(folder)
  const sha256 = digestOf(Buffer.from(JSON.stringify(files)))
  writeJson(join(folder, imageManifest), { version, sha256, built: built.toISOString(), files })
  return sha256
}
