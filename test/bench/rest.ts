/**
 * What a station at rest writes: the device variant on a pseudo-terminal with a simulated receiver behind it, its data on a file
 * system of its own. Root only, as it mounts one.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { decodeSnapshot, slotFile } from '../../runtime/platform/store/snapshot.js'
import { until } from '../harness/manual-clock.js'
import { openPty } from '../harness/peers/pty.js'
import { freeUdpPort } from '../harness/process.js'
import { atMost, figure } from './measurement.js'
import { definePart, pause } from './part.js'
import { receiverOn, type Undo, withUndo } from './receiver.js'
import { startStation } from './stations.js'
import { tree } from './tree.js'

const disk_bytes = 256 * 2 ** 20
const sector_bytes = 512
const day_s = 86_400
interface Size {
  /** The start is not counted: what a station determines once is written once. */
  readonly settled_min: number
  /** Extrapolated to a day, and logs and curves are saved once an hour: in full not below 60. */
  readonly minutes: number
  /** Of the start-up check and the survey-in. */
  readonly initial_s: number
  readonly mintime_s: number
  /** In a minute after the start more is written than in an hour. */
  readonly expected: { readonly device_MB: number; readonly process_MB: number; readonly settings: number }
}

export const part = definePart<Size>({
  sizes: {
    full: {
      ...{ settled_min: 11, minutes: Number(process.env.RTK_BASE_REST_MIN ?? 125), initial_s: 60, mintime_s: 60 },
      expected: { device_MB: 30, process_MB: 12, settings: 50 },
    },
    smoke: {
      ...{ settled_min: 0, minutes: 0.05, initial_s: 5, mintime_s: 2 },
      expected: { device_MB: 5_000, process_MB: 5_000, settings: 20_000 },
    },
  },
  peers: ['socat', 'mkfs.ext4', 'losetup'],
  needsRoot: true,
  run: (size) => withUndo((undo) => measured(size, undo)),
})

async function measured({ settled_min, minutes, initial_s, mintime_s, expected }: Size, undo: Undo[]) {
  const { loop, data } = ownDisk(undo)
  const pty = await openPty()
  undo.push(() => pty.close())
  await receiverOn(pty.far, undo)
  const changes = [`gnss-survey-mintime=${mintime_s}`, 'gnss-survey-accuracy=5', 'ntrip-caster-port=0']
  const variant = join(tree, 'runtime', 'variants', 'zed-f9p.json')
  const station = await startStation(
    [
      ...[variant, '--set', `gnss-zed.port=${pty.near}`, '--set', `integrity.initial_s=${initial_s}`],
      ...[...changes, `udp-port=${await freeUdpPort()}`].flatMap((one) => ['--change', one]),
    ],
    { data },
  )
  undo.push(() => station.end())
  const status = async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status
  await until(async () => (await status()) === 'fixed', 'fixed', 300_000)
  await pause(60_000 * settled_min)
  const look = () => figures(loop, station.child.pid as number, station.data)
  const before = look()
  await pause(60_000 * minutes)
  const after = look()
  if ((await status()) !== 'fixed') throw new Error('the station was not at rest: it is no longer fixed')
  const aDay = (from: number, to: number) => ((to - from) * day_s) / (minutes * 60)
  const device_MB = aDay(before.device_bytes, after.device_bytes) / 1e6
  const process_MB = aDay(before.process_bytes, after.process_bytes) / 1e6
  const settings = aDay(before.settings, after.settings)
  return [
    atMost('written to the block device a day (ext4)', device_MB, 30, 'MB', expected.device_MB),
    atMost('written by the process a day (/proc/PID/io)', process_MB, 12, 'MB', expected.process_MB),
    atMost('writes of the settings a day', settings, 50, '', expected.settings),
    figure('flushes of the block device a day', aDay(before.flushes, after.flushes), ''),
  ]
}

/** A file with an ext4 on a loop device of its own. */
function ownDisk(undo: Undo[]) {
  const place = mkdtempSync(join(tmpdir(), 'rtk-base-rest-'))
  undo.push(() => rmSync(place, { recursive: true, force: true }))
  const image = join(place, 'disk')
  const mount = join(place, 'mount')
  writeFileSync(image, '')
  truncateSync(image, disk_bytes)
  mkdirSync(mount)
  execFileSync('mkfs.ext4', ['-q', '-F', image])
  const loop = execFileSync('losetup', ['--find', '--show', image]).toString().trim()
  undo.push(() => execFileSync('losetup', ['--detach', loop]))
  execFileSync('mount', [loop, mount])
  undo.push(() => execFileSync('umount', [mount]))
  return { loop, data: join(mount, 'data') }
}

/** `/sys/block/…/stat` (Documentation/block/stat.rst): sectors written are the 7th, flushes the 16th. */
function figures(loop: string, pid: number, data: string) {
  // What waits in the page cache is written too, in the end.
  execFileSync('sync', ['-f', data])
  const fields = readFileSync(`/sys/block/${basename(loop)}/stat`, 'utf8')
    .trim()
    .split(/\s+/)
    .map(Number)
  const io = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]
  return {
    device_bytes: (fields[6] ?? 0) * sector_bytes,
    process_bytes: Number(io),
    flushes: fields[15] ?? 0,
    settings: Math.max(...([0, 1] as const).map((slot) => generation(join(data, 'store', slotFile(slot))))),
  }
}

/** Each write of the settings is a generation of its own. */
function generation(file: string): number {
  const snapshot = decodeSnapshot(readFileSync(file))
  if (snapshot === undefined || snapshot === 'newer') throw new Error(`${file} cannot be read`)
  return snapshot.number
}
