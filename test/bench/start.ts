import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMosquitto } from '../harness/peers/mosquitto.js'
import { freeTcpPort, freeUdpPort, readyBase, rtkBase, startStation } from '../harness/process.js'
import { hasProgram, processUse } from './edges.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const rounds = 7
const steady_ms = 30_000

/** The device's variant on the loopback, its receiver simulated. */
export async function deviceArguments(mqttPort: number, udpPort?: number): Promise<string[]> {
  const hosts = ['http', 'udp-rtcm', 'ntrip-caster'].map((section) => `${section}.host=127.0.0.1`)
  const set = [...hosts, 'mdns.interfaces=["lo"]', 'gnss-zed.port=simulator', 'mqtt-link.insecure=true']
  const ports = [`mqtt-port=${mqttPort}`, `udp-port=${udpPort ?? (await freeUdpPort())}`, 'ntrip-caster-port=0']
  const change = ['mqtt-host=127.0.0.1', ...ports]
  return [
    'zed-f9p',
    ...set.flatMap((one) => ['--set', one]),
    ...readyBase,
    ...change.flatMap((one) => ['--change', one]),
  ]
}

async function startTimes(mqttPort: number, entry?: string): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const args = await deviceArguments(mqttPort)
    const started = performance.now()
    const station = await startStation(args, { entry })
    await station.info()
    times.push(performance.now() - started)
    await station.end()
  }
  return times
}

/** Of a device's plugin set: start-up to the first HTTP answer, as bundle and from source, and resident memory on a link. */
export async function benchStart(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  const out = join(folder, 'device')
  await rtkBase(['build', 'zed-f9p', '--out', out])
  const entry = join(out, 'rtk-base.mjs')
  const broker = hasProgram('mosquitto') ? await startMosquitto(['allow_anonymous true']) : undefined
  const port = broker?.port ?? (await freeTcpPort())
  const device = await startTimes(port, entry)
  const source = await startTimes(port)
  const station = await startStation(await deviceArguments(port), { entry })
  await new Promise((resolve) => setTimeout(resolve, steady_ms))
  const { rss_bytes } = processUse(station.child.pid as number)
  await station.end()
  await broker?.stop()
  rmSync(folder, { recursive: true, force: true })
  return [
    atMost('device bundle: start to the first HTTP answer, median', quantile(device, 0.5), 500, 'ms'),
    { name: 'from source: start to the first HTTP answer, median', value: quantile(source, 0.5), unit: 'ms' },
    atMost('device bundle: resident memory, all its plugins, steady', rss_bytes / 1e6, 90, 'MB'),
  ]
}
