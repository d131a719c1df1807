#!/usr/bin/env node
// The only file that runs before anything is installed or built, so it is plain JavaScript and needs Node alone.
// It installs what is missing, builds what is newer, and hands over to the command line.
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Plugins are CommonJS that requires ES modules: Node 20.19 and 22.12 were the first to do that.
if (!process.features.require_module) {
  console.error(`rtk-base needs Node 20.19, 22.12 or later: this is ${process.version}`)
  process.exit(1)
}

// Until the service handles signals there is nothing to stop: a terminating signal ends the process with 0 at once.
const endsService = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
const endAtOnce = () => process.exit(0)
const hearSignals = () => {
  for (const signal of endsService) process.on(signal, endAtOnce)
}
const handOverSignals = () => {
  for (const signal of endsService) process.off(signal, endAtOnce)
}
if (process.argv[2] === 'run') hearSignals()

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const sourceFolders = ['runtime', 'plugins', 'schemas', 'test', 'examples']
const build = join(root, 'build')
const stamp = join(build, '.built')
const isCheckout = existsSync(join(root, 'tsconfig.json'))
const args = process.argv.slice(2)

/** What is made for the package of the sources: to write it makes no build older. */
const isMade = (path) =>
  /^(schemas[\\/][^\\/]+\.json|schemas[\\/]contract\.d\.ts|runtime[\\/]docs[\\/]api[\\/])/.test(relative(root, path))

/** Every file below the source folders; symlinks, node_modules and what is made for the package are left out. */
function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* sourceFiles(path)
    else if (entry.isFile() && !isMade(path)) yield path
  }
}

function run(command, commandArgs, options = {}) {
  const { status, error, signal } = spawnSync(command, commandArgs, { cwd: root, stdio: 'inherit', ...options })
  if (error) throw error
  return signal ? 1 : (status ?? 1)
}

/** Whether node_modules holds what the lock file asks for: by content, as a fresh clone's files are all new. */
function isInstalled(lock) {
  const marker = join(root, 'node_modules', '.rtk-base-lock')
  const digest = createHash('sha256').update(lock).digest('hex')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === digest) return true
  const hidden = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(hidden)) return false
  const { packages: there } = JSON.parse(readFileSync(hidden, 'utf8'))
  const { packages: wanted } = JSON.parse(lock)
  const missing = Object.entries(wanted).some(
    ([path, { version, optional }]) => path !== '' && !optional && there[path]?.version !== version,
  )
  if (!missing) writeFileSync(marker, digest)
  return !missing
}

function ensureInstalled() {
  if (isInstalled(readFileSync(join(root, 'package-lock.json'), 'utf8'))) return
  console.error('rtk-base: installing dependencies (npm ci), about a minute the first time …')
  // It blocks for a minute, in which no handler runs.
  handOverSignals()
  const status = run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error('rtk-base: npm ci failed; its message is above')
    process.exit(1)
  }
  if (args[0] === 'run') hearSignals()
}

/** Parts of pages are for the browser, and for plugins of others that are bundled with them. */
const isPart = (file) => file.startsWith(join('runtime', 'lib', 'page', 'ui')) && /\.(tsx|css)$/.test(file)
const isCode = (file) => file.endsWith('.ts') || isPart(file)
/** JSON that a plugin imports. */
const isTable = (file) => file.startsWith('plugins') && file.endsWith('.json')

/** Loading its 700 files takes each process half a second: programs in the build folder get them as three files. */
function bundleTypebox(buildSync, folder) {
  const entries = { '.': 'index', './value': 'value', './compile': 'compile' }
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'typebox', 'package.json'), 'utf8'))
  buildSync({
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([path, out]) => ({ in: `typebox${path.slice(1)}`, out })),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    logLevel: 'error',
  })
  const exports = Object.fromEntries(Object.entries(entries).map(([path, out]) => [path, `./${out}.js`]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'typebox', version, type: 'module', exports }))
}

/** Builds into a temporary folder and renames it, so that a running service never sees half a build. */
async function ensureBuilt() {
  const sources = sourceFolders.flatMap((folder) => [...sourceFiles(join(root, folder))])
  const builtAt = existsSync(stamp) ? statSync(stamp).mtimeMs : 0
  const lock = statSync(join(root, 'package.json')).mtimeMs
  if (builtAt > lock && sources.every((file) => statSync(file).mtimeMs <= builtAt)) return
  console.error('rtk-base: building, some seconds …')
  const started = new Date()
  const temporary = `${build}.${process.pid}`
  const { buildSync } = createRequire(join(root, 'package.json'))('esbuild')
  buildSync({
    absWorkingDir: root,
    entryPoints: sources.map((file) => relative(root, file)).filter((file) => isCode(file) || isTable(file)),
    // Tests load plugins in this form, in which an import of a table stays one.
    loader: { '.json': 'copy', '.css': 'copy' },
    outdir: temporary,
    outbase: root,
    format: 'esm',
    platform: 'node',
    // The earliest that runs it: earlier ones have no import attributes.
    target: 'node20.19',
    sourcemap: true,
    // Node reads the map of every file that it loads; the source is beside it.
    sourcesContent: false,
    logLevel: 'error',
  })
  bundleTypebox(buildSync, join(temporary, 'node_modules', 'typebox'))
  const { buildCheckout } = await import(
    pathToFileURL(join(temporary, 'runtime', 'tools', 'build', 'checkout.js')).href
  )
  await buildCheckout(temporary)
  writeFileSync(join(temporary, '.built'), '')
  utimesSync(join(temporary, '.built'), started, started)
  const old = `${temporary}.old`
  if (existsSync(build)) renameSync(build, old)
  renameSync(temporary, build)
  rmSync(old, { recursive: true, force: true })
}

function bin(name) {
  return join(root, 'node_modules', '.bin', name)
}

/** Runs it beside others: what it printed, in one piece, when it ends. */
function outcome(command, commandArgs) {
  return new Promise((resolve) => {
    execFile(command, commandArgs, { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (!error) return resolve({ status: 0, output: stdout + stderr })
      const isExit = typeof error.code === 'number'
      resolve({ status: isExit ? error.code : 1, output: `${stdout}${stderr}${isExit ? '' : `${error.message}\n`}` })
    })
  })
}

/** Tests find real peers there: Debian keeps brokers where only root looks. */
const withSystemPrograms = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }

/** The tests; with the machine's full trials where a sample would do otherwise. */
async function test(onMachine) {
  bundleTap()
  // What the last run found out about types is kept, so that only what has changed is checked again.
  const kept = join(root, 'node_modules', '.cache', 'rtk-base')
  const tsc = ['--noEmit', '--singleThreaded', '--incremental', '--tsBuildInfoFile']
  // The rules that need types take as long as all others, and the gate has them.
  const rules = onMachine || process.env.CI === 'true' ? [] : ['--skip=types']
  const checks = [
    ['biome', ['check', '--error-on-warnings', ...rules, '.']],
    ['tsc', [...tsc, join(kept, 'types.json')]],
    ['tsc', [...tsc, join(kept, 'types-of-pages.json'), '-p', 'runtime/lib/page/ui']],
  ]
  // All at once: each leaves a part of the processor idle.
  const running = checks.map(([command, commandArgs]) => outcome(bin(command), commandArgs))
  for (const [i, [command]] of checks.entries()) {
    const { status, output } = await running[i]
    if (status === 0) continue
    process.stdout.write(`${command} fails:\n${output}`)
    process.exit(status)
  }
  program('run/main', args.slice(1), { ...(onMachine && { RTK_BASE_TEST: 'machine' }) })
}

/** Runs a program of the tests, and ends as it does. */
function program(name, programArgs, more = {}) {
  const env = { ...withSystemPrograms, ...more }
  process.exit(run(process.execPath, ['--expose-gc', join(build, 'test', `${name}.js`), ...programArgs], { env }))
}

/**
 * As with typebox, its 300 files would take each process a quarter of a second. Frames of a folder `@tapjs` are left out of stacks.
 * A process that runs several test files gives each a root test of its own (test/run/files.ts).
 */
function bundleTap() {
  const folder = join(build, 'node_modules')
  if (existsSync(join(folder, 'tap'))) return
  const { buildSync } = createRequire(join(root, 'package.json'))('esbuild')
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'tap', 'package.json'), 'utf8'))
  const packages = { '@tapjs': {}, tap: { name: 'tap', version, exports: './index.js' } }
  for (const [name, fields] of Object.entries(packages)) {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ ...fields, type: 'module' }))
  }
  buildSync({
    absWorkingDir: root,
    entryPoints: ['tap'],
    outfile: join(folder, '@tapjs', 'tap.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { 'async-hook-domain': join(build, 'test', 'run', 'error-domain.js') },
    // Parts of it are CommonJS and call `require`.
    banner: { js: "import { createRequire as from } from 'node:module'; const require = from(import.meta.url)" },
    logLevel: 'error',
  })
  const index = [
    "import { t } from '../@tapjs/tap.js'",
    "export * from '../@tapjs/tap.js'",
    "export default globalThis[Symbol.for('rtk-base.test-file')] ?? t",
  ]
  writeFileSync(join(folder, 'tap', 'index.js'), index.join('\n'))
}

/** Called by `npm pack`: builds the files that the published package has besides the transpiled code. */
async function prepack() {
  const declarations = ['--noEmit', 'false', '--emitDeclarationOnly', '--declaration', '--outDir', join(build, 'types')]
  for (const project of [root, join(root, 'runtime', 'lib', 'page', 'ui')]) {
    const status = run(bin('tsc'), ['-p', project, '--rootDir', root, ...declarations])
    if (status !== 0) process.exit(status)
  }
  const pages = run(process.execPath, [join(build, 'test', 'reference', 'main.js')])
  if (pages !== 0) process.exit(pages)
  const { pack } = await import(pathToFileURL(join(build, 'runtime', 'tools', 'build', 'prebuild.js')).href)
  await pack()
}

// `plugins` and `console` talk to a running service: they must not replace the build under it.
const talksToService = args[0] === 'plugins' || args[0] === 'console'
if (isCheckout && !(talksToService && existsSync(stamp))) {
  ensureInstalled()
  await ensureBuilt()
}
const forDevelopers = {
  '--test': () => test(false),
  '--test:machine': () => test(true),
  '--test:changed': () => {
    bundleTap()
    program('run/changed', args.slice(1))
  },
  '--test:repeat': () => program('run/repeat', args.slice(1)),
  '--bench': () => program('bench/main', args.slice(1)),
  '--record': () => program('harness/recording/record', args.slice(1)),
  '--docs': () => program('reference/main', args.slice(1)),
  '--prepack': prepack,
}
const forDeveloper = forDevelopers[args[0]]
if (forDeveloper) await forDeveloper()
else {
  const bundled = join(build, 'checkout', 'runtime', 'main.js')
  const entry = existsSync(bundled) ? bundled : join(build, 'runtime', 'tools', 'cli', 'main.js')
  const { main } = await import(pathToFileURL(entry).href)
  await main(args, handOverSignals)
}
