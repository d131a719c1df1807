/** Stations as devices have them: the plugins of the variant zed-f9p, and a broker that they are linked to. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removedAtExit } from '../harness/at-exit.js'
import { startMosquitto } from '../harness/peers/mosquitto.js'
import {
  freeTcpPort,
  freeUdpPort,
  readyBase,
  type StationProcess,
  type StationProcessOptions,
} from '../harness/process.js'
import { hasProgram } from './edges.js'
import { startStation } from './stations.js'
import { tree } from './tree.js'

/** Where a device's broker listens; without mosquitto nobody does, and the link goes on trying. */
export async function startBroker(): Promise<{ port: number; stop(): Promise<void> }> {
  if (hasProgram('mosquitto')) return startMosquitto(['allow_anonymous true'])
  return { port: await freeTcpPort(), stop: async () => {} }
}

let variant: string | undefined
/** The file of the variant zed-f9p of the tree, its receiver simulated. */
export function deviceVariant(): string {
  if (variant === undefined) {
    const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'rtk-base-bench-variant-')))
    const text = readFileSync(join(tree, 'runtime', 'variants', 'zed-f9p.json'), 'utf8')
    const device = JSON.parse(text) as { plugins: Record<string, object> }
    const plugins = { 'simulated-receiver': {}, ...device.plugins, 'gnss-zed': { port: 'simulator' } }
    variant = join(folder, 'zed-f9p.json')
    writeFileSync(variant, JSON.stringify({ ...device, plugins }))
  }
  return variant
}

/** What keeps a device on the loopback, linked to the broker there. */
export async function loopback(mqttPort: number, udpPort?: number): Promise<string[]> {
  const hosts = ['http', 'udp-rtcm', 'ntrip-caster'].map((section) => `${section}.host=127.0.0.1`)
  const set = [...hosts, 'mdns.interfaces=["lo"]', 'mqtt-link.insecure=true']
  const ports = [`mqtt-port=${mqttPort}`, `udp-port=${udpPort ?? (await freeUdpPort())}`, 'ntrip-caster-port=0']
  const change = ['mqtt-host=127.0.0.1', ...ports]
  return [...set.flatMap((one) => ['--set', one]), ...change.flatMap((one) => ['--change', one])]
}

/** The device variant there. */
export async function deviceArguments(mqttPort: number, udpPort?: number): Promise<string[]> {
  return [deviceVariant(), ...readyBase, ...(await loopback(mqttPort, udpPort))]
}

/** A device of its own, on its link; the broker ends with it. */
export async function startDevice(
  more: readonly string[] = [],
  options: StationProcessOptions = {},
): Promise<StationProcess & { readonly udp: number }> {
  const broker = await startBroker()
  const udp = await freeUdpPort()
  const station = await startStation([...(await deviceArguments(broker.port, udp)), ...more], options)
  return {
    ...station,
    udp,
    async end(signal) {
      const finished = await station.end(signal)
      await broker.stop()
      return finished
    },
  }
}
