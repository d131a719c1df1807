import { spawn } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { startDevice } from './device.js'
import { processUse } from './edges.js'
import { atLeast, type Measurement } from './measurement.js'

const seconds = 4
/** Percent of bare Fastify. Before Node 24 the AsyncLocalStorage that names the plugin behind an error costs a good part. */
const budget = Number(process.versions.node.split('.')[0]) < 24 ? 60 : 80

/** The share of a core that a process takes while nobody asks: a station has a receiver to follow, a bare server has nothing. */
async function idleShare(pid: number): Promise<number> {
  const before = processUse(pid).cpu_s
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  return (processUse(pid).cpu_s - before) / seconds
}

/**
 * Requests a second, and requests per CPU second that the server takes for them: the second is the same on a busy machine.
 * @param idle share of a core that the server takes without requests
 */
async function rate(url: string, pid: number, idle = 0): Promise<{ perSecond: number; perCpuSecond: number }> {
  const before = processUse(pid).cpu_s
  const started = performance.now()
  const { requests } = await autocannon({ url, connections: 20, duration: seconds })
  const used_s = processUse(pid).cpu_s - before - (idle * (performance.now() - started)) / 1_000
  return { perSecond: requests.average, perCpuSecond: requests.total / used_s }
}

/** A bare Fastify that sends a constant of the same size, in a process of its own. */
async function bareFastify(size: number): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const code = `
    const { fastify } = require('fastify')
    const app = fastify()
    const text = JSON.stringify({ x: 'x'.repeat(${size} - 8) })
    app.get('/get-info', (request, reply) => reply.type('application/json; charset=utf-8').send(text))
    app.listen({ port: 0, host: '127.0.0.1' }).then((url) => console.log(url))`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: String(url).trim(),
    pid: child.pid as number,
    async stop() {
      child.kill()
      await once(child, 'close')
    },
  }
}

/** Full `GET /get-info` beside bare Fastify, in turns so that both see the same machine. */
export async function benchHttp(): Promise<Measurement[]> {
  // As on a device: the simulated router and broker of the simulator are other programs there.
  const station = await startDevice()
  const size = (await (await fetch(`${station.url}/get-info`)).text()).length
  const bare = await bareFastify(size)
  // Both are compiled when they are measured.
  await rate(`${station.url}/get-info`, station.child.pid as number)
  await rate(`${bare.url}/get-info`, bare.pid)
  const idle = await idleShare(station.child.pid as number)
  const own: Awaited<ReturnType<typeof rate>>[] = []
  const peer: typeof own = []
  for (let round = 0; round < 4; round++) {
    own.push(await rate(`${station.url}/get-info`, station.child.pid as number, idle))
    peer.push(await rate(`${bare.url}/get-info`, bare.pid))
  }
  await station.end()
  await bare.stop()
  const best = (results: typeof own, of: 'perSecond' | 'perCpuSecond') =>
    Math.max(...results.map((result) => result[of]))
  const share = (of: 'perSecond' | 'perCpuSecond') => (100 * best(own, of)) / best(peer, of)
  return [
    { name: `GET /get-info, whole document of ${size} bytes`, value: best(own, 'perSecond'), unit: 'req/s' },
    { name: 'share of a core that the station takes without requests', value: 100 * idle, unit: '%' },
    { name: 'bare Fastify, constant of the same size', value: best(peer, 'perSecond'), unit: 'req/s' },
    { name: 'GET /get-info beside bare Fastify, by the second', value: share('perSecond'), unit: '%' },
    atLeast('GET /get-info beside bare Fastify, by CPU second', share('perCpuSecond'), budget, '%'),
  ]
}
