/** Non-code imports of a plugin: texts, bytes, and programs for the browser and for threads. All of it goes into the bundle. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { BuildFailure, Loader, Location, Plugin } from 'esbuild'
import { packageRoot } from '../platform/release.js'

/** Endings that are imported as text and as bytes (`Uint8Array`). `.json` is esbuild's own. */
export const assetLoaders: Readonly<Record<string, Loader>> = {
  ...Object.fromEntries(['.txt', '.md', '.html', '.css', '.svg', '.csv', '.pem'].map((ending) => [ending, 'text'])),
  ...Object.fromEntries(['.png', '.jpg', '.webp', '.ico', '.woff2', '.wasm'].map((ending) => [ending, 'binary'])),
}

/** Content types of the files in a browser bundle. */
const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
}

const textsOfClient = ['.txt', '.md', '.html', '.csv']

/**
 * `import x from './file?bytes'`, `import ui from './ui/main.tsx?client'` and `import url from './thread.js?thread'`.
 * @param inputs gets every file that goes in by one of these ways, absolute
 * @param plugins for the builds of browser bundles
 */
export function assetPlugin(esbuild: typeof import('esbuild'), inputs: Set<string>, plugins: Plugin[]): Plugin {
  return {
    name: 'rtk-base-assets',
    setup(build) {
      for (const kind of ['bytes', 'client', 'thread']) {
        const namespace = `rtk-base-${kind}`
        build.onResolve({ filter: new RegExp(`\\?${kind}$`) }, async ({ path, ...from }) => {
          const file = path.slice(0, path.lastIndexOf('?'))
          if (file.startsWith('.')) return { path: resolve(from.resolveDir, file), namespace }
          // A file of an npm package.
          const { resolveDir, importer, kind: how } = from
          const found = await build.resolve(file, { resolveDir, importer, kind: how })
          return found.errors.length > 0 ? { errors: found.errors } : { path: found.path, namespace }
        })
      }
      build.onLoad({ filter: /.*/, namespace: 'rtk-base-bytes' }, async ({ path }) => {
        inputs.add(path)
        return { contents: await readFile(path), loader: 'binary', watchFiles: [path] }
      })
      for (const [kind, moduleOf] of [
        ['client', clientModule],
        ['thread', threadModule],
      ] as const)
        build.onLoad({ filter: /.*/, namespace: `rtk-base-${kind}` }, async ({ path }) => {
          inputs.add(path)
          try {
            const { contents, files } = await moduleOf(esbuild, path, plugins)
            for (const file of files) inputs.add(file)
            return { contents, loader: 'js', watchFiles: files }
          } catch (error) {
            const { errors } = error as Partial<BuildFailure>
            if (!errors) throw error
            const absolute = (location: Location) => ({ ...location, file: resolve(dirname(path), location.file) })
            return { errors: errors.map(({ text, location }) => ({ text, location: location && absolute(location) })) }
          }
        })
    },
  }
}

/** `rtk-base/page/ui` and its styles: sources in a checkout, transpiled in a package. */
function partsFile(path: string): string {
  const folder = join('runtime', 'lib', 'page', 'ui')
  const [source, built] = path.endsWith('.css')
    ? [join(folder, 'styles', 'page.css'), join(folder, 'styles', 'page.css')]
    : [join(folder, 'index.ts'), join(folder, 'index.js')]
  const root = packageRoot()
  return existsSync(join(root, source)) ? join(root, source) : join(root, 'build', built)
}

/** Parts of this package, and one copy of Preact for them and the program: its own, or else that of this package. */
const pageParts = (folder: string): Plugin => ({
  name: 'rtk-base-page-parts',
  setup(build) {
    build.onResolve({ filter: /^rtk-base\/page\/ui(\/styles\.css)?$/ }, ({ path }) => ({ path: partsFile(path) }))
    build.onResolve({ filter: /^(preact|@preact\/signals)(\/|$)/ }, async ({ path, importer, kind, pluginData }) => {
      if (pluginData === pageParts) return undefined
      for (const resolveDir of [folder, packageRoot()]) {
        const found = await build.resolve(path, { resolveDir, importer, kind, pluginData: pageParts })
        if (found.errors.length === 0) return found
      }
      return undefined
    })
  },
})

/**
 * Bundles a program for the browser: minified, split, named by content hash. The JSX is Preact's unless the `tsconfig.json`
 * beside it names another `jsxImportSource`.
 * @returns a module that exports a `ClientBundle` by default, and its source files
 */
async function clientModule(
  esbuild: typeof import('esbuild'),
  entry: string,
  plugins: Plugin[],
): Promise<{ contents: string; files: string[] }> {
  const folder = dirname(entry)
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [entry],
    absWorkingDir: folder,
    outdir: folder,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    splitting: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: {
      ...Object.fromEntries(Object.keys(contentTypes).map((ending) => [ending, 'file' as const])),
      '.js': 'js',
      '.css': 'css',
      ...Object.fromEntries(textsOfClient.map((ending) => [ending, 'text' as const])),
    },
    logLevel: 'silent',
    plugins: [...plugins, pageParts(folder)],
  })
  // A lazy import is an entry point of its own.
  const made = Object.entries(metafile.outputs).find(({ 1: output }) => output.entryPoint === basename(entry))
  const files = outputFiles.map(({ path, contents }) => asset(basename(path), contents))
  const { cssBundle } = made?.[1] ?? {}
  const bundle = { entry: made?.[0] ?? '', styles: cssBundle ? [cssBundle] : [], files }
  return {
    contents: `import { clientBundle } from 'rtk-base/client-bundle'\nexport default clientBundle(${JSON.stringify(bundle)})\n`,
    files: Object.keys(metafile.inputs).map((input) => resolve(folder, input)),
  }
}

/**
 * Bundles a program for a thread. @param path of the source, or of what is made from it
 * @returns a module that exports its `data:` URL by default, and its source files
 */
async function threadModule(
  esbuild: typeof import('esbuild'),
  path: string,
  plugins: Plugin[],
): Promise<{ contents: string; files: string[] }> {
  const entry = existsSync(path) ? path : path.replace(/\.js$/, '.ts')
  const folder = dirname(entry)
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [entry],
    absWorkingDir: folder,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
    plugins,
  })
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  return {
    contents: `export default 'data:text/javascript;base64,${code}'\n`,
    files: Object.keys(metafile.inputs).map((input) => resolve(folder, input)),
  }
}

/** The asset in its bundled form: compressed if that makes it smaller. */
function asset(name: string, contents: Uint8Array) {
  const type = contentTypes[extname(name)] ?? 'application/octet-stream'
  const gzip = gzipSync(contents, { level: 9 })
  const packed = gzip.length < contents.length * 0.9
  return { name, type, packed, data: Buffer.from(packed ? gzip : contents).toString('base64') }
}
