/** The whole conversation with a real broker, seen by `mosquitto_sub` and led by `mosquitto_pub` alone. */
import { join } from 'node:path'
import { definePlugin } from 'rtk-base/plugin'
import { createTestStation, freeUdpPort, gateOnly, type StationProcess, startStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import api from '../../plugins/mqtt/mqtt-api/index.js'
import link from '../../plugins/mqtt/mqtt-link/index.js'
import { createPki, type IdentityFile } from '../harness/peers/certificates.js'
import {
  clientArguments,
  clientCertificates,
  mosquittoFor,
  publish,
  request,
  type Subscription,
  subscribe,
} from '../harness/peers/mosquitto.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('mosquitto') || noPeer('mosquitto_sub') || noPeer('openssl')
const unless = skip ? { skip } : {}

/** The simulator in a process of its own, linked to the broker at `port`. */
async function stationProcess(t: Test, port: number, sets: readonly string[] = []): Promise<StationProcess> {
  const set = [...sets, 'mqtt-broker.port=0', 'udp-rtcm.host=127.0.0.1']
  const station = await startStation([
    ...set.flatMap((one) => ['--set', one]),
    ...[
      '--change',
      'mqtt-host=127.0.0.1',
      '--change',
      `mqtt-port=${port}`,
      '--change',
      `udp-port=${await freeUdpPort()}`,
    ],
  ])
  t.teardown(() => station.end('SIGKILL'))
  return station
}

const identityOf = (ca: string, { cert, key }: IdentityFile) => [
  `mqtt-link.ca=${ca}`,
  `mqtt-link.cert=${cert}`,
  `mqtt-link.key=${key}`,
]

t.test('a broker that wants client certificates', { skip: gateOnly || skip }, async (t) => {
  const folder = t.testdir()
  const pki = createPki(join(folder, 'pki'), 'SIM00001')
  const lines = clientCertificates(pki, join(folder, 'access'))
  const [first, second] = [await mosquittoFor(t, lines), await mosquittoFor(t, lines)]
  const sub = await subscribe(t, clientArguments(first.port, pki))
  const subSecond = await subscribe(t, clientArguments(second.port, pki))
  const send = (name: string, text: string, more: string[] = []) =>
    publish(clientArguments(first.port, pki), `base/SIM00001/${name}`, text, more)
  const texts = (of: Subscription, name: string) => of.of(`base/SIM00001/${name}`).map(({ text }) => text)
  const online = (of: Subscription) => of.online('SIM00001')

  await send('cmd', 'reboot', ['-r'])
  await send('change/post', '{"mqtt-rtcm-rate": 9}', ['-r'])
  const station = await stationProcess(t, first.port, identityOf(pki.ca, pki.device))

  t.test('y, and the document with the certificate in use', async (t) => {
    await until(() => texts(sub, 'info').length > 0, 'the document')
    t.equal(online(sub), 'y')
    const { mqtt } = JSON.parse(texts(sub, 'info')[0] as string)
    t.match(mqtt.state, { link: 'up', cert: { serial: /^[0-9A-F]+$/ }, error: { cause: '' } })
    t.equal(mqtt.state.cert.until - mqtt.state.cert.from, 30 * 86_400)
    t.ok(Math.abs(mqtt.state.cert.from - Date.now() / 1000) < 300)
  })

  t.test('retained requests do nothing', async (t) => {
    type Info = { esp: { bootcnt: number }; mqtt: { rtcm: { rate: number }; stat: { retained: number } } }
    await until(async () => (await station.info<Info>()).mqtt.stat.retained === 2, 'both')
    t.match(await station.info<Info>(), { esp: { bootcnt: 1 }, mqtt: { rtcm: { rate: 1 } } })
    await publish(clientArguments(first.port, pki), 'base/SIM00001/cmd', '', ['-r'])
  })

  t.test('info/get, a change and its answer, a malformed one, commands', async (t) => {
    const before = texts(sub, 'info').length
    await send('info/get', '')
    await until(() => texts(sub, 'info').length > before, 'the document')
    await send('change/post', '{"mqtt-rtcm-rate": 2, "unknown": 1}')
    await send('change/post', '{')
    await until(() => texts(sub, 'change/resp').length === 2, 'two answers')
    const [good, bad] = texts(sub, 'change/resp').map((text) => JSON.parse(text) as unknown)
    t.same(good, {
      result: 'ok',
      leftover: { unknown: 1 },
      errors: [{ name: 'unknown', message: 'is an unknown parameter' }],
    })
    t.match(bad, { result: 'failed', leftover: {} })
    await send('cmd', 'prodflag=7')
    await until(
      async () => (await station.info<{ esp: { productionflag: number } }>()).esp.productionflag === 7,
      'the command',
    )
    await send('cmd', '{"cmd_type":"updateBase","cmd_param":{"url":"https://127.0.0.1:1/none"}}')
    await until(() => /firmware/.test(station.output()), 'the update command in the log')
  })

  t.test('MQTT 5 requests are answered where they ask, with their correlation data', async (t) => {
    const ask = (name: string, text: string, topic: string) =>
      send(name, text, ['-D', 'publish', 'response-topic', topic, '-D', 'publish', 'correlation-data', 'c-17'])
    await ask('cmd', 'no-such-command', 'base/SIM00001/resp/a')
    await until(() => texts(sub, 'resp/a').length === 1, 'the answer')
    t.match(texts(sub, 'resp/a')[0], /unknown command "no-such-command"/)
    t.match(sub.of('base/SIM00001/resp/a')[0], { properties: 'status:404', correlation: 'c-17', retain: false })
    const answers = texts(sub, 'change/resp').length
    await ask('change/post', '{"unknown":2}', 'base/SIM00001/resp/b')
    await until(() => texts(sub, 'resp/b').length === 1, 'the answer')
    t.same(JSON.parse(texts(sub, 'resp/b')[0] as string), {
      result: 'ok',
      leftover: { unknown: 2 },
      errors: [{ name: 'unknown', message: 'is an unknown parameter' }],
    })
    t.equal(sub.of('base/SIM00001/resp/b')[0]?.correlation, 'c-17')
    await until(() => texts(sub, 'change/resp').length === answers + 1, 'also where it always is')
    t.equal(sub.of('base/SIM00001/change/resp').at(-1)?.correlation, 'c-17')
    await send('change/post', '{"unknown":3}')
    await until(() => texts(sub, 'change/resp').length === answers + 2, 'the answer')
    t.equal(sub.of('base/SIM00001/change/resp').at(-1)?.correlation, '', 'without them nothing changes')
    const args = clientArguments(first.port, pki)
    const answer = await request(args, 'base/SIM00001/change/post', '{', 'base/SIM00001/resp/c')
    t.match(JSON.parse(answer), { result: 'failed' }, 'mosquitto_rr takes the answer for its own')
    await ask('cmd', 'no-such-command', 'base/SIM00001/online')
    await until(() => /a topic that is not allowed/.test(station.output()), 'the refusal')
    t.equal(online(sub), 'y')
  })

  t.test('signed RTCM with user properties, the certificate retained', async (t) => {
    const change = await fetch(`${station.url}/change`, { method: 'POST', body: '{"mqtt-rtcm-sign":1}' })
    t.match(await change.json(), { result: 'ok' })
    await until(
      () => sub.of('base/SIM00001/drtk').some(({ properties }) => properties.includes('sig-seq')),
      'RTCM',
      60_000,
    )
    const one = sub.of('base/SIM00001/drtk').findLast(({ properties }) => properties.includes('sig-seq'))
    t.equal(one?.payload[0], 0xd3)
    for (const name of ['sig-alg:ECDSA-SHA256', 'sig:', 'sig-cert:', 'sig-seq:', 'sig-time:'])
      t.match(one?.properties, name)
    const late = await subscribe(t, clientArguments(first.port, pki), ['base/SIM00001/drtk/cert'])
    await until(() => late.seen.length > 0, 'the certificate')
    t.match(late.seen[0], { retain: true, text: /^-----BEGIN CERTIFICATE-----/ })
  })

  t.test('reboot: q and a DISCONNECT, then y again', async (t) => {
    const [before, documents] = [online(sub), texts(sub, 'info').length]
    await send('cmd', 'reboot')
    await until(() => texts(sub, 'info').length > documents, 'the document')
    t.equal(online(sub), `${before}qy`)
    t.match(JSON.parse(texts(sub, 'info').at(-1) as string), { esp: { bootcnt: 2 } })
  })

  t.test('kill -9: the broker says L', async (t) => {
    const killed = await stationProcess(t, first.port, [...identityOf(pki.ca, pki.device), 'mqtt-link.clientId=other'])
    const state = async () => (await killed.info<{ mqtt: { state: { link: string } } }>()).mqtt.state.link
    await until(async () => (await state()) === 'up', 'up')
    await killed.end('SIGKILL')
    await until(() => online(sub).includes('L'), 'L')
    await until(() => online(sub).endsWith('y'), 'the one that is alive says y again')
  })

  t.test('another mqtt-port: r on the old broker, y on the new one', async (t) => {
    await send('change/post', JSON.stringify({ 'mqtt-port': second.port }))
    await until(() => online(subSecond) === 'y', 'y on the new one')
    await sub.fence()
    t.match(online(sub), /r$/)
    t.match(JSON.parse(texts(sub, 'change/resp').at(-1) as string), { result: 'ok' })
  })

  t.test('SIGTERM: q, and no L', async (t) => {
    const { code } = await station.end('SIGTERM')
    t.equal(code, 0)
    await until(() => online(subSecond).endsWith('q'), 'q')
    await subSecond.fence()
    t.equal(online(subSecond), 'yq')
  })
})

t.test('two stations on one broker', unless, async (t) => {
  const broker = await mosquittoFor(t, ['allow_anonymous true'])
  const sub = await subscribe(t, clientArguments(broker.port), ['base/+/online'])
  const start = async (serial: string) => {
    const changes = { 'mqtt-host': '127.0.0.1', 'mqtt-port': broker.port }
    const plugins = { 'mqtt-link': [link, { insecure: true }] as never }
    const station = await createTestStation({ plugins, variant: { serial, changes } })
    t.teardown(() => station.stop())
    return station
  }
  const [a, b] = [await start('A-1'), await start('B-2')]
  await until(() => sub.online('A-1') === 'y' && sub.online('B-2') === 'y', 'both')
  await a.unload('mqtt-link')
  await until(() => sub.online('A-1') === 'yq', 'one goes')
  t.equal(sub.online('B-2'), 'y')
  t.equal(b.field('mqtt.state.link'), 'up')
  const late = await subscribe(t, clientArguments(broker.port), ['base/+/online'])
  await until(() => late.seen.length === 2, 'both retained')
  t.same(
    late.seen.map(({ topic, text, retain }) => [topic, text, retain]).sort((a, b) => (String(a) < String(b) ? -1 : 1)),
    [
      ['base/A-1/online', 'q', true],
      ['base/B-2/online', 'y', true],
    ],
  )
})

for (const protocol of ['auto', '4', '5']) {
  t.test(`over plain TCP, protocol ${protocol}: the largest document, reload, end`, unless, async (t) => {
    const broker = await mosquittoFor(t, ['allow_anonymous true'])
    const sub = await subscribe(t, clientArguments(broker.port))
    const ballast = definePlugin({
      name: 'ballast',
      version: '1.0.0',
      api: '^1.0.0',
      setup: (ctx) => void ctx.info.block('ballast', () => ({ text: 'x'.repeat(130_000) })),
    })
    const station = await createTestStation({
      plugins: {
        'mqtt-api': api as never,
        'mqtt-link': [link, { insecure: true, protocol }] as never,
        ballast: ballast as never,
      },
      variant: { changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': broker.port } },
    })
    t.teardown(() => station.stop())
    await until(() => sub.of('base/TEST0001/info').length === 1, 'the document')
    t.ok((sub.of('base/TEST0001/info')[0]?.payload.length ?? 0) > 130_000)
    const line = station.lines.find(({ msg }) => /link is up/.test(msg))
    t.equal(line?.version, protocol === '4' ? 4 : 5)
    await station.reload('mqtt-link')
    await until(() => sub.online('TEST0001') === 'yry', 'yry')
    await until(() => station.field('mqtt.state.link') === 'up', 'up')
    await station.unload('mqtt-link')
    await until(() => sub.online('TEST0001') === 'yryq', 'q')
    await sub.fence()
    t.equal(sub.online('TEST0001'), 'yryq', 'a proper DISCONNECT: no L')
  })
}
