import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { prebuild } from '../build/prebuild.js'
import { RtkError } from '../errors.js'

export const buildPluginHelp = `rtk-base build-plugin DIR [--out DIR]

Makes the prebuilt form of a plugin: one file with everything that it imports, and a manifest with its digest. A station
takes it without esbuild, and refuses it when a byte was changed.

  DIR         folder of the plugin, with index.ts or index.js
  --out DIR   where the prebuilt form goes (default: DIR/dist)

Load it with: rtk-base plugins load DIR/dist
For npm publish, package.json needs "main": "dist/NAME.cjs" and "files": ["dist"].
`

export async function buildPluginCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { out: { type: 'string' } } })
  const [source, ...more] = positionals
  if (!source || more.length > 0) {
    throw new RtkError('RTK_ERR_USAGE', `build-plugin takes the folder of one plugin, not "${positionals.join(' ')}"`)
  }
  const folder = resolve(source)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new RtkError('RTK_ERR_USAGE', `${folder} is not a folder`)
  }
  const out = resolve(values.out ?? join(folder, 'dist'))
  if (out === folder) throw new RtkError('RTK_ERR_USAGE', `--out ${out} is the folder of the plugin: name another one`)
  mkdirSync(out, { recursive: true })
  const before = earlierFiles(out)
  const { entries } = await prebuild([folder], { base: folder, folder: out }, () => {})
  const [{ name, version, file, sha256 }] = entries
  for (const old of before) if (old !== file) rmSync(join(out, old), { force: true })
  process.stdout.write(`${join(out, file)}: ${name} ${version}, sha256 ${sha256}\n`)
  const advice = packageAdvice(folder, relative(folder, join(out, file)))
  if (advice) process.stdout.write(`  ${advice}\n`)
  return 0
}

/** What an earlier build-plugin made there: the plugin may have got another name since. */
function earlierFiles(out: string): string[] {
  const file = join(out, 'manifest.json')
  if (!existsSync(file)) return []
  try {
    const { plugins } = JSON.parse(readFileSync(file, 'utf8')) as { plugins: { file: string }[] }
    return plugins.map((entry) => entry.file).filter((name) => /^[a-z0-9-]+\.cjs$/.test(name))
  } catch {
    return []
  }
}

/** What package.json lacks for the prebuilt form to be found in the published package. */
function packageAdvice(folder: string, main: string): string | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file) || main.startsWith('..')) return undefined
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { main?: string; exports?: unknown }
  if (manifest.exports !== undefined || resolve(folder, manifest.main ?? '') === resolve(folder, main)) return undefined
  return `for npm publish, package.json needs "main": "${main}"`
}
