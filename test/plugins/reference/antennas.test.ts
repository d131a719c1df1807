/** The table of antennas: from an ANTEX file to the entries, over HTTP, with files that cannot be used, damage, and its use. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { AntennaTable, antennaIn, antennasWith } from '../../../plugins/reference/raw/antennas.js'
import raw from '../../../plugins/reference/raw/index.js'
import { packageRoot } from '../../../runtime/platform/release.js'
import { type AnyPlugin, definePlugin } from '../../../runtime/plugin.js'
import { type RawData, rawData } from '../../../schemas/services.js'
import { type Antenna, block, bytesOf, choke, header } from '../../gnss/support/antex-writer.js'
import { createTestStation, ManualClock, until } from '../../harness/index.js'
import { childEnv } from '../../harness/process.js'
import { setUp } from '../receivers/simulator-rig.js'

const satellite: Antenna = {
  ...{ model: 'BLOCK IIA', radome: '    ', serial: 'G01', method: '' },
  centres: [['G01', 279, 0, 2319.5]],
}
const one: Antenna = { ...choke, serial: '1440911917', centres: [['G01', 1, 2, 70]] }
const leica: Antenna = { ...choke, model: 'LEIAR25.R4', radome: 'LEIT' }
const antex = (antennas: readonly Antenna[], kind = 'A') => bytesOf([...header(kind), ...antennas.flatMap(block)])
const good = antex([satellite, leica, choke, one])

type Found = {
  entries: { type: string; serial?: string; up_mm: Record<string, number> }[]
  file?: { name: string; count: number; left_out: number; bytes: number; t: number }
  own?: { type: string; serial?: string }
  message?: string
}

async function rig(t: Test, changes: object = {}) {
  let archive: RawData | undefined
  const reader = definePlugin({
    ...{ name: 'reader', version: '1.0.0', api: '^1.0.0', needs: [rawData] },
    setup: () => undefined,
    start(ctx) {
      archive = ctx.services.use(rawData)
    },
  })
  const it = await setUp(t, { plugins: { raw, reader }, changes })
  const url = `${it.station.device.http?.url}/antennas`
  const ask = async (method: string, query = '', body?: Uint8Array | ReadableStream) => {
    const init = body ? { body, duplex: 'half', headers: { 'Content-Type': 'application/octet-stream' } } : {}
    const response = await fetch(`${url}${query}`, { method, ...init } as RequestInit)
    return { status: response.status, json: (await response.json()) as Found }
  }
  const folder = join(it.station.data, 'files', 'raw', 'antennas')
  return { ...it, ask, url, folder, archive: () => archive }
}

t.test('a file is uploaded, searched, replaced and deleted', async (t) => {
  const { ask, folder, station } = await rig(t)
  t.strictSame(await ask('GET'), { status: 200, json: { entries: [] } })
  const put = await ask('PUT', '?name=igs20.atx', good)
  t.equal(put.status, 200)
  t.match(put.json, { name: 'igs20.atx', count: 3, left_out: 0, bytes: good.length })
  t.equal(statSync(join(folder, 'table.jsonl')).mode & 0o777, 0o600)

  const all = (await ask('GET')).json
  t.strictSame(
    all.entries.map(({ serial, type }) => [type, serial]),
    [
      ['LEIAR25.R4      LEIT', undefined],
      ['TRM57971.00     NONE', undefined],
      ['TRM57971.00     NONE', '1440911917'],
    ],
    'no satellite; in order',
  )
  t.match(all, { file: { name: 'igs20.atx', count: 3 } })
  t.strictSame(all.entries[1]?.up_mm, { G01: 66.73, G02: 57.35, R01: 66.2, E05: 0.01 })
  const types = async (query: string) => (await ask('GET', query)).json.entries?.map(({ type }) => type)
  t.strictSame(await types('?search=leiar'), ['LEIAR25.R4      LEIT'])
  t.strictSame(await types('?search=trm57971.00%20none&limit=1'), ['TRM57971.00     NONE'], 'the gap does not count')
  t.strictSame(await types('?search=nothing'), [])
  for (const query of ['?limit=0', '?limit=101', `?search=${'x'.repeat(41)}`, '?limit=x'])
    t.equal((await ask('GET', query)).status, 400, query)

  t.equal(all.own, undefined, 'no antenna is set')
  const change = (values: object) => station.station.change({ ...values }, { source: 'http' })
  await change({ 'gnss-antenna-descriptor': 'TRM57971.00' })
  const own = (await ask('GET', '?search=leiar')).json.own
  t.match(own, { type: 'TRM57971.00     NONE' })
  t.equal(own?.serial, undefined)
  await change({ 'gnss-antenna-serial': '1440911917' })
  t.match((await ask('GET')).json.own, { serial: '1440911917' })
  await change({ 'gnss-antenna-serial': 'another' })
  t.equal((await ask('GET')).json.own?.serial, undefined, 'that of the type')

  await station.reload('raw')
  t.equal((await ask('GET')).json.entries.length, 3, 'it is kept')
  await ask('PUT', '?name=other.atx', antex([leica]))
  t.match((await ask('GET')).json, { file: { name: 'other.atx', count: 1 } })
  t.strictSame(await ask('DELETE'), { status: 200, json: { entries: [] } })
  t.strictSame((await ask('GET')).json, { entries: [] })
  t.strictSame(readdirSync(folder), [])
  t.equal((await ask('DELETE')).status, 200, 'nothing to delete')
})

t.test('a file that cannot be used is refused with a reason, and the table stays', async (t) => {
  const { ask, folder } = await rig(t)
  await ask('PUT', '?name=good.atx', good)
  const before = readFileSync(join(folder, 'table.jsonl'), 'utf8')
  const broken = block(choke).filter((text) => !text.includes('NORTH / EAST / UP'))
  for (const [name, body, message] of [
    ['an empty one', Buffer.from('\n'), /not ANTEX/],
    ['a foreign one', Buffer.from('<html>404</html>'), /not ANTEX/],
    ['bytes', Buffer.alloc(300_000, 0xff), /not ANTEX/],
    ['another version', Buffer.from(good.toString('latin1').replace('1.4', '2.0')), /not ANTEX/],
    ['a header alone', bytesOf(header()), /cut off/],
    ['one that is cut off', good.subarray(0, good.length - 200), /cut off/],
    ['one that is cut off in a label', good.subarray(0, good.length - 5), /cut off/],
    ['satellites', antex([satellite]), /no antenna of a receiver/],
    ['unreadable antennas', bytesOf([...header(), ...broken]), /no antenna of a receiver/],
    ['relative calibrations', antex([choke], 'R'), /relative/],
  ] as const) {
    const { json, status } = await ask('PUT', '', body)
    t.equal(status, 400, name)
    t.match(json.message, message, name)
    t.match(json.message, /the former table stays/)
  }
  t.equal((await ask('PUT')).status, 400, 'no body')

  await t.test('one that is too large', async (t) => {
    const part = Buffer.alloc(1 << 20, 0x61)
    let sent = 0
    const endless = new ReadableStream({
      pull(to) {
        sent += part.length
        to.enqueue(part)
      },
    })
    // The station may close the connection before the client has read the answer.
    const answer = await ask('PUT', '', endless).catch(() => undefined)
    if (answer) t.equal(answer.status, 413)
    t.ok(sent < 80 << 20, `${sent} bytes`)
  })

  const bodyOf = (text: string) => text.slice(text.indexOf('\n'))
  t.equal(bodyOf(readFileSync(join(folder, 'table.jsonl'), 'utf8')), bodyOf(before))
})

t.test('a client that sends a byte a minute does not keep others waiting', async (t) => {
  const clock = new ManualClock()
  const station = await createTestStation({ clock, plugins: { raw: raw as AnyPlugin } })
  t.teardown(() => station.stop())
  const url = `${station.device.http?.url}/antennas`
  const slow = request(url, { method: 'PUT', headers: { 'Content-Length': 1_000 } })
  const sent = once(slow, 'response').then(
    ([answer]) => (answer as IncomingMessage).statusCode,
    () => 'the connection is closed',
  )
  slow.write(' ')
  const deleted = async () => (await fetch(url, { method: 'DELETE' })).status
  await until(async () => (await deleted()) === 503, 'the upload has begun')
  for (let minute = 0; minute < 15; minute++) {
    slow.write(' ')
    await deleted()
    await clock.advance(60_000)
  }
  await until(async () => (await deleted()) === 200, 'its end')
  t.not(await sent, 200)
})

t.test('a client that goes away, and a reload, end an upload, and the table stays', async (t) => {
  const { ask, station, url } = await rig(t)
  await ask('PUT', '?name=kept.atx', good)
  const begin = async () => {
    const upload = request(url, { method: 'PUT', headers: { 'Content-Length': good.length } })
    const sent = once(upload, 'response').then(
      ([answer]) => (answer as IncomingMessage).statusCode,
      () => 'the connection is closed',
    )
    upload.write(good.subarray(0, 500))
    await until(async () => (await ask('PUT', '', good.subarray(0, 90))).status === 503, 'the upload has begun')
    return { sent, upload }
  }
  const isFree = () => until(async () => (await ask('PUT', '', good.subarray(0, 90))).status === 400, 'its end')

  const gone = await begin()
  t.equal((await ask('DELETE')).status, 503)
  gone.upload.destroy()
  await isFree()
  const reloaded = await begin()
  await station.reload('raw')
  await isFree()
  reloaded.upload.end(good.subarray(500))
  t.not(await reloaded.sent, 200)
  t.match((await ask('GET')).json, { file: { name: 'kept.atx' } })
})

t.test('antennas that contradict the format are left out and counted', async (t) => {
  const { ask } = await rig(t)
  const broken = block(choke).filter((text) => !text.includes('NORTH / EAST / UP'))
  const body = bytesOf([...header(), ...broken, ...block(leica)])
  t.match((await ask('PUT', '', body)).json, { count: 1, left_out: 1, name: 'ANTEX' })
})

t.test('damage of the table: there is none, and the log says so', async (t) => {
  const { ask, folder, station } = await rig(t)
  await ask('PUT', '', good)
  const path = join(folder, 'table.jsonl')
  const text = readFileSync(path, 'utf8')
  for (const damaged of ['', text.slice(0, 40), text.slice(0, -5), text.replace('66.73', '99.73'), 'null\n[]']) {
    writeFileSync(path, damaged)
    t.strictSame((await ask('GET')).json, { entries: [] }, damaged.slice(0, 20))
  }
  t.ok(station.lines.some(({ msg }) => /table of antennas is not used/.test(`${msg}`)))
  t.equal((await ask('PUT', '', good)).status, 200, 'a new one is used')
  t.equal((await ask('GET')).json.entries.length, 3)
})

t.test('the header of a RINEX file, and the archive for PPP, say whether the antenna is in the table', async (t) => {
  const descriptor = 'TRM57971.00     NONE'
  const it = await rig(t, { 'raw-en': 1, 'gnss-msm-interval': 30, 'gnss-antenna-descriptor': descriptor })
  await it.until(() => it.field('state.status') === 'fixed', 300)
  await it.seconds(120)
  const comment = /The table of antennas does not have this antenna\s+COMMENT/
  const rinex = async () => {
    const response = await fetch(`${it.station.device.http?.url}/rinex`)
    return gunzipSync(Buffer.from(await response.arrayBuffer())).toString()
  }
  const calibrated = async () => {
    const now_ms = it.clock.now()
    const found = await it.archive()?.rinex(now_ms - 3_600_000, now_ms, 'full')
    return found?.isCalibrated
  }
  t.notMatch(await rinex(), comment, 'no table: nothing is known')
  t.equal(await calibrated(), undefined)
  await it.ask('PUT', '', antex([leica]))
  t.match(await rinex(), comment)
  t.equal(await calibrated(), false)
  await it.ask('PUT', '', good)
  t.notMatch(await rinex(), comment)
  t.equal(await calibrated(), true)
})

t.test('a file of 30 MB needs little memory', async (t) => {
  const folder = t.testdir()
  const table = new AntennaTable(() => folder, Date.now, t.fail)
  const child = join(packageRoot(), 'build', 'test', 'harness', 'children', 'antex-reader.js')
  // The heap of a small machine.
  const args = ['--max-old-space-size=48', child, folder]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: childEnv() })
  const cost = JSON.parse(stdout) as { bytes: number; count: number; more_mb: number }
  t.comment(stdout)
  t.ok(cost.bytes > 30e6)
  t.equal(cost.count, 501)
  t.ok(cost.more_mb < 50, `${cost.more_mb} MB`)
  const antennas = await table.read()
  if (!antennas) return t.fail('no table')
  t.equal(antennaIn(antennas, 'TRM57971.00', '')?.up_mm.G01, 66.73)
  t.equal(antennasWith(antennas, 'OTHER', 20).length, 20)

  await t.test('too many antennas', async (t) => {
    async function* endless() {
      yield bytesOf(header())
      const centres = choke.centres.slice(0, 1)
      const lines = block({ ...choke, centres, serial: '00000' })
      const one = bytesOf([...lines.slice(0, 3), ...lines.slice(7, 9), ...lines.slice(-5, -4), ...lines.slice(-1)])
      const text = one.toString('latin1')
      // Some hundred at a time, as a file is read.
      for (let at = 0; at < 80_000; at += 400) {
        const some = Array.from({ length: 400 }, (_, n) => text.replace('00000', `${at + n}`.padStart(5, '0')))
        yield Buffer.from(some.join(''), 'latin1')
      }
    }
    await t.rejects(table.replace(Readable.from(endless()), 'x'), /too many antennas/)
    t.ok(existsSync(join(folder, 'table.jsonl')))
    t.equal((await table.read())?.file.name, 'large.atx')
  })
})
