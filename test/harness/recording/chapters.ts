/** The chapters of a recording. Each has a station of its own, so that one that changes says nothing of the others. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { captures } from '../captures.js'
import { settled } from '../drive.js'
import { RecordedStation, type Role } from './station.js'
import { digest, type Line, linesOf } from './text.js'

export type Chapter = (more: (title: string, lines: readonly Line[]) => void) => Promise<void>

/** What happens to a station, and how long it is left alone then. */
const life: readonly [title: string, commands: readonly string[], seconds: number][] = [
  ['just started', [], 0],
  ['survey', [], 8],
  ['fixed', [], 60],
  ['an hour of quiet, in short', [], 300],
  ['jammed', ['sim=jam 30'], 20],
  ['not jammed any more', ['sim=jam off'], 120],
  ['spoofed', ['sim=spoof 2'], 20],
  ['not spoofed any more', ['sim=spoof 1'], 180],
  ['antenna open', ['sim=antenna open'], 20],
  ['antenna connected', ['sim=antenna ok'], 180],
  ['short circuit', ['sim=antenna short'], 20],
  ['no short circuit', ['sim=antenna ok'], 180],
  ['few satellites', ['sim=satellites 3'], 30],
  ['all satellites', ['sim=satellites off'], 180],
  ['its 1005 is wrong', ['sim=wrong-1005 2'], 20],
  ['its 1005 is right', ['sim=wrong-1005 off'], 120],
  ['the receiver is silent', ['sim=silence on'], 30],
  ['the receiver speaks', ['sim=silence off'], 120],
  ['the receiver is unplugged', ['sim=unplug'], 30],
  ['the receiver is back', ['sim=replug'], 180],
  ['the receiver restarted', ['sim=restart'], 120],
  ['a key is refused', ['sim=nak CFG-TMODE-MODE', 'sim=restart'], 60],
  ['no key is refused', ['sim=nak off', 'sim=restart'], 180],
  ['moved by 30 cm', ['sim=move 0.3 0 0'], 60],
  ['confirmed', ['confirm-position'], 120],
  ['back, and confirmed', ['sim=move -0.3 0 0', 'confirm-position'], 180],
  ['a new survey', ['start-survey-in'], 120],
]

/** Looked at in every scene. */
const views = [
  '/get-info',
  '/heart-beat',
  '/get-base-info',
  '/alerts',
  '/positions',
  '/metrics',
  '/events',
  '/record/timeline',
]

const lived: Chapter = async (more) => {
  const recorded = await RecordedStation.start()
  const broker = await recorded.listen()
  for (const [title, commands, seconds] of life) {
    for (const command of commands) more(`${title}: ${command}`, await recorded.command(command))
    await recorded.seconds(seconds)
    for (const view of views) more(`${title}: ${view}`, await recorded.ask('GET', view))
    more(`${title}: /get-info of a viewer`, await recorded.ask('GET', '/get-info', { role: 'viewer' }))
    more(`${title}: why-no-rtcm`, await recorded.command('why-no-rtcm'))
    more(`${title}: mqtt`, broker.take())
  }
  for (const [name, plugin] of [
    ['mqtt-link', 'reload'],
    ['rtcm', 'reload'],
    ['survey-in', 'unload'],
  ] as const) {
    await recorded.station[plugin](name)
    await recorded.seconds(20)
    more(`${plugin} ${name}: /get-info`, await recorded.ask('GET', '/get-info'))
    more(`${plugin} ${name}: mqtt`, broker.take())
  }
  await broker.close()
  more('the log', logged(recorded))
  await recorded.stop()
}

/** Messages of the log, without those below `info`. */
const logged = ({ station }: RecordedStation): Line[] =>
  station.lines
    .filter(({ level }) => level >= 30)
    .map(({ plugin, level, msg }) => [`${plugin ?? 'kernel'} ${level}`, msg])

/** A value of every kind, good and bad. */
const oddValues: readonly unknown[] = [
  null,
  '',
  ' ',
  'x',
  'ü€',
  'a'.repeat(3_000),
  -1,
  0,
  1,
  1.5,
  1e12,
  true,
  false,
  {},
  [],
  [null],
  '1',
  '\u0000',
]

const changed: Chapter = async (more) => {
  const recorded = await RecordedStation.start()
  const { station } = recorded.station
  await recorded.seconds(60)
  const change = async (body: string) =>
    recorded.ask('POST', '/change', { headers: { 'content-type': 'application/json' }, body })
  for (const { name, ...entry } of station.parameters()) more(`parameter ${name}`, linesOf(entry))
  for (const { name, value } of station.parameters()) {
    for (const odd of oddValues) {
      const text = JSON.stringify(odd)
      more(`${name}: ${text.slice(0, 40)}`, await change(JSON.stringify({ [name]: odd })))
    }
    more(`${name}: as it was`, await change(JSON.stringify({ [name]: value ?? null })))
    await recorded.seconds(2)
  }
  for (const body of [
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{"a":1',
    '\ufeff{}',
    '{}',
    '{"no-such":1}',
    '{"upd-en":true}',
    '{"udp-en":true,"udp-en":false}',
    '{"__proto__":{"x":1}}',
    `{"station-name":"${'x'.repeat(70_000)}"}`,
    '['.repeat(5_000),
  ])
    more(`body ${body.slice(0, 60)}`, await change(body))
  more('afterwards: /get-info', await recorded.ask('GET', '/get-info'))
  more('afterwards: /parameters', await recorded.ask('GET', '/parameters'))
  await recorded.stop()
}

const commanded: Chapter = async (more) => {
  const recorded = await RecordedStation.start()
  const { station } = recorded.station
  await recorded.seconds(60)
  for (const { name, ...entry } of station.actions()) more(`action ${name}`, linesOf(entry))
  const system = (text: string, role: Role = 'operator') =>
    recorded.ask('POST', `/system?${encodeURIComponent(text)}`, { role })
  // What ends the life of the station comes last.
  const order = (name: string) => Number(/^(reboot|factory|shutdown)$/.test(name))
  const names = station
    .actions()
    .map(({ name }) => name)
    .sort((a, b) => order(a) - order(b) || a.localeCompare(b))
  for (const name of names) {
    for (const value of ['=', '=x', '=1', '=-1 ü', `=${'y'.repeat(2_000)}`, ''])
      more(`${name}${value.slice(0, 20)}`, await system(`${name}${value}`))
    more(`${name} by a viewer`, await system(name, 'viewer'))
    await recorded.seconds(5)
  }
  for (const text of ['', '=', 'no-such', 'rebot', 'REBOOT', 'log', '%', 'a b'])
    more(`unknown: ${text}`, await system(text))
  more('restarts of the machine', [['count', String(recorded.station.restarts())]])
  more('the log', logged(recorded))
  await recorded.stop()
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']

const requested: Chapter = async (more) => {
  const recorded = await RecordedStation.start()
  await recorded.seconds(90)
  const description = await recorded.ask('GET', '/openapi.json')
  more('/openapi.json', description)
  more('/asyncapi.json', await recorded.ask('GET', '/asyncapi.json'))
  const paths = [
    ...new Set(description.flatMap(([name]) => /^body\.paths\.(\/[^.]*(?:\.(?:json|js))?)\./.exec(name)?.[1] ?? [])),
  ]
  for (const path of [
    ...paths,
    '/no-such',
    '/',
    '/generate_204',
    '/%',
    '/a/../get-info',
    '//get-info',
    '/GET-INFO',
    '/get-info/',
  ])
    for (const method of methods) {
      const url = path.replaceAll(/\{\w+\}/g, 'x')
      // A report has bytes of this machine, and the descriptions were told.
      if (/openapi|asyncapi/.test(path) && method === 'GET') continue
      for (const role of ['operator', 'viewer', 'nobody'] as const) {
        if (method !== 'GET' && role === 'viewer') continue
        more(`${method} ${path} by ${role}`, await recorded.ask(method, url, { role }))
      }
      if (method === 'POST' || method === 'PUT') {
        const headers = { 'content-type': 'application/json' }
        for (const body of ['{', '{}', '[]', '{"x":1}'])
          more(`${method} ${path} ${body}`, await recorded.ask(method, url, { headers, body }))
        more(
          `${method} ${path} as text`,
          await recorded.ask(method, url, { headers: { 'content-type': 'text/plain' }, body: 'x' }),
        )
        more(
          `${method} ${path} too long`,
          await recorded.ask(method, url, { headers, body: Buffer.alloc(3_000_000, 0x20) }),
        )
      }
    }
  for (const headers of [
    { host: 'evil.example' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'accept-encoding': 'gzip' },
    { range: 'bytes=0-9' },
    { 'if-none-match': '*' },
    { upgrade: 'websocket', connection: 'upgrade' },
  ])
    more(`GET /get-info with ${JSON.stringify(headers)}`, await recorded.ask('GET', '/get-info', { headers }))
  for (const mask of ['gnss', 'gnss.state', 'x', 'gnss,base', '', '*', 'gnss.state.', 'a'.repeat(2_000)])
    more(`mask ${mask.slice(0, 30)}`, await recorded.ask('GET', `/get-info?mask=${encodeURIComponent(mask)}`))
  await recorded.stop()
}

const overMqtt: Chapter = async (more) => {
  const recorded = await RecordedStation.start()
  await recorded.seconds(60)
  const broker = await recorded.listen()
  await recorded.seconds(5)
  more('retained', broker.take())
  const topics = (await recorded.ask('GET', '/asyncapi.json')).flatMap(([name, value]) =>
    /\.address$/.test(name) ? [(JSON.parse(value) as string).replaceAll('{SN}', recorded.station.station.serial)] : [],
  )
  for (const topic of topics.sort()) {
    for (const text of [
      '',
      '{',
      '{}',
      '[]',
      'null',
      'log=d',
      '{"udp-en":true}',
      '{"no-such":1}',
      '{"id":1,"cmd":"log=i"}',
      'x'.repeat(20_000),
    ]) {
      await broker.publish(topic, text)
      await recorded.seconds(3)
      more(`${topic} ${text.slice(0, 30)}`, broker.take())
    }
  }
  await broker.close()
  await recorded.stop()
}

/** The RTCM that leaves the station for the bytes of each capture, by UDP and at the caster. */
const replayed: Chapter = async (more) => {
  for (const { name } of captures()) {
    const port = `replay:${process.env.RTK_BASE_CAPTURES ?? '../shared/captures'}/${name}`
    const recorded = await RecordedStation.start({
      plugins: { 'simulated-receiver': null, 'gnss-zed': { port, configure: false }, integrity: { initial_s: 10 } },
    })
    const rover = createSocket('udp4')
    rover.bind(0, '127.0.0.1')
    await once(rover, 'listening')
    const heard: Buffer[] = []
    rover.on('message', (bytes) => heard.push(bytes))
    for (let i = 0; i < 12; i++) {
      rover.send('rover', recorded.ports.udp, '127.0.0.1')
      await settled()
      await recorded.seconds(5)
    }
    more(`${name}: RTCM`, heard.map(rtcmLine))
    more(`${name}: /get-info`, await recorded.ask('GET', '/get-info'))
    rover.close()
    await recorded.stop()
  }
}

/** What each make of receiver is told to do. */
const configured: Chapter = async (more) => {
  for (const make of ['simulator', 'x20p', 'um980', 'lg290p', 'mosaic']) {
    const recorded = await RecordedStation.start({}, make)
    const wrote = () => recorded.takeWritten().filter(([name]) => !/^(GET|POST|PUT|DELETE|body)/.test(name))
    const scene = async (title: string, seconds: number) => {
      await recorded.seconds(seconds)
      more(`${make}, ${title}`, wrote())
    }
    await scene('the start and the survey', 300)
    for (const [name, value] of [
      ['gnss-elevation-mask', 12],
      ['gnss-msm', 4],
      ['gnss-msm-interval', 2],
      ['gnss-reference-interval', 5],
      ['gnss-station-id', 77],
    ] as const) {
      const body = JSON.stringify({ [name]: value })
      const headers = { 'content-type': 'application/json' }
      more(`${make}, ${name}: the answer`, await recorded.ask('POST', '/change', { headers, body }))
      await scene(name, 30)
    }
    for (const command of ['restart', 'unplug', 'replug', 'silence on', 'silence off', 'wrong-1005 2']) {
      more(`${make}, ${command}: the answer`, await recorded.command(`sim=${command}`))
      await scene(command, 90)
    }
    for (const command of ['reboot-zed', 'start-survey-in', 'confirm-position']) {
      more(`${make}, ${command}: the answer`, await recorded.command(command))
      await scene(command, 120)
    }
    await recorded.stop()
  }
}

/** What each generation of the router is asked, by each of its interfaces. */
const routed: Chapter = async (more) => {
  for (const [title, options] of [
    ['legacy', { generation: 'legacy' }],
    ['7 by ubus', {}],
    ['7 by REST', { transports: ['rest'] }],
    ['7.20 by REST', { transports: ['rest'], firmware: 'RUTX_R_00.07.20' }],
  ] as const) {
    const recorded = await RecordedStation.start({ plugins: { 'simulated-router': options } })
    const asked = () => recorded.takeWritten().filter(([name]) => /^(GET|POST|PUT|DELETE|body)/.test(name))
    await recorded.seconds(120)
    more(`${title}, the start`, asked())
    const system = async (text: string, seconds: number) => {
      more(`${title}, ${text}: the answer`, await recorded.command(text))
      await recorded.seconds(seconds)
      more(`${title}, ${text}`, asked())
    }
    for (const control of [
      'expire',
      'signal -120',
      'signal -70',
      'sim pin',
      'sim ready',
      'reboot 30',
      'unplug',
      'replug',
    ])
      await system(`sim-router=${control}`, 120)
    const { station } = recorded.station
    for (const { name } of station.actions())
      if (/^(mobile-scan|teltonika)$|router(-qr|-certificate)?$|modem$/.test(name)) await system(name, 300)
    for (const { name, value } of station.parameters())
      if (/^(mob|mobile|rtr)-/.test(name)) {
        const headers = { 'content-type': 'application/json' }
        for (const given of [value === 1 ? 0 : value === 0 ? 1 : 'other', value]) {
          const body = JSON.stringify({ [name]: given })
          more(`${title}, ${body}: the answer`, await recorded.ask('POST', '/change', { headers, body }))
          await recorded.seconds(60)
          more(`${title}, ${body}`, asked())
        }
      }
    more(`${title}: /get-info`, await recorded.ask('GET', '/get-info?mask=router,modem'))
    await recorded.stop()
  }
}

/** A datagram is one frame. */
const rtcmLine = (frame: Buffer): Line => [
  frame.length > 4 && frame[0] === 0xd3 ? String((frame.readUInt16BE(3) >> 4) & 0xfff) : 'no RTCM',
  `${frame.length} bytes, ${digest(frame)}`,
]

/** By the name of their file. */
export const chapters: Readonly<Record<string, Chapter>> = {
  life: lived,
  changes: changed,
  commands: commanded,
  http: requested,
  mqtt: overMqtt,
  rtcm: replayed,
  receivers: configured,
  router: routed,
}
