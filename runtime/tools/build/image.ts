import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { messageOf } from '../../errors.js'
import { writeJson } from './prebuild.js'
import { filesBelow } from './release.js'

export const imageManifest = 'manifest.json'

const digestOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

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

/**
 * Mismatches between this device folder and its manifest; empty if the folder is not such an image. Files are read one
 * after the other, so that a running service is not held up.
 */
export async function verifyImage(folder: string): Promise<string[]> {
  let files: Record<string, string>
  try {
    const manifest = JSON.parse(await readFile(join(folder, imageManifest), 'utf8')) as { files?: typeof files }
    files = manifest.files ?? {}
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') return [`${imageManifest}: ${messageOf(error)}`]
    return existsSync(folder) ? [] : [`${folder} no longer exists`]
  }
  const wrong: string[] = []
  for (const [path, sha256] of Object.entries(files)) {
    const content = await readFile(join(folder, path)).catch(() => undefined)
    if (!content) wrong.push(`${path} cannot be read`)
    else if (digestOf(content) !== sha256) wrong.push(`${path} was changed`)
  }
  return wrong
}
