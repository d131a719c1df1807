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
  /** In a device folder: the name of the variant that it was made of. */
  readonly variant?: string
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

/** The folder of an installed npm package with the prebuilt plugins and the release. */
export const packedFolder = (root: string): string => join(root, 'build', 'prebuilt')
export const releaseFile = 'release.json'

/** A checkout has its compiler's settings; a package and a device have none. */
const isCheckout = (root: string) => existsSync(join(root, 'tsconfig.json'))

/** The plugins that come with this code: sources in a checkout, prebuilt in an npm package and on a device. */
export function shippedPlugins(root = packageRoot()): string {
  const packed = packedFolder(root)
  return !isCheckout(root) && existsSync(packed) ? packed : join(root, 'plugins')
}

/** The plugins that `buildCheckout` bundles. @param build folder of the transpiled code */
export const readyFolder = (build = join(packageRoot(), 'build')): string => join(build, 'checkout', 'plugins')

/** Folder of a device build from the sources of this checkout, valid until one of them changes; undefined elsewhere. */
export const deviceBundles = (root = packageRoot()): string | undefined =>
  isCheckout(root) ? join(root, 'build', 'checkout', 'device') : undefined

/** Where `catalogue.json` lies: beside the plugins that were built. */
export const catalogueFolder = (root: string): string =>
  isCheckout(root) ? join(root, 'build', 'checkout') : shippedPlugins(root)

const sourceFolders = ['runtime', 'plugins', 'schemas']
/** Files that are made of the sources for the package, as in `bootstrap.mjs`. */
const isMade = (path: string) => /^\/(schemas\/[^/]+\.json|schemas\/contract\.d\.ts|runtime\/docs\/api\/)/.test(path)

/** Every file, in the same order everywhere. */
export function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.isFile()) yield path
  }
}

/** The variant that a device folder was built from: the default variant there. */
export function bundledVariant(root = packageRoot()): string | undefined {
  const { rtkBase } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { rtkBase?: { variant: string } }
  return rtkBase?.variant
}

/** The release recorded when a device folder or a package was made, else that of the source tree. */
export function readRelease(root = packageRoot()): Release {
  const manifests = [join(root, 'manifest.json'), join(packedFolder(root), releaseFile)]
  const manifest = isCheckout(root) ? undefined : manifests.find((file) => existsSync(file))
  if (manifest) {
    try {
      const { version, sha256, built } = JSON.parse(readFileSync(manifest, 'utf8')) as Release
      const variant = bundledVariant(root)
      return { version, sha256, built, ...(variant !== undefined && { variant }) }
    } catch {
      // The check of the image reports it; a station must not stay down for it.
      return { version: '0.0.0', sha256: '', built: new Date(0).toISOString() }
    }
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const hash = createHash('sha256')
  let newest_ms = 0
  for (const folder of sourceFolders.map((name) => join(root, name)).filter((path) => existsSync(path))) {
    for (const file of filesBelow(folder)) {
      const path = file.slice(root.length)
      if (isMade(path)) continue
      hash.update(path).update('\0').update(readFileSync(file))
      newest_ms = Math.max(newest_ms, statSync(file).mtimeMs)
    }
  }
  return { version, sha256: hash.digest('hex'), built: new Date(newest_ms).toISOString() }
}
