/**
 * Endurance: the real application with all that comes and goes around it for hours. Whatever grows with the time is a leak: objects by
 * constructor, listeners, handles, timers, memory, bytes written, log lines. `RTK_BASE_SOAK_MIN` sets its minutes.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineOnly, rtkBase } from 'rtk-base/testing'
import t from 'tap'
import { processUse, smallMachine, unitEnvironment } from '../bench/edges.js'
import { Company } from '../harness/peers/company.js'
import { growthOf, held, lookInto } from '../harness/peers/growth.js'
import { noPeer } from '../harness/peers/peers.js'

const minutes = Number(process.env.RTK_BASE_SOAK_MIN ?? 120)
/** Caches fill and code is compiled until then; long soaks wait until the rings of an hour are full. */
const warmUp_min = Math.min(minutes / 4, 65)

t.setTimeout((minutes + 30) * 60_000)

t.test(`${minutes} minutes: nothing grows`, { skip: machineOnly || noPeer('mosquitto') }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-soak-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const looked = await Company.around(t, { nodeOptions: lookInto(folder) }, folder)
  // To write a heap down takes hundreds of megabytes, which stay: the resident memory is that of another station, as a device runs it.
  const built = join(folder, 'built')
  t.match(await rtkBase(['build', 'simulator', '--out', built]), { code: 0 })
  const weighed = await Company.around(t, {
    execPath: 'env',
    nodeOptions: [...unitEnvironment, process.execPath, ...smallMachine],
    entry: join(built, 'rtk-base.mjs'),
  })

  /** What they hold after so many minutes more. */
  const lived = async (minutes: number) => {
    await Promise.all([looked.live(minutes), weighed.live(minutes)])
    const resident_bytes = processUse(weighed.station.child.pid as number).rss_bytes
    return { ...(await held(looked.station, folder)), resident_bytes }
  }

  await lived(warmUp_min / 2)
  // The first look at the heap leaves traces of its own.
  const before = await lived(warmUp_min / 2)
  const measured_min = minutes - warmUp_min
  const middle = await lived(measured_min / 2)
  const after = await lived(measured_min / 2)

  const mb = (bytes: number) => (bytes / 1e6).toFixed(1)
  const perMinute = (count: (from: typeof before, to: typeof before) => number) =>
    [[before, middle] as const, [middle, after] as const].map(
      ([from, to]) => (count(from, to) / (to.at_ms - from.at_ms)) * 60_000,
    ) as [number, number]
  const moments = [before, middle, after]
  const resident = moments.map(({ resident_bytes }) => mb(resident_bytes)).join(' → ')
  t.comment(`memory in use: ${moments.map(({ used_bytes }) => mb(used_bytes)).join(' → ')} MB`)
  t.comment(`resident memory: ${resident} MB`)
  t.comment(`handles: ${moments.map(({ handles }) => JSON.stringify(handles)).join(' → ')}`)
  t.comment(`objects: ${moments.map(({ objects }) => [...objects.values()].reduce((sum, n) => sum + n)).join(' → ')}`)
  const lines = perMinute((from, to) => to.logLines - from.logLines)
  const written = perMinute((from, to) => to.written_bytes - from.writtenAfter_bytes)
  t.comment(`log lines a minute: ${lines.map((n) => n.toFixed(1)).join(' → ')}`)
  t.comment(`written a minute: ${written.map((n) => (n / 1e3).toFixed(0)).join(' → ')} kB; ${looked.reloads} reloads`)
  t.same([...looked.failed, ...weighed.failed], [], 'everything that came was served')
  t.same(growthOf(before, middle, after), [], 'nothing is held that was not held before')
  t.ok(
    after.used_bytes < before.used_bytes * 1.05 + 4e6,
    `${mb(before.used_bytes)} → ${mb(after.used_bytes)} MB in use`,
  )
  t.ok(after.resident_bytes < before.resident_bytes * 1.05 + 4e6, `${resident} MB resident`)
  t.ok(lines[1] < lines[0] * 1.5 + 3, `${lines.map((n) => n.toFixed(1)).join(' → ')} log lines a minute`)
  t.ok(written[1] < written[0] * 1.5 + 100e3, `${written.map(mb).join(' → ')} MB written a minute`)
})
