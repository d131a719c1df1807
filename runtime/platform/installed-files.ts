/** Whether an installed device folder still is what was built. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../errors.js'

/** Lists every other file of a device folder with its digest. */
export const imageManifest = 'manifest.json'

export const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

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
