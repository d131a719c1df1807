/**
 * `npm run test:changed [-- REF]`: the test files that a change can reach, by imports and by the names of the plugins that they start. The
 * change is everything since REF; without one, what is not committed, or else the last commit.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { shippedFolders } from '../../runtime/loader/source.js'
import { testFiles } from './plan.js'

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)

function changedFiles(ref: string | undefined): string[] {
  const open = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')]
  if (ref) return [...new Set([...open, ...git('diff', '--name-only', ref)])]
  return open.length > 0 ? open : git('diff', '--name-only', 'HEAD~1')
}

const pluginFolders = shippedFolders('plugins')
const quoted = new RegExp(`'(${[...pluginFolders.keys()].join('|')})'`, 'g')
const entryOf = (name: string) => `${pluginFolders.get(name)}/index.ts`

/** Source file → the files that it imports, and the plugins that a test names. */
async function importsOfAll(tests: readonly string[]): Promise<Map<string, string[]>> {
  const entryPoints = [...tests, ...[...pluginFolders.keys()].map(entryOf)]
  const { metafile } = await build({
    ...{ entryPoints, bundle: true, write: false, metafile: true, outdir: 'build', splitting: true },
    ...{ format: 'esm', platform: 'node', logLevel: 'error' },
    // Types do not change what a test sees, and assets are reached by their plugin.
    external: [
      '*?client',
      '*?thread',
      '*?bytes',
      '*.node',
      '*.css',
      '*.svg',
      '*.png',
      '*.md',
      '*.txt',
      '*.csv',
      '*.pem',
    ],
    packages: 'external',
    tsconfig: 'tsconfig.json',
  })
  const imports = new Map<string, string[]>()
  for (const [file, { imports: own }] of Object.entries(metafile.inputs)) {
    const files = own.map(({ path }) => path)
    if (file.startsWith('test/')) {
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(quoted)) files.push(entryOf(name))
    }
    imports.set(file, files)
  }
  return imports
}

function reachableFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set([start])
  for (const file of found) for (const next of imports.get(file) ?? []) found.add(next)
  return found
}

const tests = testFiles().map((file) => `test/${file}.test.ts`)
const imports = await importsOfAll(tests)
const changed = changedFiles(process.argv[2])
/** A plugin's page, texts and pictures go with its code. */
const pluginOf = (file: string) => [...pluginFolders.values()].find((folder) => file.startsWith(`${folder}/`))
const isCode = (file: string) => imports.has(file)
const others = changed.filter((file) => !isCode(file))
const isOfProgram = changed.some((file) => !file.startsWith('test/'))
const chosen = tests.filter((test) => {
  // It starts the programs that people start, or reads what people read.
  if (isOfProgram && /^test\/(end-to-end|peers)\//.test(test)) return true
  const reached = reachableFrom(test, imports)
  const plugins = new Set([...reached].map(pluginOf))
  return changed.some((file) => reached.has(file)) || others.some((file) => plugins.has(pluginOf(file) ?? '-'))
})
if (changed.length === 0) console.log('nothing has changed')
else {
  console.log(`${changed.length} files have changed; ${chosen.length} of ${tests.length} test files can see that`)
  const names = chosen.map((test) => test.replace(/^test\/|\.test\.ts$/g, ''))
  process.exitCode = spawnSync(process.execPath, ['build/test/run/main.js', ...names], { stdio: 'inherit' }).status ?? 1
}
