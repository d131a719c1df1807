/** The map server that the page may load pictures from. */
import { createTestStation, until } from 'rtk-base/testing'
import t from 'tap'
import { tileOrigin, tilesFault } from '../../../../runtime/lib/page/tiles.js'
import { openEvents } from '../../../harness/peers/event-stream.js'
import { shippedPlugin } from '../../../harness/shipped.js'

const dashboard = await shippedPlugin('dashboard')
const template = 'https://tile.example.org/{z}/{x}/{y}.png'

t.test('the address of a map server', async (t) => {
  const fine: [string, string][] = [
    [template, 'https://tile.example.org'],
    ['https://tile.example.org:8443/a/{z}/{x}/{y}?key=1', 'https://tile.example.org:8443'],
    ['https://tile.example.org/wmts?z={z}&x={x}&y={y}', 'https://tile.example.org'],
    ['https://[2001:db8::1]/{z}/{x}/{y}', 'https://[2001:db8::1]'],
  ]
  for (const [one, origin] of fine) {
    t.equal(tilesFault(one), undefined, one)
    t.equal(tileOrigin(one), origin)
  }
  t.equal(tilesFault(''), undefined)
  t.equal(tileOrigin(''), '')
  const wrong: [string, RegExp][] = [
    ['http://tile.example.org/{z}/{x}/{y}', /begins with https/],
    ['javascript:alert(1)//{z}/{x}/{y}', /begins with https/],
    ['https://tile.example.org/{z}/{x}', /needs \{y\}/],
    ['https://tile.example.org/{s}/{z}/{x}/{y}', /no other parts in braces/],
    ['https://{s}.example.org/{z}/{x}/{y}', /one server/],
    ['https://{x}.example.org/{z}/{x}/{y}', /one server/],
    ['https://*.example.org/{z}/{x}/{y}', /one server/],
    ['https://*/{z}/{x}/{y}', /one server/],
    ['https://a%3bscript-src/{z}/{x}/{y}', /one server/],
    ['https://bob:secret@tile.example.org/{z}/{x}/{y}', /one server/],
    ['https://tile.example.org\\@evil.example/{z}/{x}/{y}', /one server/],
    ['https:tile.example.org/{z}/{x}/{y}', /begins with https/],
  ]
  for (const [one, text] of wrong) t.match(tilesFault(one), text, one)
})

t.test('the policy of the page follows the parameter at once', async (t) => {
  const station = await createTestStation({ plugins: { dashboard: dashboard } })
  t.teardown(() => station.stop())
  const pictures = async () => {
    const policy = String((await station.request('/')).headers.get('content-security-policy'))
    return policy.split('; ').filter((rule) => rule.startsWith('img-src'))
  }
  const told = async () => {
    const page = await openEvents(station.url)
    await until(() => page.of('hello').length > 0, 'the greeting')
    page.close()
    return page.of('hello')
  }
  const set = (value: string) => station.station.change({ 'map-tiles': value }, { source: 'http' })
  t.strictSame(await pictures(), ["img-src 'self' data:"])
  t.match(await set(template), { result: 'ok' })
  t.strictSame(await pictures(), ["img-src 'self' data: https://tile.example.org"])
  t.match(await told(), [{ tiles: template }])
  t.match(await set('https://*.example.org/{z}/{x}/{y}'), { result: 'failed', errors: [{ message: /without \*/ }] })
  t.match(await set("https://a.org/{z}/{x}/{y};script-src'*'"), { result: 'failed' })
  t.strictSame(await pictures(), ["img-src 'self' data: https://tile.example.org"])
  const provider = { 'map-attribution': '© OpenStreetMap contributors <b>' }
  t.match(await station.station.change(provider, { source: 'http' }), { result: 'ok' })
  t.match(await told(), [{ attribution: '© OpenStreetMap contributors <b>' }])
  t.match(await station.station.change({ 'map-attribution': 'x'.repeat(121) }, { source: 'http' }), {
    result: 'failed',
  })
  t.match(await set(''), { result: 'ok' })
  t.strictSame(await pictures(), ["img-src 'self' data:"])
  t.match(await told(), [{ tiles: '' }])
})

t.test('the option is the default, by http too; a broken one adds nothing to the policy', async (t) => {
  for (const [tiles, origin] of [
    ['http://10.0.0.2:8080/{z}/{x}/{y}', ' http://10.0.0.2:8080'],
    ['https://*/{z}/{x}/{y}', ''],
  ] as const) {
    const station = await createTestStation({ plugins: { dashboard: [dashboard, { tiles }] } })
    t.teardown(() => station.stop())
    const { headers } = await station.request('/')
    t.match(headers.get('content-security-policy'), `img-src 'self' data:${origin};`)
  }
})
