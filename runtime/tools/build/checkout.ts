import { join } from 'node:path'
import { hostTable } from '../../host-table.js'
import { withEsbuild } from '../../loader/builder.js'
import { bundle } from '../../loader/bundle.js'
import { catalogueName, catalogueOf } from '../../loader/catalogue.js'
import { Loader } from '../../loader/load.js'
import { keepReady } from '../../loader/ready.js'
import { shippedFolders } from '../../loader/source.js'
import { packageRoot, readyFolder } from '../../platform/release.js'
import { bundleCheckout } from './bundle-runtime.js'
import { writeJson } from './prebuild.js'

/**
 * Bundles what a start from a checkout loads: the runtime and the shipped plugins. bootstrap.mjs calls it after it transpiled
 * newer sources.
 * @param build the folder of the transpiled code
 */
export async function buildCheckout(build: string): Promise<void> {
  const root = packageRoot()
  const started_ms = Date.now()
  await withEsbuild('the runtime', async (esbuild) => {
    const plugins = [...shippedFolders(join(root, 'plugins'))].map(async ([name, folder]) => {
      // A plugin that cannot be built is reported by the start, which continues without it.
      const made = await bundle(join(folder, 'index.ts'), hostTable, readyFolder(build)).catch(() => undefined)
      if (made) keepReady(readyFolder(build), name, started_ms, made)
    })
    await Promise.all([bundleCheckout(esbuild, root, join(build, 'checkout')), ...plugins])
    await esbuild.stop()
  })
  await writeCatalogue(root, build)
}

async function writeCatalogue(root: string, build: string): Promise<void> {
  const cache = join(build, 'checkout', 'cache')
  const loader = new Loader({
    host: hostTable,
    builtIn: join(root, 'plugins'),
    base: root,
    cache,
    ready: readyFolder(build),
  })
  const loaded = await Promise.all(
    [...shippedFolders(join(root, 'plugins')).keys()].map((name) => loader.load(name).catch(() => undefined)),
  )
  writeJson(join(build, 'checkout', catalogueName), catalogueOf(loaded.flatMap((one) => one?.definition ?? [])))
}
