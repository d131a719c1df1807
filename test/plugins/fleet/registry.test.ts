/** The stations of a fleet: what they say, what is kept of it, and requests to them. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { encodeNmea } from 'rtk-base/gnss'
import { createTestStation, freeTcpPort, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { readDocument } from '../../../plugins/fleet/fleet-registry/stations/reading.js'
import { answerOf, entryOfCommand } from '../../../plugins/fleet/fleet-registry/stations/requests.js'
import { isPossible } from '../../../plugins/fleet/fleet-registry/stations/verdicts.js'
import type { FleetStation } from '../../../schemas/services.js'
import { pass, settled } from '../../harness/drive.js'
import { startBroker } from '../../harness/peers/brokers.js'
import type { SpecStation } from '../../harness/peers/spec-station.js'
import { fleetRig, foreignDocument } from './rig.js'

interface Row {
  serial: string
  verdict: string
  online: string
  cause: string
  name: string
  version: string
}
interface Entry {
  serial: string
  kind: string
  text: string
  by: string
  t: number
}
const fit = {
  verdict: 'fit',
  cause: 'ok',
  since: 1_790_000_000,
  reference: '0a1b2c3d',
  arp: [3_925_405, 274_491, 5_002_842],
  version: '0.3.0',
}

t.test('stations of this make and of others', async (t) => {
  const rig = await fleetRig(t)
  const { fleet, passes, get, send } = rig
  const row = async (serial: string) =>
    (await get<{ stations: Row[] }>('/fleet/stations')).stations.find((one) => one.serial === serial)
  const record = (query = '') => get<Entry[]>(`/fleet/record?limit=500${query}`)
  /** Gone before it is forgotten: what it says later would make it known again. */
  const forget = async (station: SpecStation) => {
    await station.stop()
    await passes(async () => (await row(station.serial))?.online !== 'online', 'it is gone')
    await send('DELETE', `/fleet/stations/${station.serial}`)
  }
  const own = await rig.station('OWN1', {
    state: fit,
    document: { esp: { serial: 'OWN1', version: '0.3.0' }, base: { name: 'Barn' } },
  })
  const other = await rig.station('OTHER1', {
    document: foreignDocument('OTHER1'),
    change: (values) => ({ result: 'ok', leftover: 'udp-prot' in values ? values : {} }),
  })

  await t.test(
    'what can be set on a station is what it says, kept by the broker, and nothing that is none',
    async (t) => {
      const parameter = {
        name: 'udp-port',
        plugin: 'udp-rtcm',
        title: 'Port',
        schema: { type: 'integer', maximum: 65_535 },
      }
      const settings = {
        parameters: [{ ...parameter, default: 2102, secret: false, endsLink: false, onTrial: false }],
        actions: [{ name: 'reboot', plugin: 'system', summary: 'Restarts', reads: false, input: { type: 'object' } }],
      }
      await own.lie('base/OWN1/settings', JSON.stringify(settings), true)
      const read = async (serial: string) => {
        const answered = fleet.request(`/fleet/stations/${serial}/settings`)
        let answer: Awaited<typeof answered> | undefined
        void answered.then((value) => {
          answer = value
        })
        await passes(() => answer !== undefined, `the settings of ${serial}`)
        return answer as Awaited<typeof answered>
      }
      t.same((await read('OWN1')).json(), settings)
      const hostile: readonly object[] = [
        ...[{ enum: 'abc' }, { anyOf: 5 }, { anyOf: [null] }, { properties: null }, { description: { type: 'img' } }],
        ...[
          { properties: { a: null } },
          { items: { anyOf: 'x' } },
          { title: [] },
          { maxLength: '5' },
          { required: 'a' },
        ],
        JSON.parse(`${'{"items":'.repeat(1_000)}{}${'}'.repeat(1_000)}`),
      ]
      const odd = { type: ['string', 'null'], items: false, properties: { a: true }, pattern: '^(a+)+$' }
      const [known] = settings.parameters
      const named = (schema: object, n: number) => ({ ...known, name: `p${n}`, schema })
      const [action] = settings.actions
      const also = {
        parameters: [...[...hostile, odd].map(named), ...settings.parameters],
        actions: [...hostile.map((input, n) => ({ ...action, name: `a${n}`, input })), ...settings.actions],
      }
      await own.lie('base/OWN1/settings', JSON.stringify(also), true)
      t.same(
        (await read('OWN1')).json(),
        { ...settings, parameters: [named(odd, hostile.length), ...settings.parameters] },
        'without those that no form can show',
      )
      for (const wrong of ['{', '[]', '{"parameters":[{}],"actions":[]}', '']) {
        await other.lie('base/OTHER1/settings', wrong, true)
        const { status, text } = await read('OTHER1')
        t.equal(status, 503, wrong)
        t.match(text, /OTHER1 has not said what can be set/)
      }
      t.equal((await read('NONE')).status, 404)
    },
  )
  await t.test('the verdict is that of the topic state, or read from the document', async (t) => {
    await passes(async () => (await row('OWN1'))?.name === 'Barn' && (await row('OTHER1'))?.verdict === 'fit', 'both')
    t.match(await row('OWN1'), { verdict: 'fit', online: 'online', version: '0.3.0' })
    t.match(await get('/fleet/stations/OTHER1'), {
      source: 'document',
      verdict: 'fit',
      version: '9.1',
      variant: 'other',
    })
    t.match(await get('/fleet/stations/OWN1'), {
      source: 'state',
      reference: '0a1b2c3d',
      since: 1_790_000_000,
    })
  })
  await t.test('W10: the record has the position that a station announces, not its identifier', async (t) => {
    await passes(async () => (await record('&serial=OWN1&kind=reference')).length > 0, 'the entry')
    t.match(await record('&serial=OWN1&kind=reference'), [
      { text: /^52\.\d{7}° N, [34]\.\d{7}° E, height -?\d+\.\d{3} m$/ },
    ])
  })
  await t.test('rovers are those of its own outputs: neither the broker nor a push is one', async (t) => {
    const subscribers = ['mqtt', 'udp', 'tcp', 'ntrip', 'ntrip'].map((via) => ({ via }))
    other.document = foreignDocument('OTHER1', { ntrip: { caster: { connected: 1 } } })
    Object.assign(other.document.gnss as object, { rtcm: { subscribers } })
    other.sayDocument()
    await passes(async () => (await get<{ rovers: number }>('/fleet/stations/OTHER1')).rovers === 3, 'three')
    other.document = foreignDocument('OTHER1', {})
    Object.assign(other.document.gnss as object, { rtcm: { subscribers: [{ via: 'mqtt' }] } })
    other.sayDocument()
    await passes(async () => (await get<{ rovers: number }>('/fleet/stations/OTHER1')).rovers === 0, 'none')
    t.pass()
  })
  await t.test('passwords are not kept', async (t) => {
    let document = ''
    await passes(async () => {
      const { status, text } = await fleet.request('/fleet/stations/OTHER1/document')
      document = text
      return status === 200
    }, 'the document')
    t.notMatch(document, /geheim/)
    t.match(document, /"pwd":""/)
  })
  await t.test('a change of the verdict is told, once, with its cause', async (t) => {
    own.state = { ...fit, verdict: 'unfit', cause: 'moved', since: 1_790_000_500 }
    own.sayState()
    own.sayState()
    await passes(
      async () => (await record('&serial=OWN1&kind=verdict')).some(({ text }) => text === 'unfit: moved'),
      'the entry',
    )
    t.equal((await record('&serial=OWN1&kind=verdict')).filter(({ text }) => text === 'unfit: moved').length, 1)
    own.state = fit
    own.sayState()
    await passes(async () => (await row('OWN1'))?.verdict === 'fit', 'fit again')
  })
  await t.test('a station that vanishes is offline, by the last will', async () => {
    const said = async () => (await record('&serial=OWN1&kind=online')).map(({ text }) => text).join(' ')
    // A state that is replaced before it is stored is not recorded.
    await passes(async () => (await said()) === 'online', 'the first entry')
    own.vanish()
    await passes(async () => (await row('OWN1'))?.online === 'offline' && /offline/.test(await said()), 'offline')
    await own.comeBack()
    await passes(async () => (await row('OWN1'))?.online === 'online', 'online')
    await passes(async () => (await said()) === 'online offline online', 'the entries')
  })
  await t.test(
    'a station without the topic state is asked for its document every 10 min; an old document says nothing',
    async (t) => {
      const before = other.asked
      await passes(async () => other.asked > before, 'the request', 30_000)
      other.vanish()
      await passes(async () => (await row('OTHER1'))?.verdict === 'unknown', 'unknown', 60_000)
      t.match(await row('OTHER1'), { cause: 'silent', online: 'offline' })
      await other.comeBack()
      await passes(async () => (await row('OTHER1'))?.verdict === 'fit', 'fit')
    },
  )

  await t.test(
    'a change is answered, recorded with who did it, and refused while the station is offline',
    async (t) => {
      const answered = send('POST', '/fleet/stations/OTHER1/change', { 'udp-port': 2_103 })
      t.match(await answered, { status: 200, body: { result: 'ok', leftover: {} } })
      t.strictSame(other.changes, [{ 'udp-port': 2_103 }])
      await passes(async () => (await record('&kind=change')).some(({ by }) => by === 'local'), 'the entry')
      await send('POST', '/fleet/stations/OTHER1/change', { 'udp-prot': 1 })
      const said = 'udp-prot: ok, but the station does not know udp-prot'
      await passes(async () => (await record('&kind=change')).some(({ text }) => text === said), 'the unknown name')
      other.vanish()
      await passes(async () => (await row('OTHER1'))?.online === 'offline', 'offline')
      t.match(await send('POST', '/fleet/stations/OTHER1/change', { 'udp-port': 1 }), {
        status: 503,
        body: { message: /is offline/ },
      })
      t.match(await send('POST', '/fleet/stations/NOBODY/command', { command: 'reboot' }), { status: 404 })
      await other.comeBack()
    },
  )
  await t.test('a command arrives', async (t) => {
    await passes(async () => (await row('OTHER1'))?.online === 'online', 'online')
    t.match(await send('POST', '/fleet/stations/OTHER1/command', { command: 'log=d' }), {
      status: 200,
      body: { answer: '' },
    })
    await passes(() => other.commands.includes('log=d'), 'the command')
    const login = { command: 'ntrip-user=bob:geheim' }
    t.match(await send('POST', '/fleet/stations/OTHER1/command', login), { status: 200 })
    const told = async () => (await record()).some(({ text }) => text === 'ntrip-user: sent')
    await passes(told, 'S6: the record has the command without its secret')
    t.notMatch(JSON.stringify(await record()), /geheim/)
    t.equal(entryOfCommand('get-router-qr', 'PW:geheim;'), 'get-router-qr: answered', 'S6: nor what was answered')
  })
  await t.test('a station that does not answer is given up after 30 s', async (t) => {
    const mute = await rig.station('MUTE1', { document: foreignDocument('MUTE1'), change: () => undefined })
    await passes(async () => (await row('MUTE1'))?.online === 'online', 'online')
    const answer = send('POST', '/fleet/stations/MUTE1/change', { a: 1 })
    await passes(() => mute.changes.length === 1, 'the change')
    // In steps: in one, whatever is on its way stands still for 31 s, and the broker gives its connection up.
    await pass(fleet.clock, 31_000)
    t.match(await answer, { status: 503, body: { message: /did not answer in 30 s: whether it did it is not known/ } })
    const next = send('POST', '/fleet/stations/MUTE1/change', { b: 2 })
    await passes(() => mute.changes.length === 2, 'the next change')
    mute.say('change/resp', '{"result":"late"}')
    mute.say('change/resp', '{"result":"next"}')
    const answered = await next
    const what = `a late answer is not that to the next change: ${JSON.stringify(answered.body)}`
    t.match(answered, { status: 200, body: { result: 'next' } }, what)
    await mute.stop()
  })

  await t.test('names, groups and labels are set by people, and win', async (t) => {
    t.match(
      await send('PATCH', '/fleet/stations/OWN1', { name: 'Field 7', group: 'north', labels: { owner: 'coop' } }),
      { status: 200 },
    )
    await passes(async () => (await row('OWN1'))?.name === 'Field 7', 'the name')
    t.match(await get('/fleet/stations/OWN1'), { group: 'north', labels: { owner: 'coop' } })
    t.match(await send('PATCH', '/fleet/stations/OWN1', { name: '' }), { status: 200 })
    await passes(async () => (await row('OWN1'))?.name === 'Barn', 'its own name again')
    t.match(await send('PATCH', '/fleet/stations/OWN1', { name: 'x'.repeat(65) }), { status: 400 })
    for (const given of [
      { name: 'a\u0000b' },
      { group: '\u0000' },
      { labels: { a: '\u0000' } },
      { labels: { a: '\ud800' } },
    ])
      t.match(await send('PATCH', '/fleet/stations/OWN1', given), {
        status: 400,
        body: { message: /cannot be stored/ },
      })
  })
  await t.test('former documents: one for each change of settings, none for counters', async (t) => {
    const documents = () => get<{ document: { udp?: { port: number } } }[]>('/fleet/stations/OTHER1/documents')
    const before = (await documents()).length
    for (let count = 0; count < 3; count++) {
      other.document = { ...foreignDocument('OTHER1'), uptime: count }
      other.sayDocument()
      await fleet.clock.advance(2_000)
    }
    other.document = foreignDocument('OTHER1', { udp: { port: 2_200 } })
    other.sayDocument()
    await passes(async () => (await documents())[0]?.document.udp?.port === 2_200, 'the new one')
    t.equal((await documents()).length, before + 1)
  })

  await t.test('hostile: nothing crosses from one station to another, and nothing stops the fleet', async (t) => {
    const liar = await rig.station('LIAR1', { document: foreignDocument('LIAR1') })
    await passes(async () => (await row('LIAR1'))?.verdict === 'fit', 'its document')
    liar.document = foreignDocument('OWN1')
    liar.sayDocument()
    await passes(async () => (await record('&serial=LIAR1&kind=refused')).length === 1, 'the entry')
    t.match(await record('&serial=LIAR1&kind=refused'), [{ text: /its document says that it is OWN1/ }])
    t.match(await row('OWN1'), { version: '0.3.0' })
    for (const payload of ['', '{', '[]', 'null', '{"esp":7}', '{"__proto__":{"a":1}}', `{"a":${'['.repeat(60_000)}`])
      liar.say('info', payload)
    for (const payload of ['', 'x', '{"verdict":"fine"}', '7', `{"verdict":"fit","cause":"${'x'.repeat(900)}"}`])
      liar.say('state', payload)
    liar.say('online', 'z'.repeat(50_000))
    await liar.lie('base/a b/online', 'y')
    await liar.lie(`base/${'X'.repeat(65)}/online`, 'y')
    await liar.lie('base/../online', 'y')
    // S10: the common name of the fleet's own certificate.
    await liar.lie('base/fleet/online', 'y')
    const hostile = '<img src=x onerror=alert(1)>\u0000\u0007'
    liar.document = foreignDocument('LIAR1', {
      base: { name: hostile, state: { errors: [{ code: hostile }, null, 7] } },
    })
    liar.sayDocument()
    await passes(async () => (await row('LIAR1'))?.name.startsWith('<img') === true, 'its name, as text')
    t.match(await get('/fleet/stations/LIAR1'), { errors: ['<img src=x onerror=alert(1)> ', '?', '?'] })
    t.equal(({} as { a?: number }).a, undefined)
    const all = (await get<{ stations: Row[] }>('/fleet/stations')).stations
      .map(({ serial }) => serial)
      .sort((one, other) => one.localeCompare(other))
    t.strictSame(all, ['LIAR1', 'MUTE1', 'OTHER1', 'OWN1'])
    const namesake = async () => (await record('&kind=refused')).find(({ serial }) => serial === '')
    await passes(async () => (await namesake()) !== undefined, 'S10: the entry about the namesake of the fleet')
    t.match(await namesake(), { text: /calls itself fleet, .*: give it another serial number/ })
    t.equal((await record('&kind=refused')).length, 2, 'at most one entry an hour')
  })
  await t.test('hostile: texts that the database cannot store do not stop the others', async (t) => {
    const odd = await rig.station('ODD1')
    odd.say('state', '{"verdict":"unfit","cause":"\\ud800","reference":"\\u0000"}')
    // Cut off in the middle of a character.
    odd.say('info', JSON.stringify({ ...foreignDocument('ODD1'), base: { name: `${'x'.repeat(199)}\u{1f4e1}` } }))
    odd.say('info', '{"esp":{"version":"\\udc00"},"\\ud800":["\\ud800\\u0000"]}')
    odd.say('info', '{"esp":{"serial":"\\ud800"}}')
    const later = await rig.station('LATER1', { state: fit })
    await passes(async () => (await record('&serial=LATER1&kind=verdict')).length > 0, 'the record of another station')
    t.match(await row('ODD1'), { verdict: 'unfit', cause: '\ufffd' })
    t.match(answerOf(Buffer.from('{"result":"\\ud800","leftover":7,"errors":[7,{"name":1,"message":"\\udfff"}]}')), {
      ...{ result: '\ufffd', leftover: {} },
      errors: [{ name: '', message: '\ufffd' }],
    })
    for (const station of [odd, later]) await forget(station)
  })
  await t.test('what cannot be stored is an error of the fleet, and is stored later', async (t) => {
    const { query } = rig.database
    await query('alter table fleet_event rename to fleet_event_away')
    const station = await rig.station('ROW1', { state: fit })
    await passes(() => rig.errors().includes('fleet-store'), 'the error')
    await query('alter table fleet_event_away rename to fleet_event')
    await passes(() => !rig.errors().includes('fleet-store'), 'its end')
    t.ok((await record('&serial=ROW1&kind=verdict')).length > 0)
    await forget(station)
  })
  await t.test('hostile: changed settings in every document do not fill the disk', async (t) => {
    const busy = await rig.station('BUSY1')
    const name = (number: number) => ({ base: { name: `n${number}` } })
    const shown = () => row('BUSY1').then((found) => found?.name)
    const former = () => get<{ document: { base: unknown } }[]>('/fleet/stations/BUSY1/documents')
    for (let number = 0; number < 16; number++) {
      busy.document = foreignDocument('BUSY1', name(number))
      busy.sayDocument()
      await passes(async () => (await shown()) === `n${number}`, 'the document')
      await fleet.clock.advance(2_000)
      await passes(
        async () => (await record('&serial=BUSY1&kind=name')).some((e) => e.text === `n${number}`) || number === 0,
        'its row',
      )
    }
    t.equal((await former()).length, 12)
    await pass(fleet.clock, 3_600_000, 60_000)
    busy.sayDocument()
    await passes(async () => (await former()).length === 13, 'the last settings, an hour later')
    t.match((await former())[0], { document: name(15) })
    await forget(busy)
  })
  await t.test('hostile: a flood of states causes neither a flood of requests nor of entries', async (t) => {
    const busy = await rig.station('FLOOD1', { state: fit })
    await passes(async () => (await row('FLOOD1'))?.verdict === 'fit', 'its state')
    const { asked } = busy
    for (let number = 0; number < 80; number++) {
      busy.say('state', JSON.stringify({ verdict: 'unfit', cause: `c${number}` }))
      await passes(async () => (await row('FLOOD1'))?.cause === `c${number}`, 'the state', 100)
      await passes(
        async () => number > 50 || (await record('&serial=FLOOD1')).some((e) => e.text.endsWith(`c${number}`)),
        'its row',
        100,
      )
    }
    t.ok(busy.asked - asked < 60, `${busy.asked - asked} requests`)
    t.ok((await record('&serial=FLOOD1')).length < 75, 'some are left out')
    await passes(
      async () => (await record('&serial=FLOOD1'))[0]?.text === 'unfit: c79',
      'the last one is there',
      10_000,
    )
    await forget(busy)
  })
  await t.test('hostile: a flood of documents is not read, and others are', async (t) => {
    const busy = await rig.station('FLOOD2', { state: fit })
    const later = await rig.station('CALM1', { state: fit })
    await passes(async () => (await row('FLOOD2')) !== undefined && (await row('CALM1')) !== undefined, 'both')
    for (let number = 0; number < 200; number++)
      busy.say('info', JSON.stringify(foreignDocument('FLOOD2', { base: { name: `n${number}` } })))
    later.say('info', JSON.stringify(foreignDocument('CALM1', { base: { name: 'calm' } })))
    await passes(async () => (await row('CALM1'))?.name === 'calm', 'the document of the other')
    await passes(async () => (await record('&serial=FLOOD2&kind=refused')).length > 0, 'the record of the refusal')
    t.match(await record('&serial=FLOOD2&kind=refused'), [{ text: /more than 20 documents at once/ }])
    t.not((await row('FLOOD2'))?.name, 'n199')
    busy.document = foreignDocument('FLOOD2', { base: { name: 'again' } })
    await fleet.clock.advance(5_000)
    busy.sayDocument()
    await passes(async () => (await row('FLOOD2'))?.name === 'again', 'its document after the flood')
    for (const station of [busy, later]) await forget(station)
  })
  await t.test('a station that is forgotten is gone until it is heard', async (t) => {
    t.match(await send('DELETE', '/fleet/stations/MUTE1'), { status: 200 })
    await passes(async () => (await row('MUTE1')) === undefined, 'gone')
    t.match(await send('DELETE', '/fleet/stations/MUTE1'), { status: 404 })
  })

  await t.test('what is known survives a restart and a reload, and nothing is told twice', async (t) => {
    await passes(
      async () => (await record('&serial=LIAR1&kind=name')).some(({ text }) => text.startsWith('<img')),
      'the last entry',
    )
    // Those that were forgotten are heard again, as the broker has kept their state.
    const known = new Set((await get<{ stations: Row[] }>('/fleet/stations')).stations.map(({ serial }) => serial))
    const before = await record()
    await fleet.reload('fleet-registry')
    await passes(async () => (await row('OWN1'))?.online === 'online', 'heard again: retained')
    await fleet.reload('fleet')
    await passes(async () => (await fleet.request('/fleet/record')).status === 200, 'the database')
    await passes(async () => (await row('OWN1'))?.verdict === 'fit', 'OWN1')
    await fleet.clock.advance(5_000)
    const after = await record()
    const added = after.slice(0, after.length - before.length)
    t.strictSame(
      added.filter(({ serial, kind }) => known.has(serial) && !['online', 'given', 'forgotten'].includes(kind)),
      [],
    )
  })

  await t.test('a retained state that is older than the one that is stored does not count', async (t) => {
    const state = {
      verdict: 'fit',
      cause: 'ok',
      since: 1_700_000_000,
      arp: [3_925_405, 274_491, 5_002_842],
      version: '1',
    }
    const late = await rig.station('LATE1', { document: foreignDocument('LATE1'), state })
    await passes(async () => (await row('LATE1'))?.verdict === 'fit', 'its state')
    await passes(async () => (await record('&serial=LATE1&kind=verdict')).length === 1, 'its entry')
    // The broker keeps the older one, as a node of a cluster that missed the newer one.
    late.say('state', JSON.stringify({ ...state, verdict: 'unfit', cause: 'moved', since: 1_700_000_100 }))
    await passes(async () => (await record('&serial=LATE1&kind=verdict')).length === 2, 'stored')
    await fleet.reload('fleet-registry')
    const isMoved = async () => {
      const { online, cause } = (await row('LATE1')) ?? {}
      return online === 'online' && cause === 'moved'
    }
    await passes(isMoved, 'heard again, and as stored')
    await fleet.clock.advance(5_000)
    t.ok(await isMoved())
    t.equal((await record('&serial=LATE1&kind=verdict')).length, 2)
    late.say('state', JSON.stringify(state))
    await passes(async () => (await row('LATE1'))?.verdict === 'fit', 'what a station says live always counts')
  })
})

t.test('what the broker has kept is no sign of life', async (t) => {
  const rig = await fleetRig(t)
  const { fleet, passes, get } = rig
  const row = async (serial: string) =>
    (await get<{ stations: Row[] }>('/fleet/stations')).stations.find((one) => one.serial === serial)
  const record = (query = '') => get<Entry[]>(`/fleet/record?limit=500${query}`)
  const now_s = () => Math.floor(fleet.clock.now() / 1000)
  const documentOf = (serial: string, fitness: string, code: string) => ({
    esp: { serial, version: '1' },
    base: { state: { verdict: { fitness, code, why: '' } } },
  })
  const alive = await rig.station('ALIVE1', {
    document: documentOf('ALIVE1', 'fit', 'ok'),
    state: { ...fit, since: now_s() - 100 },
  })

  await t.test('a station that died without its last will is unknown, and an alert; the others stay fit', async (t) => {
    for (const [part, payload] of [['online', 'y'] as const, ['state', JSON.stringify(fit)] as const])
      await alive.lie(`base/DEAD1/${part}`, payload, true)
    await passes(async () => (await row('DEAD1'))?.verdict === 'fit', 'as the broker has it')
    await passes(async () => (await record('&serial=DEAD1&kind=verdict')).length === 1, 'stored')
    const { seen } = await get<{ seen: number }>('/fleet/stations/DEAD1')
    await fleet.clock.advance(5_000)
    await fleet.reload('fleet-registry')
    await passes(async () => (await row('DEAD1'))?.online === 'online', 'heard again: retained')
    t.match(await row('DEAD1'), { verdict: 'fit' }, 'it may be asked first')
    const isAsBefore = async () => (await get<{ seen: number }>('/fleet/stations/DEAD1')).seen === seen
    await passes(isAsBefore, 'it was not seen, as the database has it')
    await passes(async () => (await row('DEAD1'))?.verdict === 'unknown', 'half an hour later', 30_000)
    t.match(await row('DEAD1'), { cause: 'silent' })
    t.match(await row('ALIVE1'), { verdict: 'fit' }, 'it was asked, and answered')
    t.ok(alive.asked > 0)
    await passes(() => alive.asked > 2, 'hours', 60_000)
    t.match(await row('ALIVE1'), { verdict: 'fit' })
    // It is back.
    await alive.lie('base/DEAD1/info', JSON.stringify(documentOf('DEAD1', 'fit', 'ok')))
    await passes(async () => (await row('DEAD1'))?.verdict === 'fit', 'its document decides')
  })

  await t.test('the clock of a station is wrong: nobody takes an older `fit` for the newer', async (t) => {
    const day_s = 86_400
    const state = { ...fit, since: now_s() + day_s }
    const wrong = await rig.station('WRONG1', { document: documentOf('WRONG1', 'unfit', 'moved'), state })
    // A verdict that is replaced before it is stored is not recorded.
    const stored = async (text: RegExp, count = 1) => {
      const entries = await record('&serial=WRONG1&kind=verdict')
      return entries.filter((entry) => text.test(entry.text)).length >= count
    }
    await passes(() => stored(/^fit/), 'its state')
    const since = async () => (await get<{ since: number }>('/fleet/stations/WRONG1')).since
    t.ok((await since()) <= now_s(), 'not in the future')
    wrong.say('state', JSON.stringify({ ...state, since: now_s() - 20 * day_s, verdict: 'unfit', cause: 'antenna' }))
    await passes(async () => (await row('WRONG1'))?.verdict === 'unfit', 'live')
    t.ok((await since()) > now_s() - 3_600, 'it did not begin before the verdict that it replaces')
    await passes(() => stored(/^unfit: antenna/), 'stored as unfit')
    // Fit, by a clock that is set back before the next start of the fleet.
    wrong.say('state', JSON.stringify({ ...fit, since: now_s() }))
    await passes(async () => (await row('WRONG1'))?.verdict === 'fit', 'fit')
    await passes(() => stored(/^fit/, 2), 'stored')
    const back = { ...fit, since: now_s() - day_s, verdict: 'unfit', cause: 'moved' }
    await wrong.lie('base/WRONG1/state', JSON.stringify(back), true)
    await passes(async () => (await row('WRONG1'))?.verdict === 'unfit', 'live, whatever its time')
  })

  await t.test('of two retained verdicts the worse counts, until a document decides', async () => {
    const two = await rig.station('TWO1', { document: documentOf('TWO1', 'fit', 'ok') })
    two.say('state', JSON.stringify({ ...fit, since: now_s() - 10 }))
    await passes(async () => (await row('TWO1'))?.verdict === 'fit', 'live')
    await passes(async () => (await record('&serial=TWO1&kind=verdict')).length >= 1, 'stored')
    const { version: _version, ...document } = { version: 0, ...two.document }
    two.document = 'nothing' as never
    const older = { ...fit, since: now_s() - 5_000, verdict: 'unfit', cause: 'moved' }
    // What the fleet heard itself would count, whatever its time: the broker has to know that it does not listen.
    await fleet.unload('fleet-registry')
    await settled()
    await two.lie('base/TWO1/state', JSON.stringify(older), true)
    await fleet.load('fleet-registry')
    await passes(async () => (await row('TWO1'))?.online === 'online', 'heard again')
    await passes(async () => (await row('TWO1'))?.verdict === 'unfit', 'the worse')
    two.document = document
    two.sayDocument()
    await passes(async () => (await row('TWO1'))?.verdict === 'fit', 'the document decides')
  })
})

t.test('W9: until it is known who may log in, nobody is asked for a login, and no key is wrong', async (t) => {
  const fleet = await createTestStation({
    sources: { 'http-api': {}, 'mqtt-broker': { port: 0 }, fleet: { database: 'postgres://nobody@127.0.0.1:1/none' } },
  })
  t.teardown(() => fleet.stop())
  const session = (await fleet.request('/session')).json()
  t.match(session, { role: 'none', starting: true })
  for (let tries = 0; tries < 7; tries++) {
    const headers: Record<string, string> = tries === 0 ? {} : { authorization: `Bearer rtk_${tries}` }
    t.equal((await fleet.request('/fleet/me', { headers })).status, 503)
  }
  const { status } = await fleet.request('/session', { method: 'POST', body: JSON.stringify({ token: 'rtk_a' }) })
  t.equal(status, 503)
})

t.test(
  'S10: of two people who add themselves at the same moment one is the first admin, and the last admin stays',
  async (t) => {
    const { send, fleet, database } = await fleetRig(t)
    let release = () => {}
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    const held = database.transaction(() => isHeld)
    const both = ['anna', 'eve'].map((user) => send('POST', '/fleet/people', { user, role: 'admin' }))
    // Both requests were admitted, and wait for the database.
    await settled()
    release()
    await held
    const answers = await Promise.all(both)
    t.strictSame(
      answers.map(({ status }) => status).sort((one, other) => one - other),
      [200, 409],
    )
    t.match(answers.find(({ status }) => status === 409)?.body, { message: /log in/ })
    const [key] = answers.flatMap(({ body }) => (body.key === undefined ? [] : [body.key]))
    const headers = { authorization: `Bearer ${key}` }
    const people = (await fleet.request('/fleet/people', { headers })).json() as { user: string }[]
    t.equal(people.length, 1)
    t.match(await send('DELETE', `/fleet/people/${people[0]?.user}`, undefined, headers), {
      status: 409,
      body: { message: /last admin/ },
    })
    t.equal((await fleet.request('/fleet/stations')).status, 401, 'it did not open again')
  },
)

t.test('people: keys, roles, and the end of a session', async (t) => {
  const { passes, send, fleet, database } = await fleetRig(t)
  const as = (key: string) => ({ authorization: `Bearer ${key}` })
  t.match(await send('POST', '/fleet/people', { user: 'bob', role: 'viewer' }), {
    status: 409,
    body: { message: /first person must be an admin/ },
  })
  const { body: anna } = await send('POST', '/fleet/people', { user: 'anna', role: 'admin' })
  const annas = as(String(anna.key))
  t.match(anna.key, /^rtk_[\w-]{27}$/)
  t.match(
    await send('POST', '/fleet/people', { user: 'eve', role: 'admin' }),
    { status: 401 },
    'from now on with a key',
  )
  t.equal((await fleet.request('/fleet/stations')).status, 401)
  t.equal((await fleet.request('/fleet/stations', { headers: annas })).status, 200)
  const { body: bob } = await send('POST', '/fleet/people', { user: 'bob', role: 'viewer' }, annas)
  const { body: otto } = await send('POST', '/fleet/people', { user: 'otto', role: 'operator' }, annas)
  const bobs = as(String(bob.key))
  t.equal((await fleet.request('/fleet/stations', { headers: bobs })).status, 200)
  const act = (headers: Record<string, string>) =>
    send('POST', '/fleet/stations/NONE/command', { command: 'reboot' }, headers)
  t.match(await act(bobs), { status: 403, body: { message: /needs the role operator/ } })
  t.match(await act(as(String(otto.key))), { status: 404 }, 'an operator may')
  t.match(await send('POST', '/fleet/people', { user: 'x', role: 'admin' }, as(String(otto.key))), { status: 403 })
  t.match(
    await send('POST', '/change', { 'http-name': 'x' }, as(String(otto.key))),
    { status: 403 },
    'not the service itself',
  )
  t.match(await send('POST', '/fleet/people', { user: 'bob', role: 'viewer' }, annas), { status: 409 })
  t.match(await send('DELETE', '/fleet/people/anna', undefined, annas), {
    status: 409,
    body: { message: /last admin/ },
  })

  // A proxy that is not listed, or a provider, gives strangers and people the same address.
  for (let tries = 0; tries < 5; tries++)
    t.equal((await fleet.request('/fleet/me', { headers: as(`rtk_${tries}`) })).status, 401)
  t.equal((await fleet.request('/fleet/me', { headers: as('rtk_5') })).status, 429)
  t.equal((await fleet.request('/fleet/me', { headers: annas })).status, 200, 'wrong keys of others lock no person out')
  await fleet.clock.advance(60_000)
  const login = await fleet.request('/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: bob.key }),
  })
  t.match(login.json(), { role: 'viewer', user: 'bob' })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  t.match((await fleet.request('/session', { headers: { cookie } })).json(), { user: 'bob', role: 'viewer' })
  t.match(await act({ cookie }), { status: 403 })
  const forged = `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`
  t.equal((await fleet.request('/fleet/people', { headers: { cookie: forged } })).status, 401)
  // Another instance began it a moment ago.
  const elsewhere = 'B'.repeat(43)
  const hash = createHash('sha256').update(elsewhere).digest('base64url')
  const expires = new Date(fleet.clock.now() + 3_600_000)
  const kept = async () => (await database.query<{ hash: string }>('select hash from fleet_session')).length
  await database.query('insert into fleet_session (hash, name, expires) values ($1, $2, $3)', [hash, 'anna', expires])
  const other = { cookie: `rtk-base-session=${elsewhere}` }
  t.match((await fleet.request('/session', { headers: other })).json(), { user: 'anna', role: 'operator' })
  t.equal(await kept(), 2)
  t.equal((await fleet.request('/session', { method: 'DELETE', headers: other })).status, 200)
  t.equal((await fleet.request('/fleet/stations', { headers: other })).status, 401)
  t.equal(await kept(), 1, 'logged out everywhere')
  t.match(await send('DELETE', '/fleet/people/bob', undefined, annas), { status: 200 })
  t.equal(await kept(), 0)
  await passes(async () => {
    const { text } = await fleet.request('/fleet/record?kind=person', { headers: annas })
    return /bob removed","by":"anna".*bob added as viewer","by":"anna"/.test(text)
  }, 'the record tells who did it')
  t.equal((await fleet.request('/fleet/stations', { headers: { cookie } })).status, 401, 'the session is over')
  await passes(async () => (await fleet.request('/fleet/stations', { headers: bobs })).status !== 200, 'so is the key')
  t.match(await send('POST', '/fleet/people', { user: 'bob', role: 'viewer' }, annas), { status: 200 })
  t.equal((await fleet.request('/fleet/stations', { headers: { cookie } })).status, 401, 'also with a new key')
  t.notOk(
    fleet.lines.some((line) => JSON.stringify(line).includes(String(bob.key))),
    'no key in the log',
  )
})

t.test('S7: a viewer of a fleet reads nothing of rovers, no names of networks, and no numbers of modems', async (t) => {
  const port = await freeTcpPort()
  const { passes, send, fleet, station } = await fleetRig(t, {
    sources: { 'ntrip-caster': { host: '127.0.0.1' }, 'fleet-caster': {}, 'fleet-net': {}, alerts: {} },
    variant: { changes: { 'ntrip-caster-port': port } },
  })
  const one = await station('ONE', {
    document: foreignDocument('ONE', {
      ntrip: {
        caster: { connected: 1, rovers: [{ ip: '198.51.100.7', user: 'ann-drives', lat: 48.987, lon: 11.123 }] },
      },
      modem: { imei: '860000000000017', sim: { imsi: '246031234567890', iccid: '8937003123456789014' } },
      wap: { ssid: 'planted-network' },
      base: {
        state: {
          base: 'ready',
          errors: [{ code: 'radio-join', text: 'the network the-barn is not joined', values: { ssid: 'the-barn' } }],
        },
      },
    }),
  })
  one.say('settings', JSON.stringify({ parameters: [], actions: [] }), true)
  const person = async (user: string, role: string, headers = {}) => {
    const { body } = await send('POST', '/fleet/people', { user, role }, headers)
    return { authorization: `Bearer ${body.key}` }
  }
  const admin = await person('anna', 'admin')
  const [viewer, operator] = [await person('bob', 'viewer', admin), await person('otto', 'operator', admin)]
  await passes(async () => {
    const { status } = await fleet.request('/fleet/stations/ONE/documents', { headers: admin })
    return status === 200 && (await fleet.request('/fleet/stations/ONE/document', { headers: admin })).status === 200
  }, 'the document')
  const live = {
    viewer: await openStream(t, `${fleet.url}/fleet/live`, viewer),
    operator: await openStream(t, `${fleet.url}/fleet/live`, operator),
  }
  await send('POST', '/fleet/stations/ONE/command', { command: 'neighbours-network' }, operator)
  await passes(() => one.commands.length === 1, 'the command')
  const { body } = await send('POST', '/fleet/rovers/accounts', { name: 'planted-rover' }, admin)
  const rover = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.77' }).on('error', () => {})
  t.teardown(() => rover.destroy())
  const login = Buffer.from(`planted-rover:${body.password}`).toString('base64')
  rover.write(`GET /NEAR HTTP/1.0\r\nUser-Agent: NTRIP x\r\nAuthorization: Basic ${login}\r\n\r\n`)
  rover.write(encodeNmea('GPGGA,120001.00,4859.2592,N,01107.4074,E,4,12,0.8,5.0,M,44.6,M,1.0,0001'))

  const { paths } = (await fleet.request('/openapi.json', { headers: admin })).json() as { paths: object }
  const reads = Object.entries(paths).flatMap(([path, methods]) =>
    'get' in methods && !path.endsWith('/live') ? [path.replaceAll('{serial}', 'ONE').replaceAll(/\{\w+\}/g, '1')] : [],
  )
  t.ok(reads.length > 20, `${reads.length} routes`)
  const planted = [
    ...['198.51.100.7', 'ann-drives', '48.987', '11.123', '860000000000017', '246031234567890', '8937003123456789014'],
    ...['planted-network', 'the-barn', 'neighbours-network', 'planted-rover', '127.0.0.77'],
  ]
  const told = async (headers: Record<string, string>, path: string) => {
    const { status, text } = await fleet.request(path, { headers })
    return status === 200 ? planted.filter((word) => text.includes(word)) : []
  }
  const seen = async () => new Set((await Promise.all(reads.map((path) => told(operator, path)))).flat())
  let missing: string[] = []
  await passes(
    async () => {
      const all = await seen()
      missing = planted.filter((word) => !all.has(word))
      return missing.length === 0
    },
    () => `an operator reads ${missing}`,
  )
  for (const path of reads) t.strictSame(await told(viewer, path), [], `GET ${path}`)
  await passes(() => live.operator().includes('planted-rover'), 'the record goes to open pages')
  t.match(live.operator(), /neighbours-network/)
  t.strictSame(
    planted.filter((word) => live.viewer().includes(word)),
    [],
    'GET /fleet/live',
  )
  t.match(live.viewer(), /"kind":"command"/, 'that something was done is no secret')
})

/** What came through a stream so far. */
async function openStream(t: Test, url: string, headers: OutgoingHttpHeaders): Promise<() => string> {
  const asked = request(url, { agent: false, headers }).end()
  t.teardown(() => asked.destroy())
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  answer.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  answer.on('error', () => {})
  return () => text
}

t.test('what is subscribed again while the broker still removes it is heard', async (t) => {
  const broker = await startBroker(t)
  const { passes, link } = await fleetRig(t, {
    sources: { fleet: { broker: `mqtt://127.0.0.1:${broker.port}` } },
  })
  const { held, release } = broker.holdUnsubscribes()
  const heard: string[] = []
  const end = link.subscribe('base/S/drtk', () => {})
  await end()
  await passes(() => held.length === 1, 'UNSUBSCRIBE')
  link.subscribe('base/S/drtk', ({ payload }) => heard.push(payload.toString()))
  link.publish('base/S/behind', '')
  await until(() => broker.seen.some(({ topic }) => topic === 'base/S/behind'), 'what follows the SUBSCRIBE')
  release()
  await until(async () => {
    await broker.observer.publishAsync('base/S/drtk', 'still there', { qos: 1 })
    return heard.length > 0
  }, 'it is heard')
})

t.test('P1: a station whose observations are rarer than its publications may be is not silent between them', (t) => {
  const { gnss, ...rest } = foreignDocument('SLOW1')
  const rateWith = (nominal: number | undefined, rate = 1) => {
    const msgs = [1005, 1074, 1230].map((id) => ({ id, interval: 1, nominal: id === 1074 ? nominal : 5 }))
    const mqtt = { rtcm: { rate, sign: false } }
    return readDocument({ ...rest, mqtt, gnss: { ...gnss, rtcm: { msgs } } }).rtcm?.rate_s
  }
  t.strictSame([rateWith(30), rateWith(1), rateWith(undefined), rateWith(1, 60)], [30, 1, 1, 60])
  t.end()
})

t.test('the time that a station gives its verdict counts where it can be', (t) => {
  const now_s = 1_790_000_000
  const kept = { verdict: 'fit', cause: 'ok', source: 'state', verdictSince_s: now_s - 100 }
  const can = (verdictSince_s: number, given: Partial<FleetStation> = {}, before: object = {}) =>
    isPossible(
      { verdict: 'unfit', cause: 'moved', ...given, verdictSince_s },
      { ...kept, ...before } as FleetStation,
      now_s,
    )
  for (const [what, isSo, expected] of [
    ['without a clock', can(0), false],
    ['now', can(now_s), true],
    ['clocks differ by a little', can(now_s + 5), true],
    ['in the future', can(now_s + 6), false],
    ['as old as the one that it replaces', can(now_s - 100), true],
    ['older than the one that it replaces', can(now_s - 101), false],
    ['the same verdict with its own time', can(now_s - 101, { verdict: 'fit', cause: 'ok' }), true],
    ['the same with another cause', can(now_s - 101, { verdict: 'fit' }), false],
    ['what was read from a document has no time', can(now_s - 101, {}, { source: 'document' }), true],
  ] as const)
    t.equal(isSo, expected, what)
  t.end()
})
