import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectAsync } from 'mqtt'
import { asLast, knownLeap_s, msmEpochTime, unixToGps } from '../../runtime/gnss/index.js'
import { startMosquitto } from '../harness/peers/mosquitto.js'
import { freeTcpPort } from '../harness/process.js'
import { epochFrames, hasProgram, processUse, startClients } from './edges.js'
import type { RoverReport } from './fleet-rovers.js'
import { atLeast, atMost, type Measurement } from './measurement.js'
import { rtkBase } from './ntrip.js'

const rovers = 2_500
const mounts = 200
/** Beside the first and the last. */
const between = [500, 1_000]
const epochs = 20
const warmUp_s = 15
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

/** Of each publication. */
const epoch_bytes = publication(0).length

/** Casters of a fleet on one broker, whose bases publish once a second. */
async function startFleet() {
  const broker = await startMosquitto(['allow_anonymous true', 'max_queued_messages 0'])
  const script = fileURLToPath(new URL('./fleet-caster-child.js', import.meta.url))
  const children = new Set<ChildProcess>()
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL')
  })
  const caster = async (port = 0) => {
    const child = fork(script, [String(broker.port), String(mounts), String(port)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    children.add(child)
    const [used] = (await once(child, 'message')) as [number]
    return { port: used, pid: child.pid as number, kill: () => void child.kill('SIGKILL') }
  }
  const publisher = await connectAsync(`mqtt://127.0.0.1:${broker.port}`)
  const seconds = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)))
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
async function startRovers(ports: readonly number[], count: number) {
  const script = fileURLToPath(new URL('./fleet-rovers.js', import.meta.url))
  const child = fork(script, [ports.join(','), ...[count, mounts, epoch_bytes].map(String)])
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
  await once(child, 'message')
  return {
    stop: kill,
    reset: () => void child.send('reset'),
    async report() {
      child.send('report')
      const [report] = (await once(child, 'message')) as [RoverReport]
      return report
    },
  }
}

/** Two casters with 2,500 rovers each; a third is added under load, and one of the first two is killed. */
async function benchLoss(): Promise<Measurement[]> {
  const fleet = await startFleet()
  const [one, other] = [await fleet.caster(), await fleet.caster()]
  // The port of the third is known to the rovers from the start, as a balancer knows it.
  const port = await freeTcpPort()
  const own = await startRovers([one.port], rovers)
  const theirs = await startRovers([other.port, one.port, port], rovers)
  const pids = [one.pid, other.pid]
  await fleet.seconds(warmUp_s)
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (const some of [own, theirs]) some.reset()
  const use = () => pids.reduce((sum, pid) => sum + processUse(pid).cpu_s, 0)
  const [before, started] = [use(), performance.now()]
  await fleet.seconds(epochs)
  const cpu = (100 * (use() - before)) / ((performance.now() - started) / 1_000)
  const [starting] = await Promise.all([fleet.caster(port), fleet.seconds(5)])
  const late = await startRovers([starting.port], 250)
  other.kill()
  await fleet.seconds(15)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const [kept, moved, added] = [await own.report(), await theirs.report(), await late.report()]
  for (const some of [own, theirs, late]) some.stop()
  const sent = epochs + 5 + 15
  await fleet.stop()
  return [
    { name: `2 casters with ${rovers} rovers each: share of a core, both`, value: cpu, unit: '%' },
    atLeast(`of ${sent} epochs, the rover of the other caster served worst`, kept.fewest, sent, 'epochs'),
    atMost('rovers of the other caster that lost it', kept.lost, 1, ''),
    { name: 'rovers of the killed caster', value: moved.lost, unit: '' },
    atMost('the last of them is back after', moved.back_s, 10, 's'),
    atLeast('rovers that stream again', moved.streaming, rovers, ''),
    { name: 'rovers on the third caster besides', value: added.streaming, unit: '' },
  ]
}

/** Share of a core with a number of rovers; those beyond one for each mountpoint only let the system take what they get. */
async function measure(
  { port, pid, seconds }: { port: number; pid: number; seconds: (count: number) => Promise<void> },
  count: number,
) {
  const reading = await startClients('ntrip', port, mounts, 0, mounts)
  const others = count > mounts ? await startClients('ntrip', port, count - mounts, 0, mounts) : undefined
  await seconds(warmUp_s)
  others?.freeze()
  reading.reset()
  const before = processUse(pid)
  const started = performance.now()
  await seconds(epochs)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const used = processUse(pid)
  const cpu = (100 * (used.cpu_s - before.cpu_s)) / ((performance.now() - started) / 1_000)
  const { fewest } = await reading.stop()
  others?.kill()
  return { cpu, fewest, rss_MB: used.rss_bytes / 1e6 }
}

/**
 * The caster of a fleet: 2,500 rovers on 200 mountpoints, whose RTCM comes from a broker once a second, and the caster of a station with as
 * many rovers. The cost of a rover is that of those beyond the first 200: the bases cost as much with one rover each.
 */
export async function benchFleetCaster(): Promise<Measurement[]> {
  if (!hasProgram('mosquitto')) throw new Error('this needs mosquitto')
  const fleet = await startFleet()
  const caster = { ...(await fleet.caster()), seconds: fleet.seconds }
  const few = await measure(caster, mounts)
  const steps: number[] = []
  for (const count of between) steps.push((await measure(caster, count)).cpu)
  const many = await measure(caster, rovers)
  await fleet.stop()
  const own = [await rtkBase(mounts), await rtkBase(rovers)].map(({ cpu }) => cpu) as [number, number]
  const slope = (first: number, last: number) => (1_000 * (last - first)) / (rovers - mounts)
  const [here, there] = [slope(few.cpu, many.cpu), slope(...own)]
  return [
    { name: `fleet, ${mounts} rovers on ${mounts} mountpoints: share of a core`, value: few.cpu, unit: '%' },
    { name: `fleet, ${rovers} rovers on ${mounts} mountpoints: share of a core`, value: many.cpu, unit: '%' },
    ...between.map((count, n) => ({
      name: `fleet, ${count} rovers: share of a core for each 1,000 beyond the first ${mounts}`,
      value: (1_000 * ((steps[n] ?? 0) - few.cpu)) / (count - mounts),
      unit: '%',
    })),
    { name: `station, ${mounts} rovers: share of a core`, value: own[0], unit: '%' },
    { name: `station, ${rovers} rovers: share of a core`, value: own[1], unit: '%' },
    { name: 'fleet: share of a core for each further 1,000 rovers', value: here, unit: '%' },
    { name: 'station: share of a core for each further 1,000 rovers', value: there, unit: '%' },
    atMost('fleet: cost of a rover, of that of a station', (100 * here) / there, 110, '%'),
    atLeast('fleet: epochs of the rover served worst', many.fewest, epochs, 'epochs'),
    { name: 'fleet: resident memory', value: many.rss_MB, unit: 'MB' },
    ...(await benchLoss()),
  ]
}
