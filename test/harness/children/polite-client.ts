/**
 * A client that behaves, in a network of its own: it asks for the document by HTTP and reads RTCM in three ways, and says how long
 * the answers took and how long no RTCM came. `yardstick`: a bare server that answers beside the station, so that the machine's own delays are known.
 */
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'

/** Of one stretch of time. */
export interface PoliteReport {
  answers: number
  failed: string[]
  /** The slowest answer. */
  worst_ms: number
  /** The same without the time in which the station could have run and the machine ran others. */
  own_ms: number
  /** Of the bare server. */
  yardstick_ms: number
  /** The longest time without RTCM, by way. */
  gaps_s: Record<string, number>
}

export interface PoliteOptions {
  /** Of the station. */
  pid: number
  host: string
  http: number
  yardstick: number
  tcp: number
  caster: number
  udp: number
}

/** As a page does. */
const ask_ms = 1_000

function answer(host: string, port: number, path: string, { method = 'GET', body = '' } = {}): Promise<number> {
  const began_ms = performance.now()
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path, method, agent: false, timeout: 60_000 }, (reply) => {
      reply.resume().once('end', () => {
        if (reply.statusCode === 200) resolve(performance.now() - began_ms)
        else reject(new Error(`HTTP ${reply.statusCode}`))
      })
    })
    asked.once('error', reject).once('timeout', () => asked.destroy(new Error('no answer within 60 s')))
    asked.end(body)
  })
}

/** For how long its main thread has waited for a processor in all (proc(5), schedstat). */
const waited_ms = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6

function serveYardstick(): void {
  const page = JSON.stringify({ text: 'x'.repeat(20_000) })
  const server = createServer((_request, reply) => void reply.end(page))
  server.listen(0, '0.0.0.0', () => process.send?.(server.address()))
}

function behave({ pid, host, http, yardstick, tcp, caster, udp }: PoliteOptions): void {
  let report: PoliteReport
  const came_ms: Record<string, number> = {}
  const reset = () => {
    report = { answers: 0, failed: [], worst_ms: 0, own_ms: 0, yardstick_ms: 0, gaps_s: {} }
  }
  reset()
  const came = (way: string) => {
    const now_ms = performance.now()
    const gap_s = (now_ms - (came_ms[way] ?? now_ms)) / 1_000
    came_ms[way] = now_ms
    report.gaps_s[way] = Math.max(report.gaps_s[way] ?? 0, gap_s)
  }
  const stream = (way: string, port: number, hello: string) => {
    const socket = connect(port, host)
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(() => stream(way, port, hello), 100))
    socket.on('data', (bytes) => {
      if (bytes.includes(0xd3)) came(way)
    })
    socket.write(hello)
  }
  stream('tcp', tcp, '')
  const login = Buffer.from('rover:secret').toString('base64')
  const get = `GET /SIM00001 HTTP/1.0\r\nUser-Agent: NTRIP polite\r\nAuthorization: Basic ${login}\r\n\r\n`
  void answer(host, http, '/system?ntrip-user', { method: 'POST', body: 'rover:secret' }).then(() =>
    stream('ntrip', caster, get),
  )
  const socket = createSocket('udp4').on('message', () => came('udp'))
  const subscribe = () => void socket.send('polite', udp, host)
  subscribe()
  setInterval(subscribe, 20_000)
  setInterval(() => {
    const { failed } = report
    const before_ms = waited_ms(pid)
    void answer(host, yardstick, '/').then((ms) => {
      report.yardstick_ms = Math.max(report.yardstick_ms, ms)
    })
    answer(host, http, '/get-info').then(
      (ms) => {
        report.answers++
        report.worst_ms = Math.max(report.worst_ms, ms)
        report.own_ms = Math.max(report.own_ms, ms - (waited_ms(pid) - before_ms))
      },
      (error) => void failed.push((error as Error).message),
    )
  }, ask_ms)
  process.on('message', (message: 'reset' | 'report' | { change: Record<string, unknown> }) => {
    if (message === 'reset') reset()
    else if (message === 'report') {
      // What is still silent counts as well.
      for (const way of Object.keys(came_ms)) {
        const silent_s = (performance.now() - (came_ms[way] as number)) / 1_000
        report.gaps_s[way] = Math.max(report.gaps_s[way] ?? 0, silent_s)
      }
      process.send?.(report)
    } else void answer(host, http, '/change', { method: 'POST', body: JSON.stringify(message.change) })
  })
}

process.on('disconnect', () => process.exit(0))
const [role, options] = process.argv.slice(2)
if (role === 'yardstick') serveYardstick()
else behave(JSON.parse(options as string) as PoliteOptions)
