/** What the benches share: an epoch of real size, clients in a process of their own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Constellation, encodeMsm, encodeRtcm, msmType } from '../../runtime/lib/gnss/index.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { endsWithThis } from '../harness/at-exit.js'
import { arpFrame } from '../harness/fake-receiver.js'
import { clientNumbers } from './addresses.js'
import { leaveOut } from './part.js'

/** Arguments of Node for a station that takes its machine for one of 512 MB, where its heap is bounded. */
export const smallMachine: readonly string[] = [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    `import { boundHeap } from '${pathToFileURL(join(packageRoot(), 'build', 'runtime', 'tools', 'cli', 'run', 'heap.js'))}'; boundHeap(2 ** 29)`,
  )}`,
]

/** What the unit of the Debian package sets for the C library. */
const unit = join(packageRoot(), 'runtime', 'tools', 'build', 'deb', 'files', 'rtk-base.service')
export const unitEnvironment: readonly string[] = [
  ...readFileSync(unit, 'utf8').matchAll(/^Environment=(MALLOC_\S+)$/gm),
].map(([, text]) => text as string)

/** Debian keeps some where only root looks. */
const places = `${process.env.PATH}:/usr/sbin:/sbin`
export const hasProgram = (name: string) =>
  spawnSync('which', [name], { env: { ...process.env, PATH: places } }).status === 0

/** Whether to measure beside a peer. Without it that is left out and said; with CI=true it is tried, and fails. */
export function hasPeer(name: string): boolean {
  if (hasProgram(name) || process.env.CI === 'true') return true
  leaveOut(`${name} is not installed on this machine`)
  return false
}

/**
 * One epoch of a base: 1005, four MSM7 of eight satellites on two signals, 1230; about 950 bytes.
 * @param n marks it, as its time; or the time by constellation
 */
export function epochFrames(n: number | ((constellation: Constellation) => number)): Buffer[] {
  const constellations: [Constellation, number[]][] = [
    ['GPS', [2, 16]],
    ['GLONASS', [2, 8]],
    ['Galileo', [2, 15]],
    ['BeiDou', [2, 14]],
  ]
  const msm = constellations.map(([constellation, signals], index) =>
    encodeMsm({
      type: msmType(constellation, 7),
      stationId: 1,
      epochTime: typeof n === 'number' ? n : n(constellation),
      multiple: index < constellations.length - 1,
      observations: Array.from({ length: 6 }, (_, s) =>
        signals.map((signal) => ({
          satellite: s * 3 + 1,
          signal,
          pseudorange_m: 2.2e7 + s,
          phase_m: 2.2e7 + s,
          lock: 600,
          cnr_dbhz: 45,
        })),
      ).flat(),
    }),
  )
  return [
    ...msm,
    encodeRtcm({ type: 1230, stationId: 1, biasesAligned: false, biases_m: { l1ca: 0, l2ca: 0 } }),
    arpFrame({ x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }, 1),
  ].map((frame) => Buffer.from(frame))
}

/** What the clients of one process saw: per client bytes, and arrival times of marked datagrams (ms of the Unix epoch). */
export interface ClientReport {
  clients: number
  bytes: number
  datagrams: number
  /** Clients that got nothing. */
  silent: number
  /** Fewest datagrams, or pieces of a stream, and fewest bytes of one client. */
  fewest: number
  fewest_bytes: number
  /** Each datagram or chunk; Unix milliseconds with fractions. */
  arrivals: { client: number; bytes: number; at_ms: number }[]
}

/**
 * Starts many clients in a child process; `stop` ends them and returns what they saw.
 * @param mounts of NTRIP: M0, M1, … in turn; 0: BENCH
 */
export async function startClients(
  kind: 'udp' | 'tcp' | 'ntrip' | 'events',
  port: number,
  count: number,
  stalled = 0,
  mounts = 0,
) {
  const script = join(fileURLToPath(import.meta.url), '..', 'clients.js')
  const numbers = [port, count, stalled, mounts, clientNumbers(count)].map(String)
  const child: ChildProcess = spawn(process.execPath, [script, kind, ...numbers], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  // One that is frozen would not notice that nobody is there any more.
  const kill = () => void child.kill('SIGKILL')
  endsWithThis(child)
  await once(child, 'message')
  const report = async (): Promise<ClientReport> => {
    child.send('report')
    const [message] = (await once(child, 'message')) as [ClientReport]
    return message
  }
  return {
    /** Stops its reading; the system goes on taking what is sent to it. */
    freeze: () => void child.kill('SIGSTOP'),
    kill,
    /** Forgets what came so far, and what is still on its way then: measurement begins. */
    async reset(): Promise<void> {
      await settled(report, ({ bytes }) => bytes)
      child.send('reset')
    },
    /** What came, once `isWhole` of what was sent has come; with a loss, once nothing has come for seconds. */
    async stop(isWhole?: (report: ClientReport) => boolean): Promise<ClientReport> {
      const last = isWhole ? await settled(report, ({ bytes }) => bytes, isWhole) : await report()
      kill()
      return last
    },
  }
}

/** A busy machine takes its time. */
const quiet_ms = { before: 500, after: 5_000 }

/**
 * The report of clients to whom nothing is sent any more, when everything of it is there.
 * @param countOf what grows while something comes
 * @param isWhole nothing more is waited for; without it, a short silence is enough
 */
export async function settled<Report>(
  report: () => Promise<Report>,
  countOf: (report: Report) => number,
  isWhole?: (report: Report) => boolean,
): Promise<Report> {
  let [count, since_ms] = [Number.NaN, 0]
  for (;;) {
    const now = await report()
    if (countOf(now) !== count) [count, since_ms] = [countOf(now), performance.now()]
    if (isWhole?.(now) || performance.now() - since_ms > quiet_ms[isWhole ? 'after' : 'before']) return now
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** CPU seconds and resident bytes of a process (proc(5)). */
export function processUse(pid: number): { cpu_s: number; rss_bytes: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    cpu_s: (Number(fields[11]) + Number(fields[12])) / 100,
    rss_bytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024,
  }
}

export const unixNow_ms = () => performance.timeOrigin + performance.now()

/** Loaded into the station: collects garbage on SIGUSR2, so that what is measured is held and not only not yet freed. */
export const collector = `process.on('SIGUSR2', () => {
  require('node:v8').setFlagsFromString('--expose-gc')
  const collect = require('node:vm').runInNewContext('gc')
  collect()
  collect()
})`
