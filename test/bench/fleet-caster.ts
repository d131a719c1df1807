import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectAsync } from 'mqtt'
import { asLast, knownLeap_s, msmEpochTime, unixToGps } from '../../runtime/gnss/index.js'
import { startMosquitto } from '../harness/peers/mosquitto.js'
import { epochFrames, hasProgram, processUse, startClients } from './edges.js'
import { atLeast, atMost, type Measurement } from './measurement.js'
import { rtkBase } from './ntrip.js'

const rovers = 2_500
const mounts = 200
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

/** A caster of a fleet whose bases publish once a second. */
async function startFleet() {
  const broker = await startMosquitto(['allow_anonymous true', 'max_queued_messages 0'])
  const script = fileURLToPath(new URL('./fleet-caster-child.js', import.meta.url))
  const child = fork(script, [String(broker.port), String(mounts)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  const publisher = await connectAsync(`mqtt://127.0.0.1:${broker.port}`)
  const seconds = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)))
      const payload = publication(Math.floor(Date.now() / 1_000))
      for (let mount = 0; mount < mounts; mount++) publisher.publish(`base/${benchSerial(mount)}/drtk`, payload)
    }
  }
  const stop = async () => {
    child.kill('SIGKILL')
    await publisher.endAsync()
    await broker.stop('SIGKILL')
  }
  return { port, pid: child.pid as number, seconds, stop }
}

/** Share of a core with so many rovers; those beyond one for each mountpoint only let the system take what they get. */
async function measure({ port, pid, seconds }: Awaited<ReturnType<typeof startFleet>>, count: number) {
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
  const few = await measure(fleet, mounts)
  const many = await measure(fleet, rovers)
  await fleet.stop()
  const own = [await rtkBase(mounts), await rtkBase(rovers)].map(({ cpu }) => cpu) as [number, number]
  const slope = (first: number, last: number) => (1_000 * (last - first)) / (rovers - mounts)
  const [here, there] = [slope(few.cpu, many.cpu), slope(...own)]
  return [
    { name: `fleet, ${mounts} rovers on ${mounts} mountpoints: share of a core`, value: few.cpu, unit: '%' },
    { name: `fleet, ${rovers} rovers on ${mounts} mountpoints: share of a core`, value: many.cpu, unit: '%' },
    { name: `station, ${mounts} rovers: share of a core`, value: own[0], unit: '%' },
    { name: `station, ${rovers} rovers: share of a core`, value: own[1], unit: '%' },
    { name: 'fleet: share of a core for each further 1,000 rovers', value: here, unit: '%' },
    { name: 'station: share of a core for each further 1,000 rovers', value: there, unit: '%' },
    atMost('fleet: cost of a rover, of that of a station', (100 * here) / there, 110, '%'),
    atLeast('fleet: epochs of the rover served worst', many.fewest, epochs, 'epochs'),
    { name: 'fleet: resident memory', value: many.rss_MB, unit: 'MB' },
  ]
}
