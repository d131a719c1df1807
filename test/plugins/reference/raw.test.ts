/** The raw data archive: on disk, within its bounds, through power cuts and full disks, and as RINEX. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { ManualClock, sample } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Archive } from '../../../plugins/reference/raw/archive.js'
import { type ArchiveBounds, folderOn } from '../../../plugins/reference/raw/bounds.js'
import raw from '../../../plugins/reference/raw/index.js'
import { decodeMsm, decodeRtcm, encodeMsm, Framer, isMsm } from '../../../runtime/lib/gnss/index.js'
import { readRaw, spanTrouble } from '../../../runtime/lib/rinex/index.js'
import { Random } from '../../../runtime/lib/simulation/random.js'
import { packageRoot } from '../../../runtime/platform/release.js'
import { rinexCommand } from '../../../runtime/tools/cli/rinex.js'
import { readObservations } from '../../gnss/support/rinex-reader.js'
import { settled } from '../../harness/drive.js'
import { setUp } from '../receivers/simulator-rig.js'

const hour_ms = 3_600_000
/** 2026-11-22T10:00Z. */
const morning = Date.UTC(2026, 10, 22, 10)

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-raw-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function archiveIn(path: string, bounds: Partial<ArchiveBounds> = {}) {
  const clock = new ManualClock()
  const troubles: (string | undefined)[] = []
  const disk = { trouble: '' }
  const at = async () => {
    if (disk.trouble) throw new Error(disk.trouble)
    return path
  }
  const all = { size_bytes: 1e9, free_bytes: 0, days: 30, ...bounds }
  const deps = { path: at, bounds: all, clock, onTrouble: (text: string | undefined) => troubles.push(text) }
  return { archive: new Archive(deps), clock, troubles, disk }
}

async function bytesOf(archive: Archive, from_ms = 0, to_ms = Infinity): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const { bytes } of archive.read(from_ms, to_ms)) parts.push(bytes)
  return Buffer.concat(parts).toString()
}

t.test('an hour is a file, compressed when it is over', async (t) => {
  const path = folder(t)
  const { archive } = archiveIn(path)
  archive.append(Buffer.from('one '), morning)
  await archive.flush()
  t.strictSame(readdirSync(path), ['20261122T10.rtcm3'])
  t.equal(statSync(join(path, '20261122T10.rtcm3')).mode & 0o777, 0o600)
  archive.append(Buffer.from('two '), morning + hour_ms)
  await archive.flush()
  t.strictSame(readdirSync(path), ['20261122T10.rtcm3.gz', '20261122T10.rtcm3.json', '20261122T11.rtcm3'])
  t.equal(statSync(join(path, '20261122T10.rtcm3.gz')).mode & 0o777, 0o600)
  t.equal(await bytesOf(archive), 'one two ')
  t.equal(await bytesOf(archive, morning + hour_ms), 'two ')
  await archive.close()

  t.test('after a restart the hour continues, and what is older is closed', async (t) => {
    const { archive } = archiveIn(path)
    writeFileSync(join(path, '20261122T09.rtcm3'), 'torn')
    writeFileSync(join(path, '20261122T08.rtcm3.gz.part'), 'half of it')
    await archive.tidy(morning + hour_ms)
    archive.append(Buffer.from('three'), morning + hour_ms)
    t.equal(await bytesOf(archive), 'tornone two three')
    t.notOk(readdirSync(path).some((name) => name.endsWith('.part')))
    await archive.close()
  })
  t.test('a clock that is set back begins another file of the hour', async (t) => {
    const { archive } = archiveIn(path)
    archive.append(Buffer.from('again'), morning)
    await archive.flush()
    t.ok(readdirSync(path).includes('20261122T10-1.rtcm3'))
    t.equal(await bytesOf(archive, morning, morning + hour_ms), 'one again')
    await archive.close()
  })
  t.test('a compressed file that is cut off gives what is before the cut', async (t) => {
    const noise = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * i * 31 + i) % 251))
    writeFileSync(join(path, '20261122T12.rtcm3.gz'), gzipSync(noise).subarray(0, 3_000))
    const { archive } = archiveIn(path)
    t.ok((await bytesOf(archive, morning + 2 * hour_ms)).length >= 0)
    t.equal((await bytesOf(archive)).slice(0, 4), 'torn', 'and the other files are read')
  })
})

t.test('bounds: size, age, and the room that is left on the disk', async (t) => {
  const path = folder(t)
  const many = (archive: Archive, hours: number) =>
    Array.from({ length: hours }, (_, hour) => hour).reduce(async (before, hour) => {
      await before
      archive.append(randomBytes(4_000), morning + hour * hour_ms)
      await archive.flush()
    }, Promise.resolve())
  const { archive } = archiveIn(path, { size_bytes: 20_000 })
  await many(archive, 12)
  const kept = await archive.list()
  t.ok(kept.length >= 3 && kept.length <= 6, `${kept.length} files`)
  t.ok(kept.reduce((sum, { bytes }) => sum + bytes, 0) < 28_000)
  t.equal(kept.at(-1)?.hour_ms, morning + 11 * hour_ms, 'the newest')
  await archive.close()

  const old = archiveIn(path, { days: 1 }).archive
  await old.tidy(morning + 48 * hour_ms)
  t.strictSame(await old.list(), [], 'older than a day')

  const { archive: short, troubles } = archiveIn(path, { free_bytes: 1e18 })
  short.append(Buffer.from('no room'), morning)
  await short.flush()
  short.append(Buffer.from('more'), morning)
  await short.close()
  t.match(troubles.at(-1), /raw.free_mb is \d+, and the disk has \d+ MB in all/)
  t.equal(short.lost_bytes, 11)
  t.strictSame(readdirSync(path), [])
})

t.test('a disk that fails is left alone for 30 s, and delays nothing', async (t) => {
  const path = folder(t)
  const { archive, clock, disk, troubles } = archiveIn(path)
  disk.trouble = 'EIO: i/o error'
  for (let i = 0; i < 100; i++) archive.append(Buffer.alloc(10_000), morning)
  await archive.flush()
  t.match(troubles.at(-1), /EIO/)
  t.ok(archive.lost_bytes > 0)
  disk.trouble = ''
  await clock.advance(31_000)
  archive.append(Buffer.from('back'), morning)
  await archive.flush()
  t.equal(troubles.at(-1), undefined)
  t.ok((await bytesOf(archive)).endsWith('back'))
  await archive.close()
  await t.rejects(folderOn(path, path), /is the other disk mounted/)
  await t.rejects(folderOn(join(path, 'gone'), path), /ENOENT/)
})

t.test('an hour that ends while it is read is read to its end', async (t) => {
  const path = folder(t)
  const { archive } = archiveIn(path)
  const [early, late] = [randomBytes(100_000), randomBytes(50_000)]
  archive.append(early, morning)
  archive.append(late, morning + hour_ms)
  await archive.flush()
  const parts: Uint8Array[] = []
  let isOver = false
  for await (const { bytes } of archive.read(0, Infinity)) {
    parts.push(bytes)
    if (isOver) continue
    isOver = true
    archive.append(Buffer.from('the next hour'), morning + 2 * hour_ms)
    await archive.flush()
  }
  t.strictSame(Buffer.concat(parts), Buffer.concat([early, late]))
  await archive.close()
})

t.test('one bad file keeps nothing else from being written, read, compressed or deleted', async (t) => {
  const path = folder(t)
  mkdirSync(join(path, '20261122T05.rtcm3'))
  mkdirSync(join(path, '20261122T06.rtcm3.gz'))
  writeFileSync(join(path, '20261122T07.rtcm3'), 'good')
  writeFileSync(join(path, '20261122T08.rtcm3.gz.part'), 'half')
  writeFileSync(join(path, '99999999T99.rtcm3'), 'no hour')
  const { archive } = archiveIn(path, { days: 1 })
  archive.append(Buffer.from(' now'), morning)
  await archive.tidy(morning)
  t.equal(await bytesOf(archive), 'good now')
  t.ok(readdirSync(path).includes('20261122T07.rtcm3.gz'))
  t.notOk(readdirSync(path).includes('20261122T08.rtcm3.gz.part'))
  await archive.tidy(morning + 30 * hour_ms)
  t.strictSame(
    readdirSync(path).filter((name) => name.startsWith('2026')),
    [],
    'all of them are old',
  )
  await archive.close()
})

t.test('in front of a disk that hangs at most 256 KiB wait', async (t) => {
  const clock = new ManualClock()
  const bounds = { size_bytes: 1e9, free_bytes: 0, days: 30 }
  const archive = new Archive({ path: () => new Promise<never>(() => {}), bounds, clock, onTrouble: () => {} })
  for (let i = 0; i < 2_000; i++) archive.append(Buffer.alloc(1_000), morning)
  t.ok(archive.lost_bytes >= 1_700_000, `${archive.lost_bytes}`)
})

t.test('a break of a phase between two epochs of a thinned file is marked', async (t) => {
  const start_ms = 99_990_000
  const frames = Array.from({ length: 91 }, (_, second) => {
    const observations = [
      { satellite: 5, signal: 2, pseudorange_m: 2.1e7 + second, phase_m: 2.1e7 + second, cnr_dbhz: 40 },
    ]
    // Tracked since long; lost 17 s after the start.
    const lock = second < 17 ? 600 : second === 17 ? 1 : 200 + second
    const cells = observations.map((one) => ({ ...one, lock }))
    const head = { type: 1077, stationId: 1, epochTime: start_ms + second * 1_000, multiple: false }
    return encodeMsm({ ...head, observations: cells })
  })
  const found = await readRaw(() => [Buffer.concat(frames)], { near_s: 1_400_000_000, interval_s: 30 })
  t.match(found, { epochs: 4, slips: 1 })
  let text = ''
  const facts = { marker: 'M', receiver: { type: '' }, antenna: { type: '' }, delta_m: { up: 0, east: 0, north: 0 } }
  for await (const part of found?.observations('3.05', facts, { program: '', by: '', now_unix_s: 0 }) ?? [])
    text += part
  const marks = readObservations(text).epochs.map(({ satellites }) => satellites.get('G05')?.get('L1C')?.lli)
  t.strictSame(marks, [0, 1, 0, 0])
})

t.test('a week, killed again and again: each time at most the last seconds are lost', async (t) => {
  const path = folder(t)
  const random = new Random(3)
  const program = join(packageRoot(), 'build', 'test', 'harness', 'children', 'raw-writer.js')
  const size_bytes = 1_000_000
  let first = 0
  let hours = 0
  const kills = sample(4, 200, 6)
  for (let kill = 0; kill < kills; kill++) {
    const child = spawn(process.execPath, [program, path, `${morning}`, `${first}`, `${size_bytes}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    // However slow the machine is: after so many dots, and a moment more.
    let dots = 4 + Math.floor(60 * random.uniform())
    // It is read on: the child must be killed, not end because nobody listens.
    for await (const written of child.stdout.iterator({ destroyOnReturn: false })) {
      dots -= (written as Buffer).length
      if (dots <= 0) break
    }
    child.stdout.resume()
    await delay(20 * random.uniform())
    child.kill('SIGKILL')
    await ended
    const { archive } = archiveIn(path)
    const numbers = (await bytesOf(archive)).match(/^\d+(?= observation.* observation$)/gm)?.map(Number) ?? []
    const newest = numbers.at(-1) ?? first
    const gaps = numbers.filter((number, at) => at > 0 && number !== (numbers[at - 1] ?? 0) + 1)
    // A child that is killed before it wrote leaves what was there.
    t.ok(newest >= first - 1, `${kill}: ${numbers.length} up to ${newest}`)
    t.strictSame(
      gaps.filter((number) => number > first && number < newest),
      [],
      'nothing in the midst',
    )
    hours += (newest - first) / 3_600
    first = newest + 1
    // An hour may go beyond, until it is over.
    const closed = (await archive.list()).filter(({ isOpen }) => !isOpen)
    const bytes = closed.reduce((sum, { bytes }) => sum + bytes, 0)
    t.ok(bytes < size_bytes * 1.1, `${bytes} bytes`)
  }
  t.comment(`${hours.toFixed(1)} h, ${kills} kills`)
  t.ok(hours > kills * 0.1)
})

const answer = async (station: Awaited<ReturnType<typeof setUp>>['station'], url: string) => {
  const { http } = station.device
  const response = await fetch(`${http?.url}${url}`)
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

t.test(
  'a station that does not record writes nothing, and has no error for a disk that is short or away',
  async (t) => {
    const rig = await setUp(t, { plugins: { raw: [raw, { free_mb: 1_000_000, disk: '/nowhere' }] } })
    await rig.seconds(700)
    const isRaised = () => rig.station.device.errors().some(({ code }) => code === 'raw-not-written')
    t.notOk(isRaised())
    await rig.change({ 'raw-en': 1 })
    await rig.seconds(700)
    await settled()
    t.ok(isRaised(), 'as soon as it is asked for')
    await rig.change({ 'raw-en': 0 })
    await settled()
    t.notOk(isRaised())
  },
)

t.test('a base records, and gives RINEX of it', async (t) => {
  const rig = await setUp(t, {
    plugins: { raw },
    changes: { 'gnss-antenna-descriptor': 'TRM57971.00     NONE', 'gnss-antenna-height': 0.5, 'raw-marker': 'Roof 1' },
  })
  const arps = () => rig.sent.map(({ bytes }) => decodeRtcm(bytes)).filter((message) => message?.type === 1006)
  await rig.until(() => arps().length > 0, 300)
  const files = async () => JSON.parse((await answer(rig.station, '/raw/files')).bytes.toString())
  t.match(await files(), { recording: false, files: [] }, 'off, unless asked for')
  t.equal((await answer(rig.station, '/rinex')).status, 404)

  t.match(await rig.change({ 'raw-en': 1 }), { result: 'ok' })
  rig.sent.length = 0
  await rig.seconds(120)
  const sent = rig.sent.filter(({ type }) => isMsm(type))
  t.match(await files(), { recording: true, lost_bytes: 0 })
  t.ok((await files()).epochs >= 118)

  const { bytes, headers } = await answer(rig.station, '/raw')
  t.match(headers.get('content-disposition'), /filename="Roof1-\d{4}-\d\d-\d\dT\d\d.rtcm3"/)
  const found: string[] = []
  const framer = new Framer({ onFrame: ({ bytes }) => found.push(Buffer.from(bytes).toString('hex')) })
  framer.push(bytes, 0)
  const missing = sent.slice(8, -40).filter(({ bytes }) => !found.includes(Buffer.from(bytes).toString('hex')))
  t.equal(missing.length, 0, 'every observation that went out')

  const rinex = await answer(rig.station, '/rinex')
  t.equal(rinex.status, 200)
  t.match(rinex.headers.get('content-disposition'), /filename="ROOF00XXX_R_\d{11}_0\dM_01S_MO.rnx.gz"/)
  const read = readObservations(gunzipSync(rinex.bytes).toString())
  t.ok(read.epochs.length >= 100, `${read.epochs.length} epochs`)
  t.match(read.header.get('MARKER NAME')?.[0], /^Roof 1 /)
  t.match(read.header.get('ANT # / TYPE')?.[0], /^ {20}TRM57971.00 {5}NONE/)
  t.match(read.header.get('REC # / TYPE / VERS')?.[0], /^\S+ +u-blox ZED-F9P +\S/)
  t.match(read.header.get('ANTENNA: DELTA H/E/N')?.[0], /^ {8}0.5000 {8}0.0000 {8}0.0000/)
  const arp = arps()[0]
  const marker = (read.header.get('APPROX POSITION XYZ')?.[0] ?? '').trim().split(/\s+/).map(Number)
  const down = Math.hypot(
    (arp?.x ?? 0) - (marker[0] ?? 0),
    (arp?.y ?? 0) - (marker[1] ?? 0),
    (arp?.z ?? 0) - (marker[2] ?? 0),
  )
  t.ok(Math.abs(down - 0.5) < 0.001, 'the position is that of the marker')
  const msm = sent.map(({ bytes }) => decodeMsm(bytes)).find((one) => one?.type === 1074 || one?.type === 1077)
  const observation = msm?.observations.find(({ pseudorange_m, signal }) => signal === 2 && pseudorange_m !== undefined)
  const name = `G${String(observation?.satellite).padStart(2, '0')}`
  const ranges = read.epochs.map(({ satellites }) => satellites.get(name)?.get('C1C')?.value)
  t.ok(
    ranges.some((range) => Math.abs((range ?? 0) - (observation?.pseudorange_m ?? 1)) < 0.001),
    'the ranges of the MSM',
  )

  const thinned = readObservations(gunzipSync((await answer(rig.station, '/rinex?preset=csrs-ppp')).bytes).toString())
  t.ok(thinned.epochs.length >= 3 && thinned.epochs.length <= 5)
  t.strictSame([...thinned.types.keys()], ['G', 'R', 'E'])
  const old = await answer(rig.station, '/rinex?preset=opus')
  t.match(old.headers.get('content-disposition'), /filename="roof\d{3}[a-x].\d\do.gz"/)
  t.equal(readObservations(gunzipSync(old.bytes).toString()).version, '2.11')

  for (const [query, status, text] of [
    ['preset=csrs', 422, /preset is one of full, 30s/],
    ['interval=0', 422, /interval/],
    ['version=4', 422, /version is one of/],
    ['from=yesterday', 422, /not a time/],
    ['from=2026-01-01&to=2026-02-01', 422, /three days/],
    ['station=x', 422, /may have from, to/],
  ] as const) {
    const { bytes, status: got } = await answer(rig.station, `/rinex?${query}`)
    t.equal(got, status, query)
    t.match(bytes.toString(), text)
  }

  t.test('a HEAD reads no observations, and hinders nobody', async (t) => {
    const ask = (url: string, method: string) => fetch(`${rig.station.device.http?.url}${url}`, { method })
    const all = await Promise.all([
      ...['/rinex', '/raw', '/rinex', '/raw'].map((url) => ask(url, 'HEAD')),
      ask('/rinex', 'GET'),
    ])
    for (const { headers, status } of all) {
      t.equal(status, 200)
      t.equal(headers.get('content-length'), null)
    }
    await Promise.all(all.map((one) => one.arrayBuffer()))
    t.equal((await ask('/rinex?from=2026-01-01&to=2026-01-02', 'HEAD')).status, 404)
    t.equal((await ask('/rinex?preset=mine', 'HEAD')).status, 422)
    const long = await ask('/rinex?preset=csrs-ppp&from=2026-01-01T00:00:00Z&to=2026-01-02T01:00:00Z', 'GET')
    t.equal(long.status, 422)
    t.match(await long.text(), /CSRS-PPP of NRCan takes at most 24 h, and this is 25\.0 h/, 'N10: a service takes 24 h')
    const three = await ask('/rinex?preset=opus&from=2026-01-01T00:00:00Z&to=2026-01-04T00:00:00Z', 'GET')
    t.match(await three.text(), /OPUS of the NGS takes at most 48 h, and this is 72\.0 h/, 'N10: OPUS takes 48 h')
    t.match(spanTrouble('auspos', 8 * 86_400), /AUSPOS .* takes at most 168 h/, 'N10: AUSPOS takes seven days')
  })

  t.test('the same by the command line, from the downloaded bytes', async (t) => {
    const path = folder(t)
    const file = join(path, 'roof.rtcm3.gz')
    writeFileSync(file, gzipSync(bytes))
    const day = new Date((rig.field('pos.t') as number) * 1000).toISOString().slice(0, 10)
    const args = [file, '--out', path, '--date', day, '--marker', 'Roof 1', '--height', '0.5']
    t.equal(await rinexCommand(args), 0)
    const name = readdirSync(path).find((name) => name.endsWith('.rnx')) ?? ''
    const own = readObservations(readFileSync(join(path, name), 'utf8'))
    const all = new Map(read.epochs.map((epoch) => [epoch.time, epoch]))
    t.ok(own.epochs.length > 100)
    for (const epoch of own.epochs) t.strictSame(epoch.satellites, all.get(epoch.time)?.satellites, epoch.time)
    t.equal(await rinexCommand([...args, '--antenna', 'TRM59800.00 NONE']), 0)
    t.match(
      readFileSync(join(path, name), 'utf8'),
      /^.{20}TRM59800\.00 {5}NONE {20}ANT # \/ TYPE$/m,
      'N5: type and radome stand in their columns',
    )
    for (const [wrong, text] of [
      [[file, '--antenna', 'A NAME THAT IS NO CODE OF THE IGS'], /--antenna is a type of at most 16 characters/],
      [[], /name the files/],
      [[join(path, 'none')], /no such file/],
      [[file, '--interval', 'often'], /--interval is a number/],
      [[file, '--preset', 'mine'], /--preset is one of/],
      [[file, '--date', 'today'], /not a date/],
      [[file, '--position', '1,2'], /X,Y,Z/],
      [[join(path, name)], /no observations/],
    ] as const) {
      await t.rejects(rinexCommand([...wrong]), { message: text })
    }
  })

  t.test('and continues while the gate is closed, and after a reload', async (t) => {
    const before = (await files()).epochs
    await rig.command('sim=move 1 0 0')
    await rig.seconds(30)
    t.ok((await files()).epochs > before + 20, 'the antenna moved: the evidence is kept')
    t.match((await files()).notes, [{ what: 'moved' }])
    const moved = readObservations(gunzipSync((await answer(rig.station, '/rinex')).bytes).toString())
    t.match(moved.header.get('COMMENT')?.join(' '), /Z the antenna moved, or may have moved/)
    const at = moved.epochs.findIndex(({ flag }) => flag === 4)
    t.match(moved.epochs[at]?.lines[0], /the antenna moved/)
    t.ok(at > 100 && at < moved.epochs.length - 20, `${at} of ${moved.epochs.length}`)
    await rig.station.reload('raw')
    await rig.seconds(30)
    const read = readObservations(gunzipSync((await answer(rig.station, '/rinex')).bytes).toString())
    t.ok(read.epochs.length > 150, `${read.epochs.length} epochs of one file`)
    await rig.command('sim=antenna open')
    await rig.seconds(10)
    t.match((await files()).notes.at(-1), { what: 'antenna-open' })
  })
})
