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

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const sourceFolders = ['runtime', 'plugins', 'schemas', 'test', 'examples']
const build = join(root, 'build')
const stamp = join(build, '.built')
const isCheckout = existsSync(join(root, 'tsconfig.json'))
const args = process.argv.slice(2)

/** Every file below the source folders with its modification time; symlinks and node_modules are left out. */
function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* sourceFiles(path)
    else if (entry.isFile()) yield path
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

const isCode = (file) => file.endsWith('.ts')
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
  const started = new Date()
  const temporary = `${build}.${process.pid}`
  const { buildSync } = createRequire(join(root, 'package.json'))('esbuild')
  buildSync({
    absWorkingDir: root,
    entryPoints: sources.map((file) => relative(root, file)).filter((file) => isCode(file) || isTable(file)),
    // Tests load plugins in this form, in which an import of a table stays one.
    loader: { '.json': 'copy' },
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
  const { buildCheckout } = await import(pathToFileURL(join(temporary, 'runtime', 'build', 'checkout.js')).href)
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

/** The tests; with the machine's full trials where a sample would do otherwise. */
async function test(onMachine) {
  const checks = [
    ['biome', ['check', '--error-on-warnings', '.']],
    // Several checkers check the same types twice.
    ['tsc', ['--noEmit', '--singleThreaded']],
    ['tsc', ['--noEmit', '--singleThreaded', '-p', 'runtime/ui']],
  ]
  // All at once: each leaves a part of the processor idle.
  const running = checks.map(([command, commandArgs]) => outcome(bin(command), commandArgs))
  for (const [i, [command, commandArgs]] of checks.entries()) {
    const { status, output } = await running[i]
    process.stdout.write(`# ${command} ${commandArgs.join(' ')}\n${output}`)
    if (status !== 0) process.exit(status)
  }
  buildTap()
  bundleTap()
  // The longest is the endurance test: two hours, or the time in RTK_BASE_SOAK_MIN.
  const machine = onMachine ? [`--timeout=${(Number(process.env.RTK_BASE_SOAK_MIN ?? 120) + 60) * 60}`] : []
  const env = { ...process.env, ...(onMachine && { RTK_BASE_TEST: 'machine' }) }
  const files = args.slice(1).map(testFile)
  if (files.every((file) => file.startsWith('-'))) files.push('build/test/all.js')
  process.exit(run(bin('tap'), ['run', ...machine, ...files], { env }))
}

/** A test by its name alone, as `soak` or `mutants`; anything else is the runner's. */
function testFile(arg) {
  if (!/^[\w-]+$/.test(arg) || arg.startsWith('-')) return arg
  const found = [...sourceFiles(join(build, 'test'))].find((path) => path.endsWith(`/${arg}.test.js`))
  return found ? relative(root, found) : arg
}

/** tap builds its test library for the plugins that .taprc names; without this its first run would use the default ones. */
function buildTap() {
  const made = join(root, 'node_modules', '.tap-is-built')
  if (existsSync(made)) return
  console.log('# tap build')
  const status = run(bin('tap'), ['build'])
  if (status !== 0) process.exit(status)
  writeFileSync(made, '')
}

/** As with typebox, its 300 files would take each of 130 processes a quarter of a second. Frames of a folder `@tapjs` are left out of stacks. */
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
    // Parts of it are CommonJS and call `require`.
    banner: { js: "import { createRequire as from } from 'node:module'; const require = from(import.meta.url)" },
    logLevel: 'error',
  })
  const all = "export * from '../@tapjs/tap.js'\nexport { default } from '../@tapjs/tap.js'\n"
  writeFileSync(join(folder, 'tap', 'index.js'), all)
}

/** Called by `npm pack`: builds the files that the published package has besides the transpiled code. */
async function prepack() {
  const declarations = ['--noEmit', 'false', '--emitDeclarationOnly', '--declaration', '--outDir', join(build, 'types')]
  const status = run(bin('tsc'), ['-p', root, ...declarations])
  if (status !== 0) process.exit(status)
  const { pack } = await import(pathToFileURL(join(build, 'runtime', 'build', 'prebuild.js')).href)
  await pack()
}

// `plugins` and `console` talk to a running service: they must not replace the build under it.
const talksToService = args[0] === 'plugins' || args[0] === 'console'
if (isCheckout && !(talksToService && existsSync(stamp))) {
  ensureInstalled()
  await ensureBuilt()
}
if (args[0] === '--test' || args[0] === '--test:machine') await test(args[0] === '--test:machine')
else if (args[0] === '--prepack') await prepack()
else if (args[0] === '--bench')
  process.exit(run(process.execPath, ['--expose-gc', join(build, 'test', 'bench', 'main.js'), ...args.slice(1)]))
else if (args[0] === '--docs')
  process.exit(run(process.execPath, [join(build, 'test', 'reference', 'main.js'), ...args.slice(1)]))
else {
  const bundled = join(build, 'checkout', 'runtime', 'main.js')
  const entry = existsSync(bundled) ? bundled : join(build, 'runtime', 'cli', 'main.js')
  const { main } = await import(pathToFileURL(entry).href)
  await main(args, handOverSignals)
}
