import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'mqtt'
import {
  arpFrame,
  childEnv,
  conformance,
  createTestStation,
  fakeReceiver,
  few,
  freeTcpPort,
  freeUdpPort,
  gateOnly,
  ManualClock,
  msmFrame,
  ownPorts,
  readyBase,
  rtkBase,
  startStation,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import hello from '../../examples/hello-plugin/index.js'
import rtcm from '../../plugins/rtcm/rtcm/index.js'
import { encodeNmea, Framer } from '../../runtime/lib/gnss/index.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { pass } from '../harness/drive.js'

const root = packageRoot()
const client = join('examples', 'udp-rtcm-client', 'client.mjs')
const thirdParty = join(root, 'examples', 'third-party-plugin')
const roverProgram = join('examples', 'ntrip-rover', 'rover.mjs')
const setUpProgram = join('examples', 'three-stations', 'set-up.mjs')
const observer = join('examples', 'mqtt-observer', 'observer.mjs')

/** An example as a person runs it. */
function program(t: Test, args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: childEnv() })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, output, ended }
}

/** The simulator in a process of its own, everything on free ports of the loopback. */
async function simulator(t: Test) {
  const ports = await ownPorts()
  const station = await startStation([...ports.args, ...readyBase, '--set', 'udp-rtcm.host=127.0.0.1'])
  t.teardown(() => station.end())
  const field = async (name: string) => (await station.info())[name] as Record<string, number> | undefined
  const post = async (path: string, body = '') => {
    const response = await fetch(`${station.url}${path}`, { method: 'POST', body })
    return { status: response.status, text: await response.text() }
  }
  return { ...station, ...ports, field, post }
}

t.test('on a station that runs', async (t) => {
  const station = await simulator(t)
  const plugins = (...args: string[]) => rtkBase(['plugins', ...args, '--data', station.data])

  t.test('the Grafana dashboard asks for metrics that the simulator has', async (t) => {
    const metrics = await (await fetch(`${station.url}/metrics`)).text()
    const { panels } = JSON.parse(readFileSync('examples/grafana/dashboard.json', 'utf8')) as {
      panels: { targets: { expr: string }[] }[]
    }
    const names = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => expr.match(/\b(rtk_base|process)_\w+/g) ?? []),
    )
    t.ok(names.length > 10)
    for (const name of new Set(names)) t.match(metrics, `# TYPE ${name} `)
  })

  t.test('hello-plugin is loaded as its README says, answers, and goes', async (t) => {
    t.match(await plugins('load', './examples/hello-plugin'), { code: 0, stdout: /^mast +running/m })
    t.match(await station.post('/system?mast-inspected=Ada'), { status: 200, text: 'thank you, Ada\n' })
    t.match(await station.post('/system?mast-inspected'), { status: 400, text: /mast-inspected=<name>/ })
    t.match(await station.post('/change', '{"mast-height": 3.5}'), { status: 200, text: /"ok"/ })
    t.match(await station.field('mast'), { height_m: 3.5, inspected_s: Number })
    t.match(await plugins('unload', 'mast'), { code: 0 })
    t.equal(await station.field('mast'), undefined)
  })

  t.test('third-party-plugin counts what goes out, over every surface', { skip: gateOnly }, async (t) => {
    t.match(await plugins('load', './examples/third-party-plugin'), { code: 0, stdout: /^epoch-meter +running/m })
    const total = async (name: string) => (await station.field('epoch-meter'))?.[name] as number
    await until(async () => (await total('epochs')) >= 2, 'two epochs')
    t.ok((await total('frames')) > (await total('epochs')), 'an epoch has several frames')
    const recent = (await (await fetch(`${station.url}/epoch-meter`)).json()) as object[]
    t.equal(
      await (await fetch(`${station.url}/epoch-meter/about`)).text(),
      readFileSync(join(thirdParty, 'about.md'), 'utf8'),
    )
    t.match(recent[0], { complete: true, satellites: Number, messages: [1074] })

    t.match(await station.post('/change', '{"epoch-meter-min-satellites": 200}'), { text: /"ok"/ })
    await until(async () => (await total('poor')) > 0, 'an epoch that has fewer than 200 satellites')
    t.match(await station.post('/change', '{"epoch-meter-min-satellites": 201}'), { text: /"failed"/ })

    const mqtt = connect({ port: station.mqtt, host: '127.0.0.1', reconnectPeriod: 0 })
    t.teardown(() => mqtt.end(true))
    await mqtt.subscribeAsync('base/SIM00001/epoch-meter')
    const answers: string[] = []
    mqtt.on('message', (_topic, payload) => void answers.push(payload.toString()))
    await mqtt.publishAsync('base/SIM00001/epoch-meter/get', '')
    await until(() => answers.length > 0, 'the answer over MQTT')
    t.match(JSON.parse(answers[0]), { epochs: Number, frames: Number, bytes: Number })

    const panels = async () => {
      const { body } = await fetch(`${station.url}/events?want=panels`)
      let text = ''
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk)
        const data = /event: panels\ndata: (.*)\n\n/.exec(text)?.[1]
        if (data !== undefined)
          return JSON.parse(data) as { plugin: string; title: string; entry: string; styles: string[] }[]
      }
      return []
    }
    const [panel] = await panels()
    t.match(panel, { plugin: 'epoch-meter', title: 'Epoch meter', entry: /\.js$/, styles: [/\.css$/] })
    const panelUrl = `${station.url}/ui/panels/epoch-meter/${panel?.entry}`
    const served = await fetch(panelUrl)
    t.match([served.status, served.headers.get('content-type')], [200, /javascript/])
    t.match(await served.text(), /export\{\w+ as show\}/)
    t.equal((await fetch(`${station.url}/ui/panels/epoch-meter/other.js`)).status, 404)

    const before = await total('frames')
    t.match(await plugins('reload', 'epoch-meter'), { code: 0 })
    t.ok((await total('frames')) >= before, 'a reload goes on counting')
    t.match(await station.post('/system?epoch-meter-reset'), { status: 200 })
    t.ok((await total('frames')) < before)

    t.match(await plugins('unload', 'epoch-meter'), { code: 0 })
    t.equal((await fetch(`${station.url}/epoch-meter`)).status, 404)
    t.equal((await fetch(panelUrl)).status, 404)
    t.strictSame(await panels(), [])
  })

  t.test(
    'rtcm-tap serves clients over TCP through a reload, and uses what the runtime has for it',
    { skip: gateOnly },
    async (t) => {
      t.match(await plugins('load', './examples/rtcm-tap'), { code: 0, stdout: /^rtcm-tap +running/m })
      const port = await freeTcpPort()
      t.match(await station.post('/change', `{"tap-port": ${port}}`), { text: /"ok"/ })
      const rover = connectTcp(port, '127.0.0.1')
      t.teardown(() => rover.destroy())
      let frames = 0
      const framer = new Framer({
        onFrame: ({ kind }) => {
          if (kind === 'rtcm') frames += 1
        },
      })
      rover.on('data', (bytes) => framer.push(bytes, 0))
      const more = async (what: string) => {
        const before = frames
        await until(() => frames > before + 5, what)
      }
      await more('frames over TCP')
      t.match(await plugins('reload', 'rtcm-tap'), { code: 0 })
      await more('frames on the same connection')
      t.notOk(rover.destroyed)
      t.match(await station.field('tap'), { port, clients: 1 })
      t.match(await station.post('/system?tap-disk'), { status: 200, text: /Filesystem|%/ })

      const posted: string[] = []
      const listener = createServer((request, response) => {
        request.on('data', (chunk) => void posted.push(String(chunk))).on('end', () => response.end())
      })
      await once(listener.listen(0, '127.0.0.1'), 'listening')
      t.teardown(() => listener.close())
      const url = `http://127.0.0.1:${(listener.address() as { port: number }).port}/gate`
      t.match(await station.post('/change', JSON.stringify({ 'tap-report-url': url })), { text: /"ok"/ })
      t.match(JSON.parse(posted.join('')), { station: 'SIM00001', open: true, reason: '' })
      t.match(await plugins('unload', 'rtcm-tap'), { code: 0 })
      await until(() => rover.destroyed || rover.readableEnded, 'the end of the connection')
    },
  )

  t.test('udp-rtcm-client prints each frame and keeps them', { skip: gateOnly }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-example-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const out = join(folder, 'frames.rtcm3')
    const address = `127.0.0.1:${station.udp}`
    const { output, ended } = program(t, [client, address, '--frames', '10', '--out', out, '--name', 'Bob'])
    t.equal(await ended, 0, output.stderr)
    const types = [...output.stdout.matchAll(/^(\d+) +\d+ bytes {2}station 0$/gm)].map(([, type]) => Number(type))
    t.equal(types.length, 10)
    t.equal(types[0], 1005, 'the newest reference comes first')
    t.ok(types.includes(1074))
    t.match(output.stdout, /^10 frames, 0 invalid datagrams$/m)

    const kept: number[] = []
    const framer = new Framer({
      onFrame: (frame) => {
        if (frame.kind === 'rtcm') kept.push(frame.type)
      },
    })
    framer.push(readFileSync(out), 0)
    framer.flush()
    t.strictSame(kept, types)
    type Info = { gnss: { rtcm: { subscribers: { via: string }[] } } }
    const { subscribers } = (await station.info<Info>()).gnss.rtcm
    t.match(
      subscribers.filter(({ via }) => via === 'udp'),
      [{ name: 'Bob', ip: '127.0.0.1' }],
    )
  })

  t.test('ntrip-rover feeds a receiver, and follows the base through losses', { skip: gateOnly }, async (t) => {
    const received: { socket: Socket; bytes: Buffer }[] = []
    const receiver = createTcpServer((socket) => {
      const line = { socket, bytes: Buffer.alloc(0) }
      received.push(line)
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        line.bytes = Buffer.concat([line.bytes, chunk])
      })
    })
    await once(receiver.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => receiver.close())
    type Caster = { port: number; rovers: { agent: string; quality: number; id: number }[] }
    const caster = async () => ((await station.info()) as { ntrip: { caster: Caster } }).ntrip.caster
    const url = `ntrip://127.0.0.1:${(await caster()).port}/SIM00001`
    const port = `tcp://127.0.0.1:${(receiver.address() as { port: number }).port}`
    const { output, ended, child } = program(t, [roverProgram, url, port, '--gga'])
    const types = (index: number) => {
      const found: number[] = []
      const framer = new Framer({ onFrame: (frame) => frame.kind === 'rtcm' && found.push(frame.type) })
      framer.push(received[index]?.bytes ?? Buffer.alloc(0), 0)
      return found
    }
    await until(() => types(0).includes(1074), 'observations at the receiver')
    t.equal(types(0)[0], 1005)
    received[0]?.socket.write(encodeNmea('GNGGA,120000.00,5200.0000,N,00400.0000,E,4,12,0.8,5.0,M,44.6,M,1.0,0001'))
    await until(async () => (await caster()).rovers.some(({ quality }) => quality === 4), 'its position at the caster')
    t.match((await caster()).rovers, [{ agent: 'NTRIP ntrip-rover/1.0' }])
    received[0]?.socket.destroy()
    await until(() => types(1).includes(1074), 'observations at the receiver that is back')
    await station.post(`/system?ntrip-kick=${(await caster()).rovers[0]?.id}`)
    await until(() => /next attempt in [456] s/.test(output.stdout), 'it says when it tries again')
    const before = types(1).length
    await until(() => types(1).length > before + 4, 'the stream again')
    child.kill('SIGINT')
    t.equal(await ended, 0, output.stderr)
    t.match(output.stdout, /\d+ messages$/m)
    for (const { socket } of received) socket.destroy()
  })

  t.test('three-stations puts the caster in front of three others', { skip: gateOnly }, async (t) => {
    const others = await Promise.all(
      ['NORTH', 'EAST', 'SOUTH'].map(async (mount) => ({ mount, ...(await simulator(t)) })),
    )
    type Caster = { port: number; bases: { mount: string; connected: boolean; frames: number }[] }
    const caster = async () => ((await station.info()) as { ntrip: { caster: Caster } }).ntrip.caster
    const { port } = await caster()
    const { ended, output } = program(t, [
      setUpProgram,
      ...[station.url, `127.0.0.1:${port}`],
      ...others.map(({ mount, url }) => `${mount}=${url}`),
    ])
    t.equal(await ended, 0, output.stderr)
    const names = others.map(({ mount }) => mount).sort()
    await until(
      async () => (await caster()).bases.filter(({ frames }) => frames > 5).length === 3,
      'three streams',
      60_000,
    )
    const table = await (await fetch(`http://127.0.0.1:${port}/`, { headers: { 'user-agent': 'Mozilla/5' } })).text()
    for (const name of names) t.match(table, new RegExp(`^STR;${name};.*;unverified(, .*)?\\r$`, 'm'))
    const rover = connectTcp(port, '127.0.0.1')
    t.teardown(() => rover.destroy())
    const types: number[] = []
    const framer = new Framer({ onFrame: (frame) => frame.kind === 'rtcm' && types.push(frame.type) })
    rover.on('data', (bytes) => framer.push(bytes, 0))
    rover.write('GET /EAST HTTP/1.0\r\nUser-Agent: NTRIP test\r\n\r\n')
    await until(() => types.includes(1074), 'the stream of EAST')
    t.equal(types[0], 1005)
    const refused = program(t, [setUpProgram, station.url, '127.0.0.1', `SIM00001=${others[0]?.url}`])
    t.equal(await refused.ended, 1)
    t.match(refused.output.stderr, /station itself/)
  })

  t.test('those that print go on no longer than somebody reads, without a word', { skip: gateOnly }, async (t) => {
    for (const args of [
      [client, `127.0.0.1:${station.udp}`],
      [observer, `mqtt://127.0.0.1:${station.mqtt}`],
    ]) {
      const { child, output, ended } = program(t, args)
      await once(child.stdout, 'data')
      child.stdout.destroy()
      t.equal(await ended, 0, args[0])
      t.equal(output.stderr, '')
    }
  })

  t.test('mqtt-observer tells who is online, what it does and which frames come', { skip: gateOnly }, async (t) => {
    const { output, child, ended } = program(t, [observer, `mqtt://127.0.0.1:${station.mqtt}`])
    await until(() => output.stdout.includes('drtk'), `RTCM over MQTT, not only ${output.stdout}${output.stderr}`)
    await until(() => output.stdout.includes('info'), 'a summary')
    t.match(output.stdout, /^SIM00001 {2}online {2}y online$/m)
    t.match(output.stdout, /^SIM00001 {2}info {4}version \S+, up \d+ s, ready, receiver fixed, 52\.\d+ 4\.\d+ /m)
    t.match(output.stdout, /^SIM00001 {2}drtk {4}1005 \(25\) .*1074 \(\d+\)/m)
    await station.end()
    await until(() => /^SIM00001 {2}online {2}q quit$/m.test(output.stdout), 'the end of the station')
    child.kill('SIGINT')
    t.equal(await ended, 0)
  })
})

t.test('udp-rtcm-client', async (t) => {
  t.test('ends with 1 when nobody listens on the port', async (t) => {
    const { output, ended } = program(t, [client, `127.0.0.1:${await freeUdpPort()}`])
    t.equal(await ended, 1)
    t.match(output.stderr, /ECONNREFUSED/)
  })

  t.test('tells a damaged frame from a good one', async (t) => {
    const { createSocket } = await import('node:dgram')
    const station = createSocket('udp4')
    t.teardown(() => station.close())
    station.bind(0, '127.0.0.1')
    await once(station, 'listening')
    const good = Buffer.from(arpFrame({ x: 3_925_405, y: 274_491, z: 5_002_842 }, 7))
    const bad = Buffer.from(good)
    bad[10] ^= 1
    station.on('message', (_datagram, { port }) => {
      for (const frame of [bad, good.subarray(0, 9), good]) station.send(frame, port, '127.0.0.1')
    })
    const { output, ended } = program(t, [client, `127.0.0.1:${station.address().port}`, '--frames', '1'])
    t.equal(await ended, 0)
    t.match(output.stdout, /^not a valid frame: 25 bytes$/m)
    t.match(output.stdout, /^1005 +25 bytes {2}station 7$/m)
    t.match(output.stdout, /^1 frames, 2 invalid datagrams$/m)
  })
})

t.test('mqtt-observer ends with 1 when no broker is there', async (t) => {
  const { output, ended } = program(t, [observer, `mqtt://127.0.0.1:${await freeTcpPort()}`])
  t.equal(await ended, 1)
  t.match(output.stderr, /ECONNREFUSED/)
})

for (const example of few(2, [client, setUpProgram, observer, roverProgram])) {
  t.test(`${example}: --help shows every option, a slip of the pen is exit code 2`, async (t) => {
    const asked = program(t, [example, '--help'])
    t.equal(await asked.ended, 0)
    const source = readFileSync(join(root, example), 'utf8')
    const options = [...source.matchAll(/^ {8}(\w+): \{ type:/gm)]
      .map(([, name]) => name)
      .filter((name) => name !== 'help')
    t.ok(options.length > 0)
    for (const name of options) t.match(asked.output.stdout, `--${name}`)
    const slip = program(t, [example, '--no-such-option'])
    t.equal(await slip.ended, 2)
    t.match(slip.output.stderr, /--help/)
  })
}

t.test('the example plugins stand start, stop and reload, and leave nothing behind', async (t) => {
  const clock = new ManualClock()
  const receiver = fakeReceiver(() => clock.monotonic())
  const surroundings = { clock, plugins: { 'fake-receiver': receiver.definition, rtcm: rtcm as never } }
  await t.resolves(conformance(thirdParty, {}, surroundings))
  await t.resolves(conformance(hello as never))
})

t.test('epoch-meter does not count the reference messages that a newcomer gets', async (t) => {
  const clock = new ManualClock()
  const receiver = fakeReceiver(() => clock.monotonic())
  const station = await createTestStation({
    clock,
    plugins: { 'fake-receiver': receiver.definition, rtcm: rtcm as never },
    // By its path: it imports a text.
    sources: { [thirdParty]: {} },
  })
  t.teardown(() => station.stop())
  receiver.emit(arpFrame({ x: 3_925_405, y: 274_491, z: 5_002_842 }))
  receiver.emit(msmFrame(1074, 1_000, false))
  t.match(station.field('epoch-meter'), { frames: 2, epochs: 1, poor: 1 })
  await clock.advance(1_000)
  await station.reload('epoch-meter')
  t.match(station.field('epoch-meter'), { frames: 2, epochs: 1, poor: 1 })
})

t.test('replayed-receiver: the faults of its script reach whoever decides by them', { skip: gateOnly }, async (t) => {
  const clock = new ManualClock()
  const script = join('examples', 'replayed-receiver', 'receiver.json')
  const station = await createTestStation({
    clock,
    variant: { changes: { 'gnss-survey-mintime': 15, 'gnss-survey-accuracy': 5 } },
    sources: {
      ...{
        gnss: {},
        rtcm: {},
        integrity: { initial_s: 10 },
        'survey-in': {},
        verdict: {},
        system: {},
        record: {},
        'http-api': {},
      },
      leds: { folder: 'simulator' },
      './examples/replayed-receiver': { script },
    },
  })
  t.teardown(() => station.stop())
  const seconds = (count: number) => pass(clock, count * 1_000)
  const expected: Record<string, [code: string, error: string, metric: RegExp, recorded: object]> = {
    jammed: [
      'jamming',
      'gnss-jammed',
      /^rtk_base_gnss_interference_ratio\{band="L1"\} 0\.78/m,
      { air: { jammed: true, spoofed: false } },
    ],
    spoofed: [
      'spoofing',
      'gnss-spoofed',
      /^rtk_base_fitness\{fitness="degraded"\} 1$/m,
      { air: { jammed: false, spoofed: true } },
    ],
    open: ['antenna-line', 'antenna-open', /^rtk_base_antenna_faulty 1$/m, { antenna: { status: 'open' } }],
    short: ['antenna-line', 'antenna-short', /^rtk_base_antenna_faulty 1$/m, { antenna: { status: 'short' } }],
    silent: ['stalled', 'gnss-link', /^rtk_base_fitness\{fitness="unfit"\} 1$/m, { antenna: { status: 'unknown' } }],
  }
  const { faults } = JSON.parse(readFileSync(script, 'utf8')) as {
    faults: { fault: string; from_s: number; to_s: number }[]
  }
  t.strictSame(new Set(faults.map(({ fault }) => fault)), new Set(Object.keys(expected)), 'its script has them all')
  const now_s = () => clock.monotonic() / 1_000
  const verdict = () => station.field('base.state.verdict.code')
  const isRed = () => (station.field('base.leds.red.pattern') as { v: number }[])[0]?.v !== 0
  for (const { fault, from_s, to_s } of faults) {
    await seconds(from_s - 5 - now_s())
    t.strictSame([verdict(), isRed()], ['ok', false], `before it is ${fault}`)
    await seconds(to_s - 5 - now_s())
    const [code, error, metric, recorded] = expected[fault] ?? []
    t.equal(verdict(), code, `${fault}: the verdict`)
    t.match(station.field('base.state.errors'), [{ code: error }], `${fault}: the document`)
    t.ok(isRed(), `${fault}: the red LED`)
    t.match((await station.request('/metrics')).text, metric, `${fault}: the metrics`)
    const stands = Object.assign(
      {},
      ...(await station.request('/record')).text
        .trim()
        .split('\n')
        .flatMap((line) => {
          const { all, set } = JSON.parse(line) as { all?: object; set?: object }
          return [all, set]
        }),
    )
    t.match(stands, recorded, `${fault}: the record`)
  }
})

t.test(
  'no curve of the Grafana dashboard is empty; zeros have a sample from the start',
  { skip: gateOnly },
  async (t) => {
    // The receiver is configured and surveyed, as `npm start` does it: only then the antenna is watched.
    const station = await startStation((await ownPorts()).args)
    t.teardown(() => station.end())
    const { panels } = JSON.parse(readFileSync('examples/grafana/dashboard.json', 'utf8')) as {
      panels: { targets: { expr: string }[] }[]
    }
    const metrics = async () => (await fetch(`${station.url}/metrics`)).text()
    /** Every series that an expression names, as the names and values of labels that it must have. */
    const selected = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) =>
        [...expr.matchAll(/\b((?:rtk_base|process)_\w+)\{([^}]*)\}/g)].map(([, name = '', matchers = '']) => ({
          name,
          // The station is a label that Prometheus adds.
          labels: matchers.split(/,\s*/).filter((matcher) => !matcher.startsWith('instance=')),
        })),
      ),
    )
    t.ok(selected.length >= 15)
    const empty = async () => {
      const lines = (await metrics()).split('\n')
      return selected.filter(
        ({ name, labels }) =>
          !lines.some((line) => new RegExp(`^${name}[ {]`).test(line) && labels.every((label) => line.includes(label))),
      )
    }
    // One that is unknown for a moment, as on a busy machine, has no sample then.
    let left = selected
    const isFull = async () => {
      left = await empty()
      return left.length === 0
    }
    await until(isFull, 'samples of every curve', 150_000).catch(() => {})
    t.strictSame(left, [])
    const text = await metrics()
    const silent = [...text.matchAll(/^# TYPE (\S+) (counter|histogram)$/gm)].flatMap(([, name = '']) =>
      new RegExp(`^${name}(_count)?[ {]`, 'm').test(text) ? [] : [name],
    )
    // By operation and code: none failed.
    t.strictSame(silent, ['rtk_base_router_call_failures_total'])
    for (const line of [
      'rtk_base_ntrip_caster_rovers 0',
      'rtk_base_recovery_steps_total{step="modem"} 0',
      'rtk_base_plugin_failures_total{plugin="rtcm"} 0',
      'rtk_base_event_loop_stalls_total{plugin="rtcm"} 0',
    ])
      t.ok(text.split('\n').includes(line), line)
  },
)
