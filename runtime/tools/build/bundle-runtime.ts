import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'
import { hostPackages, ownPackages } from '../../platform/host-packages.js'

/** Packages with native code: not bundled, their folders lie beside the bundle. */
export const native = ['@serialport/bindings-cpp']

/** Packages that few stations use, or seldom: each is a file of its own, read at the first use. */
const seldom = ['undici', '@jellybrick/dbus-next', 'ws', 'socks', 'light-my-request']

/** Never called: Fastify's own compilers, as the gateway brings its own, and timers of a browser. */
const unused = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'worker-timers']

const exactly = (names: readonly string[]) => new RegExp(`^(${names.join('|').replaceAll('/', '\\/')})$`)

/** A table of packages with `require` calls visible to the bundler. */
function tableOf(packages: Readonly<Record<string, unknown>>): string {
  const rows = Object.keys(packages).map((id) => `${JSON.stringify(id)}: () => require(${JSON.stringify(id)})`)
  return `{ ${rows.join(', ')} }`
}

const hostTable = (root: string): Plugin => ({
  name: 'host-packages',
  setup({ onLoad }) {
    onLoad({ filter: /platform[\\/]host-packages\.[jt]s$/ }, () => ({
      contents: `export const hostPackages = ${tableOf(hostPackages)}; export const ownPackages = ${tableOf(ownPackages)}`,
      loader: 'js',
      resolveDir: root,
    }))
  },
})

const fileOf = (name: string) => `${name.replaceAll(/[^a-z]+/g, '-').replace(/^-/, '')}.cjs`

const lessCode: Plugin = {
  name: 'less-code',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: exactly(seldom) }, ({ path }) => ({ path: `./${fileOf(path)}`, external: true }))
    onResolve({ filter: exactly(unused) }, ({ path }) => ({ path, namespace: 'unused' }))
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/**
 * mqtt-packet keeps the length field for each length of a packet that it ever wrote, up to 16,384. Each of these few bytes holds the
 * whole slab of Node's pool that they lie in: 8 kB, with Node 24 64 kB (https://github.com/mqttjs/mqtt-packet/issues/163). A station
 * writes documents and epochs of ever new lengths. Another version of it may need this no more: a test tells.
 */
export const noKeptLengths: Plugin = {
  name: 'no-kept-lengths',
  setup({ onLoad }) {
    onLoad({ filter: /mqtt-packet[\\/]writeToStream\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('if (num < 16384) varByteIntCache[num] = buffer', ''),
      loader: 'js',
    }))
  },
}

/** As bootstrap.mjs has it. */
const entry = `#!/usr/bin/env node
if(!process.features.require_module){console.error('rtk-base needs Node 20.19, 22.12 or later: this is '+process.version);process.exit(1)}
const end=()=>process.exit(0),signals=['SIGINT','SIGTERM','SIGHUP','SIGQUIT'];
if(process.argv[2]==='run')for(const signal of signals)process.on(signal,end);
const{main}=await import('./runtime/main.js');
await main(process.argv.slice(2),()=>{for(const signal of signals)process.off(signal,end)});
`

const common = {
  bundle: true,
  platform: 'node' as const,
  target: 'node20',
  logLevel: 'silent' as const,
  external: [...native, 'esbuild', 'pino-pretty'],
  alias: {
    // Its main file is UMD: bundlers cannot see its requires.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
    // A copy of Node's own streams.
    'readable-stream': 'node:stream',
  },
} satisfies BuildOptions

const modules = {
  ...common,
  format: 'esm' as const,
  splitting: true,
  chunkNames: 'part-[hash]',
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
} satisfies BuildOptions

/** How code for a device is written. */
const small = { minify: true, legalComments: 'none' } satisfies BuildOptions

/**
 * Bundles the program of a device: `rtk-base.mjs`, which loads the command line and the kernel from `runtime/`, in
 * parts that are read at their first use. Every pure JavaScript package is in them. Returns every source file that went
 * in, absolute.
 */
export async function bundleRuntime(
  { build }: typeof import('esbuild'),
  root: string,
  target: string,
): Promise<string[]> {
  const source = (path: string) =>
    existsSync(join(root, `${path}.ts`)) ? join(root, `${path}.ts`) : join(root, 'build', `${path}.js`)
  const outdir = join(target, 'runtime')
  const all = { ...small, absWorkingDir: root, metafile: true as const, outdir }
  const runtime = await build({
    ...modules,
    ...all,
    // The watchdog's thread is a program of its own.
    entryPoints: { main: source('runtime/tools/cli/main'), thread: source('runtime/platform/supervision/thread') },
    plugins: [hostTable(root), noKeptLengths, lessCode],
  })
  const packages = await build({
    ...common,
    ...all,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    entryPoints: Object.fromEntries(seldom.map((name) => [fileOf(name).replace('.cjs', ''), name])),
  })
  writeFileSync(join(target, 'rtk-base.mjs'), entry)
  const inputs = [runtime, packages].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  return inputs.filter((path) => !path.startsWith('unused:')).map((path) => resolve(root, path))
}

/**
 * Bundles the program of a checkout: the same in a few files, with names and lines of the sources. Loading the hundreds
 * of files separately would cost every start a second.
 */
export async function bundleCheckout({ build }: typeof import('esbuild'), root: string, target: string): Promise<void> {
  await build({
    ...modules,
    absWorkingDir: root,
    entryPoints: {
      main: join(root, 'runtime/tools/cli/main.ts'),
      thread: join(root, 'runtime/platform/supervision/thread.ts'),
    },
    outdir: join(target, 'runtime'),
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [hostTable(root), noKeptLengths],
  })
}
