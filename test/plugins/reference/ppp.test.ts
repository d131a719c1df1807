/** The way to an exact position: a session to a fake CSRS-PPP, its answers, good and bad, the preview, and the new reference. */
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import ppp from '../../../plugins/reference/ppp/index.js'
import { previewOf } from '../../../plugins/reference/ppp/result.js'
import { seriesOf } from '../../../plugins/reference/ppp/series.js'
import { readSinex } from '../../../plugins/reference/ppp/sinex.js'
import { readSum } from '../../../plugins/reference/ppp/sum.js'
import { findInZip } from '../../../plugins/reference/ppp/zip.js'
import raw from '../../../plugins/reference/raw/index.js'
import { distance, geodeticToEcef, transformed } from '../../../runtime/lib/gnss/index.js'
import { type AnyPlugin, definePlugin } from '../../../runtime/plugin.js'
import { type Ecef, type RawRinex, rawData } from '../../../schemas/services.js'
import { readObservations } from '../../gnss/support/rinex-reader.js'
import { drive, pass, settled } from '../../harness/drive.js'
import { createTestStation, gateOnly, ManualClock } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { type FakeCsrs, fakeCsrs, sum, zipOf } from '../../harness/peers/fake-csrs.js'
import { setUp } from '../receivers/simulator-rig.js'

const roof = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })

/** The archive of a day. */
const archive = definePlugin({
  name: 'archive',
  version: '1.0.0',
  api: '^1.0.0',
  provides: [rawData],
  setup(ctx) {
    const notes: { t: number; what: string }[] = []
    ctx.action({
      name: 'note',
      summary: 'a move',
      input: { t: Type.Integer() },
      run: ({ input }) => {
        notes.push({ t: input.t, what: 'moved' })
        return ''
      },
    })
    const file: RawRinex = {
      ...{ name: 'ROOF00XXX_R_20263310000_01D_30S_MO.rnx.gz', bytes: Buffer.from('the observations'), epochs: 2_880 },
      ...{ missing: 0, span_s: 86_370, antennaHeight_m: 1.5, antenna: 'TRM57971.00     NONE' },
    }
    ctx.services.provide(rawData, {
      rinex: async () => file,
      notes: async (from, to) => notes.filter(({ t }) => t >= from && t < to),
    })
  },
})

type Answer = Record<string, never> & { job?: { state: string; text: string } }

/** Requests to a station, and waiting for its job. */
function asking(url: string, clock: ManualClock) {
  const ask = async (method: string, path: string, body?: object) => {
    const init = body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}
    const response = await fetch(`${url}${path}`, { method, ...init })
    return { status: response.status, json: (await response.json()) as Answer }
  }
  /** Until the job has this state; undefined: it is gone. */
  /** A connection may take 10 s of the clock: a step is shorter, so that real connections are made between two of them. */
  const jobIs = async (state: string | undefined, step_s = 8) => {
    let seen: Answer | undefined
    const isReached = async () => {
      seen = (await ask('GET', '/ppp')).json
      return seen.job?.state === state
    }
    await drive(clock, isReached, () => `the job is ${state}, not ${JSON.stringify(seen)}`, step_s * 1_000)
  }
  return { ask, jobIs }
}

const account = { 'ppp-account': 'me@example.org' }

/** A base. */
async function base(t: Test, fake: FakeCsrs, changes = {}) {
  const rig = await setUp(t, {
    plugins: { archive, ppp: [ppp, { url: fake.url }] },
    changes: { ...account, ...changes },
  })
  await rig.until(() => rig.field('state.status') === 'fixed', 300)
  return { ...rig, ...asking(`${rig.station.device.http?.url}`, rig.clock) }
}

/** Without a receiver, so that days pass quickly. */
async function desk(t: Test, fake: FakeCsrs, store = new MemoryStore()) {
  const clock = new ManualClock()
  const station = await createTestStation({
    ...{ clock, store, variant: { changes: account } },
    plugins: { archive: archive as AnyPlugin, ppp: [ppp as AnyPlugin, { url: fake.url }] },
  })
  t.teardown(() => station.stop())
  const seconds = (count: number) => clock.advance(count * 1_000)
  const change = (values: Record<string, unknown>) => station.station.change(values, { source: 'http' })
  const command = (text: string) => station.station.command(text, { source: 'console' })
  return { station, clock, seconds, change, command, ...asking(`${station.device.http?.url}`, clock) }
}

t.test('from a session to the reference', async (t) => {
  const fake = await fakeCsrs(t)
  const marker = { ...roof, z: roof.z + 1 }
  fake.status = ['processing', 'processing', 'done']
  fake.file = zipOf({ 'roof.pdf': Buffer.from('%PDF'), 'roof.sum': Buffer.from(sum(marker)) })
  const { ask, jobIs, field, until } = await base(t, fake)
  t.strictSame((await ask('GET', '/ppp')).json, { results: [], series: [] })
  t.match((await ask('POST', '/ppp/job')).json, { job: { state: 'converting' } })
  t.equal((await ask('POST', '/ppp/job')).status, 503, 'one at a time')
  await jobIs(undefined, 1)

  const [submitted] = fake.requests
  t.equal(submitted?.agent, 'CSRS-PPP access via Python Browser Emulator')
  const body = submitted?.body.toString('latin1') ?? ''
  t.match(body, /name="user_name"\r\n\r\nme@example.org\r\n/)
  t.match(body, /name="process_type"\r\n\r\nStatic\r\n/)
  t.match(body, /name="sysref"\r\n\r\nITRF\r\n/)
  t.match(
    body,
    /name="rfile_upload"; filename="ROOF00XXX_R_20263310000_01D_30S_MO.rnx.gz"[\s\S]*\r\n\r\nthe observations\r\n--/,
  )
  t.equal(fake.requests.filter(({ url }) => url.startsWith('/submit')).length, 1)
  t.match(fake.requests[1]?.url, '/results/status?id=KEY12345')

  const { results } = (await ask('GET', '/ppp')).json as unknown as {
    results: { id: number; preview: never; session: { sha256: string } }[]
  }
  const sha256 = createHash('sha256').update('the observations').digest('hex')
  t.match(results, [
    { source: 'csrs-ppp', key: 'KEY12345', frame: 'ITRF2020', height: 1.5, session: { sha256, epochs: 2_880 } },
  ])
  const preview = results[0]?.preview as unknown as Ecef & { acc: number; doubts: string[]; offset: { up: number } }
  t.ok(Math.abs(distance(preview, marker) - 1.5) < 2e-4, 'the antenna is above the marker')
  t.ok(preview.acc > 0.03 && preview.acc < 0.04)
  t.strictSame(preview.doubts, [], 'a survey of metres explains it')

  t.match((await ask('POST', `/ppp/results/${results[0]?.id}/apply`, {})).json, { result: 'ok' })
  await until(() => field('ref.manual.acc') !== undefined && field('state.status') !== undefined, 10)
  t.ok(distance(field('ref.manual') as Ecef, preview) < 0.0002)
  const source = `csrs-ppp ROOF00XXX_R_20263310000_01D_30S_MO.rnx.gz sha256 ${sha256.slice(0, 16)}`
  t.match(field('ref.manual'), { frame: 'ITRF2020', epoch: '2026.905', source }, 'with its evidence, over MQTT too')
  t.match(
    (await ask('GET', '/positions')).json,
    { active: 2, entries: [{ id: 1 }, { provenance: 'ppp', events: [] }] },
    'not used before the check',
  )
  t.equal((await ask('POST', '/ppp/results/99/apply', {})).status, 404)
  t.match((await ask('DELETE', `/ppp/results/${results[0]?.id}`)).json, { results: [] })
})

t.test('what a service can answer', async (t) => {
  const fake = await fakeCsrs(t)
  const { ask, jobIs, seconds } = await desk(t, fake)
  const submissions = () => fake.requests.filter(({ url }) => url.startsWith('/submit')).length
  const again = async () => {
    await ask('DELETE', '/ppp/job')
    await seconds(3_700)
    fake.requests.length = 0
    t.match((await ask('POST', '/ppp/job')).json, { job: { state: 'converting' } })
  }
  await t.test('a page instead of a key, then a key', async (t) => {
    fake.submit = ['<!DOCTYPE html><html>maintenance</html>', 'KEY1']
    fake.status = ['done']
    fake.file = zipOf({ 'a.sum': Buffer.from(sum(roof)) })
    await again()
    await seconds(10)
    await settled()
    t.match((await ask('GET', '/ppp')).json, { job: { state: 'converting', text: /page instead of a key/ } })
    await seconds(600)
    await settled()
    await seconds(2_900)
    t.equal(submissions(), 1, 'not again within the hour')
    await jobIs(undefined)
    t.equal(submissions(), 2)
  })
  for (const [name, prepare, text] of [
    [
      'it refuses the file',
      () => {
        fake.submit = ['ERROR [005] no observations']
      },
      /ERROR \[005\]/,
    ],
    [
      'it cannot process it',
      () => {
        fake.submit = ['KEY2']
        fake.status = ['error']
      },
      /could not process/,
    ],
    [
      'a report in another frame',
      () => {
        fake.status = ['done']
        fake.file = zipOf({ 'a.sum': Buffer.from(sum(roof, 'MARS')) })
      },
      /frame 'MARS'/,
    ],
    [
      'a report without a position',
      () => {
        fake.file = zipOf({ 'a.sum': Buffer.from('HDR\n') })
      },
      /no position/,
    ],
  ] as const) {
    await t.test(name, async (t) => {
      prepare()
      await again()
      await jobIs('failed')
      t.match((await ask('GET', '/ppp')).json, { job: { text } })
    })
  }
  await t.test('a truncated zip, a bomb, a server that fails: later again, then given up', async (t) => {
    const whole = zipOf({ 'a.sum': Buffer.from(sum(roof)) })
    for (const file of [
      whole.subarray(0, whole.length - 30),
      zipOf({ 'a.sum': Buffer.alloc(20_000_000) }),
      Buffer.from('<html>'),
    ]) {
      t.equal(findInZip(file, /\.sum$/), undefined)
    }
    fake.file = whole.subarray(0, whole.length - 30)
    await again()
    await seconds(60)
    await settled()
    fake.code = 503
    const before = fake.requests.length
    await jobIs('failed', 60)
    t.ok(fake.requests.length - before < 12, `${fake.requests.length - before} requests in half a day`)
    t.match((await ask('GET', '/ppp')).json, { job: { text: /answers 503|cannot be reached/ } })
    fake.code = 200
  })
  await t.test('a blocked account is left alone for hours', async (t) => {
    fake.submit = ['ERROR [002] too many']
    await again()
    await seconds(10)
    await settled()
    t.match((await ask('GET', '/ppp')).json, { job: { text: /blocks this account/ } })
    const before = submissions()
    for (let hour = 0; hour < 5; hour++) await seconds(3_600)
    await settled()
    t.equal(submissions(), before)
  })
})

t.test('after a restart the job continues, and nothing is submitted twice', async (t) => {
  const fake = await fakeCsrs(t)
  fake.status = ['processing']
  const store = new MemoryStore()
  const first = await desk(t, fake, store)
  await first.ask('POST', '/ppp/job')
  await first.jobIs('waiting')
  await first.station.stop()
  fake.status = ['done']
  fake.file = zipOf({ 'a.sum': Buffer.from(sum(roof)) })
  const second = await desk(t, fake, store)
  await second.jobIs(undefined)
  t.equal(fake.requests.filter(({ url }) => url.startsWith('/submit')).length, 1)
  t.equal(((await second.ask('GET', '/ppp')).json as unknown as { results: unknown[] }).results.length, 1)
})

t.test('a session that is worthless is not offered', async (t) => {
  const fake = await fakeCsrs(t)
  const { ask, change, command, clock } = await desk(t, fake)
  await command(`note=${clock.now() - 3_600_000}`)
  const { json, status } = await ask('POST', '/ppp/job')
  t.equal(status, 503)
  t.match(json, { message: /'moved' at .*worthless/ })
  const now_s = Math.floor(clock.now() / 1000)
  t.equal((await ask('POST', `/ppp/job?from=${now_s - 1_000}&to=${now_s}`)).status, 200, 'after the move')
  await ask('DELETE', '/ppp/job')
  t.equal((await ask('POST', `/ppp/job?from=${now_s - 90_000}&to=${now_s}`)).status, 503, 'longer than a day')
  await change({ 'ppp-account': '' })
  t.match((await ask('POST', '/ppp/job')).json, { message: /ppp-account/ })
  t.match(await change({ 'ppp-account': 'nobody' }), { result: 'failed' })
})

t.test('an imported report, in the frame of the country', async (t) => {
  const fake = await fakeCsrs(t)
  const { ask } = await base(t, fake, {
    'gnss-announce-frame': 'ETRF2000',
    'gnss-announce-epoch': 2010,
    'gnss-plate': 'EURA',
  })
  const { json, status } = await ask('POST', '/ppp/results', { text: sum(roof, 'IGS20', '26:331:43200', 2), height: 2 })
  t.equal(status, 200)
  const { preview } = json as unknown as { preview: Ecef & { frame: string; epoch: number; drift: number } }
  t.match(preview, { frame: 'ETRF2000', epoch: 2010 })
  t.ok(preview.drift < 1, `${preview.drift} mm a year: the frame moves with the plate`)
  const epoch = 2026 + (330 + 0.5) / 365
  const wanted = transformed({ position: roof, frame: 'ITRF2020', epoch }, { frame: 'ETRF2000', epoch: 2010 }, 'EURA')
  t.ok(Math.abs(distance(preview, wanted.position) - 2) < 2e-4)
  t.ok(distance(preview, roof) > 0.5, 'decimetres from ITRF2020')
  const without = sum(roof).replace(/^ARP.*\n/, '')
  for (const [body, message] of [
    [{ text: sum(roof), height: 0 }, /made with an antenna height of 1.5 m, not 0 m/],
    [{ text: without }, /send height/],
  ] as const) {
    const { json, status } = await ask('POST', '/ppp/results', body)
    t.equal(status, 400)
    t.match(json, { message })
  }
  t.match((await ask('POST', '/ppp/results', { text: without, height: 0.25 })).json, { height: 0.25 })
  for (const text of ['', 'POS X', sum(roof).replace('26:331:43200', 'today'), sum({ x: 1, y: 2, z: 3 })]) {
    t.equal((await ask('POST', '/ppp/results', { text })).status, 400, text.slice(0, 20))
  }
  const { status: large } = await ask('POST', '/ppp/results', { text: 'x'.repeat(1_000_000) })
  t.ok(large >= 400 && large < 500, `${large}`)
})

t.test('C8: a report of the promised size is taken, and a larger one is refused with a reason', async (t) => {
  const { ask } = await desk(t, await fakeCsrs(t))
  const report = sum(roof)
  // JSON writes two characters for each end of a line.
  const sized = (length: number) => report + '\n'.repeat(length - report.length)
  t.equal((await ask('POST', '/ppp/results', { text: sized(900_000) })).status, 200)
  t.match(await ask('POST', '/ppp/results', { text: sized(900_001) }), { status: 400, json: { message: /900000/ } })
})

t.test('a report of 900 kB that was made to harm is read at once, and its message is short', async (t) => {
  const size = 900_000
  // In quadratic time this would take half an hour.
  t.match(readSum(`${sum(roof).replace(/^ARP.*\n/, '')}${'\n'.repeat(size)}`), { height_m: undefined })
  const long = 'Q'.repeat(size / 2)
  const some: readonly Record<string, Ecef>[] = [{ ROOF: roof }, { ROOF: roof, ALIC: roof }]
  for (const sites of some) {
    const found = readSinex(sinex(sites).replaceAll('ROOF', long).replaceAll('STAZ', 'STAQ'), 'ITRF2020')
    t.equal(typeof found, 'string')
    t.ok(`${found}`.length < 200, `${found}`.slice(0, 60))
  }
  for (const height of ['1e300', '-1000', '1e400', 'NaN']) {
    t.match(readSum(sum(roof).replace(/^(ARP\s+\S+\s+\S+\s+)\S+/m, `$1${height}`)), { height_m: undefined })
  }
  t.end()
})

t.test('a position that the accuracies do not explain is doubted', async (t) => {
  const found = readSum(sum({ ...roof, x: roof.x + 0.5 }))
  if (typeof found === 'string') return t.fail(found)
  const to = { frame: 'ITRF2020', epoch: undefined, plate: undefined } as const
  const rest = { height_m: 0, to, antenna: 'TRM57971.00     NONE', isCalibrated: undefined, now: 2026.9 }
  const at = (acc_m: number, frame = '') => ({ position: roof, acc_m, frame })
  const doubtsOf = (more: object) => previewOf(found, { ...rest, reference: undefined, ...more }).doubts
  t.strictSame(doubtsOf({ reference: at(0.02) }), ['distance'])
  t.strictSame(doubtsOf({ reference: at(0) }), ['distance'], 'an unknown accuracy explains nothing')
  t.strictSame(doubtsOf({ reference: at(2.5) }), [])
  t.strictSame(doubtsOf({ reference: at(2.5, 'ETRF2000') }), ['frame'])
  t.strictSame(doubtsOf({ antenna: '' }), ['antenna'])
  t.strictSame(doubtsOf({ isCalibrated: false }), ['antenna'], 'the table does not have it')
  t.strictSame(doubtsOf({ isCalibrated: true }), [])
  const europe = { frame: 'ETRF2000', epoch: 2010 } as const
  t.strictSame(doubtsOf({ to: { ...europe, plate: 'EURA' } }), [])
  t.strictSame(doubtsOf({ to: { ...europe, plate: 'NOAM' } }), ['plate'])
  const old = previewOf(found, { ...rest, to: { ...to, plate: 'EURA' }, reference: undefined, now: 2030.9 })
  t.ok(old.acc_m > 0.09, `${old.acc_m}: four years of 2.4 cm`)
  t.match(readSum(sum(roof, 'NAD83(CSRS)')), /ask the service for ITRF/)
  t.equal((readSum(sum(roof)) as { height_m: number }).height_m, 1.5)

  const fake = await fakeCsrs(t)
  const { ask, change, seconds } = await base(t, fake)
  t.match(
    await change({
      'gnss-ref-manual-x': roof.x,
      'gnss-ref-manual-y': roof.y,
      'gnss-ref-manual-z': roof.z,
      'gnss-ref-manual-acc': 0.01,
      'gnss-ref-chosen': 'manual',
    }),
    { result: 'ok' },
  )
  await seconds(60)
  const { json } = await ask('POST', '/ppp/results', { text: sum({ ...roof, z: roof.z + 5 }) })
  const { id } = json as unknown as { id: number }
  const refused = await ask('POST', `/ppp/results/${id}/apply`, {})
  t.equal(refused.status, 400)
  t.match(refused.json, { message: /6.25 m from the present reference/ })
  t.match((await ask('POST', `/ppp/results/${id}/apply`, { force: true })).json, { result: 'ok' })
})

t.test('with the archive itself: the submitted file is RINEX of the session', { skip: gateOnly }, async (t) => {
  const fake = await fakeCsrs(t)
  fake.status = ['processing']
  const rig = await setUp(t, {
    plugins: { raw, ppp: [ppp, { url: fake.url }] },
    changes: { 'raw-en': 1, 'ppp-account': 'me@example.org', 'gnss-msm-interval': 30 },
  })
  await rig.until(() => rig.field('state.status') === 'fixed', 300)
  await rig.seconds(3_900)
  const { http } = rig.station.device
  t.equal((await fetch(`${http?.url}/ppp/job`, { method: 'POST' })).status, 200)
  await drive(rig.clock, () => fake.requests.length > 0, 'the submission')
  const body = fake.requests[0]?.body ?? Buffer.alloc(0)
  const start = body.indexOf(Buffer.from([0x1f, 0x8b]))
  const text = gunzipSync(body.subarray(start, body.lastIndexOf('\r\n--'))).toString()
  t.ok(readObservations(text).epochs.length > 110)
})

/** As the services write it (SINEX 2.02): two sites, a matrix of covariances. */
function sinex(sites: Readonly<Record<string, Ecef>>, more: { matrix?: string[]; up?: string } = {}): string {
  const rows = Object.entries(sites).flatMap(([site, { x, y, z }]) =>
    [x, y, z].map((value, axis) => ({ site, type: ['STAX', 'STAY', 'STAZ'][axis] ?? '', value })),
  )
  const line = ({ site, type, value }: (typeof rows)[number], at: number) =>
    ` ${`${at + 1}`.padStart(5)} ${type.padEnd(6)} ${site.padEnd(4)}  A    1 26:331:43200 m    2 ${value.toExponential(14)} .400000-02`.replace(
      '.400000-02',
      '0.400000E-02',
    )
  return [
    '%=SNX 2.02 AUS 26:332:00000 AUS 26:331:00000 26:332:00000 P 00006 2 S',
    '+SITE/ECCENTRICITY',
    '*SITE PT SOLN T DATA_START__ DATA_END____ AXE ARP->BENCHMARK(M)_______',
    ...Object.keys(sites).map(
      (site) => ` ${site}  A    1 P 26:331:00000 26:332:00000 UNE ${more.up ?? '  1.2500'}   0.0000   0.0000`,
    ),
    '-SITE/ECCENTRICITY',
    '+SOLUTION/ESTIMATE',
    '*INDEX TYPE__ CODE PT SOLN _REF_EPOCH__ UNIT S __ESTIMATED VALUE____ _STD_DEV___',
    ...rows.map(line),
    '-SOLUTION/ESTIMATE',
    ...(more.matrix ?? []),
    '%ENDSNX',
    '',
  ].join('\n')
}

t.test('SINEX and plain coordinates are imported, and what is wrong with one is said', async (t) => {
  const other = { ...roof, z: roof.z + 1_000 }
  const matrix = [
    '+SOLUTION/MATRIX_ESTIMATE L COVA',
    '*PARA1 PARA2 ____PARA2+0__________ ____PARA2+1__________ ____PARA2+2__________',
    '     4     4 1.6e-05',
    '     5     4 0.8e-05 2.5e-05',
    '     6     4 0.2e-05 0.3e-05 3.6e-05',
    '-SOLUTION/MATRIX_ESTIMATE L COVA',
  ]
  const text = sinex({ ALIC: other, ROOF: roof }, { matrix })
  const found = readSinex(text, 'IGS20', 'roof')
  if (typeof found === 'string') return t.fail(found)
  t.match(found, { frame: 'ITRF2020', height_m: 1.25, covariance: [1.6e-5, 0.8e-5, 0.2e-5, 2.5e-5, 0.3e-5, 3.6e-5] })
  t.ok(distance(found.position, roof) < 1e-6)
  t.ok(Math.abs(found.epoch - (2026 + 330.5 / 365)) < 1e-9)
  t.match(readSinex(sinex({ ROOF: roof }), 'ITRF2020'), { covariance: [1.6e-5, 0, 0, 1.6e-5, 0, 1.6e-5] })
  const row = ' ROOF  A    1 P 26:331:00000 26:332:00000 UNE   1.2500   0.0000   0.0000'
  const history = [
    row.replace('26:331', '19:001').replace('26:332', '26:100').replace('1.2500', '0.1000'),
    row.replace('26:331', '26:100').replace('26:332:00000', '00:000:00000'),
  ].join('\n')
  t.match(readSinex(text.replace(row, history), 'IGS20', 'ROOF'), { height_m: 1.25 }, 'the antenna of that time')
  t.match(readSinex(text.replaceAll('26:331:43200', '98:001:00000'), 'IGS20', 'ROOF'), { epoch: 1998 })
  for (const [bad, message] of [
    [readSinex(text.replace(row, row.replace(/0\.0000$/, '0.0100')), 'IGS20', 'ROOF'), /ROOF is not above its marker/],
    [readSinex(text, 'ITRF2020'), /2 sites, name one of them in site: ALIC, ROOF/],
    [readSinex(text, 'ITRF2020', 'NONE'), /2 sites/],
    [readSinex(text, 'MARS', 'ROOF'), /frame 'MARS'/],
    [readSinex('%=SNX 2.02\n', 'ITRF2020'), /no position/],
    [readSinex(text.replaceAll('STAZ', 'STAQ'), 'ITRF2020', 'ROOF'), /no complete position/],
    [readSinex(sinex({ ROOF: { x: 1, y: 2, z: 3 } }), 'ITRF2020'), /not on the earth/],
    [readSinex(sinex({ ROOF: roof }).replace('26:331:43200', '26:999:43200'), 'ITRF2020'), /epoch/],
    [readSinex(text.replace('5     4 0.8e-05', '5     4 9.9e-05'), 'ITRF2020', 'ROOF'), /accuracy/],
    [
      readSinex(
        `${sinex({ ROOF: roof }).replace('-SOLUTION/ESTIMATE', '     9 STAX   ROOF  A    2 26:331:43200 m    2 1.0 0.1\n-SOLUTION/ESTIMATE')}`,
        'ITRF2020',
      ),
      /several solutions/,
    ],
  ] as const) {
    t.match(bad, message)
  }

  const fake = await fakeCsrs(t)
  const { ask } = await desk(t, fake)
  const { json, status } = await ask('POST', '/ppp/results', { text, site: 'ROOF', frame: 'ITRF2020' })
  t.equal(status, 200)
  t.match(json, { source: 'import', height: 1.25, frame: 'ITRF2020' })
  const position = { ...roof, epoch: 2020.5, acc: 0.02 }
  const plain = { position, frame: 'GDA2020', height: 0 }
  t.match((await ask('POST', '/ppp/results', plain)).json, { frame: 'GDA2020', epoch: 2020.5 })
  for (const [body, message] of [
    [{ text, site: 'ROOF' }, /send frame/],
    [{ position, height: 0 }, /send frame/],
    [{ position, frame: 'local grid', height: 0 }, /not known/],
    [{ position, frame: 'GDA2020' }, /send height/],
    [{ ...plain, text }, /either text or position/],
    [{}, /either text or position/],
    [{ ...plain, position: { ...position, x: 0 } }, /not on the earth/],
  ] as const) {
    const { json, status } = await ask('POST', '/ppp/results', body)
    t.equal(status, 400)
    t.match(json, { message })
  }
})

t.test('the report of the service: covariance and product, where it has them', (t) => {
  const text = sum(roof)
    .replace(/(POS Y .*) 1\.0000/, '$1 0.3000 1.0000')
    .replace(/(POS Z .*) 1\.0000/, '$1 0.1000 -0.2000 1.0000')
  const found = readSum(`SP3 IGS0OPSRAP_20263310000_01D_15M_ORB.SP3\n${text}`)
  if (typeof found === 'string') return t.fail(found)
  const variance = (0.0098 / 1.96) ** 2
  const expected = [1, 0.3, 0.1, 1, -0.2, 1].map((part) => part * variance)
  t.ok(found.covariance.every((cell, at) => Math.abs(cell - (expected[at] ?? 0)) < 1e-12))
  t.equal(found.product, 'rapid')
  t.match(readSum(sum(roof)), { covariance: [variance, 0, 0, variance, 0, variance], product: undefined })
  t.end()
})

t.test('repeats: submitted by itself, and a series of the motion that the plate does not explain', async (t) => {
  const fake = await fakeCsrs(t)
  fake.file = zipOf({ 'a.sum': Buffer.from(sum(roof)) })
  const { ask, change, seconds, command, clock } = await desk(t, fake)
  const submissions = () => fake.requests.filter(({ url }) => url.startsWith('/submit')).length
  /** Slowly, so that the answers of the service come in time. */
  const minutes = () => pass(clock, 120_000, 10_000)
  const days = async (count: number) => {
    for (let day = 0; day < count; day++) {
      await seconds(86_400 - ((clock.now() / 1000 + 6 * 3_600) % 86_400))
      await minutes()
    }
  }
  await days(1)
  t.equal(submissions(), 0, 'off')
  await change({ 'ppp-repeat': 'weekly' })
  await minutes()
  await days(8)
  t.equal(submissions(), 2, 'the first day, and a week later')
  const { results } = (await ask('GET', '/ppp')).json as unknown as { results: { session: { from: number } }[] }
  t.ok(
    results.every(({ session }) => session.from % 86_400_000 === 0),
    'whole days',
  )
  for (let day = 0; day < 8; day++) {
    await command(`note=${clock.now()}`)
    await days(1)
  }
  t.equal(submissions(), 2, 'a day with a move is passed over')
  await change({ 'ppp-account': '' })
  await days(1)
  t.equal(submissions(), 2)

  const repeats = [2024.5, 2025.5, 2026.5].map((epoch) => {
    const { position } = transformed(
      { position: roof, frame: 'ITRF2020', epoch: 2024.5 },
      { frame: 'ITRF2020', epoch },
      'EURA',
    )
    const up = (epoch - 2024.5) * 0.003
    const covariance = [1e-6, 0, 0, 1e-6, 0, 1e-6] as const
    const lifted = geodeticToEcef({ lat: 52, lon: 4, alt: up })
    const level = geodeticToEcef({ lat: 52, lon: 4, alt: 0 })
    const { x, y, z } = position
    const moved = { x: x + lifted.x - level.x, y: y + lifted.y - level.y, z: z + lifted.z - level.z }
    return { position: moved, covariance, frame: 'ITRF2020' as const, epoch, height: 1, height_m: 1 }
  })
  const series = seriesOf(repeats.toReversed(), { frame: 'ETRF2000', plate: 'EURA' })
  t.match(
    series.map(({ epoch }) => epoch),
    [2024.5, 2025.5, 2026.5],
  )
  const last = series[2]
  t.ok(
    last && Math.abs(last.offset.up - 0.006) < 2e-4 && Math.hypot(last.offset.east, last.offset.north) < 2e-4,
    `${JSON.stringify(last)}`,
  )
  t.ok(last && Math.abs(last.sigma.up - 0.001) < 1e-6)
  const withPlate = seriesOf(repeats, {})[2]
  t.ok(
    withPlate && Math.hypot(withPlate.offset.east, withPlate.offset.north) > 0.04,
    'an unknown plate is in the series',
  )
  t.strictSame(seriesOf([], {}), [])
})
