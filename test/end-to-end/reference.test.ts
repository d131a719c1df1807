/** The generated pages: the API reference, the tables of what a station offers, the help texts of the command line. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RtkError } from 'rtk-base/plugin'
import * as services from 'rtk-base/services'
import t from 'tap'
import { errorTable } from '../../runtime/errors.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { apiPages } from '../reference/api.js'
import { generatedPages } from '../reference/pages.js'

const root = packageRoot()
const pages = await generatedPages()
const api = apiPages()

t.test('every generated page is that of the code', async (t) => {
  for (const [path, text] of pages) {
    const held = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : 'missing'
    t.ok(held === text, `${path} is stale: run \`npm run docs\``)
  }
  for (const name of readdirSync(join(root, 'runtime', 'docs', 'reference')))
    t.ok(pages.has(join('runtime', 'docs', 'reference', name)), `${name} is generated no more: run \`npm run docs\``)
})

t.test('the API reference has every entry of the package', async (t) => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>
  }
  for (const id of Object.keys(exports)) {
    const name = id === '.' ? 'runtime' : id.slice(2)
    // The schemas are the tables of the status document, the contract is types made from them; the last one is a file.
    if (['schemas', 'contract', 'package.json', 'page/ui/styles.css'].includes(name)) continue
    t.ok(api.has(`${name.replace('/', '-')}.md`), id)
  }
  const plugin = api.get('plugin.md') ?? ''
  for (const name of ['definePlugin', 'PluginContext', 'badValue', 'RtkError'])
    t.match(plugin, new RegExp(`^### ${name}$`, 'm'))
  t.match(plugin, /Thrown by an action with a wrong value: HTTP 400/, 'with its docstrings')
  t.match(api.get('services.md'), /^### rtcmStream$/m, 'of modules that are exported on')
})

t.test('the tables have what a station offers', async (t) => {
  const table = (name: string) => pages.get(join('runtime', 'docs', 'reference', `${name}.md`)) ?? ''
  t.match(table('parameters'), /^\| `udp-port` \| integer 1 to 65,535 \| `2102` \|/m)
  t.match(table('commands'), /^\| `start-survey-in` \|/m)
  t.match(table('routes'), /^\| `GET \/get-info` \|/m)
  t.match(table('topics'), /^\| `base\/\{SN\}\/drtk` \| sends, QoS 0 \|/m)
  t.match(table('document'), /^\| `gnss\.state\.status` \|/m)
  for (const code of Object.keys(errorTable)) t.match(table('errors'), `| \`${code}\` | `)
  t.equal(new RtkError('RTK_ERR_MASK', '').statusCode, 400)
})

t.test('the table of services has each token once, and ten to start with', async (t) => {
  const page = readFileSync(join(root, 'runtime', 'docs', 'plugins.md'), 'utf8')
  const [, table = ''] = /### Services by task\n([\s\S]*?)\n## /.exec(page) ?? []
  const listed = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  const tokens = Object.entries(services).flatMap(([name, token]) =>
    typeof token === 'object' && token !== null && 'id' in token ? [name] : [],
  )
  const named = listed.filter((name = '') => name in services)
  t.same(new Set(named), new Set(tokens))
  t.equal(named.length, tokens.length, 'each once')
  t.equal(table.match(/\*\*`/g)?.length, 10)
})
