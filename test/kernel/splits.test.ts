/** Variants that are older than a plugin that was split out of another one. */
import t from 'tap'
import { catalogueOf, homesOf } from '../../runtime/build/catalogue.js'
import { definePlugin, defineService } from '../../runtime/plugin.js'
import { ownerNow, splitsOf, withSplits } from '../../runtime/splits.js'

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
  t.equal(ownerNow('whole', 'colour', splits), 'part')
  t.equal(ownerNow('whole', 'size.width', splits), 'part')
  t.equal(ownerNow('whole', 'port', splits), 'whole')
  t.equal(ownerNow('first', 'colour', splits), 'first')
})

t.test('a service is at home where its provider is', async (t) => {
  t.same(homesOf(catalogue), { part: 'part' })
})
