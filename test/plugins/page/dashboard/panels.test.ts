/** Panels of other plugins on the page of the station: whose they are, and what is refused. */
import t from 'tap'
import type { ClientBundle } from '../../../../runtime/plugin.js'
import { type Panel, type StationPage, stationPage } from '../../../../schemas/services.js'
import { createTestStation, probe } from '../../../harness/index.js'

const bundle = (entry: string): ClientBundle => ({
  entry,
  styles: [],
  files: [{ name: entry, type: 'text/javascript', bytes: Buffer.from(entry), gzip: undefined, immutable: true }],
})

t.test('a panel belongs to its plugin', async (t) => {
  const lamp = (module: ClientBundle) =>
    probe(
      [],
      (ctx) => void ctx.services.watch(stationPage, (page) => page?.add({ plugin: 'probe', title: 'Lamp', module })),
    )
  const station = await createTestStation({ sources: { dashboard: {} }, plugins: { probe: lamp(bundle('a.js')) } })
  t.teardown(() => station.stop())
  const served = async (entry: string) => (await station.request(`/ui/panels/probe/${entry}`)).status
  t.equal(await served('a.js'), 200)
  const kept = bundle('b.js')
  station.define('probe', lamp(kept))
  await station.reload('probe')
  t.same([await served('a.js'), await served('b.js')], [404, 200], 'a reload replaces it')
  Object.assign(kept, { entry: 1n, files: undefined })
  t.equal(await served('b.js'), 200, 'what the plugin does to its module later does not count')
  await station.reload('dashboard')
  t.equal(await served('b.js'), 404, 'a new page asks anew, and this module is none any more')
  station.define('probe', lamp(bundle('c.js')))
  await station.reload('probe')
  await station.reload('dashboard')
  t.equal(await served('c.js'), 200, 'a new page has it, too')
  await station.unload('probe')
  t.equal(await served('c.js'), 404, 'an unload removes it')
})

t.test('what is no panel is refused', async (t) => {
  let page: StationPage | undefined
  const asks = probe([], (ctx) => {
    page = ctx.services.find(stationPage)
  })
  const station = await createTestStation({ sources: { dashboard: {} }, plugins: { probe: asks } })
  t.teardown(() => station.stop())
  const lamp = { plugin: 'lamp', title: 'Lamp', module: bundle('c.js') }
  const wrong = [{ entry: 1n }, { styles: undefined }, { styles: [1n] }, { styles: ['none.css'] }, { files: [null] }]
  for (const [panel, why] of [
    [{ ...lamp, title: '' }, /1 to 40 characters/],
    [{ ...lamp, module: {} }, /"Lamp": its module/],
    ...wrong.map((one) => [{ ...lamp, module: { ...lamp.module, ...one } }, /"Lamp": its module/] as const),
  ] as const)
    t.throws(() => page?.add(panel as Panel), why)
  const remove = page?.add(lamp)
  t.throws(() => page?.add({ ...lamp, title: 'Two' }), /has one panel, and "Lamp"/)
  remove?.()
  t.doesNotThrow(() => page?.add({ ...lamp, title: 'Two' }))
})
