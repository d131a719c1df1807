import { spawn } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { ownPorts, startStation } from '../harness/process.js'
import { atLeast, type Measurement } from './measurement.js'

const seconds = 4

async function rate(url: string): Promise<number> {
  const { requests } = await autocannon({ url, connections: 20, duration: seconds })
  return requests.average
}

/** A bare Fastify that sends a constant of the same size, in a process of its own. */
async function bareFastify(size: number): Promise<{ url: string; stop(): Promise<void> }> {
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
    async stop() {
      child.kill()
      await once(child, 'close')
    },
  }
}

/** Full `GET /get-info` beside bare Fastify, in turns so that both see the same machine. */
export async function benchHttp(): Promise<Measurement[]> {
  const { args } = await ownPorts()
  const station = await startStation(args)
  const size = (await (await fetch(`${station.url}/get-info`)).text()).length
  const bare = await bareFastify(size)
  const own: number[] = []
  const peer: number[] = []
  for (let round = 0; round < 3; round++) {
    own.push(await rate(`${station.url}/get-info`))
    peer.push(await rate(`${bare.url}/get-info`))
  }
  await station.end()
  await bare.stop()
  const [best, bestPeer] = [Math.max(...own), Math.max(...peer)]
  return [
    { name: `GET /get-info, whole document of ${size} bytes`, value: best, unit: 'req/s' },
    { name: 'bare Fastify, constant of the same size', value: bestPeer, unit: 'req/s' },
    atLeast('GET /get-info beside bare Fastify', (100 * best) / bestPeer, 80, '%'),
  ]
}
