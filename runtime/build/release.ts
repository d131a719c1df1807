import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Which release runs, and from what. */
export interface Release {
  readonly version: string
  /** Digest of the installed image; of the source tree when run from one. Hex. */
  readonly sha256: string
  /** ISO time of the build. */
  readonly built: string
}

/** The folder with the package.json that this code belongs to. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('no package.json above the running code')
    folder = parent
  }
  return folder
}

const sourceFolders = ['runtime', 'plugins', 'schemas']

function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.isFile()) yield path
  }
}

/** The build manifest of a device folder, else what the source tree says. */
export function readRelease(root = packageRoot()): Release {
  const manifest = join(root, 'manifest.json')
  if (existsSync(manifest)) {
    const { version, sha256, built } = JSON.parse(readFileSync(manifest, 'utf8')) as Release
    return { version, sha256, built }
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const hash = createHash('sha256')
  let newest_ms = 0
  for (const folder of sourceFolders.map((name) => join(root, name)).filter((path) => existsSync(path))) {
    for (const file of filesBelow(folder)) {
      hash.update(file.slice(root.length)).update('\0').update(readFileSync(file))
      newest_ms = Math.max(newest_ms, statSync(file).mtimeMs)
    }
  }
  return { version, sha256: hash.digest('hex'), built: new Date(newest_ms).toISOString() }
}
