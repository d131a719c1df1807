import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readRelease } from '../build/release.js'
import { RtkError } from '../errors.js'
import { apiVersion } from '../plugin.js'

export const newPluginHelp = `rtk-base new-plugin NAME

Makes the folder NAME with a plugin to begin with: a parameter, a part of the document, a command, a test.
Load it with: rtk-base plugins load ./NAME
`

const nameRule = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

export async function newPluginCommand(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true })
  const [name, ...more] = positionals
  if (!name || more.length > 0 || !nameRule.test(name)) {
    throw new RtkError(
      'RTK_ERR_USAGE',
      `new-plugin takes one name in lower case and dashes, not "${positionals.join(' ')}"`,
    )
  }
  const folder = resolve(name)
  if (existsSync(folder)) throw new RtkError('RTK_ERR_USAGE', `${folder} is there already`)
  mkdirSync(folder)
  for (const [file, text] of Object.entries(template(name))) writeFileSync(join(folder, file), text)
  process.stdout.write(`${folder}\n  rtk-base plugins load ./${name}\n`)
  return 0
}

/** File → text of a plugin to begin with. */
function template(name: string): Record<string, string> {
  const { version } = readRelease()
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
    const limit = ctx.config.define('${name}-limit', Type.Integer({ minimum: 0, maximum: 1000 }), { default: 10 })
    let count = 0
    ctx.info.block('${name}', { config: () => ({ limit: limit.get() }), runtime: () => ({ count }) })
    ctx.commands.add('${name}-count', '${name}-count=<number> sets the count', ({ arg }) => {
      const wanted = Number(arg || Number.NaN)
      if (!Number.isInteger(wanted) || wanted < 0 || wanted > limit.get()) throw badValue(\`${name}-count=<0-\${limit.get()}>\`)
      count = wanted
      return \`count \${count}\`
    })
  },
})
`,
    'index.test.ts': `import { conformance, createTestStation } from 'rtk-base/testing'
import t from 'tap'
import plugin from './index.js'

t.test('counts within its limit', async (t) => {
  const station = await createTestStation({ plugins: { '${name}': plugin } })
  t.teardown(() => station.stop())
  t.match(await station.station.command('${name}-count=5', { source: 'plugin' }), { status: 200, text: 'count 5' })
  t.match(await station.station.command('${name}-count=11', { source: 'plugin' }), { status: 400 })
  t.equal(station.field('${name}.count'), 5)
})

t.test('starts, stops, starts again and leaves nothing behind', () => conformance(plugin))
`,
    'package.json': `${JSON.stringify({ name, version: '0.1.0', type: 'module', main: 'index.ts', peerDependencies: { 'rtk-base': `^${version}` } }, null, 2)}\n`,
    'README.md': `# ${name}\n\nKeys: \`${name}-limit\` (0-1000, default 10). Block: \`${name}\`. Command: \`${name}-count=<number>\`.\n`,
  }
}
