import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { parseVariant } from '../../runtime/tools/cli/variant-file.js'
import { contractFiles } from '../reference/contract.js'

const files = await contractFiles()
const json = (path: string) => JSON.parse(files[path] ?? readFileSync(join(packageRoot(), path), 'utf8'))
const shippedVariants = readdirSync(join(packageRoot(), 'runtime', 'variants'))

function checker(name: string) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const check = ajv.compile(json(`schemas/${name}.schema.json`))
  return (value: unknown) => (check(value) ? '' : ajv.errorsText(check.errors))
}

t.test('variant.schema.json', (t) => {
  const check = checker('variant')
  const simulator = json('runtime/variants/simulator.json')

  t.test('takes every shipped variant', (t) => {
    for (const file of shippedVariants) t.equal(check(json(`runtime/variants/${file}`)), '', file)
    t.ok(shippedVariants.length > 4)
    t.end()
  })

  t.test('refuses a typing error, wherever it is', (t) => {
    const wrong = {
      'a section': { ...simulator, htttp: {} },
      'in a section': { ...simulator, watchdog: { limits: 3 } },
      'a value of a section': { ...simulator, trial: { window_s: '90' } },
      'an option': { ...simulator, plugins: { ...simulator.plugins, 'udp-rtcm': { hosts: '0.0.0.0' } } },
      'a value of an option': { ...simulator, plugins: { ...simulator.plugins, 'gnss-zed': { baud: 'fast' } } },
      'a nested option': { ...simulator, plugins: { ...simulator.plugins, 'ntrip-caster': { tls: { prot: 1 } } } },
      'a plugin without options': { ...simulator, plugins: { ...simulator.plugins, 'http-api': { port: 80 } } },
      'a parameter': { ...simulator, changes: { 'udp-prot': 2200 } },
      'a value of a parameter': { ...simulator, changes: { 'udp-port': 70_000 } },
      'no plugins': { name: 'x', hardware: 'x' },
    }
    for (const [what, variant] of Object.entries(wrong)) t.not(check(variant), '', what)
    t.end()
  })

  t.test('the service takes a variant that names it, and does not keep the name', (t) => {
    const text = JSON.stringify({ $schema: './variant.schema.json', name: 'x', hardware: 'x', plugins: {} })
    t.strictSame(parseVariant(text, 'x.json'), { name: 'x', hardware: 'x', plugins: {} })
    t.throws(() => parseVariant(text.replace('$schema', 'schema'), 'x.json'), { code: 'RTK_ERR_VARIANT' })
    t.end()
  })

  t.test('takes plugins that are not shipped, with whatever they take', (t) => {
    for (const name of ['./my-plugin', '../x', '/opt/x', '@me/rtk-thing', 'rtk-thing']) {
      const variant = { ...simulator, changes: { mine: 1 }, plugins: { ...simulator.plugins, [name]: { any: 1 } } }
      t.equal(check(variant), '', name)
    }
    t.end()
  })

  t.test('every section, option and parameter of it has a description', (t) => {
    const silent: string[] = []
    const walk = (schema: Record<string, Record<string, unknown>>, path: string) => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const one = field as Record<string, Record<string, unknown>>
        const isPlugin = path === 'plugins'
        if (!isPlugin && !one.description && !one.title) silent.push(`${path}.${name}`)
        walk(one, path === '' ? name : `${path}.${name}`)
        if (one.items) walk(one.items as never, `${path}.${name}[]`)
      }
    }
    walk(json('schemas/variant.schema.json'), '')
    t.strictSame(silent, [])
    t.end()
  })
  t.end()
})

t.test('change.schema.json takes what a station takes, other names too', (t) => {
  const check = checker('change')
  t.equal(check({ 'udp-port': 2200, 'gnss-ref-manual-lat': 50.1, 'trigger-gnss-survey': true, mine: 'x' }), '')
  t.not(check({ 'udp-port': 0 }), '')
  t.not(check([]), '')
  t.end()
})

t.test('document.schema.json', (t) => {
  const check = checker('document')
  t.equal(check({ udp: { enabled: true, port: 2102 }, mast: { height: 3 } }), '', 'blocks of other plugins are free')
  t.not(check({ udp: { enabled: true } }), '')
  t.end()
})
