/** The archive on a disk of 200 MB, for weeks of the clock, while something else fills and frees it. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock, sample } from 'rtk-base/testing'
import t from 'tap'
import { Archive } from '../../../../plugins/reference/raw/archive.js'
import { excess, reserveOf, shortText } from '../../../../plugins/reference/raw/bounds.js'
import { epochTime_ms } from '../../../../plugins/reference/raw/contents.js'
import type { ArchivedHour } from '../../../../plugins/reference/raw/hour-files.js'
import { encodeMsm, Framer } from '../../../../runtime/lib/gnss/index.js'
import { hour_ms, scratch } from './push-rig.js'

const mega = 1_048_576
const bounds = { size_bytes: 1024 * mega, free_bytes: undefined, days: 30 }
const monday = Date.UTC(2026, 10, 23)

t.test('bounds: the room that is kept by default, and what has to go', (t) => {
  const disk = (total_mb: number, free_mb = 0) => ({ total_bytes: total_mb * mega, free_bytes: free_mb * mega })
  t.equal(reserveOf(bounds, disk(32_000)), 256 * mega)
  t.equal(reserveOf(bounds, disk(200)), 50 * mega, 'a quarter of a small disk')
  t.equal(reserveOf({ ...bounds, free_bytes: 256 * mega }, disk(200)), 256 * mega, 'as the operator says')
  t.match(shortText({ ...bounds, free_bytes: 256 * mega }, disk(200)), /raw.free_mb is 256, and the disk has 200 MB/)
  t.match(shortText(bounds, disk(200)), /less than 50 MB are free/)
  const hours = [0, 1, 2, 3].map(
    (hour): ArchivedHour => ({
      ...{ hour_ms: monday + hour * hour_ms, part: 0, name: `${hour}`, bytes: 10 * mega, isOpen: false },
      ...{ contents: undefined, pushed: undefined },
    }),
  )
  const gone = (free_mb: number, size_mb: number, days = 30, after_h = 4) =>
    excess(
      hours,
      5 * mega,
      { size_bytes: size_mb * mega, free_bytes: 50 * mega, days },
      disk(200, free_mb),
      monday + after_h * hour_ms,
    ).length
  t.equal(gone(50, 45), 0)
  t.equal(gone(49, 45), 1, 'free space')
  t.equal(gone(29, 45), 3)
  t.equal(gone(0, 45), 4, 'no more than there are')
  t.equal(gone(50, 44), 1, 'size')
  t.equal(gone(50, 45, 1, 26), 2, 'age')
  t.end()
})

/** A ZED-F9P at 1 Hz, 30 satellites on two bands: about 950 bytes an epoch. The noise does not get smaller. */
function epochsFrom(start_s: number, count: number): Buffer {
  const parts: Buffer[] = []
  for (let second = start_s; second < start_s + count; second++) {
    const noise = createHash('shake256', { outputLength: 850 }).update(`${second}`).digest()
    const cell = { satellite: 5, signal: 2, pseudorange_m: 2.1e7, phase_m: 2.1e7, cnr_dbhz: 40, lock: 600 }
    const head = { type: 1077, stationId: 1, epochTime: (second % 604_800) * 1_000, multiple: false }
    parts.push(Buffer.from(encodeMsm({ ...head, observations: [cell] })), noise)
  }
  return Buffer.concat(parts)
}

const skip = process.getuid?.() === 0 ? false : 'mounting a small file system needs root'
t.test('weeks at 1 Hz on a file system of 200 MB', { skip }, async (t) => {
  const disk = scratch(t)
  const place = join(disk, 'disk')
  mkdirSync(place)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', place])
  t.teardown(() => {
    execFileSync('umount', ['-l', place])
    rmdirSync(place)
  })
  const path = join(place, 'raw')
  mkdirSync(path)
  const clock = new ManualClock(monday)
  const troubles: string[] = []
  const deleted: ArchivedHour[] = []
  const archive = new Archive({
    ...{ path: async () => path, bounds, clock },
    onTrouble: (text) => text !== undefined && troubles.push(text),
    onDelete: (hour) => deleted.push(hour),
  })
  const free_mb = () => {
    const { bavail, bsize } = statfsSync(place)
    return (bavail * bsize) / mega
  }
  const ballast = (number: number) => join(place, `ballast-${number}`)
  let least_mb = free_mb()
  let appended_bytes = 0
  const hours = 24 * sample(1, 14)
  /** Epochs of five minutes arrive at once: the archive may write them in as many portions as it likes. */
  const step_s = 300
  for (let hour = 0; hour < hours; hour++) {
    // Something else takes up to 120 MB, and gives it back, each day.
    const level = hour % 24
    if (level >= 6 && level < 12) writeFileSync(ballast(level), Buffer.alloc(20 * mega))
    if (level === 18) for (let number = 6; number < 12; number++) rmSync(ballast(number))
    for (let at_s = 0; at_s < 3_600; at_s += step_s) {
      const bytes = epochsFrom(hour * 3_600 + at_s, step_s)
      for (let at = 0; at < bytes.length; at += 60_000) {
        archive.append(bytes.subarray(at, at + 60_000), clock.now())
        await archive.flush()
      }
      appended_bytes += bytes.length
      await clock.advance(step_s * 1_000)
      least_mb = Math.min(least_mb, free_mb())
      if (at_s % 600 === 0) await archive.tidy(clock.now() - 1)
    }
    // Everything else on the station can write at any time.
    writeFileSync(join(place, 'settings'), Buffer.alloc(mega))
    rmSync(join(place, 'settings'))
  }
  await archive.close()
  await archive.tidy(clock.now())
  t.comment(`${hours} h, ${Math.round(appended_bytes / mega)} MB, least free ${least_mb.toFixed(0)} MB`)
  t.ok(least_mb > 25, `${least_mb} MB stay free while 20 MB are taken at once`)
  t.strictSame(troubles, [])
  t.equal(archive.lost_bytes, 0)

  const kept = await archive.list()
  t.equal(kept.at(-1)?.hour_ms, monday + (hours - 1) * hour_ms, 'the newest')
  t.equal(kept.length + deleted.length, hours, 'each hour is there, or was deleted for room')
  t.strictSame(
    kept.map(({ hour_ms: start_ms }) => start_ms),
    kept.map((_, at) => monday + (hours - kept.length + at) * hour_ms),
    'without a gap: the oldest were deleted',
  )
  for (const { bytes, contents, isOpen, name } of kept) {
    if (!isOpen) t.match(contents, { epochs: 3_600, missing: 0 }, `${name}, ${bytes} bytes`)
  }
  let epochs = 0
  const framer = new Framer({ onFrame: ({ bytes }) => (epochs += epochTime_ms(bytes) === undefined ? 0 : 1) })
  for await (const { bytes } of archive.read(0, Infinity)) framer.push(bytes, 0)
  framer.flush()
  t.equal(epochs, 3_600 * kept.length, 'all of their epochs can be read')
  const names = readdirSync(path)
  t.equal(names.length, 2 * kept.filter(({ isOpen }) => !isOpen).length + kept.filter(({ isOpen }) => isOpen).length)

  t.test('a disk that something else fills to the last byte', async (t) => {
    const held = kept.length
    for (const size of [mega, 4_096])
      try {
        for (;;) writeFileSync(ballast(99), Buffer.alloc(size), { flag: 'a' })
      } catch {}
    const before_ms = clock.now()
    archive.append(epochsFrom(hours * 3_600, 60), before_ms)
    await archive.flush()
    await clock.advance(31_000)
    await archive.tidy(before_ms)
    t.ok((await archive.list()).length < held, 'the archive gives way')
    writeFileSync(join(place, 'settings'), Buffer.alloc(mega))
    rmSync(join(place, 'settings'))
    rmSync(ballast(99))
    await clock.advance(31_000)
    archive.append(epochsFrom(hours * 3_600 + 60, 60), before_ms)
    await archive.close()
    t.ok(statSync(join(path, (await archive.list()).at(-1)?.name ?? '')).size > 0, 'and records again')
  })
})
