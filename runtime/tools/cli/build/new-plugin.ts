import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { RtkError } from '../../../errors.js'
import { packageRoot } from '../../../platform/release.js'
import { apiVersion } from '../../../plugin.js'
import { parseArgs } from '../parse-args.js'

export const newPluginHelp = `rtk-base new-plugin NAME [--receiver]

Makes the folder NAME in the current one, with a starter plugin: a parameter, a block of the status document, a command,
a test, and the files to check, test and publish it. With --receiver: a plugin for a GNSS receiver on a serial port, a
simulated receiver, and the test that every receiver must pass. Then:

  cd NAME
  npm install
  npm test          the tests, on a simulated station
  npx tsc           the types
  npm run build     the prebuilt form, in dist

Load it with: rtk-base plugins load ./NAME
`

const nameRule = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

export async function newPluginCommand(args: string[]): Promise<number> {
  const options = { receiver: { type: 'boolean', default: false } } as const
  const { positionals, values } = parseArgs({ args, options, allowPositionals: true })
  const [name, ...more] = positionals
  if (!name || more.length > 0 || !nameRule.test(name)) {
    throw new RtkError(
      'RTK_ERR_USAGE',
      `new-plugin takes one name in lower case and dashes, not "${positionals.join(' ')}"`,
    )
  }
  const folder = resolve(name)
  if (existsSync(folder)) throw new RtkError('RTK_ERR_USAGE', `${folder} is there already`)
  const files = { ...(values.receiver ? receiverSources(name) : sources(name)), ...project(name, folder) }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const [pack, program] = isInstalled()
    ? ['', 'npx rtk-base']
    : [`(cd ${packageRoot()} && npm pack) && `, 'npm run -s rtk-base --']
  process.stdout.write(
    `${folder}\n  ${pack}cd ${name} && npm install && npm test\n  ${program} plugins load ./${name}\n`,
  )
  return 0
}

interface PackageFile {
  version: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

function readPackage(folder: string): PackageFile | undefined {
  const file = join(folder, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PackageFile) : undefined
}

/** Or else it runs in a checkout. */
const isInstalled = () => basename(dirname(packageRoot())) === 'node_modules'

/** The package.json entry that installs this same rtk-base: copied from the surrounding project, e.g. a tarball. */
function ownSource(folder: string, version: string): string {
  const root = packageRoot()
  const project = isInstalled() ? dirname(dirname(root)) : root
  const { dependencies, devDependencies } = readPackage(project) ?? {}
  // A checkout is not a package; `npm pack` makes one.
  const tarball = `file:rtk-base-${version}.tgz`
  const source = isInstalled() ? (dependencies?.['rtk-base'] ?? devDependencies?.['rtk-base']) : tarball
  if (!source) return `^${version}`
  return source.startsWith('file:') ? `file:${relative(folder, resolve(project, source.slice(5)))}` : source
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** File → text of the plugin. */
function sources(name: string): Record<string, string> {
  return {
    'index.ts': `import { badValue, definePlugin } from 'rtk-base/plugin'
import { Type } from 'typebox'

/** What it is for, in one line. */
export default definePlugin({
  name: '${name}',
  version: '0.1.0',
  api: '^${apiVersion}',
  options: Type.Object({}),

  setup(ctx) {
    const limit = ctx.config.define('${name}-limit', Type.Integer({ minimum: 0, maximum: 1000 }), {
      default: 10,
      title: 'Highest count',
    })
    let count = 0
    ctx.info.block('${name}', { config: () => ({ limit: limit.get() }), runtime: () => ({ count }) })
    ctx.action({
      name: '${name}-count',
      summary: '${name}-count=<number> sets the count',
      input: { count: Type.Integer({ minimum: 0 }) },
      run({ input }) {
        if (input.count > limit.get()) throw badValue(\`${name}-count=<0-\${limit.get()}>\`)
        count = input.count
        return \`count \${count}\`
      },
    })
  },
})
`,
    'test/index.test.ts': `import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, createTestStation } from 'rtk-base/testing'

test('counts within its limit', async (t) => {
  const station = await createTestStation({ sources: { '.': {} } })
  t.after(() => station.stop())
  const count = (value: number) => station.station.command(\`${name}-count=\${value}\`, { source: 'plugin' })
  assert.equal((await count(5)).text, 'count 5')
  assert.equal((await count(11)).status, 400)
  assert.equal(station.field('${name}.count'), 5)
})

test('starts, stops, starts again and leaves nothing behind', () => conformance('.'))
`,
    'texts/de.json': json({
      [`setting.${name}-limit`]: 'Höchster Zählerstand',
      [`command.${name}-count`]: `${name}-count=<Zahl> stellt den Zähler`,
    }),
    'README.md': `# ${name}

The purpose of the plugin.

| kind | name | meaning |
|---|---|---|
| parameter | \`${name}-limit\` | int 0–1000, default 10: the highest count |
| block | \`${name}\` | \`limit\`, \`count\` |
| command | \`${name}-count=<number>\` | sets the count |

\`npm test\` checks the types and tests it on a simulated station, \`npm run build\` makes the prebuilt form in \`dist\`, which
\`npm publish\` publishes. In a variant: \`"plugins": { "${name}": {} }\` where the package is installed. The page shows the texts of
\`texts/LANGUAGE.json\` to whoever reads that language.
`,
  }
}

/** The example that a plugin for a receiver begins with. */
const receiverExample = 'serial-receiver'

/** File → text of the plugin of a receiver. */
function receiverSources(name: string): Record<string, string> {
  const folder = join(packageRoot(), 'examples', receiverExample)
  const copied = ['index.ts', 'test/index.test.ts', 'test/simulated.ts'].map((file) => [
    file,
    readFileSync(join(folder, file), 'utf8').replaceAll(`'${receiverExample}'`, `'${name}'`),
  ])
  return {
    ...Object.fromEntries(copied),
    'README.md': `# ${name}

A receiver as the service \`receiver\`, which is all that a station needs of it: the guide is receiver.md in runtime/docs of rtk-base. The
sentences \`$PXY…\` in \`index.ts\` and in \`test/simulated.ts\` are placeholders: put those of your receiver in their place.

| option | default | meaning |
|---|---|---|
| \`port\` | \`/dev/ttyUSB0\` | a device path or \`tcp://host:port\` |
| \`baud\` | 115200 | line rate |

\`npm test\` checks the types and tests it in a simulated station, \`npm run build\` makes the prebuilt form in \`dist\`, which
\`npm publish\` publishes. In a variant: \`"plugins": { "${name}": { "port": "/dev/ttyUSB0" } }\` where the package is installed.
`,
  }
}

/** File → text of the files around the plugin. */
function project(name: string, folder: string): Record<string, string> {
  const own = readPackage(packageRoot())
  const { version = '', dependencies = {}, devDependencies = {} } = own ?? {}
  const tools = ['@types/node', 'esbuild', 'typebox', 'typescript'].map((tool) => [
    tool,
    devDependencies[tool] ?? dependencies[tool] ?? 'latest',
  ])
  return {
    'package.json': json({
      name,
      version: '0.1.0',
      type: 'module',
      main: `dist/${name}.cjs`,
      files: ['dist'],
      scripts: {
        test: 'tsc && esbuild test/*.test.ts --bundle --packages=external --platform=node --format=esm --sourcemap --outdir=build --log-level=warning && node --enable-source-maps --test build/*.test.js',
        build: 'rtk-base build-plugin .',
        prepack: 'npm run build',
      },
      // The range of `api` in the code decides.
      peerDependencies: { 'rtk-base': `>=${version}` },
      devDependencies: Object.fromEntries([...tools, ['rtk-base', ownSource(folder, version)]]),
    }),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        verbatimModuleSyntax: true,
        erasableSyntaxOnly: true,
        types: ['node', 'rtk-base/client'],
      },
      include: ['**/*.ts', '**/*.tsx'],
      exclude: ['node_modules', 'build', 'dist'],
    }),
    '.gitignore': '/node_modules/\n/build/\n/dist/\n',
  }
}
