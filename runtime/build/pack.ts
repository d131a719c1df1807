/** What `npm pack` needs besides the transpiled code and its types: the shipped plugins, prebuilt, and which release this is. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { prebuild, writeJson } from './prebuild.js'
import { packageRoot, packedFolder, readRelease, releaseFile } from './release.js'

export async function pack(): Promise<void> {
  const root = packageRoot()
  const folder = packedFolder(root)
  rmSync(folder, { recursive: true, force: true })
  await prebuild(readdirSync(join(root, 'plugins')), { base: root, folder }, () => {})
  writeJson(join(folder, releaseFile), readRelease(root))
}
