/** RINEX of our own against `convbin` of RTKLIB, from the same bytes of real receivers. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { gpsSeconds, unixToGps } from '../../runtime/lib/gnss/index.js'
import { type RinexVersion, readRaw, type StationFacts } from '../../runtime/lib/rinex/index.js'
import { compared, converted } from '../gnss/support/rinex-compare.js'
import { readNavigation, readObservations } from '../gnss/support/rinex-reader.js'
import { capture, noCaptures } from '../harness/captures.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('convbin') || noCaptures

const station: StationFacts = {
  marker: 'ROOF',
  receiver: { type: 'u-blox ZED-F9P' },
  antenna: { type: 'TRM57971.00     NONE' },
  delta_m: { up: 0.1234, east: 0, north: 0 },
}
const origin = { program: 'rtk-base', by: 'test', now_unix_s: 1_800_000_000 }

/** Name, format for convbin, and a day near the recording: RTCM has no weeks. */
const recordings: readonly (readonly [name: string, format: 'ubx' | 'rtcm3', day: string])[] = [
  ['pygnssutils_pygpsdata_testobsnavdata.log', 'ubx', '2026-04-13'],
  ['gpsd_ublox-zed-f9p_hpg1.11.log', 'ubx', '2019-04-12'],
  ['pygnssutils_pygpsdata-rtcm3.log', 'rtcm3', '2024-06-01'],
  ['gpsd_ublox-zed-f9t-rtcm3.log', 'rtcm3', '2020-10-01'],
  ['hazer_ubx-zed-f9p-2.dat', 'rtcm3', '2020-10-01'],
  ['swiftnav_sept.rtcm', 'rtcm3', '2018-01-02'],
  ['swiftnav_javad.rtcm', 'rtcm3', '2018-01-02'],
  ['swiftnav_missing-beidou-STR17.rtcm3', 'rtcm3', '2018-07-18'],
  ['swiftnav_dropped-packets-STR24.rtcm3', 'rtcm3', '2018-07-12'],
]

async function ours(bytes: Uint8Array, day: string, version: RinexVersion = '3.05', interval_s?: number) {
  const near_s = gpsSeconds(unixToGps(Date.parse(`${day}T12:00:00Z`) / 1000, 18))
  const found = await readRaw(() => [bytes], { near_s, interval_s })
  if (!found) throw new Error('nothing was found')
  let text = ''
  for await (const part of found.observations(version, station, origin)) text += part
  return { found, text, navigation: found.navigationFile(origin) }
}

/**
 * Differences that are meant:
 * - Phases that the receiver calls valid with a deviation above 0.02 cycles (RXM-RAWX): RTKLIB leaves them out, and with them a
 *   satellite that has no other; so some values are in ours only.
 * - RTKLIB loses an epoch whose last message is missing.
 * - Half a cycle that is subtracted while the phase is not valid is a break for RTKLIB; for us only if it still is with the next valid one.
 * - A lock time that is shorter than the time since the last observation is a slip for us; for RTKLIB only a smaller indicator is.
 * - The sign of u-blox's phase range rates is that of a Doppler: ours turns it.
 */
for (const [name, format, day] of recordings) {
  t.test(name, { skip }, async (t) => {
    const bytes = capture(name)
    if (!bytes) throw new Error(`no ${name}`)
    const theirs = converted(t, bytes, format, day)
    const { found, navigation, text } = await ours(bytes, day)
    const [own, other] = [readObservations(text), readObservations(theirs.observations)]
    const { missing, only, slips, values, worst } = compared(own, other)
    t.equal(found.source, format === 'ubx' ? 'RAWX' : 'MSM')
    t.equal(missing, 0, 'every epoch')
    t.ok(own.epochs.length - other.epochs.length <= 3, `${own.epochs.length} epochs, RTKLIB ${other.epochs.length}`)
    t.ok(values > 1000, `${values} values`)
    t.equal(worst.C, 0, 'code')
    t.ok((worst.L ?? 1) < 0.0011, `phase ${worst.L}: the last digit, rounded`)
    t.ok((worst.D ?? 1) < 0.0011, `Doppler ${worst.D}`)
    t.equal(worst.S, 0, 'C/N0')
    t.equal(only.theirs.size, 0, 'nothing is in theirs only')
    const share = [...only.own.values()].reduce((sum, count) => sum + count, 0) / values
    t.ok(share < (format === 'ubx' ? 0.15 : 0.03), `${(share * 100).toFixed(1)} % are in ours only`)
    t.ok(slips.own === 0 && slips.theirs <= 10, `breaks: ${JSON.stringify(slips)}`)
    t.strictSame([...own.types.keys()].sort(), [...other.types.keys()].sort(), 'systems')

    const records = [readNavigation(navigation), readNavigation(theirs.navigation)] as const
    for (const [id, theirRecords] of records[1]) {
      const mine = records[0].get(id) ?? []
      const best = theirRecords.some((record) => mine.some((one) => isSameRecord(id, one, record)))
      t.ok(best, `${id} of ${theirRecords.length}`)
    }
  })
}

/** Where a record has the time of transmission, which RTCM does not tell and GLONASS's RTKLIB replaces, and beyond its fields. */
const leftOut: Readonly<Record<string, readonly number[]>> = { R: [2], G: [27], J: [27], C: [27], E: [27] }

function isSameRecord(id: string, own: readonly number[], theirs: readonly number[]): boolean {
  return theirs.every((value, at) => {
    if (leftOut[id[0] ?? '']?.includes(at)) return true
    return Math.abs(value - (own[at] ?? 0)) <= 5.1e-12 * Math.abs(value) + 1e-300
  })
}

t.test(
  'a single point of RTKLIB from our files is that from its own',
  { skip: skip || noPeer('rnx2rtkp') },
  async (t) => {
    for (const [name, format, day] of recordings.filter(([name]) => /testobsnav|STR24/.test(name))) {
      const bytes = capture(name)
      if (!bytes) throw new Error(`no ${name}`)
      const theirs = converted(t, bytes, format, day)
      const { navigation, text } = await ours(bytes, day)
      const solutions = [
        [text, navigation],
        [theirs.observations, theirs.navigation],
      ].map(([obs = '', nav = '']) => solved(t, obs, nav))
      const [own = [], other = []] = solutions
      t.ok(
        own.length > 50 && Math.abs(own.length - other.length) <= 5,
        `${name}: ${own.length} of ${other.length} solutions`,
      )
      const middle = (at: number) => (rows: number[][]) =>
        rows.map((row) => row[at] ?? 0).toSorted((p, q) => p - q)[rows.length >> 1] ?? 0
      for (const axis of [0, 1, 2]) {
        const difference_m = middle(axis)(own) - middle(axis)(other)
        t.ok(Math.abs(difference_m) < 0.5, `axis ${axis}: ${difference_m.toFixed(3)} m`)
      }
    }
  },
)

/** ECEF of each epoch. */
function solved(t: Test, obs: string, nav: string): number[][] {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-rinex-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [obsFile, navFile, out] = ['a.obs', 'a.nav', 'a.pos'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(obsFile, obs)
  writeFileSync(navFile, nav)
  // RTKLIB's own file has the model of the ionosphere that GPS sends; ours has none.
  const options = join(folder, 'options.conf')
  writeFileSync(options, 'pos1-posmode =single\npos1-ionoopt =off\npos1-navsys =5\n')
  execFileSync('rnx2rtkp', ['-k', options, '-e', '-o', out, obsFile, navFile], { stdio: 'ignore' })
  return readFileSync(out, 'latin1')
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.trim().split(/\s+/).slice(2, 5).map(Number))
}

t.test('2.11, thinned: the same values, in the columns of its tables', { skip }, async (t) => {
  const [name, , day] = recordings[0] ?? ['', 'ubx', '']
  const bytes = capture(name)
  if (!bytes) throw new Error(`no ${name}`)
  const new3 = readObservations((await ours(bytes, day)).text)
  const { found, text } = await ours(bytes, day, '2.11', 10)
  const old = readObservations(text)
  t.equal(old.version, '2.11')
  t.equal(found.contents.interval_s, 10)
  t.equal(old.epochs.length, 8)
  t.notOk(
    [...(old.epochs[0]?.satellites.keys() ?? [])].some((one) => one.startsWith('C')),
    'no BeiDou',
  )
  const names: Record<string, readonly string[]> = {
    C1: ['C1C'],
    L1: ['L1C'],
    C2: ['C2L', 'C2C'],
    L2: ['L2L', 'L2C'],
    C7: ['C7Q'],
    L7: ['L7Q'],
  }
  let count = 0
  for (const { satellites, time } of old.epochs) {
    const same = new3.epochs.find((epoch) => clockOf(epoch.time) === clockOf(time))
    for (const [satellite, values] of satellites) {
      for (const [type, { value }] of values) {
        const others = (names[type] ?? []).map((one) => same?.satellites.get(satellite)?.get(one)?.value)
        if (!names[type]) continue
        t.ok(others.includes(value), `${time} ${satellite} ${type}`)
        count++
      }
    }
  }
  t.ok(count > 200, `${count} values`)
})

/** Hours, minutes and seconds, whatever pads them. */
const clockOf = (time: string) => time.trim().split(/\s+/).slice(-3).map(Number).join(' ')
