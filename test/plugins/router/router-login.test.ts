/** Credentials: the ladder, the guard, the lookup, the label. */

import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { guardLimits, LoginGuard, labelText, parseLabel } from '../../../plugins/teltonika-router/credentials/index.js'
import { MemoryStore } from '../../../runtime/ports/memory-store.js'
import { gateOnly, ManualClock } from '../../harness/index.js'
import { createAuthority } from '../../harness/peers/certificates.js'
import { FakeRouter } from './fake-router.js'
import { startRig } from './rig.js'
import { current, rest } from './shapes.js'

const minute_ms = 60_000
const five = [
  { user: 'admin', pswd: 'default-1' },
  { user: 'admin', pswd: 'default-2' },
  { user: 'admin', pswd: 'default-3' },
  { user: 'root', pswd: 'default-4' },
  { user: 'root', pswd: 'default-5' },
]
const tried = (router: FakeRouter) => router.logins.map(({ user, pswd }) => `${user}:${pswd}`)
const failures = (router: FakeRouter) => router.logins.filter(({ ok }) => !ok).length

t.test('the ladder', async (t) => {
  t.test('is walked in order, ends at the right one, and remembers it over a restart', async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus, users: { admin: 'default-3' } }).listen(t)
    const store = new MemoryStore()
    const clock = new ManualClock()
    const given = { url: router.url, options: { defaults: five }, store, clock }
    const rig = await startRig(t, { ...given, changes: { 'rtr-pswd': 'mine' } })
    await rig.reach('online', 60 * minute_ms)
    t.strictSame(tried(router), ['admin:mine', 'admin:default-1', 'admin:default-2', 'admin:default-3'])
    t.ok(clock.monotonic() >= guardLimits.window_ms, 'the fourth one waited for the window')
    t.equal(rig.station.field('router.default.pswd'), 'default-3')
    await rig.station.stop()
    router.logins.length = 0
    const again = await startRig(t, { ...given, changes: { 'rtr-pswd': 'mine' } })
    await again.reach('online')
    t.strictSame(tried(router), ['admin:default-3'], 'what failed is remembered too')
  })

  t.test('a whole one with the right password last takes less than two days', async (t) => {
    const router = await new FakeRouter({ rest: rest().rest, users: { root: 'default-5' } }).listen(t)
    const clock = new ManualClock()
    const store = new MemoryStore()
    const vault = { user: 'admin', pswd: 'protected', worked: false }
    await store.batch([{ namespace: 'protected.teltonika-router', key: 'default', value: vault }])
    const rig = await startRig(t, {
      url: router.url,
      options: { defaults: five },
      neighbours: { '127.0.0.1': '00:1e:42:aa:bb:cc' },
      changes: { 'rtr-pswd': 'mine' },
      store,
      clock,
    })
    const hour_ms = 60 * minute_ms
    for (let hours = 0; hours < 48 && rig.link() !== 'online'; hours++) await rig.pass(hour_ms, 60_000)
    t.equal(rig.link(), 'online')
    t.ok(clock.monotonic() < 26 * hour_ms, `after ${clock.monotonic() / hour_ms} h`)
    t.strictSame(tried(router), ['admin:mine', 'admin:protected', ...five.map(({ user, pswd }) => `${user}:${pswd}`)])
  })

  t.test('is left after four where another station may have the same address', { skip: gateOnly }, async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const rig = await startRig(t, { url: router.url, options: { defaults: five } })
    for (let days = 0; days < 4; days++) await rig.pass(24 * 60 * minute_ms, 10 * 60_000)
    t.equal(failures(router), guardLimits.totalShared)
    t.equal(rig.link(), 'locked')
  })

  t.test(
    'never comes near the block: two stations, restarts in between, no entry right',
    { skip: gateOnly },
    async (t) => {
      const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
      const at_ms: number[] = []
      const clock = new ManualClock()
      const original = router.logins.push.bind(router.logins)
      router.logins.push = (...logins) => {
        at_ms.push(clock.now())
        return original(...logins)
      }
      const stores = [new MemoryStore(), new MemoryStore()]
      for (let round = 0; round < 6; round++) {
        for (const store of stores) {
          const rig = await startRig(t, {
            url: router.url,
            options: { defaults: five },
            store,
            clock,
            changes: { 'rtr-pswd': 'wrong' },
          })
          await rig.pass(3 * minute_ms, 5_000)
          await rig.station.stop()
        }
      }
      const most = Math.max(
        ...at_ms.map((begin) => at_ms.filter((one) => one >= begin && one < begin + guardLimits.window_ms).length),
      )
      t.ok(failures(router) >= 6, 'they tried')
      t.ok(most <= 8, `${most} attempts in any half an hour, 10 block`)
    },
  )

  t.test('says what to do when nothing fits, and a person is heard at once', async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const rig = await startRig(t, { url: router.url, options: { defaults: five } })
    await rig.pass(5 * minute_ms, 5_000)
    t.equal(rig.link(), 'locked')
    t.equal(failures(router), guardLimits.automatic)
    t.match(rig.station.lines.map(({ msg }) => msg).join('\n'), /rtr-pswd|block/)
    const { status } = await rig.station.request('/rut', {
      method: 'POST',
      body: '{"object":"system","method":"info"}',
    })
    t.equal(status, 503)
    await rig.station.station.change({ 'rtr-pswd': 'right' }, { source: 'http' })
    await rig.reach('online', 1_000)
    t.equal(tried(router).at(-1), 'admin:right')
  })

  t.test('a password that was changed on the router is recovered from', async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const rig = await startRig(t, {
      url: router.url,
      options: { defaults: [...five.slice(0, 1), { user: 'admin', pswd: 'new' }] },
      changes: { 'rtr-pswd': 'right' },
    })
    await rig.reach('online')
    router.users = { admin: 'new' }
    router.expire()
    await rig.pass(2 * minute_ms)
    await rig.reach('online')
    t.equal(tried(router).at(-1), 'admin:new')
    t.ok(failures(router) <= 4)
  })

  t.test('a session that expires costs one login, never two at a time', async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': 'right' } })
    await rig.reach('online')
    await rig.pass(60_000)
    const before = router.logins.length
    router.expire()
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() =>
        rig.station.request('/rut', { method: 'POST', body: '{"object":"system","method":"info"}' }),
      ),
    )
    t.strictSame(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    t.equal(router.logins.length, before + 1)
    t.equal(router.mostInFlight, 1, 'one request at a time')
  })

  t.test('another router has seen none of the failed logins', async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const neighbours: Record<string, string> = { '127.0.0.1': '00:1e:42:00:00:01' }
    const rig = await startRig(t, { url: router.url, options: { defaults: five }, neighbours })
    await rig.pass(3 * minute_ms, 5_000)
    t.equal(rig.link(), 'locked')
    neighbours['127.0.0.1'] = '00:1e:42:00:00:02'
    router.users = { admin: 'default-1' }
    await rig.reach('online', 40 * minute_ms)
    t.equal(tried(router).at(-1), 'admin:default-1', 'what failed at the other one is tried again')
  })

  t.test('no password and no session is ever logged or shown as an error', async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus, users: { admin: 's3cret-right' } }).listen(t)
    const secrets = ['s3cret-right', 'default-1', 'wifi;pass', 'aaaaaaaa']
    const rig = await startRig(t, {
      url: router.url,
      options: { defaults: [five[0], { user: 'admin', pswd: 's3cret-right' }] },
    })
    await rig.reach('online')
    await rig.pass(2 * minute_ms)
    for (const line of [
      'pull-vendor-data',
      'teltonika info',
      'teltonika=info',
      'teltonika=set_pswd s3cret-wrong --protected',
      'router-certificate',
    ]) {
      const { text } = await rig.command(line)
      for (const secret of secrets) t.notMatch(text, secret, line)
    }
    router.expire()
    await rig.pass(3 * minute_ms)
    const log = JSON.stringify(rig.station.lines)
    for (const secret of [...secrets, 's3cret-wrong']) t.notMatch(log, secret)
    t.equal(
      (await rig.station.station.command('get-router-qr', { source: 'mqtt' })).status,
      503,
      'and none goes out over MQTT',
    )
  })
})

t.test('the guard', async (t) => {
  const make = async (clock: ManualClock, store = new MemoryStore()) => {
    const namespace = {
      get: (key: string) => store.get('protected.test', key),
      set: (key: string, value: unknown) => store.batch([{ namespace: 'protected.test', key, value }]),
      batch: (values: Readonly<Record<string, unknown>>) =>
        store.batch(Object.entries(values).map(([key, value]) => ({ namespace: 'protected.test', key, value }))),
      entries: () => store.entries('protected.test'),
    }
    const guard = new LoginGuard(namespace, clock)
    await guard.load()
    return guard
  }

  t.test('a clock that steps, or was never set, makes it no bolder', async (t) => {
    for (const [name, before, after] of [
      ['back', Date.UTC(2026, 5, 1), Date.UTC(2026, 4, 1)],
      ['not set at all', 0, 5_000],
      ['set after the restart', 0, Date.UTC(2026, 5, 1)],
    ] as const) {
      const store = new MemoryStore()
      const guard = await make(new ManualClock(before), store)
      for (let n = 0; n < guardLimits.automatic; n++) await guard.begin()
      const next = await make(new ManualClock(after), store)
      t.ok(next.wait_ms(false) > guardLimits.window_ms - 60_000, name)
    }
    const clock = new ManualClock()
    const guard = await make(clock)
    for (let n = 0; n < guardLimits.automatic; n++) await guard.begin()
    clock.stepUtc(7 * 86_400_000)
    t.ok(guard.wait_ms(false) > 0, 'a step while it runs')
    t.ok(guard.wait_ms(true) <= guardLimits.gap_ms, 'a person has one attempt more')
    await guard.begin()
    t.ok(guard.wait_ms(true) > 0, 'and no second one')
    await clock.advance(guardLimits.window_ms)
    t.equal(guard.wait_ms(true), 0)
  })

  t.test('four failures in a day and eight in a year are the end, but for a person', async (t) => {
    const clock = new ManualClock()
    const guard = await make(clock)
    guard.hasOwnAddress = true
    t.ok(guardLimits.total < 10, 'the tenth one blocks')
    t.ok(2 * guardLimits.totalShared < 10, 'of two stations behind one address as well')
    for (let n = 0; n < guardLimits.total; n++) {
      t.equal(guard.wait_ms(false), 0, `attempt ${n}`)
      await guard.begin()
      await clock.advance(guardLimits.window_ms)
      if (n % guardLimits.daily < guardLimits.daily - 1) continue
      t.ok(guard.wait_ms(false) > guardLimits.day_ms / 2)
      await clock.advance(guardLimits.day_ms)
    }
    t.ok(guard.wait_ms(false) > guardLimits.total_ms / 2)
    t.equal(guard.wait_ms(true), 0)
    await guard.succeeded({ user: 'admin', pswd: 'right' })
    t.equal(guard.wait_ms(false), 0)
  })

  t.test('a password that once worked is tried again after 6 h, then less and less often', async (t) => {
    const clock = new ManualClock()
    const guard = await make(clock)
    const right = { user: 'admin', pswd: 'right' }
    for (const hours of [6, 12, 18]) {
      await guard.begin()
      await guard.failed(right)
      t.equal(guard.pairWait_ms(right, true), hours * 60 * minute_ms)
      await clock.advance(hours * 60 * minute_ms)
      t.equal(guard.pairWait_ms(right, true), 0)
    }
    t.ok(guard.pairWait_ms(right, false) > guardLimits.total_ms, 'one that never did waits for the others')
  })

  t.test('each of its limits is kept to the millisecond', async (t) => {
    const clock = new ManualClock(Date.UTC(2026, 5, 1))
    const store = new MemoryStore()
    const guard = await make(clock, store)
    t.same([guard.wait_ms(false), guard.attempts], [0, 0])
    await guard.begin()
    t.same([guard.wait_ms(false), guard.wait_ms(true), guard.attempts], [10_000, 10_000, 1], '10 s between two')
    await clock.advance(10_000)
    t.equal(guard.wait_ms(false), 0)
    for (let n = 0; n < 2; n++) {
      await guard.begin()
      await clock.advance(10_000)
    }
    t.same([guard.wait_ms(false), guard.wait_ms(true)], [guardLimits.window_ms - 30_000, 0], 'the third in the window')
    await guard.begin()
    await clock.advance(10_000)
    t.equal(guard.wait_ms(true), guardLimits.window_ms - 40_000, 'the fourth, of a person')
    t.equal(guard.wait_ms(false), guardLimits.total_ms - 40_000, 'an address that may be shared')
    guard.hasOwnAddress = true
    t.equal(guard.wait_ms(false), guardLimits.day_ms - 40_000, 'the fourth in a day')
    const later = await make(new ManualClock(clock.now() + 60_000), store)
    later.hasOwnAddress = true
    t.equal(later.wait_ms(false), guardLimits.day_ms - 100_000, 'a restart goes on with the time between')
    const future = await make(new ManualClock(clock.now() - 3_600_000), store)
    future.hasOwnAddress = true
    t.equal(future.wait_ms(false), guardLimits.day_ms, 'a stamp of the future counts as of now')
    await guard.withdraw()
    t.equal(guard.attempts, 3, 'one that did not reach the router')
    t.equal((await make(clock, store)).attempts, 3, 'also in the store')
    await guard.succeeded({ user: 'a', pswd: 'b' })
    t.same([guard.attempts, (await make(clock, store)).attempts], [0, 0])
  })

  t.test('an attempt that could not be stored does not stay counted, unless it is the only one', async (t) => {
    const store = new MemoryStore()
    const clock = new ManualClock(Date.UTC(2026, 5, 1))
    const guard = await make(clock, store)
    await guard.begin()
    const { batch } = store
    store.batch = async () => {
      throw new Error('full')
    }
    await t.rejects(guard.begin(), /full/)
    t.equal(guard.attempts, 1)
    store.batch = batch
    await guard.succeeded({ user: 'a', pswd: 'b' })
    store.batch = async () => {
      throw new Error('full')
    }
    await guard.begin()
    t.equal(guard.attempts, 1)
  })

  t.test('routers are counted apart, and a third one as the second', async (t) => {
    const clock = new ManualClock(Date.UTC(2026, 5, 1))
    const store = new MemoryStore()
    const guard = await make(clock, store)
    const wrong = { user: 'a', pswd: 'b' }
    for (let n = 0; n < 3; n++) await guard.begin()
    await guard.failed(wrong)
    t.equal(guard.pairWait_ms(wrong, false), guardLimits.failed_ms)
    await guard.moved('A', 'B')
    t.same([guard.attempts, guard.pairWait_ms(wrong, false)], [0, 0])
    await guard.begin()
    await guard.moved('B', 'C')
    t.equal(guard.attempts, 1)
    await guard.moved('C', 'A')
    t.equal(guard.attempts, 3, 'back at the first')
    await guard.moved('A', 'C')
    t.equal((await make(clock, store)).attempts, 1)
    await guard.failed(wrong)
    await guard.retry(wrong)
    t.equal(guard.pairWait_ms(wrong, false), 0, 'a person says that it is right')
    for (let n = 0; n < 33; n++) await guard.failed({ user: 'a', pswd: String(n) })
    t.same(
      [guard.pairWait_ms({ user: 'a', pswd: '0' }, false), guard.pairWait_ms({ user: 'a', pswd: '1' }, false) > 0],
      [0, true],
      '32 pairs',
    )
  })

  t.test('what cannot be counted durably is not tried twice', async (t) => {
    const store = new MemoryStore()
    store.batch = async () => {
      throw new Error('the disk is full')
    }
    const guard = await make(new ManualClock(), store)
    await guard.begin()
    await t.rejects(guard.begin(), /full/)
  })
})

t.test('the label', async (t) => {
  const text =
    'WIFI:T:WPA;S:RUT241_0A1B;P:Qx7mT2wZ;SN:6000000001;I:860000000000009;M:001E42AABBCC;U:admin;PW:Ab3+cD5!;B:012;'
  const label = {
    ssid: 'RUT241_0A1B',
    wifiPswd: 'Qx7mT2wZ',
    serial: '6000000001',
    imei: '860000000000009',
    macaddr: '00:1E:42:AA:BB:CC',
    user: 'admin',
    pswd: 'Ab3+cD5!',
    batch: '012',
  }
  t.strictSame(parseLabel(text), label)
  t.equal(labelText(label), text)
  t.strictSame(parseLabel(`${text};`), label, 'a doubled end')
  t.match(parseLabel('WIFI:SN:1;PW:a;b:c;M:001E42AABBCC;;'), { pswd: 'a;b:c' }, 'a semicolon that is not escaped')
  t.match(parseLabel('WIFI:B:1;PW:x\\;M\\:1\\\\;SN:5;'), { pswd: 'x;M:1\\', serial: '5' }, 'escapes, another order')
  for (const bad of ['', 'WIFI:', 'http://x', 'WIFI:T:WPA;S:x;;', `WIFI:${'S:x;'.repeat(999)}`])
    t.equal(parseLabel(bad), undefined, bad.slice(0, 20))
  const value = fc
    .string({ minLength: 1, maxLength: 30 })
    .filter((one) => one.trim() === one && !/[\ue000-\ue004]/.test(one))
  fc.assert(
    fc.property(
      fc.record({ ssid: value, wifiPswd: value, serial: value, imei: value, user: value, pswd: value, batch: value }),
      (made) => {
        const whole = { ...made, macaddr: '00:1E:42:AA:BB:CC' }
        t.strictSame(parseLabel(labelText(whole)), whole)
      },
    ),
    { numRuns: 100 },
  )
})

t.test('the lookup', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-lookup-'))
  const authority = createAuthority(folder)
  const identity = authority.issue('server', '/CN=lookup', 'subjectAltName=IP:127.0.0.1\n')
  let reply = { status: 200, body: '' }
  const asked: unknown[] = []
  const server = createServer(
    { key: readFileSync(identity.key), cert: readFileSync(identity.cert) },
    (request, response) => {
      let body = ''
      request.on('data', (piece) => {
        body += piece
      })
      request.on('end', () => {
        asked.push({ path: request.url, method: request.method, ...(JSON.parse(body) as object) })
        response.writeHead(reply.status).end(reply.body)
      })
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const qrUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/labels`
  const neighbours = { '127.0.0.1': '00:1e:42:aa:bb:cc' }
  const qrCa = authority.ca
  const qr = 'WIFI:SN:6000000001;M:001E42AABBCC;U:admin;PW:right;B:012;'

  for (const [name, body] of [
    ['as JSON', JSON.stringify({ qr })],
    ['as text', qr],
  ] as const) {
    t.test(`gives the credentials by MAC address, ${name}`, async (t) => {
      reply = { status: 200, body }
      asked.length = 0
      const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
      const rig = await startRig(t, { url: router.url, options: { qrUrl, qrCa }, neighbours })
      await rig.reach('online')
      t.strictSame(asked, [{ path: '/labels/rtr', method: 'POST', mac: '00:1E:42:AA:BB:CC', station: 'TEST0001' }])
      t.equal((await rig.command('get-router-qr')).text, qr)
    })
  }

  t.test('that fails leads to the next credentials', async (t) => {
    for (const bad of [
      { status: 500, body: 'x' },
      { status: 404, body: '' },
      { status: 200, body: '<html>' },
      { status: 200, body: qr.replace('AABBCC', 'AABBCD') },
    ]) {
      reply = bad
      const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
      const rig = await startRig(t, {
        url: router.url,
        options: { qrUrl, qrCa, defaults: [{ user: 'admin', pswd: 'right' }] },
        neighbours,
      })
      await rig.reach('online')
      t.strictSame(tried(router), ['admin:right'])
      t.match(
        (await rig.command('get-router-qr')).text,
        /^WIFI:.*SN:6000000001;.*M:001E42AABBCC;U:admin;PW:right;/,
        'made of what is known',
      )
    }
  })

  t.test('checks the certificate of its server', async (t) => {
    reply = { status: 200, body: qr }
    asked.length = 0
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const rig = await startRig(t, { url: router.url, options: { qrUrl }, neighbours })
    await rig.pass(20_000)
    t.strictSame(asked, [])
    t.not(rig.link(), 'online')
  })
})
