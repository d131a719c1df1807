import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { atExit } from '../at-exit.js'
import { until } from '../manual-clock.js'
import { freeTcpPort } from '../process.js'
import type { Pki } from './certificates.js'

/** Generous: a busy machine starts a process slowly. */
const limit_ms = 60_000

/** A real broker in a process of its own. */
export interface Mosquitto {
  readonly port: number
  readonly child: ChildProcess
  /** Ends it (SIGTERM, or what is given) and waits for that. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** On the same port. */
  start(): Promise<void>
}

/**
 * On a free port of loopback.
 * @param lines of its configuration, beside the listener
 */
export async function startMosquitto(lines: readonly string[]): Promise<Mosquitto> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-mosquitto-'))
  const config = join(folder, 'mosquitto.conf')
  const user = process.getuid?.() === 0 ? ['user root'] : []
  let port = 0
  let child: ChildProcess | undefined
  const isOver = () => child === undefined || child.exitCode !== null || child.signalCode !== null
  const spawned = async (): Promise<boolean> => {
    child = spawn('mosquitto', ['-c', config], { stdio: 'ignore' })
    await until(async () => isOver() || (await listens(port)), 'mosquitto listens', limit_ms)
    return !isOver()
  }
  // Another process may take a free port before mosquitto has it: then mosquitto ends.
  for (let attempt = 0; isOver(); attempt++) {
    if (attempt === 10) throw new Error(`mosquitto ends at once: see ${config}`)
    port = await freeTcpPort()
    const listener = `listener ${port} 127.0.0.1`
    writeFileSync(config, [...user, listener, 'persistence false', ...lines, ''].join('\n'))
    await spawned()
  }
  atExit(() => {
    child?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    port,
    get child() {
      return child as ChildProcess
    },
    start: () => until(spawned, 'mosquitto has its port again', limit_ms),
    async stop(signal = 'SIGTERM') {
      if (isOver()) return
      const ended = once(child as ChildProcess, 'exit')
      child?.kill('SIGCONT')
      child?.kill(signal)
      await ended
    },
  }
}

/** The same, ended with the test. */
export async function mosquittoFor(t: Test, lines: readonly string[]): Promise<Mosquitto> {
  const mosquitto = await startMosquitto(lines)
  t.teardown(() => mosquitto.stop('SIGKILL'))
  return mosquitto
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = connect(port, '127.0.0.1')
    probe.once('error', () => resolve(false))
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
  })

/** Only who shows a certificate of the authority gets in, and only to topics below its own name; the observer everywhere. */
export function clientCertificates(pki: Pki, accessFile: string): string[] {
  writeFileSync(accessFile, ['user observer', 'topic readwrite #', 'pattern readwrite base/%u/#', ''].join('\n'))
  return [
    `cafile ${pki.ca}`,
    `certfile ${pki.server.cert}`,
    `keyfile ${pki.server.key}`,
    'require_certificate true',
    'use_identity_as_username true',
    `acl_file ${accessFile}`,
  ]
}

/** How the mosquitto programs reach a broker. */
export const clientArguments = (port: number, pki?: Pki): string[] => [
  ...['-h', '127.0.0.1', '-p', String(port)],
  ...(pki ? ['--cafile', pki.ca, '--cert', pki.observer.cert, '--key', pki.observer.key] : []),
]

export interface Seen {
  topic: string
  text: string
  payload: Buffer
  retain: boolean
  /** MQTT 5 user properties, `name:value`. */
  properties: string
  /** MQTT 5 correlation data, as text. */
  correlation: string
}

/** What `mosquitto_sub` prints: nothing of the project's own looks at the broker. */
export async function subscribe(t: Test, args: readonly string[], topics: readonly string[] = ['base/#']) {
  const format = '%t\t%r\t%P\t%D\t%x'
  const all = ['-t', 'fence', ...topics.flatMap((topic) => ['-t', topic])]
  const child = spawn('mosquitto_sub', [...args, '-V', '5', '-q', '1', '-F', format, ...all], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => void child.kill('SIGKILL'))
  const seen: Seen[] = []
  let rest = ''
  let fences = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [topic = '', retain, properties = '', correlation = '', hex = ''] = line.split('\t')
      const payload = Buffer.from(hex, 'hex')
      if (topic === 'fence') fences++
      else seen.push({ topic, text: payload.toString(), payload, retain: retain === '1', properties, correlation })
    }
  })
  /** Everything that the broker took before is seen when it resolves. */
  const fence = async () => {
    const before = fences
    await publish(args, 'fence', 'x')
    await until(() => fences > before, 'the fence')
  }
  await until(async () => {
    await publish(args, 'fence', 'x')
    return fences > 0
  }, 'mosquitto_sub is subscribed')
  const of = (topic: string) => seen.filter((one) => one.topic === topic)
  return {
    seen,
    of,
    fence,
    online: (serial: string) =>
      of(`base/${serial}/online`)
        .map(({ text }) => text)
        .join(''),
  }
}
export type Subscription = Awaited<ReturnType<typeof subscribe>>

/** `mosquitto_pub` */
export async function publish(args: readonly string[], topic: string, text: string, more: readonly string[] = []) {
  const child = spawn('mosquitto_pub', [...args, '-V', '5', '-q', '1', '-t', topic, '-m', text, ...more], {
    stdio: 'ignore',
  })
  const [code] = (await once(child, 'exit')) as [number]
  if (code !== 0) throw new Error(`mosquitto_pub ended with ${code}`)
}

/** `mosquitto_rr`: sends a request of MQTT 5 and returns the answer on `answerTopic`. */
export async function request(args: readonly string[], topic: string, text: string, answerTopic: string) {
  const more = ['-V', '5', '-q', '1', '-W', '60', '-t', topic, '-m', text, '-e', answerTopic]
  const child = spawn('mosquitto_rr', [...args, ...more], { stdio: ['ignore', 'pipe', 'inherit'] })
  let answer = ''
  child.stdout.on('data', (chunk) => {
    answer += chunk
  })
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`mosquitto_rr ended with ${code}`)
  return answer.trimEnd()
}

/** What stands retained on a topic; waits for it. */
export async function retained(args: readonly string[], topic: string): Promise<string> {
  const child = spawn('mosquitto_sub', [...args, '-t', topic, '-C', '1', '-W', '60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return text.trimEnd()
}

/** How many topics of a filter have `y` retained; waits for `expected`, at most 60 s. */
export async function retainedCount(args: readonly string[], filter: string, expected: number): Promise<number> {
  const child = spawn('mosquitto_sub', [...args, '-t', filter, '-C', String(expected), '-W', '60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return text.split('\n').filter((line) => line === 'y').length
}
