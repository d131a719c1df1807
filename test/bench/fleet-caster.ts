import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectAsync } from 'mqtt'
import { asLast, knownLeap_s, msmEpochTime, unixToGps } from '../../runtime/gnss/index.js'
import { startMosquitto } from '../harness/peers/mosquitto.js'
import { epochFrames, hasProgram, processUse, startClients } from './edges.js'
import { atMost, type Measurement } from './measurement.js'
import { rtkBase } from './ntrip.js'

const rovers = 2_500
const mounts = 200
const seconds = 20
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

/**
 * The caster of a fleet: 2,500 rovers on 200 mountpoints, whose RTCM comes from a broker once a second, and the caster of a station with as
 * many rovers.
 */
export async function benchFleetCaster(): Promise<Measurement[]> {
  if (!hasProgram('mosquitto')) throw new Error('this needs mosquitto')
  const broker = await startMosquitto(['allow_anonymous true', 'max_queued_messages 0'])
  const script = fileURLToPath(new URL('./fleet-caster-child.js', import.meta.url))
  const child = fork(script, [String(broker.port), String(mounts)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  const pid = child.pid as number
  const publisher = await connectAsync(`mqtt://127.0.0.1:${broker.port}`)
  const second = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)))
      const payload = publication(Math.floor(Date.now() / 1_000))
      for (let mount = 0; mount < mounts; mount++) publisher.publish(`base/${benchSerial(mount)}/drtk`, payload)
    }
  }
  const idle = processUse(pid)
  await second(5)
  const withoutRovers = processUse(pid).cpu_s - idle.cpu_s
  const clients = await startClients('ntrip', port, rovers, 0, mounts)
  await second(10)
  clients.reset()
  const before = processUse(pid)
  const started = performance.now()
  await second(seconds)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const used = processUse(pid)
  const cpu = (100 * (used.cpu_s - before.cpu_s)) / ((performance.now() - started) / 1_000)
  const report = await clients.stop()
  child.kill('SIGKILL')
  await publisher.endAsync()
  await broker.stop('SIGKILL')
  const own = await rtkBase(rovers)
  const per = (value: number) => (1_000 * value) / rovers
  return [
    { name: `fleet, ${mounts} bases without rovers: share of a core`, value: (100 * withoutRovers) / 5, unit: '%' },
    { name: `fleet, ${rovers} rovers on ${mounts} mountpoints: share of a core`, value: cpu, unit: '%' },
    { name: 'fleet: share of a core per 1,000 rovers', value: per(cpu), unit: '%' },
    { name: 'station: share of a core per 1,000 rovers', value: per(own.cpu), unit: '%' },
    atMost('fleet: per 1,000 rovers, of that of a station', (100 * cpu) / own.cpu, 110, '%'),
    { name: 'fleet: epochs of the rover served worst', value: report.fewest, unit: `of ${seconds}` },
    { name: 'fleet: resident memory', value: used.rss_bytes / 1e6, unit: 'MB' },
  ]
}
