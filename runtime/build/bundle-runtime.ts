import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'
import { hostPackages, ownPackages } from '../loader/host-packages.js'

/** Packages with native code: not bundled, their folders lie beside the bundle. */
export const native = ['@serialport/bindings-cpp']

/** A table of packages in a form whose `require` the bundler sees. */
function tableOf(packages: Readonly<Record<string, unknown>>): string {
  const rows = Object.keys(packages).map((id) => `${JSON.stringify(id)}: () => require(${JSON.stringify(id)})`)
  return `{ ${rows.join(', ')} }`
}

const hostTable = (root: string): Plugin => ({
  name: 'host-packages',
  setup({ onLoad }) {
    onLoad({ filter: /loader[\\/]host-packages\.[jt]s$/ }, () => ({
      contents: `export const hostPackages = ${tableOf(hostPackages)}; export const ownPackages = ${tableOf(ownPackages)}`,
      loader: 'js',
      resolveDir: root,
    }))
  },
})

/** As bootstrap.mjs has it. */
const nodeCheck =
  "if(!process.features.require_module){console.error('rtk-base needs Node 20.19, 22.12 or later: this is '+process.version);process.exit(1)}"

/** As bootstrap.mjs has it. */
const earlySignals =
  "const __end=()=>process.exit(0),__signals=['SIGINT','SIGTERM','SIGHUP','SIGQUIT'];" +
  "if(process.argv[2]==='run')for(const s of __signals)process.on(s,__end);"
const handOverSignals = '() => { for (const signal of __signals) process.off(signal, __end) }'

const common = {
  bundle: true,
  format: 'esm' as const,
  platform: 'node' as const,
  target: 'node20',
  logLevel: 'silent' as const,
  external: [...native, 'esbuild', 'pino-pretty'],
  // Its main file is UMD, whose requires no bundler sees.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
} satisfies BuildOptions

const small = { minifySyntax: true, minifyWhitespace: true, legalComments: 'none' } satisfies BuildOptions

/**
 * What a device runs: one file with the command line, the kernel and every pure JavaScript package in it. Returns every source file
 * that went in, absolute.
 */
export async function bundleRuntime(
  { build }: typeof import('esbuild'),
  root: string,
  target: string,
): Promise<string[]> {
  const source = (path: string) =>
    existsSync(join(root, `${path}.ts`)) ? join(root, `${path}.ts`) : join(root, 'build', `${path}.js`)
  // The watchdog's thread is a program of its own.
  const thread = await build({
    ...common,
    ...small,
    absWorkingDir: root,
    metafile: true,
    entryPoints: [source('runtime/watchdog/thread')],
    outfile: join(target, 'thread.js'),
  })
  const runtime = await build({
    ...common,
    ...small,
    absWorkingDir: root,
    metafile: true,
    stdin: {
      contents: `import { main } from ${JSON.stringify(source('runtime/cli/main'))}\nawait main(process.argv.slice(2), ${handOverSignals})`,
      resolveDir: root,
      loader: 'js',
    },
    outfile: join(target, 'rtk-base.mjs'),
    banner: { js: `#!/usr/bin/env node\n${nodeCheck}\n${earlySignals}\n${common.banner.js}` },
    plugins: [hostTable(root)],
  })
  return [thread, runtime].flatMap(({ metafile }) => Object.keys(metafile.inputs).map((path) => resolve(root, path)))
}

/**
 * What a checkout runs: the same in a few files, with names and lines of the sources. To load the hundreds of files apart would
 * cost every start a second.
 */
export async function bundleCheckout({ build }: typeof import('esbuild'), root: string, target: string): Promise<void> {
  await build({
    ...common,
    absWorkingDir: root,
    entryPoints: { main: join(root, 'runtime/cli/main.ts'), thread: join(root, 'runtime/watchdog/thread.ts') },
    outdir: join(target, 'runtime'),
    splitting: true,
    chunkNames: 'part-[hash]',
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [hostTable(root)],
  })
}
