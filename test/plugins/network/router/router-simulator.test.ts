/** The plugin against the simulated router, which shares no code with it: each generation and transport, and what happens to a router. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcp } from 'node:net'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import { firmwareImage } from '../../../../plugins/simulated/simulated-router/device/identity.js'
import { SimulatedTeltonika } from '../../../../plugins/simulated/simulated-router/router.js'
import { systemNetwork } from '../../../../runtime/platform/ports/system-network.js'
import { RouterInfo } from '../../../../schemas/info/router.js'
import { cellularModem, simulatedRouter } from '../../../../schemas/services.js'
import { gateOnly, ManualClock, until } from '../../../harness/index.js'
import { MemoryStore } from '../../../harness/memory-store.js'
import { type Rig, startRig } from './rig.js'

const minute_ms = 60_000
const kinds = {
  'legacy/ubus': { generation: 'legacy', transports: ['ubus'] },
  '7/ubus': { generation: '7', transports: ['ubus'] },
  '7/rest': { generation: '7', transports: ['rest'] },
  '7/both over https': { generation: '7', transports: ['ubus', 'rest'], https: true },
}

/** Waits for a call that takes simulated time. */
async function during<T>(rig: Rig, work: Promise<T>): Promise<T> {
  let over = false
  const done = work.finally(() => {
    over = true
  })
  done.catch(() => {})
  await until(async () => {
    // A request and its answer: what was sent before is answered by then, unless it waits for simulated time.
    const { url } = rig.ctx.services.find(simulatedRouter) ?? {}
    await fetch(`${url}/`, { redirect: 'manual' }).then(
      (answer) => answer.text(),
      () => {},
    )
    if (!over) await rig.clock.advance(1_000)
    return over
  }, 'the call ends')
  return done
}

for (const [kind, simulator] of Object.entries(kinds)) {
  t.test(kind, { skip: kind === '7/both over https' ? false : gateOnly }, async (t) => {
    const rig = await startRig(t, { url: 'simulator', options: { simulator } })
    const modem = rig.ctx.services.find(cellularModem)
    const sim = rig.ctx.services.find(simulatedRouter)
    if (!modem || !sim) throw new Error('services are missing')
    await rig.reach('online')
    await rig.pass(2 * minute_ms)

    t.test('the block is complete', async (t) => {
      const block = rig.station.field('router') as RouterInfo
      t.ok(Value.Check(RouterInfo, block))
      t.strictSame(
        Object.entries(block).filter(([name, value]) => value === '' && name !== 'certificate'),
        [],
      )
      t.ok(block.signal < 0)
      t.equal(block.connected, true)
      t.equal(block.certificate !== '', 'https' in simulator)
      const { text, status } = await rig.command('pull-vendor-data')
      t.equal(status, 200)
      t.notMatch(text, /not possible|refused|RTK_ERR/)
      t.match(text, /ipBlock: enabled=true attempts=20/)
      t.match(text, /pingReboot: enabled=true host=8\.8\.8\.8/)
    })

    t.test('the modem', async (t) => {
      t.match(await modem.read('modemIdentity'), {
        imei: /^\d{15}$/,
        model: /./,
        ...(kind !== '7/rest' && { manuf: /./ }),
        rev: /./,
        operatorControl: true,
      })
      sim.command('signal -91')
      t.equal((await modem.read('signal')).rssi_dbm, -91)
      t.match(await modem.read('registration'), { network: 'home', plmn: 24603, connected: true })
      t.match(await modem.read('sim'), { state: 'ready', imsi: '246031234567890', iccid: '8937003123456789014' })
      t.ok((await modem.read('traffic')).sent >= 0)
      sim.command('temperature 43.5')
      t.equal((await modem.read('temperature')).celsius, 43.5)
      sim.command('sim absent')
      t.strictSame(await modem.read('sim'), { state: 'absent', imsi: '', iccid: '' })
      t.notMatch(JSON.stringify(await modem.read('registration')), /N\/A/, 'what is not known is empty')
      for (const state of ['pin', 'puk', 'ready'] as const) {
        sim.command(`sim ${state}`)
        await rig.pass(30_000)
        t.equal((await modem.read('sim')).state, state)
      }
    })

    t.test('APN', async (t) => {
      const wanted = { apn: 'internet.tele2.lt', user: 'u', pswd: 'p', auth: 'pap' } as const
      await during(rig, modem.setApn(wanted))
      t.strictSame(await modem.read('apn'), wanted)
      await during(rig, modem.setApn({ apn: '', user: '', pswd: '', auth: 'none' }))
      t.equal((await modem.read('apn')).apn, '')
      await rig.pass(minute_ms)
    })

    t.test('operators', { skip: gateOnly }, async (t) => {
      const scanned = await during(rig, modem.scanOperators())
      t.ok(scanned.length >= 2)
      for (const operator of scanned) t.match(operator, { plmn: /^\d{5,6}$/, name: /./, generation: /^[2345]G$/ })
      const other = scanned.find(({ plmn }) => plmn !== '24603')?.plmn
      await during(rig, modem.selectOperator(other))
      await rig.pass(minute_ms)
      t.equal((await modem.read('operatorSelection')).plmn, other)
      t.equal((await modem.read('registration')).plmn, Number(other))
      await during(rig, modem.selectOperator(undefined))
      await rig.pass(minute_ms)
      t.equal((await modem.read('operatorSelection')).plmn, undefined)
      await during(rig, modem.reboot())
      await rig.pass(2 * minute_ms)
      t.match(await modem.read('registration'), { network: 'home' })
    })

    t.test('restarts, and comes back', async (t) => {
      t.equal((await during(rig, rig.command('reboot-router'))).status, 200)
      t.equal(rig.link(), 'restarting')
      await rig.reach('online', 5 * minute_ms)
      sim.command('unplug')
      await rig.pass(2 * minute_ms)
      t.equal(rig.link(), 'offline')
      sim.command('replug')
      await rig.reach('online', 5 * minute_ms)
      sim.command('expire')
      await rig.pass(minute_ms)
      t.equal(rig.link(), 'online')
    })

    t.test('garbage is survived', async (t) => {
      for (const damage of [
        'json',
        'html',
        'empty',
        'cut',
        'reset',
        'huge',
        'deep',
        'binary',
        'wrong',
        'strings',
        'id',
      ]) {
        sim.command(`garbage ${damage} 2`)
        await during(
          rig,
          modem.read('signal').catch(() => undefined),
        )
        await during(
          rig,
          modem.read('registration').catch(() => undefined),
        )
        await rig.reach('online', 5 * minute_ms)
      }
      t.match(await modem.read('registration'), { network: 'home' })
    })

    t.test('a changed password', async (t) => {
      const { user } = rig.station.field('router.default') as { user: string }
      sim.command(`password ${user} new-one`)
      sim.command('expire')
      await rig.pass(minute_ms)
      t.not(rig.link(), 'online')
      await rig.station.station.change({ 'rtr-user': user, 'rtr-pswd': 'new-one' }, { source: 'http' })
      await rig.reach('online')
      t.notMatch(sim.describe(), /blocked/)
    })

    t.test('another one in its place', { skip: gateOnly }, async (t) => {
      const before = String(rig.station.field('router.serial'))
      sim.command('replace new-one')
      await rig.pass(3 * minute_ms)
      if (rig.link() === 'certificate') t.equal((await rig.confirm()).status, 200)
      await rig.reach('online', 40 * minute_ms)
      await rig.pass(minute_ms)
      t.not(rig.station.field('router.serial'), before)
      t.match((await rig.command('pull-vendor-data')).text, /ipBlock: enabled=true attempts=20/)
    })

    t.test('firmware', { skip: gateOnly }, async (t) => {
      const legacy = kind.startsWith('legacy')
      const [right, wrong] = legacy
        ? ['RUT9XX_R_00.06.09.6', 'RUTX_R_00.07.24']
        : ['RUTX_R_00.07.24', 'RUTM_R_00.07.24']
      const server = createServer((request, response) => {
        response.end(firmwareImage(request.url === '/right?a=%2F+b' ? right : wrong))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.teardown(() => server.close())
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const post = (path: string) =>
        during(rig, rig.station.request('/update-firmware?rut', { method: 'POST', body: `${base}${path}` }))
      t.equal((await post('/wrong')).status, 502)
      t.equal(rig.link(), 'online', 'an image for another router changes nothing')
      t.match((await post('/right?a=%2F+b')).json(), { result: 'ok' })
      await rig.pass(10_000)
      await rig.reach('online', 10 * minute_ms)
      t.equal(rig.station.field('router.swver'), right)
    })

    t.test('POST /rut', async (t) => {
      const body = JSON.stringify({ object: 'system', method: 'info' })
      const answer = await rig.station.request('/rut', { method: 'POST', body })
      if (rig.station.field('router.state.transport') === 'rest') t.equal(answer.status, 503)
      else t.match(answer.json(), { result: [0, { uptime: Number }] })
    })

    t.test('the command of the simulator', async (t) => {
      t.match((await rig.command('sim-router=help')).text, /unplug/)
      t.equal((await rig.command('sim-router=dance')).status, 400)
    })
    t.strictSame(
      rig.station.lines.filter(({ level }) => level >= 50),
      [],
    )
  })
}

/** Where a router answers for a station with another address than 127.0.0.1. */
async function seenFrom(t: Test, address: string, url: string): Promise<string> {
  const { port } = new URL(url)
  const server = createTcp((socket) => {
    const router = connect({ host: '127.0.0.1', port: Number(port), localAddress: address })
    for (const [from, to] of [
      [socket, router],
      [router, socket],
    ] as const)
      from.pipe(to).on('error', () => from.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('two stations without the right password on one router never make it block', { skip: gateOnly }, async (t) => {
  const clock = new ManualClock()
  const router = await SimulatedTeltonika.start({
    network: systemNetwork,
    generation: '7',
    firmware: 'RUTX_R_00.07.04',
    credentials: { pswd: 'not known' },
    clock: { now: () => clock.now(), monotonic: () => clock.monotonic(), after: (ms, fn) => clock.timer(ms, fn) },
  })
  t.teardown(() => router.close())
  const defaults = ['a', 'b', 'c', 'd', 'e'].map((pswd) => ({ user: 'admin', pswd }))
  const stations = await Promise.all(
    ['127.0.0.1', '127.0.0.2'].map(async (address) => ({
      url: await seenFrom(t, address, router.url),
      store: new MemoryStore(),
    })),
  )
  for (let day = 0; day < 12; day++) {
    for (const { url, store } of stations) {
      const rig = await startRig(t, {
        url,
        clock,
        store,
        options: { defaults },
        changes: { 'rtr-pswd': 'f' },
      })
      await rig.pass(3 * minute_ms, 5_000)
      t.notOk(router.blocked, `not blocked on day ${day}`)
      await rig.station.stop()
    }
    await clock.advance((day < 6 ? 1 : 10) * 24 * 60 * minute_ms)
  }
  t.ok(
    router.logins.failed >= 12 && router.logins.failed <= 18,
    `${router.logins.failed}: each pair once, nine of a station without a login that works`,
  )
})

t.test(
  'two stations with wrong credentials and restarts do not make one router block',
  { skip: gateOnly },
  async (t) => {
    for (const firmware of ['RUTX_R_00.07.06', 'RUTX_R_00.07.20']) {
      const clock = new ManualClock()
      const router = await SimulatedTeltonika.start({
        network: systemNetwork,
        generation: '7',
        transports: firmware.endsWith('20') ? ['rest'] : ['ubus'],
        firmware,
        credentials: { pswd: 'last' },
        clock: { now: () => clock.now(), monotonic: () => clock.monotonic(), after: (ms, fn) => clock.timer(ms, fn) },
      })
      t.teardown(() => router.close())
      const defaults = ['a', 'b', 'c', 'last'].map((pswd) => ({ user: 'admin', pswd }))
      const stores = [new MemoryStore(), new MemoryStore()]
      let online = 0
      for (let round = 0; round < 4; round++) {
        for (const store of stores) {
          const rig = await startRig(t, {
            url: router.url,
            clock,
            store,
            options: { defaults },
          })
          await rig.pass(6 * minute_ms, 5_000)
          online += rig.link() === 'online' ? 1 : 0
          t.notOk(router.blocked, 'not blocked')
          await rig.station.stop()
        }
        await clock.advance(60 * minute_ms)
      }
      t.ok(online >= 2, 'both found the password')
      t.equal(router.logins.most, 1, 'one login at a time')
    }
  },
)
