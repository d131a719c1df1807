import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  arpFrame,
  childEnv,
  few,
  freeTcpPort,
  gateOnly,
  ownPorts,
  readyBase,
  startStation,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { noPeer } from '../harness/peers/peers.js'

const client = join(packageRoot(), 'examples', 'python-client', 'client.py')
const skip = noPeer('python3')

/** The example as a person runs it, to its end. */
async function run(t: Test, args: readonly string[]) {
  const child = spawn('python3', [client, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: childEnv() })
  t.teardown(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

t.test('python-client on a station that runs', { skip: skip || gateOnly }, async (t) => {
  const { args } = await ownPorts()
  const station = await startStation([...args, ...readyBase, '--set', 'udp-rtcm.host=127.0.0.1'])
  t.teardown(() => station.end())
  const status = async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status
  await until(async () => (await status()) === 'fixed', 'a base')
  const ask = (...more: string[]) => run(t, ['--station', station.url, ...more])

  t.test('reads the document, a part of it, and what a mask selects', async (t) => {
    t.match(JSON.parse((await ask('document')).stdout), { esp: { serial: 'SIM00001' }, udp: { enabled: true } })
    t.match(await ask('document', 'esp.serial'), { code: 0, stdout: '"SIM00001"\n' })
    t.strictSame(JSON.parse((await ask('document', 'esp', '--mask', '0x04')).stdout), null)
    t.match(await ask('document', '--mask', 'x'), { code: 1, stderr: /^400: .*RTK_ERR_MASK/ })
  })

  t.test('follows events', async (t) => {
    const { code, stdout } = await ask('follow', '--count', '2')
    t.equal(code, 0)
    t.match(stdout, /^(fixed {2}(fit|degraded): .+\n){2}$/)
  })

  t.test('changes, and prints what is left over', async (t) => {
    const changed = await ask('change', 'log-save-period=60', 'log-save-perod=60')
    const meant = '  log-save-perod: is an unknown parameter (did you mean "log-save-period"?)'
    t.strictSame(changed, { code: 0, stdout: `ok\n${meant}\nleftover: {"log-save-perod": 60}\n`, stderr: '' })
    t.match(await station.info(), { base: { log: { save_period: 60 } } })
    const failed = await ask('change', 'log-save-period=-1')
    t.match(failed, { code: 1, stdout: /^failed\n {2}log-save-period: .+\nleftover: \{"log-save-period": -1\}\n$/ })
  })

  t.test('takes RTCM', async (t) => {
    const { code, stdout } = await ask('rtcm', '--frames', '12')
    t.equal(code, 0)
    t.match(stdout, /^1005 +25 bytes {2}station 0$/m)
    t.match(stdout, /^1074 +\d+ bytes {2}station 0$/m)
    t.match(stdout, /^12 frames, 0 invalid datagrams\n$/m)
  })
})

t.test('python-client counts a frame with a wrong CRC as invalid', { skip }, async (t) => {
  const udp = createSocket('udp4')
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const frame = arpFrame({ x: 4_027_894, y: 307_046, z: 4_919_474 }, 7)
  const damaged = Uint8Array.from(frame)
  damaged[10] ^= 1
  udp.once('message', (_text, from) => {
    for (const datagram of [damaged, frame.subarray(0, 20), frame]) udp.send(datagram, from.port, from.address)
  })
  const http = createServer((_request, reply) => reply.end(JSON.stringify({ udp: { port: udp.address().port } })))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => {
    http.closeAllConnections()
    http.close()
    udp.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  t.strictSame(await run(t, ['--station', url, 'rtcm', '--frames', '1']), {
    code: 0,
    stdout: '1005    25 bytes  station 7\n1 frames, 2 invalid datagrams\n',
    stderr: '',
  })
})

t.test('python-client says what is wrong', { skip }, async (t) => {
  const nobody = `http://127.0.0.1:${await freeTcpPort()}`
  t.match(await run(t, ['--station', nobody, 'document']), { code: 1, stderr: /refused/ })
  t.match(await run(t, ['change', 'udp-port']), { code: 2, stderr: /NAME=VALUE/ })
  t.match(await run(t, ['--no-such-option']), { code: 2, stderr: /usage/ })
})

t.test(
  'python-client reports an answer that no station gives, and keeps its token to itself',
  { skip: skip || gateOnly },
  async (t) => {
    const answers: Record<string, (reply: ServerResponse) => unknown> = {
      'no JSON': (reply) => reply.end('<html>'),
      'a list': (reply) => reply.end('[]'),
      'bad UTF-8': (reply) => reply.end(Buffer.from([0x22, 0xff, 0x22])),
      'half an answer': (reply) => reply.writeHead(200, { 'content-length': 100 }).end('{'),
      'an endless answer': (reply) => reply.end(' '.repeat(3 << 20)),
      'an error page in binary': (reply) => reply.writeHead(500).end(Buffer.from([0xff, 0x1b])),
      'a redirect': (reply) => reply.writeHead(302, { location: `http://localhost:${elsewhere}/` }).end(),
    }
    const tokens: unknown[] = []
    const stranger = createServer((request, reply) => {
      tokens.push(request.headers.authorization)
      reply.end('{}')
    })
    let answer: (reply: ServerResponse) => unknown = (reply) => reply.end()
    const station = createServer((_request, reply) => answer(reply))
    for (const server of [stranger, station]) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.teardown(() => {
        server.closeAllConnections()
        server.close()
      })
    }
    const elsewhere = (stranger.address() as AddressInfo).port
    const url = `http://127.0.0.1:${(station.address() as AddressInfo).port}/`
    for (const [what, give] of few(1, Object.entries(answers))) {
      answer = give
      for (const command of [['document'], ['change', 'mast=1'], ['follow']]) {
        const { code, stderr } = await run(t, ['--station', url, '--token', 'secret', ...command])
        t.equal(code, 1, `${what}: ${command[0]}`)
        t.notOk(stderr.includes('Traceback') || stderr.includes('\u001b'), what)
        t.not(stderr, '', what)
      }
    }
    t.same(tokens, [])
  },
)
