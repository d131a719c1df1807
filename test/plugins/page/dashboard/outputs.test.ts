/** The page's outputs, casters and logins of rovers: what they compute, without a browser. */
import t from 'tap'
import { Value } from 'typebox/value'
import { figures, readFigures } from '../../../../plugins/page/dashboard/history/figures.js'
import {
  type Caster,
  casterFrom,
  cleanHost,
  formOf,
  keepsPassword,
  keepsSourcePassword,
  listWith,
  presetNames,
  presetOf,
  presets,
  sourceForm,
  sourceFrom,
  sourceTroublesOf,
  switched,
  troublesOf,
} from '../../../../plugins/page/dashboard/ui/model/casters.js'
import { castersOf, isMqttWanted, outputRows } from '../../../../plugins/page/dashboard/ui/model/outputs.js'
import {
  entryText,
  freeName,
  hostForRover,
  loginTroubles,
  shutsOut,
} from '../../../../plugins/page/dashboard/ui/model/rover-login.js'
import { Source } from '../../../../plugins/rtcm/ntrip-client/source.js'
import { completed, SentTarget, Target } from '../../../../plugins/rtcm/ntrip-server/target.js'
import { chainOf } from '../../../../runtime/lib/page/ui/station/chain.js'
import { roversOf } from '../../../../runtime/lib/page/ui/station/links.js'
import { isNew } from '../../../../runtime/lib/page/ui/station/set-up.js'

const push = { host: 'caster.example.org', port: 2101, mount: 'ROOF', state: 'acknowledged' }
const subscriber = (via: string, name: string) => ({ via, name, ip: '', seen: 0 })

t.test(
  'only rovers count as rovers: not the own topic, not casters and addresses pushed to, not a radio modem',
  async (t) => {
    const document = {
      ntrip: { server: [push, { ...push, mount: 'M'.repeat(32) }] },
      rtcm_tcp: { port: 0, push: [{ host: 'tcp.example.org', port: 5_000 }] },
      gnss: {
        rtcm: {
          subscribers: [
            subscriber('mqtt', 'base/X/drtk'),
            subscriber('serial', '/dev/ttyUSB0'),
            subscriber('ntrip', 'caster.example.org:2101/ROOF'),
            // Cut in the list of casters.
            subscriber('ntrip', `caster.example.org:2101/${'M'.repeat(80)}`),
            subscriber('tcp', 'tcp.example.org:5000'),
          ],
        },
        ref: { chosen: 'survey' },
      },
    }
    t.strictSame(roversOf(document), [])
    t.match(
      chainOf(document).find(({ link }) => link === 'rovers'),
      { state: 'unknown', facts: ['0'] },
    )
    t.equal(isNew(document), true, 'a station with a broker and no rover is still new')
    const rovers = [subscriber('udp', 'a'), subscriber('ntrip', 'NTRIP gps'), subscriber('tcp', '')]
    const served = { ...document, gnss: { rtcm: { subscribers: [...document.gnss.rtcm.subscribers, ...rovers] } } }
    t.strictSame(roversOf(served), rovers)
    const rtcm = { bytes: 0, epochs: 0, elapsed_s: 10 }
    const evidence = { fitness: undefined, reception: undefined, isUp: true, satellites: undefined, rtcm }
    const curve = figures.findIndex(({ name }) => name === 'rovers')
    t.equal(readFigures({ ...evidence, document: served })[curve], 3, 'the curve of the day counts the same')
  },
)

t.test('every output has a state in words; what nobody has set up is no fault', async (t) => {
  const bare = {
    udp: { enabled: true, port: 12_346 },
    ntrip: { caster: { enabled: false, port: 0, connected: 0 }, server: [] },
    mqtt: { host: '', state: { link: 'down' } },
    rtcm_tcp: { port: 0, push: [] },
    rtcm_serial: { port: '', state: 'off' },
  }
  t.strictSame(
    outputRows(bare).map(({ output, state }) => [output, state]),
    [
      ['udp', 'on'],
      ['caster', 'off'],
      ['server', 'unset'],
      ['mqtt', 'unset'],
      ['tcp', 'unset'],
      ['serial', 'unset'],
    ],
  )
  t.equal(isMqttWanted(bare), false)
  for (const { output, parameter, to } of outputRows(bare))
    t.ok(output === 'server' || Boolean(parameter) !== Boolean(to), `${output} has one switch or one link`)

  const of = (more: object, wanted: string) => outputRows({ ...bare, ...more }).find(({ output }) => output === wanted)
  const broker = { host: 'broker.example.org', state: { link: 'down' } }
  t.match(of({ mqtt: broker }, 'mqtt'), { state: 'down', parameter: 'mqtt-en' })
  t.match(of({ mqtt: { ...broker, state: { link: 'disabled' } } }, 'mqtt'), { state: 'off', parameter: 'mqtt-en' })
  const server = (...states: string[]) => ({ ntrip: { server: states.map((state) => ({ ...push, state })) } })
  t.match(of(server('off', 'off'), 'server'), { state: 'off' }, 'switched off is no fault')
  t.match(of(server('off', 'refused'), 'server'), { state: 'down' })
  t.match(of(server('off', 'waiting'), 'server'), { state: 'waiting' }, 'nothing to send is no fault')
  t.match(of(server('refused', 'proven'), 'server'), { state: 'on' })
  t.strictSame(castersOf(server('off', 'refused', 'proven')), { good: 1, wanted: 2 })
  t.match(of({ rtcm_tcp: { port: 5_000, push: [] } }, 'tcp'), { state: 'on', rovers: 0 })
  t.match(of({ rtcm_serial: { port: '/dev/ttyUSB0', state: 'waiting' } }, 'serial'), { state: 'down' })
})

t.test('the form of a caster: presets, pasted addresses, and what is wrong, by field', async (t) => {
  for (const name of presetNames) {
    const form = { ...presets[name], mount: 'ROOF', user: 'me', password: 'secret' }
    const filled = name === 'own' ? { ...form, host: 'caster.example.org' } : form
    t.strictSame(troublesOf(filled, false), {}, `${name} needs the login only`)
    t.ok(Value.Check(Target, casterFrom(filled)), `the station takes ${name}`)
    t.equal(presetOf(filled.host.toUpperCase()), name)
  }
  t.strictSame(cleanHost(' http://caster.example.org:2102/ROOF '), { host: 'caster.example.org', port: '2102' })
  t.strictSame(cleanHost('NTRIP://caster.example.org/'), { host: 'caster.example.org' })
  t.strictSame(cleanHost('2001:db8::1'), { host: '2001:db8::1' }, 'no port')
  t.strictSame(cleanHost('<b>'), { host: '<b>' })
  t.strictSame(cleanHost('[2001:db8::1]:2101'), { host: '2001:db8::1', port: '2101' })
  t.strictSame(cleanHost('\ufeff[::1] '), { host: '::1' })
  for (const [host, wanted] of [
    ['caster.example.org.', {}],
    // N2
    ['bücher.example', {}],
    ['bücher example', { host: 'host' }],
    ['::ffff:10.0.0.7', {}],
    ['10.0.0', { host: 'host' }],
    ['300.1.1.1', { host: 'host' }],
    [':::', { host: 'host' }],
  ] as const)
    t.strictSame(troublesOf({ ...presets.own, host, mount: 'A', password: 'x' }, false), wanted, `N2: ${host}`)

  t.strictSame(troublesOf(presets.own, false), { host: 'missing', mount: 'missing', password: 'missing' })
  t.strictSame(troublesOf({ ...presets.own, version: 2 }, true), { host: 'missing', mount: 'missing', user: 'missing' })
  const wrong = {
    host: 'a b',
    port: '70000',
    mount: 'über',
    user: 'a:b',
    password: 'a b',
    version: 2,
    tls: false,
  } as const
  t.strictSame(troublesOf(wrong, true), {
    host: 'host',
    port: 'port',
    mount: 'mount',
    user: 'user',
    password: 'password',
  })
  for (const unseen of ['\u200b', '\u2009', '\u3000', '\ufeff']) {
    const pasted = { ...wrong, user: `anna${unseen}`, password: `s3cret${unseen}` }
    t.match(troublesOf(pasted, true), { user: 'user', password: 'password' }, 'N3')
    t.match(loginTroubles(`anna${unseen}`, `s3cret${unseen}`, []), { name: 'name', password: 'password' }, 'N3')
  }
  t.strictSame(loginTroubles('jürgen', '密碼密碼', []), {}, 'N3')
  for (const port of ['', '0', '1.5', '-1', '0x10', '65536'])
    t.strictSame(troublesOf({ ...wrong, port }, true).port, 'port', `port ${port || 'empty'}`)
})

t.test('a change of one caster keeps the others, their passwords and what the form does not show', async (t) => {
  const stored: Target[] = [
    { host: 'a.example.org', mount: 'ONE', password: 'p1', msm4: true, echo: { user: 'rover', password: 'p2' } },
    { host: 'b.example.org', port: 2_102, mount: 'TWO', user: 'u', password: 'p3', version: 2 },
  ]
  const all: Caster[] = [
    { host: 'a.example.org', mount: 'ONE', msm4: true, echo: { user: 'rover', set: true }, set: true } as Caster,
    { host: 'b.example.org', port: 2_102, mount: 'TWO', user: 'u', version: 2, set: true },
  ]
  const [one, two] = all as [Caster, Caster]
  const taken = (list: readonly unknown[]) => {
    for (const sent of list) t.ok(Value.Check(SentTarget, sent), JSON.stringify(sent))
    return (list as SentTarget[]).map((sent) => completed(sent, stored))
  }
  t.strictSame(taken(listWith(all, undefined, undefined)), stored, 'unchanged')
  t.strictSame(taken(listWith(all, one, switched(one, false))), [{ ...stored[0], enabled: false }, stored[1]])
  t.strictSame(taken(listWith(all, one, undefined)), [stored[1]])
  const added = { host: 'c.example.org', port: 2_101, mount: 'TRI', version: 1, tls: false, password: 'p4' } as const
  t.strictSame(taken(listWith(all, undefined, added)), [...stored, added])
  const edited = casterFrom({ ...formOf(one), tls: true }, one)
  const whole = { port: 2_101, version: 1, tls: true }
  t.strictSame(taken(listWith(all, one, edited)), [{ ...stored[0], ...whole }, stored[1]])
  const older = casterFrom({ ...formOf(two), version: 1 }, two)
  t.notOk('user' in older, 'NTRIP 1 has no user name')

  const form = formOf(one)
  t.equal(keepsPassword(form, one, all), true)
  t.equal(keepsPassword({ ...form, mount: 'NEW' }, one, all), true, 'the only one of its host')
  t.equal(keepsPassword({ ...form, mount: 'NEW' }, one, [...all, { ...one, mount: 'THREE' }]), false)
  t.equal(keepsPassword({ ...form, host: 'evil.example.org' }, one, all), false, 'another host never gets it')
  t.equal(keepsPassword(form, { ...one, set: false }, all), false)
  t.equal(keepsPassword(form, undefined, all), false)
})

t.test(
  'the form of a source of corrections: mountpoint and login may be empty, what it does not show stays',
  async (t) => {
    t.strictSame(sourceTroublesOf(sourceForm({ host: '' })), { host: 'missing' })
    t.strictSame(sourceTroublesOf({ ...sourceForm({ host: 'a b' }), mount: 'über', user: 'a:b', port: '' }), {
      ...{ host: 'host', port: 'port', mount: 'mount', user: 'user' },
    })
    const stored = { host: 'a.example.org', mount: 'NET', user: 'me', gga: true, set: true } as const
    const form = sourceForm(stored)
    t.strictSame(sourceTroublesOf(form), {})
    const whole = { port: 2_101, version: 2, tls: false }
    t.strictSame(sourceFrom(form, stored), { gga: true, host: 'a.example.org', mount: 'NET', user: 'me', ...whole })
    t.notOk('gga' in sourceFrom({ ...form, host: 'b.example.org' }, stored), 'another caster asks in its own way')
    for (const sent of [form, { ...form, mount: '', user: '', password: 'p' }])
      t.ok(Value.Check(Source, sourceFrom(sent, stored)), 'the station takes it')
    t.equal(keepsSourcePassword(form, stored), true)
    t.equal(keepsSourcePassword({ ...form, host: 'evil.example.org' }, stored), false)
    t.equal(keepsSourcePassword({ ...form, port: '2102' }, stored), false)
  },
)

t.test('a login of a rover: its name and password, its entries, and who is shut out by it', async (t) => {
  t.strictSame(loginTroubles('rover-1', 'abcd-efgh-jkmn', []), {})
  t.strictSame(loginTroubles('', 'abc', []), { name: 'missing', password: 'password' })
  t.strictSame(loginTroubles('<b>', 'with space', []), { name: 'name', password: 'password' })
  t.strictSame(loginTroubles('x'.repeat(65), 'a:bcd', []), { name: 'name', password: 'password' })
  t.strictSame(loginTroubles('rover-1', 'abcd', ['rover-1']), { name: 'taken' })
  t.equal(freeName(['rover-1', 'rover-3']), 'rover-2')

  const addresses = [{ url: 'http://192.168.1.7:8080/' }]
  t.equal(hostForRover('localhost', addresses), '192.168.1.7', 'no rover reaches the loopback')
  t.equal(hostForRover('localhost', []), 'localhost')
  t.equal(hostForRover('base.local', addresses), 'base.local')
  t.equal(hostForRover('[2001:db8::1]', []), '2001:db8::1')
  t.equal(
    entryText([
      ['Host', 'base.local'],
      ['Port', '2101'],
    ]),
    'Host: base.local\nPort: 2101',
  )
  const list = (now: boolean, withLogins: boolean) => ({
    users: [],
    anonymous: { now, withLogins },
    mounts: [],
    port: 1,
  })
  t.equal(shutsOut(list(true, false)), true, 'the first login')
  t.equal(shutsOut(list(false, false)), false, 'they are out already')
  t.equal(shutsOut(list(true, true)), false, 'anonymous rovers are allowed beside logins')
})
