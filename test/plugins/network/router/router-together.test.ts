/** The router's plugin and the modem's plugin together on a simulated router: reloads and power cuts in the middle of what takes long. */
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import modem from '../../../../plugins/network/modem/index.js'
import { SimulatedTeltonika } from '../../../../plugins/simulated/simulated-router/router.js'
import { systemNetwork } from '../../../../runtime/platform/ports/system-network.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { device } from '../../../../schemas/services.js'
import { gateOnly, ManualClock, until } from '../../../harness/index.js'
import { MemoryStore } from '../../../harness/memory-store.js'
import { type RigOptions, startRig } from './rig.js'

const kinds = {
  'legacy/ubus': { generation: 'legacy', transports: ['ubus'] },
  '7/ubus': { generation: '7', transports: ['ubus'] },
  '7/rest': { generation: '7', transports: ['rest'] },
} as const

const step_s = 2

/** A station with both plugins at a router that outlives it. */
async function together(t: Test, kind: keyof typeof kinds, given: Partial<RigOptions> = {}) {
  const { generation } = kinds[kind]
  const transports = [...kinds[kind].transports]
  const clock = new ManualClock()
  const router = await SimulatedTeltonika.start({
    network: systemNetwork,
    generation,
    transports,
    clock: { now: () => clock.now(), monotonic: () => clock.monotonic(), after: (ms, fn) => clock.timer(ms, fn) },
  })
  t.teardown(() => router.close())
  const user = generation === 'legacy' ? 'root' : 'admin'
  const options: RigOptions = {
    url: router.url,
    clock,
    store: new MemoryStore(),
    options: { defaults: [{ user, pswd: 'Ab3+cD5!' }] },
    plugins: { modem: modem as AnyPlugin },
    ...given,
  }
  const rig = await startRig(t, options)
  /** Goes on while a call is under way: everything that was sent is answered, unless it waits for simulated time. */
  const pass = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= step_s) {
      await fetch(router.url, { redirect: 'manual' }).then(
        (answer) => answer.text(),
        () => {},
      )
      await clock.advance(Math.min(left, step_s) * 1_000)
    }
  }
  const errors = () => Object.fromEntries((rig.ctx.services.find(device)?.errors() ?? []).map((one) => [one.code, one]))
  const modemState = () => rig.station.field('modem.state') as { network: string; pending: string[]; plmn: number }
  await rig.reach('online')
  await pass(90)
  return { rig, router, clock, options, pass, errors, modemState }
}

for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
  t.test(kind, { skip: kind === '7/rest' ? false : gateOnly }, async (t) => {
    const { rig, router, pass, errors, modemState } = await together(t, kind)
    const { station } = rig
    t.equal(modemState().network, 'home')

    t.test('another host to ping stands in the document when the router has it', async (t) => {
      const shown = () => (station.field('modem.cfg') as { ping_reboot: string }).ping_reboot
      t.equal(shown(), '8.8.8.8')
      await station.station.change({ 'mob-ping-host': '9.9.9.9' }, { source: 'http' })
      await pass(20)
      t.equal(shown(), '9.9.9.9')
      await station.station.change({ 'mob-ping-host': '8.8.8.8' }, { source: 'http' })
      await pass(20)
      t.equal(shown(), '8.8.8.8')
    })

    t.test('a plugin that is reloaded leaves the other one alone', async (t) => {
      const logins = router.logins.succeeded
      await station.reload('modem')
      await pass(60)
      t.equal(rig.link(), 'online')
      t.equal(modemState().network, 'home')
      t.equal(router.logins.succeeded, logins, 'no login more')
      await station.reload('teltonika-router')
      await pass(60)
      t.equal(rig.link(), 'online')
      t.equal(modemState().network, 'home')
      t.strictSame(errors(), {})
    })

    for (const name of ['modem', 'teltonika-router']) {
      t.test(
        `a reload of ${name} in the middle of a scan`,
        { skip: name === 'modem' ? false : gateOnly },
        async (t) => {
          t.equal((await rig.command('mobile-scan')).status, 200)
          await pass(40)
          t.strictSame(modemState().pending, ['scan'])
          await station.reload(name)
          await pass(5)
          t.match(errors()['modem-scan'], { text: /cut.*run mobile-scan again/ })
          t.strictSame(modemState().pending, [])
          await pass(300)
          t.equal(rig.link(), 'online')
          t.equal(modemState().network, 'home', 'everything is read again')
          t.equal((await rig.command('teltonika=scan')).status, 200)
          await pass(230)
          t.ok((station.field('modem.scan') as unknown[]).length >= 2)
          t.notOk(errors()['modem-scan'])
        },
      )
    }

    t.test('the console group selects an operator and restarts the modem', async (t) => {
      t.equal((await rig.command('teltonika=select 24601')).status, 200)
      await pass(120)
      t.equal(modemState().plmn, 24601)
      t.equal(station.field('modem.cfg.plmn'), 24601)
      t.equal((await rig.command('teltonika=reboot-modem')).status, 200)
      await pass(2)
      t.strictSame(modemState().pending, ['reboot'])
      await pass(120)
      t.match(modemState(), { network: 'roaming', plmn: 24601, pending: [] }, 'it keeps its operator')
      t.equal((await rig.command('teltonika=select 0')).status, 200)
      await pass(120)
      t.match(modemState(), { network: 'home', plmn: 24603 })
      t.strictSame(errors(), {})
    })

    t.strictSame(
      station.lines.filter(({ level }) => level >= 50),
      [],
    )
  })
}

t.test('a reload, and a power cut, in the middle of a firmware update', { skip: gateOnly }, async (t) => {
  const { rig, router, options, pass, errors } = await together(t, '7/rest')
  const { station } = rig
  const held: ServerResponse[] = []
  const server = createServer((_request, response) => {
    response.write('IMAGE')
    held.push(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.teardown(() => server.closeAllConnections())
  const body = `http://127.0.0.1:${(server.address() as AddressInfo).port}/image`
  const post = () => station.request('/update-firmware?rut', { method: 'POST', body })
  const folder = join(station.data, 'files', 'teltonika-router', 'firmware')
  const images = () => readdirSync(folder)

  for (const name of ['modem', 'teltonika-router']) {
    const running = post()
    await until(() => held.length > 0 && images().length > 0, 'it is fetched')
    await station.reload(name)
    if (name === 'modem') {
      t.equal((await post()).status, 409, 'it continues')
      held.shift()?.destroy()
    }
    t.ok((await running).status >= 500)
    held.length = 0
    await until(() => images().length === 0, 'the image is removed')
    await rig.reach('online')
    await pass(30)
    t.strictSame(errors(), {})
  }
  await station.stop()
  // What a process leaves behind that was killed.
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'image'), 'half of it')
  const again = await startRig(t, { ...options, data: station.data })
  await again.reach('online')
  t.strictSame(images(), [])
  t.equal(router.firmware, 'RUTX_R_00.07.20', 'nothing was installed')
})

t.test('a station that is killed in the middle of a scan finds everything again', { skip: gateOnly }, async (t) => {
  const { rig, router, options, clock, pass } = await together(t, '7/ubus')
  await rig.command('mobile-scan')
  await pass(40)
  // A copy of what was on the disk then.
  const store = new MemoryStore()
  for (const namespace of ['teltonika-router', 'modem', 'protected.teltonika-router', 'protected.modem']) {
    const entries = await (options.store as MemoryStore).entries(namespace)
    await store.batch(
      Object.entries(entries).map(([key, value]) => ({ namespace, key, value: structuredClone(value) })),
    )
  }
  await rig.station.stop()
  const again = await startRig(t, { ...options, store })
  for (let n = 0; n < 400; n++) {
    await fetch(router.url).then(
      (answer) => answer.text(),
      () => {},
    )
    await clock.advance(1_000)
  }
  t.equal(again.link(), 'online')
  t.match(again.station.field('modem.state'), { network: 'home', pending: [] })
  t.equal(router.logins.failed, 0)
})

t.test('a viewer sees no password of router and modem', { skip: gateOnly }, async (t) => {
  const token = 'operator-token-0123456789'
  const viewerToken = 'viewer-token-0123456789'
  const { rig, router, pass } = await together(t, '7/ubus', { http: { token, viewerToken } })
  router.command('set network.mob1s1a1.password apn-secret')
  await pass(400)
  const documentFor = async (bearer: string) => {
    const { text } = await rig.station.request('/get-info', { headers: { authorization: `Bearer ${bearer}` } })
    return { text, document: JSON.parse(text) as Record<string, never> }
  }
  const all = await documentFor(token)
  const { router: block, modem: cfg } = all.document as Record<string, { [name: string]: Record<string, string> }>
  const secrets = [block?.default?.pswd, block?.wap?.pswd, cfg?.cfg?.pswd] as string[]
  t.ok(
    secrets.every((secret) => typeof secret === 'string' && secret.length > 3),
    JSON.stringify(secrets),
  )
  const { text, document } = await documentFor(viewerToken)
  for (const secret of secrets) t.notMatch(text, secret)
  t.match(document, {
    router: { default: { pswd: '' }, wap: { pswd: '' } },
    modem: { cfg: { pswd: '' } },
  })
})
