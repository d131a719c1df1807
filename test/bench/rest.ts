/**
 * What a station at rest writes: the device variant on a pseudo-terminal with a simulated receiver behind it, its data on a file
 * system of its own. Root only, as it mounts one.
 */
import { execFileSync } from 'node:child_process'
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { SimulatedPort } from '../../plugins/gnss-zed/simulator/index.js'
import { systemClock } from '../../runtime/ports/clock.js'
import { until } from '../harness/manual-clock.js'
import { openPty } from '../harness/peers/pty.js'
import { startStation } from '../harness/process.js'
import { atMost, type Measurement } from './measurement.js'

const disk_bytes = 256 * 2 ** 20
const sector_bytes = 512
const day_s = 86_400
/** The start is not counted: what a station determines once is written once. */
const settled_min = 6

/** @param minutes of measurement; the figures are extrapolated to a day */
export async function benchRest(minutes = Number(process.env.RTK_BASE_REST_MIN ?? 30)): Promise<Measurement[]> {
  const place = mkdtempSync(join(tmpdir(), 'rtk-base-rest-'))
  const image = join(place, 'disk')
  const mount = join(place, 'data')
  writeFileSync(image, '')
  truncateSync(image, disk_bytes)
  execFileSync('mkfs.ext4', ['-q', '-F', image])
  execFileSync('mkdir', [mount])
  const loop = execFileSync('losetup', ['--find', '--show', image]).toString().trim()
  execFileSync('mount', [loop, mount])
  const pty = await openPty()
  const far = createWriteStream(pty.far, { flags: 'r+' })
  const heard = createReadStream(pty.far)
  const port = new SimulatedPort(
    {
      ...{
        boot: 'rover',
        module: 'ZED-F9P',
        wiring: 'USB',
        uniqueId: '5A45440001',
        geoidSeparation_m: 47,
        nmea: false,
      },
      ...{ lat: 52.1, lon: 4.3, alt: 60, seed: 1 },
    } as ConstructorParameters<typeof SimulatedPort>[0],
    { clock: systemClock, timers: timers() },
  )
  await port.open(115_200, { data: (chunk) => void far.write(Buffer.from(chunk)), closed: () => {} })
  heard.on('data', (chunk) => void port.write(chunk as Buffer))
  const changes = ['gnss-survey-mintime=60', 'gnss-survey-accuracy=5'].flatMap((one) => ['--change', one])
  const variant = join(import.meta.dirname, '..', '..', '..', 'runtime', 'variants', 'zed-f9p.json')
  const station = await startStation([variant, '--set', `gnss-zed.port=${pty.near}`, ...changes], {
    data: join(mount, 'data'),
  })
  try {
    const status = async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status
    await until(async () => (await status()) === 'fixed', 'fixed', 300_000)
    await passed(settled_min)
    const before = figures(loop, station.child.pid as number)
    await passed(minutes)
    const after = figures(loop, station.child.pid as number)
    const aDay = (from: number, to: number) => ((to - from) * day_s) / (minutes * 60)
    const written_MB = aDay(before.device_bytes, after.device_bytes) / 1e6
    return [
      atMost('written to the block device a day (ext4)', written_MB, 30, 'MB'),
      atMost(
        'written by the process a day (/proc/PID/io)',
        aDay(before.process_bytes, after.process_bytes) / 1e6,
        12,
        'MB',
      ),
      { name: 'flushes of the block device a day', value: aDay(before.flushes, after.flushes), unit: '' },
    ]
  } finally {
    await station.end()
    await port.close()
    heard.destroy()
    far.destroy()
    await pty.close()
    execFileSync('umount', [mount])
    execFileSync('losetup', ['--detach', loop])
    rmSync(place, { recursive: true, force: true })
  }
}

const passed = (minutes: number) => new Promise<void>((resolve) => setTimeout(resolve, minutes * 60_000))

/** `/sys/block/…/stat` (Documentation/block/stat.rst): sectors written are the 7th, flushes the 16th. */
function figures(loop: string, pid: number) {
  const fields = readFileSync(`/sys/block/${basename(loop)}/stat`, 'utf8')
    .trim()
    .split(/\s+/)
    .map(Number)
  const io = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]
  return { device_bytes: (fields[6] ?? 0) * sector_bytes, process_bytes: Number(io), flushes: fields[15] ?? 0 }
}

/** As a plugin has them. */
function timers() {
  const ignored = (fn: () => unknown) => () => void fn()
  return {
    after: (ms: number, fn: () => unknown) => {
      const timer = setTimeout(ignored(fn), ms)
      return () => clearTimeout(timer)
    },
    every: (ms: number, fn: () => unknown) => {
      const timer = setInterval(ignored(fn), ms)
      return () => clearInterval(timer)
    },
  }
}
