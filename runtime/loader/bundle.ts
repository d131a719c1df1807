import { createHash } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import type { BuildFailure, Plugin } from 'esbuild'
import { messageOf, RtkError } from '../errors.js'
import { assetLoaders, assetPlugin } from './assets.js'
import { withEsbuild } from './builder.js'
import { type HostTable, hostSource, requiredSource } from './host.js'
import { textFiles, withTexts } from './texts.js'

export interface Bundle {
  readonly code: string
  /** SHA-256 of the code, hex. */
  readonly digest: string
  /** Every source file that went in, absolute: for the watcher, and for the stack traces. */
  readonly inputs: readonly string[]
}

/** Notes which files the source asks for, before anybody knows whether they are there and can be read. */
function lookedAt(noted: Set<string>): Plugin {
  return {
    name: 'rtk-base-looked-at',
    setup(build) {
      build.onResolve({ filter: /^\.{0,2}\// }, ({ path, resolveDir }) => {
        noted.add(resolve(resolveDir, path.replace(/\?\w+$/, '')))
        return undefined
      })
    },
  }
}

/** Host packages come from the runtime, native add-ons from the plugin's own folder at run time. */
const hostPlugin = (host: HostTable): Plugin => ({
  name: 'rtk-base-host',
  setup(build) {
    const filter = new RegExp(`^(${Object.keys(host).join('|').replaceAll('/', '\\/')})$`)
    build.onResolve({ filter }, ({ path, kind }) => ({
      path,
      namespace: 'rtk-base-host',
      pluginData: { isRequired: kind === 'require-call' },
      suffix: kind === 'require-call' ? '?required' : '',
    }))
    build.onLoad({ filter: /.*/, namespace: 'rtk-base-host' }, ({ path, pluginData }) => ({
      contents: pluginData.isRequired ? requiredSource(path) : hostSource(host, path),
      loader: 'js',
    }))
    build.onResolve({ filter: /\.node$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path),
      external: true,
    }))
  },
})

/**
 * Bundles a plugin's source to CommonJS: the only form that a running process can drop again. Relative files and the
 * plugin's own npm packages go inside.
 * @param host what stays outside of the bundle
 * @param folder output folder of the bundle: its source map is relative to it
 * @param looked receives the files that were looked for, even if no bundle results
 * @param small minified and without a source map, for a device
 * @throws RTK_ERR_PLUGIN_BUILD with file, line and message.
 */
export async function bundle(
  entry: string,
  host: HostTable,
  folder = dirname(entry),
  { looked = new Set<string>(), small = false }: { looked?: Set<string>; small?: boolean } = {},
): Promise<Bundle> {
  const assets = new Set<string>()
  const texts = textFiles(dirname(entry))
  for (const { file } of texts) assets.add(file)
  return withEsbuild(entry, async (esbuild) => {
    try {
      const result = await esbuild.build({
        entryPoints: [entry],
        absWorkingDir: dirname(entry),
        bundle: true,
        write: false,
        outfile: join(folder, 'bundle.cjs'),
        metafile: true,
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        ...(small
          ? { minify: true, legalComments: 'none' as const }
          : { sourcemap: 'inline' as const, sourcesContent: false }),
        logLevel: 'silent',
        define: { 'import.meta.url': '__bundleUrl' },
        banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
        footer: { js: withTexts(texts) },
        loader: assetLoaders,
        plugins: [lookedAt(looked), hostPlugin(host), assetPlugin(esbuild, assets, [lookedAt(looked)])],
      })
      const code = result.outputFiles[0].text
      checkSize(code, entry)
      const inputs = Object.keys(result.metafile.inputs)
        .filter((input) => !/^rtk-base-(host|bytes|client|thread):/.test(input))
        .map((input) => resolve(dirname(entry), input))
      const digest = createHash('sha256').update(code).digest('hex')
      return { code, digest, inputs: [...inputs, ...assets] }
    } catch (error) {
      if (error instanceof RtkError) throw error
      throw new RtkError('RTK_ERR_PLUGIN_BUILD', buildMessage(entry, error), { cause: error })
    }
  })
}

/** Hashing and compiling block everything else that the service does. */
const largest_bytes = 8 << 20

/** @throws RTK_ERR_PLUGIN_SIZE */
export function checkSize(code: string, source: string): void {
  if (code.length <= largest_bytes) return
  const size_MiB = (code.length / (1 << 20)).toFixed(1)
  throw new RtkError(
    'RTK_ERR_PLUGIN_SIZE',
    `${source} is ${size_MiB} MiB of code, at most ${largest_bytes >> 20} MiB are loaded`,
  )
}

function buildMessage(entry: string, error: unknown): string {
  const first = (error as Partial<BuildFailure>).errors?.[0]
  if (!first) return `${entry}: ${messageOf(error)}`
  const place = first.location ? `${first.location.file}:${first.location.line}:${first.location.column + 1}` : entry
  return `${place}: ${first.text}`
}
