/** Variants that are older than a plugin that was split out of another one. */
import t from 'tap'
import { optionNow, splitsOf, withSplits } from '../../runtime/kernel/splits.js'
import { catalogueOf, homesOf, withCommandsOf } from '../../runtime/loader/catalogue.js'
import { definePlugin, defineService } from '../../runtime/plugin.js'

const part = defineService<number>('part')
const plugin = (name: string, more: object = {}) =>
  definePlugin({ name, version: '1.0.0', api: '^1.0.0', setup() {}, ...more })
const catalogue = catalogueOf([
  plugin('whole'),
  plugin('part', { provides: [part], splitFrom: { whole: ['colour', 'size'] } }),
  plugin('other-part', { splitFrom: { whole: [] } }),
])
const splits = splitsOf(catalogue)

t.test('a variant that lists the old plugin gets the new ones before it, with the options that moved', async (t) => {
  const { plugins, added } = withSplits({ first: {}, whole: { port: 1, colour: 'red' }, last: {} }, splits)
  t.same(added, ['part', 'other-part'])
  t.same(Object.keys(plugins), ['first', 'part', 'other-part', 'whole', 'last'])
  t.same(plugins, { first: {}, part: { colour: 'red' }, 'other-part': {}, whole: { port: 1 }, last: {} })
})

t.test('what a variant says of the new plugin wins over what it says of the old one', async (t) => {
  for (const order of [
    { part: { colour: 'blue' }, whole: { colour: 'red', size: 2 } },
    { whole: { colour: 'red', size: 2 }, part: { colour: 'blue' } },
  ]) {
    const { plugins, added } = withSplits(order, splits)
    t.same(added, ['other-part'])
    t.same(plugins.part, { colour: 'blue', size: 2 })
    t.same(plugins.whole, {})
  }
})

t.test('a variant without the old plugin is as it was', async (t) => {
  const plugins = { first: { colour: 'red' } }
  t.same(withSplits(plugins, splits), { plugins, added: [] })
})

t.test('an option that is set by name goes where it lives now', async (t) => {
  t.same(optionNow('whole', 'colour', splits), { owner: 'part', path: 'colour' })
  t.same(optionNow('whole', 'size.width', splits), { owner: 'part', path: 'size.width' })
  t.same(optionNow('whole', 'port', splits), { owner: 'whole', path: 'port' })
  t.same(optionNow('first', 'colour', splits), { owner: 'first', path: 'colour' })
})

t.test('a part of one option is added only where another option asks for it', async (t) => {
  const simulated = splitsOf(
    catalogueOf([
      plugin('simulated', {
        splitFrom: { device: { inside: 'simulator', when: { port: 'simulator' } }, lamp: { when: { port: 'sim' } } },
      }),
    ]),
  )
  const simulator = { boot: 'rover' }
  t.same(withSplits({ lamp: {}, device: { port: 'simulator', baud: 1, simulator } }, simulated), {
    plugins: { lamp: {}, simulated: { boot: 'rover' }, device: { port: 'simulator', baud: 1 } },
    added: ['simulated'],
  })
  t.same(withSplits({ lamp: { port: 'sim' }, device: { simulator } }, simulated).added, ['simulated'])
  t.same(
    withSplits({ device: { port: '/dev/ttyS0', simulator }, lamp: {} }, simulated),
    { plugins: { device: { port: '/dev/ttyS0' }, lamp: {} }, added: [] },
    'a device gets none, and the options of the simulator are dropped',
  )
  t.same(withSplits({ simulated: { seed: 2 }, device: { port: 'x', simulator } }, simulated).plugins, {
    simulated: { boot: 'rover', seed: 2 },
    device: { port: 'x' },
  })
  t.same(optionNow('device', 'simulator.boot', simulated), { owner: 'simulated', path: 'boot' })
  t.same(optionNow('device', 'simulator', simulated), { owner: 'device', path: 'simulator' })
  t.same(optionNow('device', 'port', simulated), { owner: 'device', path: 'port' })
})

t.test('a service is at home where its provider is', async (t) => {
  t.same(homesOf(catalogue, 'provides'), { part: 'part' })
})

t.test('a device knows the commands of shipped plugins that it does not have, and nothing else of them', async (t) => {
  const shipped = catalogueOf([
    plugin('modem', { commands: ['mobile-scan'], provides: [part], splitFrom: { whole: [] } }),
    plugin('log', { commands: ['log', 'old-log'] }),
    plugin('quiet'),
  ])
  const device = withCommandsOf(shipped, catalogueOf([plugin('log', { commands: ['log'] })]))
  t.same(homesOf(device, 'commands'), { 'mobile-scan': 'modem', log: 'log' }, 'what it has wins')
  t.same(homesOf(device, 'provides'), {})
  t.same(splitsOf(device), {})
  t.same(Object.keys(device), ['modem', 'log'])
})
