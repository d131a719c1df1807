/** What is known of the shipped plugins without their code. */
import t from 'tap'
import { catalogueOf, homesOf, withCommandsOf } from '../../runtime/loader/catalogue.js'
import { definePlugin, defineService } from '../../runtime/plugin.js'

const part = defineService<number>('part')
const plugin = (name: string, more: object = {}) =>
  definePlugin({ name, version: '1.0.0', api: '^1.0.0', setup() {}, ...more })
const catalogue = catalogueOf([plugin('whole'), plugin('part', { provides: [part] })])

t.test('a service is at home where its provider is', async (t) => {
  t.same(homesOf(catalogue, 'provides'), { part: 'part' })
})

t.test('a device knows the commands of shipped plugins that it does not have, and nothing else of them', async (t) => {
  const shipped = catalogueOf([
    plugin('modem', { commands: ['mobile-scan'], provides: [part] }),
    plugin('log', { commands: ['log', 'old-log'] }),
    plugin('quiet'),
  ])
  const device = withCommandsOf(shipped, catalogueOf([plugin('log', { commands: ['log'] })]))
  t.same(homesOf(device, 'commands'), { 'mobile-scan': 'modem', log: 'log' }, 'its own list counts')
  t.same(homesOf(device, 'provides'), {})
  t.same(Object.keys(device), ['modem', 'log'])
})
