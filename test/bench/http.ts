import { spawn } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { startDevice } from './device.js'
import { processUse } from './edges.js'
import { atLeast, figure, lost } from './measurement.js'
import { definePart, pause } from './part.js'

interface Size {
  /** Of each measurement. */
  readonly seconds: number
  readonly rounds: number
  /** Fewer than one address may have. */
  readonly connections: number
}

interface Rate {
  perSecond: number
  perCpuSecond: number
  sent: number
  answered: number
}

/** Percent of bare Fastify. Before Node 24 the AsyncLocalStorage that names the plugin behind an error costs a good part. */
const budget = Number(process.versions.node.split('.')[0]) < 24 ? 60 : 80

/** The share of a core that a process takes while nobody asks: a station has a receiver to follow, a bare server has nothing. */
async function idleShare(pid: number, seconds: number): Promise<number> {
  const before = processUse(pid).cpu_s
  await pause(seconds * 1_000)
  return (processUse(pid).cpu_s - before) / seconds
}

/**
 * Requests a second, and requests per CPU second that the server takes for them: the second is the same on a busy machine.
 * @param idle share of a core that the server takes without requests
 */
async function rate(url: string, pid: number, { connections, seconds }: Size, idle = 0): Promise<Rate> {
  const before = processUse(pid).cpu_s
  const started = performance.now()
  const { requests, ...result } = await autocannon({ url, connections, duration: seconds })
  const used_s = processUse(pid).cpu_s - before - (idle * (performance.now() - started)) / 1_000
  // What was sent last is not waited for.
  const failed = result.errors + result.timeouts + result.non2xx
  const answered = result['2xx']
  return { perSecond: requests.average, perCpuSecond: requests.total / used_s, sent: answered + failed, answered }
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
export const part = definePart<Size>({
  sizes: { full: { seconds: 4, rounds: 4, connections: 20 }, smoke: { seconds: 1, rounds: 1, connections: 20 } },
  async run(size) {
    // As on a device: the simulated router and broker of the simulator are other programs there.
    const station = await startDevice()
    const url = `${station.url}/get-info`
    const pid = station.child.pid as number
    const document = await (await fetch(url)).text()
    const bare = await bareFastify(document.length)
    // Both are compiled when they are measured.
    await rate(url, pid, size)
    await rate(`${bare.url}/get-info`, bare.pid, size)
    const idle = await idleShare(pid, size.seconds)
    const own: Rate[] = []
    const peer: Rate[] = []
    for (let round = 0; round < size.rounds; round++) {
      own.push(await rate(url, pid, size, idle))
      peer.push(await rate(`${bare.url}/get-info`, bare.pid, size))
    }
    await station.end()
    await bare.stop()
    const best = (results: Rate[], of: keyof Rate) => Math.max(...results.map((result) => result[of]))
    const all = (of: keyof Rate) => own.reduce((sum, result) => sum + result[of], 0)
    const share = (of: keyof Rate) => (100 * best(own, of)) / best(peer, of)
    return [
      lost('requests without an answer 200', all('sent'), all('answered')),
      figure('size of the whole document', document.length, 'bytes', 20_000),
      figure('GET /get-info, whole document', best(own, 'perSecond'), 'req/s'),
      figure('share of a core that the station takes without requests', 100 * idle, '%'),
      figure('bare Fastify, constant of the same size', best(peer, 'perSecond'), 'req/s'),
      figure('GET /get-info beside bare Fastify, by the second', share('perSecond'), '%'),
      atLeast('GET /get-info beside bare Fastify, by CPU second', share('perCpuSecond'), budget, '%'),
    ]
  },
})
