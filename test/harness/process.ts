import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'
import { endsWithThis } from './at-exit.js'
import { keepLine } from './last-log.js'
import { until } from './manual-clock.js'

/** The command line as a person calls it. */
const entry = join(packageRoot(), 'runtime', 'tools', 'build', 'bootstrap.mjs')

/**
 * The environment for a Node process that a test starts: that of the test, but without the hooks of the test runner in
 * `NODE_OPTIONS`, which take seconds.
 */
export function childEnv(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _runner, ...env } = process.env
  return { ...env, _TAPJS_PROCESSINFO_EXCLUDE_: '.' }
}

/** Result of a process that ended. `code` is null if `signal` ended it. */
export interface Finished {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Runs the command line `rtk-base …` until it ends. `input` is its standard input. */
export async function rtkBase(args: readonly string[], input = ''): Promise<Finished> {
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['pipe', 'pipe', 'pipe'], env: childEnv() })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  child.stdin.end(input)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, ...output }
}

/** Runs many command lines `rtk-base …` in one process, which is faster. Each must end without a signal. */
export async function rtkBaseAll(lines: readonly (readonly string[])[]): Promise<Finished[]> {
  const file = join(packageRoot(), 'build', 'test', 'harness', 'children', 'command-lines.js')
  const child = spawn(process.execPath, [file, JSON.stringify(lines)], {
    // The log goes straight to the standard output.
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: childEnv(),
  })
  let text = ''
  child.stdio[3]?.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return JSON.parse(text) as Finished[]
}

/** A station in a process of its own. */
export interface StationProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly data: string
  readonly output: () => string
  /** Milliseconds from the start to the banner. */
  readonly startedIn_ms: number
  /** The document, as HTTP gives it. */
  info<T = Record<string, unknown>>(): Promise<T>
  /** Waits until the status document lists this number of UDP clients. */
  subscribers(count: number): Promise<void>
  /** Sends a signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<Finished>
}

export interface StationProcessOptions {
  /** Default: a temporary folder, which `end` removes. A given folder is kept. */
  data?: string
  execPath?: string
  /** Program to run, e.g. that of a device folder. Default: that of the checkout. */
  entry?: string
  /** Arguments of Node itself. */
  nodeOptions?: readonly string[]
  /** Added to the environment of the test. */
  env?: NodeJS.ProcessEnv
}

/** Whoever waits for something in the document asks no more often: it costs the station as much as all else that it does meanwhile. */
const betweenDocuments_ms = 100

/** Starts `rtk-base run` on a free HTTP port and waits for its start message, which has the URL. */
export async function startStation(
  args: readonly string[] = [],
  options: StationProcessOptions = {},
): Promise<StationProcess> {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'rtk-base-run-'))
  const started = performance.now()
  const child = spawn(
    options.execPath ?? process.execPath,
    [...(options.nodeOptions ?? []), options.entry ?? entry, 'run', '--data', data, '--set', 'http.port=0', ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...childEnv(), ...options.env },
    },
  )
  endsWithThis(child)
  let output = ''
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += String(chunk)
      for (const line of String(chunk).trimEnd().split('\n')) keepLine(line)
      const match = /curl (http:\S+)\/get-info[\s\S]*settings/.exec(output)
      if (match) resolve(match[1])
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    void closed.then(([code]) => reject(new Error(`the station ended with ${code} before it was up:\n${output}`)))
  })
  let asked_ms = 0
  const info = async <T>() => {
    const pause_ms = asked_ms + betweenDocuments_ms - performance.now()
    if (pause_ms > 0) await new Promise((resolve) => setTimeout(resolve, pause_ms))
    asked_ms = performance.now()
    return (await (await fetch(`${url}/get-info`)).json()) as T
  }
  return {
    child,
    url,
    data,
    output: () => output,
    startedIn_ms: performance.now() - started,
    info,
    subscribers: (count) =>
      until(async () => {
        const { gnss } = await info<{ gnss: { rtcm: { subscribers: { via: string }[] } } }>()
        return gnss.rtcm.subscribers.filter(({ via }) => via === 'udp').length === count
      }, `${count} UDP subscribers`),
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      const [code, by] = await closed
      if (options.data === undefined) rmSync(data, { recursive: true, force: true })
      return { code, signal: by, stdout: output, stderr: '' }
    },
  }
}

/** A UDP port that is free on loopback right now. */
export const freeUdpPort = (): Promise<number> =>
  freePort(async (port) => {
    const probe = createSocket('udp4').bind(port, '127.0.0.1')
    await once(probe, 'listening')
    await new Promise<void>((resolve) => probe.close(() => resolve()))
  })

/** A TCP port that is free on loopback right now. */
export const freeTcpPort = (): Promise<number> =>
  freePort(async (port) => {
    const probe = createServer().listen(port, '127.0.0.1')
    await once(probe, 'listening')
    await new Promise<void>((resolve) => probe.close(() => resolve()))
  })

/**
 * Below those that the system gives out by itself (32768 and up on Linux), so that no other program gets it meanwhile.
 * @param attempt rejects when the port is not free
 */
async function freePort(attempt: (port: number) => Promise<void>): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    try {
      await attempt(port)
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}

/** Arguments for a test that needs RTCM immediately, without a survey-in: a receiver that is already configured as a base. */
export const readyBase = ['--set', 'gnss-zed.configure=false', '--set', 'simulated-receiver.boot=fixed']

/**
 * Writes a copy of a shipped variant that uses `simulated-receiver` instead of a real receiver.
 * @param folder folder for the copy
 * @returns path of the copy
 */
export function withSimulatedReceiver(variant: string, folder: string): string {
  const text = readFileSync(join(packageRoot(), 'runtime', 'variants', `${variant}.json`), 'utf8')
  const device = JSON.parse(text) as { plugins: Record<string, object> }
  const plugins = { 'simulated-receiver': {}, ...device.plugins, 'gnss-zed': { port: 'simulator' } }
  const file = join(folder, `${variant}.json`)
  writeFileSync(file, JSON.stringify({ ...device, plugins }))
  return file
}

/** Arguments that give a simulator station free ports, so that tests can run in parallel. `udp` and `mqtt` are two of these ports. */
export async function ownPorts(): Promise<{ args: string[]; udp: number; mqtt: number }> {
  const [udp, mqtt] = [await freeUdpPort(), await freeTcpPort()]
  const args = ['--change', `udp-port=${udp}`, '--set', `mqtt-broker.port=${mqtt}`, '--change', 'ntrip-caster-port=0']
  return { args, udp, mqtt }
}

/** Arguments for a station that only listens to the receiver at this port. */
export function listeningTo(port: string): string[] {
  return ['--set', `gnss-zed.port=${port}`, '--set', 'gnss-zed.configure=false']
}
