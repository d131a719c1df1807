import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectAsync } from 'mqtt'
import { asLast, knownLeap_s, msmEpochTime, unixToGps } from '../../runtime/lib/gnss/index.js'
import { endsWithThis } from '../harness/at-exit.js'
import { startMosquitto } from '../harness/peers/mosquitto.js'
import { freeTcpPort } from '../harness/process.js'
import { clientNumbers } from './addresses.js'
import { epochFrames, processUse, settled, startClients } from './edges.js'
import type { RoverReport } from './fleet-rovers.js'
import { atMost, figure, lost, type Measurement } from './measurement.js'
import { type RunSize, rtkBase } from './ntrip.js'
import { definePart, pause } from './part.js'

interface Size {
  readonly rovers: number
  readonly mounts: number
  /** Beside the first and the last. */
  readonly between: readonly number[]
  readonly epochs: number
  readonly warmUp_s: number
  /** While a third caster is added. */
  readonly added_s: number
  /** Rovers on it. */
  readonly late: number
  /** After one of the casters is killed; its rovers are back 1-5 s later. */
  readonly killed_s: number
  /** Of the caster of a station beside it. */
  readonly station: RunSize
}

export const benchArp = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }
export const benchSerial = (n: number) => `M${n}`

/** The publication of this second, as mqtt-rtcm makes it: 1005 and 1230, then the epoch. About 950 bytes. */
function publication(unix_s: number): Buffer {
  const { tow_s } = unixToGps(unix_s, knownLeap_s)
  const frames = epochFrames((constellation) => msmEpochTime(constellation, tow_s * 1_000, knownLeap_s))
  const msm = frames.slice(0, 4)
  return Buffer.concat([
    frames[5] as Buffer,
    frames[4] as Buffer,
    ...msm.slice(0, 3),
    Buffer.from(asLast(msm[3] as Buffer)),
  ])
}

/** Seconds that rovers are waited for beyond those of the size. */
const mostMore = 60

/** Of each publication. */
const epoch_bytes = publication(0).length

/** Casters of a fleet on one broker, whose bases publish once a second. */
async function startFleet(mounts: number) {
  const broker = await startMosquitto(['allow_anonymous true', 'max_queued_messages 0'])
  const script = fileURLToPath(new URL('./fleet-caster-child.js', import.meta.url))
  const children = new Set<ChildProcess>()
  const caster = async (port = 0) => {
    const child = fork(script, [String(broker.port), String(mounts), String(port)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    children.add(child)
    endsWithThis(child)
    const [used] = (await once(child, 'message')) as [number]
    return { port: used, pid: child.pid as number, kill: () => void child.kill('SIGKILL') }
  }
  const publisher = await connectAsync(`mqtt://127.0.0.1:${broker.port}`)
  const seconds = async (count: number) => {
    for (let n = 0; n < count; n++) {
      // A timer may come a millisecond early: the same second again would be no new epoch.
      await pause(1_020 - (Date.now() % 1_000))
      const payload = publication(Math.floor(Date.now() / 1_000))
      for (let mount = 0; mount < mounts; mount++) publisher.publish(`base/${benchSerial(mount)}/drtk`, payload)
    }
  }
  const stop = async () => {
    for (const child of children) child.kill('SIGKILL')
    await publisher.endAsync()
    await broker.stop('SIGKILL')
  }
  return { caster, seconds, stop }
}

/** Rovers that look for another caster when theirs is gone. */
async function startRovers(ports: readonly number[], count: number, mounts: number) {
  const script = fileURLToPath(new URL('./fleet-rovers.js', import.meta.url))
  const child = fork(script, [ports.join(','), ...[count, mounts, epoch_bytes, clientNumbers(count)].map(String)])
  const kill = () => void child.kill('SIGKILL')
  endsWithThis(child)
  await once(child, 'message')
  const report = async () => {
    child.send('report')
    const [message] = (await once(child, 'message')) as [RoverReport]
    return message
  }
  return {
    stop: kill,
    /** Forgets what came so far. */
    async reset() {
      await settled(report, ({ bytes }) => bytes)
      child.send('reset')
    },
    /** Once `isWhole`, or once nothing comes any more. */
    report: (isWhole?: (report: RoverReport) => boolean) => settled(report, ({ bytes }) => bytes, isWhole),
  }
}

/** Two casters with 2,500 rovers each; a third is added under load, and one of the first two is killed. */
async function benchLoss({
  rovers,
  mounts,
  epochs,
  warmUp_s,
  added_s,
  late: lateRovers,
  killed_s,
}: Size): Promise<Measurement[]> {
  const fleet = await startFleet(mounts)
  const [one, other] = [await fleet.caster(), await fleet.caster()]
  // The port of the third is known to the rovers from the start, as a balancer knows it.
  const port = await freeTcpPort()
  const own = await startRovers([one.port], rovers, mounts)
  const theirs = await startRovers([other.port, one.port, port], rovers, mounts)
  const pids = [one.pid, other.pid]
  await fleet.seconds(warmUp_s)
  for (const some of [own, theirs]) await some.reset()
  const use = () => pids.reduce((sum, pid) => sum + processUse(pid).cpu_s, 0)
  const [before, started] = [use(), performance.now()]
  await fleet.seconds(epochs)
  const cpu = (100 * (use() - before)) / ((performance.now() - started) / 1_000)
  const [starting] = await Promise.all([fleet.caster(port), fleet.seconds(added_s)])
  const late = await startRovers([starting.port], lateRovers, mounts)
  other.kill()
  await fleet.seconds(killed_s)
  let sent = epochs + added_s + killed_s
  // Without an epoch nobody knows that it streams again: on a busy machine that takes longer.
  const last = sent + mostMore
  for (; sent < last && (await theirs.report()).streaming < rovers; sent++) await fleet.seconds(1)
  const [kept, moved] = [await own.report(({ fewest }) => fewest >= sent), await theirs.report()]
  const added = await late.report()
  for (const some of [own, theirs, late]) some.stop()
  await fleet.stop()
  return [
    figure(`2 casters with ${rovers} rovers each: share of a core, both`, cpu, '%'),
    lost('epochs lost by the rover of the other caster served worst', sent, kept.fewest, 'epochs'),
    lost('rovers of the other caster that lost it', rovers, rovers - kept.lost),
    lost('rovers of the killed caster that did not notice', rovers, moved.lost),
    atMost('the last of them is back after', moved.back_s, 10, 's'),
    lost('rovers that do not stream again', rovers, moved.streaming),
    lost('rovers on the third caster besides that do not stream', lateRovers, added.streaming),
  ]
}

/** Share of a core with a number of rovers; those beyond one for each mountpoint only let the system take what they get. */
async function measure(
  { port, pid, seconds }: { port: number; pid: number; seconds: (count: number) => Promise<void> },
  count: number,
  { mounts, warmUp_s, epochs }: Size,
) {
  const reading = await startClients('ntrip', port, mounts, 0, mounts)
  const others = count > mounts ? await startClients('ntrip', port, count - mounts, 0, mounts) : undefined
  await seconds(warmUp_s)
  others?.freeze()
  await reading.reset()
  const before = processUse(pid)
  const started = performance.now()
  await seconds(epochs)
  const used = processUse(pid)
  const cpu = (100 * (used.cpu_s - before.cpu_s)) / ((performance.now() - started) / 1_000)
  const { fewest_bytes } = await reading.stop((report) => report.fewest_bytes >= epochs * epoch_bytes)
  others?.kill()
  return { cpu, fewest: Math.floor(fewest_bytes / epoch_bytes), rss_MB: used.rss_bytes / 1e6 }
}

/**
 * The caster of a fleet: 2,500 rovers on 200 mountpoints, whose RTCM comes from a broker once a second, and the caster of a station with as
 * many rovers. The cost of a rover is that of those beyond the first 200: the bases cost as much with one rover each.
 */
export const part = definePart<Size>({
  sizes: {
    full: {
      ...{ rovers: 2_500, mounts: 200, between: [500, 1_000], epochs: 20, warmUp_s: 15 },
      ...{ added_s: 5, late: 250, killed_s: 15 },
      station: { timed: 8, stalled: 20, epochs: 20, warmUp: 600, rounds: 1 },
    },
    smoke: {
      ...{ rovers: 40, mounts: 10, between: [], epochs: 3, warmUp_s: 2 },
      ...{ added_s: 1, late: 10, killed_s: 9 },
      station: { timed: 8, stalled: 2, epochs: 2, warmUp: 5, rounds: 1 },
    },
  },
  peers: ['mosquitto'],
  notComparable: 'its casters run in one process with edges of this tree',
  async run(size) {
    const { rovers, mounts, between, epochs } = size
    const fleet = await startFleet(mounts)
    const caster = { ...(await fleet.caster()), seconds: fleet.seconds }
    const few = await measure(caster, mounts, size)
    const steps: number[] = []
    for (const count of between) steps.push((await measure(caster, count, size)).cpu)
    const many = await measure(caster, rovers, size)
    await fleet.stop()
    const own = [await rtkBase(mounts, size.station), await rtkBase(rovers, size.station)].map(({ cpu }) => cpu)
    const slope = (first = 0, last = 0) => (1_000 * (last - first)) / (rovers - mounts)
    const [here, there] = [slope(few.cpu, many.cpu), slope(...own)]
    return [
      figure(`fleet, ${mounts} rovers on ${mounts} mountpoints: share of a core`, few.cpu, '%'),
      figure(`fleet, ${rovers} rovers on ${mounts} mountpoints: share of a core`, many.cpu, '%'),
      ...between.map((count, n) =>
        figure(
          `fleet, ${count} rovers: share of a core for each 1,000 beyond the first ${mounts}`,
          (1_000 * ((steps[n] ?? 0) - few.cpu)) / (count - mounts),
          '%',
        ),
      ),
      figure(`station, ${mounts} rovers: share of a core`, own[0] ?? 0, '%'),
      figure(`station, ${rovers} rovers: share of a core`, own[1] ?? 0, '%'),
      figure('fleet: share of a core for each further 1,000 rovers', here, '%'),
      figure('station: share of a core for each further 1,000 rovers', there, '%'),
      // Of some tens of rovers the cost cannot be told.
      ...(between.length > 0
        ? [atMost('fleet: cost of a rover, of that of a station', (100 * here) / there, 110, '%')]
        : []),
      lost('fleet: epochs lost by the rover served worst', epochs, many.fewest, 'epochs'),
      figure('fleet: resident memory', many.rss_MB, 'MB', 150),
      ...(await benchLoss(size)),
    ]
  },
})
