import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atExit, removedAtExit } from '../at-exit.js'
import { until } from '../manual-clock.js'
import { freeTcpPort } from '../process.js'

export interface NatsNode {
  /** Of its MQTT. */
  readonly port: number
  readonly pid: number
  stop(signal?: NodeJS.Signals): Promise<void>
  start(): void
}

/** A cluster of `nats-server` with MQTT and JetStream on loopback, each node in a process of its own with a folder of its own. */
export async function startNats(nodes: number): Promise<{ nodes: NatsNode[]; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-nats-'))
  const members: { name: string; mqtt: number; client: number; route: number; monitor: number }[] = []
  for (let n = 0; n < nodes; n++) {
    const ports = { mqtt: await freeTcpPort(), client: await freeTcpPort(), route: await freeTcpPort() }
    members.push({ name: `n${n}`, ...ports, monitor: await freeTcpPort() })
  }
  const all: NatsNode[] = []
  for (const { name, mqtt, client, route, monitor } of members) {
    const routes = members.filter((one) => one.name !== name).map((one) => `nats://127.0.0.1:${one.route}`)
    const file = join(folder, `${name}.conf`)
    writeFileSync(
      file,
      `server_name: ${name}
listen: 127.0.0.1:${client}
http: 127.0.0.1:${monitor}
max_connections: 65536
jetstream { store_dir: "${join(folder, name)}" }
mqtt { listen: "127.0.0.1:${mqtt}" }
cluster { name: fleet, listen: 127.0.0.1:${route}, routes: [${routes.join(', ')}] }
log_file: "${join(folder, `${name}.log`)}"
`,
    )
    let child: ChildProcess | undefined
    const start = () => {
      child = spawn('nats-server', ['-c', file], { stdio: 'ignore' })
    }
    start()
    atExit(() => void child?.kill('SIGKILL'))
    all.push({
      port: mqtt,
      get pid() {
        return child?.pid ?? 0
      },
      start,
      async stop(signal = 'SIGKILL') {
        if (!child || child.exitCode !== null || child.signalCode !== null) return
        const ended = once(child, 'exit')
        child.kill(signal)
        await ended
      },
    })
  }
  removedAtExit(folder)
  // The streams of MQTT need a leader: before, no client is accepted.
  await until(
    async () => {
      const states = await Promise.all(
        members.map(({ monitor }) =>
          fetch(`http://127.0.0.1:${monitor}/healthz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      )
      return states.every(Boolean)
    },
    'the cluster is healthy',
    60_000,
  )
  return {
    nodes: all,
    async stop() {
      for (const node of all) await node.stop()
    },
  }
}
