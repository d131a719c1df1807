/** The report for support: whole, small, and without a secret, made by the running service and without one. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { lastWeek } from '../../plugins/device/record/report.js'
import { systemFacts } from '../../runtime/kernel/report/facts.js'
import { largestReport_bytes, makeReport } from '../../runtime/kernel/report/index.js'
import { Secrets } from '../../runtime/kernel/report/secrets.js'
import { paddingOf, readUstarHeader } from '../../runtime/platform/files/ustar.js'
import { readRelease } from '../../runtime/platform/release.js'
import { readVariant } from '../../runtime/tools/cli/variant-file.js'
import { until } from '../harness/manual-clock.js'
import { noPeer } from '../harness/peers/peers.js'
import { openPty } from '../harness/peers/pty.js'
import { rtkBase, startStation } from '../harness/process.js'
import { gateOnly } from '../harness/sample.js'

function unpack(archive: Buffer): Map<string, string> {
  const bytes = gunzipSync(archive)
  const files = new Map<string, string>()
  for (let at = 0; ; ) {
    const head = readUstarHeader(bytes.subarray(at, at + 512))
    if (!head) return files
    files.set(head.path.replace('rtk-base-report/', ''), bytes.toString('utf8', at + 512, at + 512 + head.size))
    at += 512 + head.size + paddingOf(head.size)
  }
}

/** Every secret that a station can be given. */
const secret = (name: string) => `Sec-ret"${name}`
const settings = {
  'rtr-pswd': secret('rtr'),
  'wap-pswd': secret('wap'),
  'sta-ssid': 'uplink',
  'sta-pswd': secret('sta'),
  // Typed into the wrong field: found by its value alone.
  'mob-user': secret('rtr'),
  'mob-pswd': secret('mob'),
  'ntrip-client': { host: '127.0.0.1', port: 9, mount: 'NEAR', user: 'me', password: secret('client') },
  neighbours: [{ host: '127.0.0.1', port: 9, mount: 'NEXT', password: secret('neighbour') }],
  'ntrip-server': [{ host: '127.0.0.1', port: 9, mount: 'ROOF', password: secret('push') }],
}
const token = 'operator-token-of-the-test'
/** Of the variant's options. */
const inOptions = { defaults: [{ user: 'admin', pswd: secret('default') }] }

const leaks = (t: Test, files: Map<string, string>) => {
  for (const [path, text] of files) {
    for (const one of [
      ...Object.values(settings).flat(),
      secret('vault'),
      secret('login'),
      secret('nvs'),
      secret('default'),
      token,
    ]) {
      const value = typeof one === 'object' ? one.password : one
      if (value === 'uplink') continue
      for (const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
        t.notOk(text.includes(form), `${value} in ${path}`)
    }
  }
}

t.test('a password is hidden whatever it is, a common word only where it is one', (t) => {
  const secrets = new Secrets()
  secrets.addProtected({
    since: '0.2.0',
    apn: { auth: 'none', pswd: 'hello', pin: '4711' },
    pair: { user: 'admin', password: 'none-such' },
  })
  secrets.addProtected({ hash: 'scrypt-abcdefgh' })
  const text = '0.2.0 none admin hello 4711 none-such scrypt-abcdefgh'
  t.equal(secrets.hide(text), '0.2.0 none admin … … … …')
  secrets.addNamed({ pswd: 'none' })
  t.equal(secrets.hide(text), '0.2.0 … admin … … … …', 'a password that is a common word')
  secrets.addNamed({ database: 'postgres://fleet:geh@eim@db:5432/fleet', broker: 'mqtts://broker:8883' })
  t.equal(secrets.hide('fleet geh@eim db:5432 broker:8883'), 'fleet … db:5432 broker:8883', 'that of an address')
  t.end()
})

t.test('the report for support', { skip: gateOnly }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-report-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  const { variant } = readVariant('simulator')
  const file = join(folder, 'variant.json')
  const http = { ...(variant.http as object), token }
  const router = { ...(variant.plugins['teltonika-router'] as object), ...inOptions }
  const plugins = { ...variant.plugins, 'teltonika-router': router }
  writeFileSync(file, JSON.stringify({ ...variant, http, plugins }))
  const ports = ['--set', 'mqtt-broker.port=0', '--change', 'ntrip-caster-port=0']
  const station = await startStation([file, ...ports, '--change', 'udp-port=2209'], { data })
  const headers = { authorization: `Bearer ${token}` }
  const post = async (path: string, body?: string) =>
    (await fetch(`${station.url}${path}`, { method: 'POST', headers, ...(body !== undefined && { body }) })).text()
  t.match(JSON.parse(await post('/change', JSON.stringify(settings))), { result: 'ok', leftover: {} })
  await post('/system?teltonika', `set_pswd ${secret('vault')} --protected`)
  await post('/system?ntrip-user', `rover:${secret('login')}`)
  await post('/nvs', JSON.stringify({ note: secret('nvs') }))

  await t.test('is for operators, and has everything', async (t) => {
    t.equal((await fetch(`${station.url}/report`)).status, 401)
    const answer = await fetch(`${station.url}/report`, { headers })
    t.match(answer.headers.get('content-disposition'), /rtk-base-report-SIM00001\.tar\.gz/)
    const archive = Buffer.from(await answer.arrayBuffer())
    t.ok(archive.length < largestReport_bytes)
    const files = unpack(archive)
    for (const name of ['about', 'system', 'settings', 'document', 'plugins', 'run'])
      t.ok(JSON.parse(files.get(`${name}.json`) ?? ''), name)
    t.match(JSON.parse(files.get('about.json') ?? ''), { running: true, variant: { name: 'simulator' }, hidden: /…/ })
    t.match(JSON.parse(files.get('settings.json') ?? ''), {
      config: { 'sta-ssid': 'uplink', 'udp-port': 2209, 'wap-pswd': /^…/ },
    })
    t.match(JSON.parse(files.get('system.json') ?? ''), { node: process.version, openBy: { programs: [] } })
    t.match(files.get('log.jsonl'), /"plugin":"/)
    t.match(files.get('record.jsonl'), /"run":/)
    leaks(t, files)
  })

  await t.test('keeps the version and states that a protected value happens to equal', async (t) => {
    const answer = await fetch(`${station.url}/report`, { headers })
    const files = unpack(Buffer.from(await answer.arrayBuffer()))
    const document = JSON.parse(files.get('document.json') ?? '')
    t.match(JSON.parse(files.get('about.json') ?? ''), { version: readRelease().version })
    t.match(document.esp, { version: readRelease().version })
    t.match(document.gnss.state.rf, { spoofing: /^(none|unknown)$/ })
  })

  await t.test('is made by the command as well, while the service runs and when it does not', async (t) => {
    const out = join(folder, 'made.tar.gz')
    t.match(await rtkBase(['report', '--data', data, '--out', out]), { code: 0, stdout: /made\.tar\.gz {2}\d+ kB/ })
    const running = unpack(readFileSync(out))
    t.match(JSON.parse(running.get('about.json') ?? ''), { running: true })
    leaks(t, running)
    await station.end('SIGTERM')
    t.match(await rtkBase(['report', '--data', data, '--out', out]), { code: 0 })
    const stopped = unpack(readFileSync(out))
    t.match(JSON.parse(stopped.get('about.json') ?? ''), { running: false })
    t.match(JSON.parse(stopped.get('settings.json') ?? ''), { config: { 'udp-port': 2209, 'sta-ssid': /^… \(6/ } })
    t.match(stopped.get('log.jsonl'), /"plugin":"/)
    t.match(stopped.get('record.jsonl'), /"stop":/)
    leaks(t, stopped)
    t.match(await rtkBase(['report', '--data', join(folder, 'none')]), { code: 2, stderr: /no such data folder/ })
  })
})

t.test('names another program that has a serial port open', { skip: noPeer('socat') }, async (t) => {
  const pty = await openPty()
  t.teardown(() => pty.close())
  const port = realpathSync(pty.near)
  const reader = spawn('cat', [pty.near], { stdio: 'ignore' })
  t.teardown(() => void reader.kill('SIGKILL'))
  const linkOf = (path: string) => {
    try {
      return readlinkSync(path)
    } catch {
      return ''
    }
  }
  const fds = `/proc/${reader.pid}/fd`
  await until(() => readdirSync(fds).some((fd) => linkOf(join(fds, fd)) === port), 'it has the port')
  const { openBy } = await systemFacts(tmpdir())
  const { programs } = openBy as { programs: { pid: number }[] }
  t.strictSame(
    programs.filter(({ pid }) => pid === reader.pid),
    [{ pid: reader.pid, program: 'cat', port }],
  )
})

t.test('has 7 days of the record, or the newest of them that 5 MB hold', async (t) => {
  const newest_ms = Date.UTC(2026, 10, 21)
  const day_ms = 86_400_000
  /** The times that are in a report on 8 days of a record with an entry every `step_ms`. */
  const timesIn = async (step_ms: number, noise: () => string) => {
    const data = t.testdir()
    const folder = join(data, 'files', 'record', 'main')
    mkdirSync(folder, { recursive: true })
    const lines = Array.from({ length: 1 + (8 * day_ms) / step_ms }, (_, index) => {
      const t_ms = newest_ms - 8 * day_ms + index * step_ms
      return `00000000 ${JSON.stringify({ t: t_ms, noise: noise() })}\n`
    })
    const eachFile = 1_000
    for (let at = 0; at < lines.length; at += eachFile)
      writeFileSync(join(folder, `${10_000_000 + at / eachFile}.record`), lines.slice(at, at + eachFile).join(''))
    const record = { name: 'record', report: async () => ({ 'record.jsonl': await lastWeek(folder) }) }
    const packed = await makeReport({ data, store: undefined, plugins: [record], live: undefined, version: '1.0.0' })
    const text = unpack(packed).get('record.jsonl') ?? ''
    const times = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { t: number }).t)
    return { size: packed.length, times }
  }
  const hour_ms = 3_600_000
  const quiet = await timesIn(hour_ms, () => '')
  t.equal(quiet.times[0], newest_ms - 7 * day_ms)
  t.equal(quiet.times.at(-1), newest_ms)
  t.equal(quiet.times.length, 7 * 24 + 1)
  const noisy = await timesIn(15_000, () => randomBytes(300).toString('base64'))
  t.ok(noisy.size <= 5_242_880, `${noisy.size} bytes`)
  t.ok(noisy.size > 2_500_000, `${noisy.size} bytes: not less than there is room for`)
  const [first = 0] = noisy.times
  t.ok(first > newest_ms - 7 * day_ms, 'the oldest ones are left out')
  t.strictSame(
    noisy.times,
    Array.from({ length: noisy.times.length }, (_, index) => newest_ms - (noisy.times.length - 1 - index) * 15_000),
    'and none of the newer ones',
  )
})

t.test("a plugin's part is its own: it replaces none of the runtime's, and fails alone", async (t) => {
  const plugins = [
    { name: 'lamp', report: () => ({ 'lamp.jsonl': '{"lit":true}\n', 'about.json': 'mine', '../x.txt': 'up' }) },
    { name: 'wild', report: () => Promise.reject(new Error('boom')) },
  ]
  const files = unpack(
    await makeReport({ data: t.testdir(), store: undefined, plugins, live: undefined, version: '1' }),
  )
  t.equal(files.get('lamp.jsonl'), '{"lit":true}\n')
  t.match(JSON.parse(files.get('about.json') ?? ''), { version: '1' })
  t.equal(files.get('wild.txt'), 'not made: boom\n')
  t.same(
    [...files.keys()].filter((name) => name.includes('x.txt')),
    [],
  )
})
