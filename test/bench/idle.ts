/** Device bundles at rest, each with its receiver on a pseudo-terminal: memory, processor, wake-ups, and the size of their code. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../harness/manual-clock.js'
import { openPty } from '../harness/peers/pty.js'
import { loopback, startBroker } from './device.js'
import { processUse, unitEnvironment } from './edges.js'
import { atMost } from './measurement.js'
import { definePart, pause } from './part.js'
import { receiverOn, type Undo, withUndo } from './receiver.js'
import { rtkBase, startStation } from './stations.js'

interface Size {
  /** Long after the work of the start. */
  readonly settled_s: number
  readonly measured_s: number
  /** Of the start-up check and the survey-in. */
  readonly initial_s: number
  readonly mintime_s: number
}

/** What rtk-base 0.2.0 built of the same variant (commit 10a68c6): runtime and plugins, without native packages. */
const bytesBefore = { 'zed-f9p': 5_915_467, 'zed-full': 6_692_733 } as const
const memory_MB = { 'zed-f9p': 80, 'zed-full': 100 } as const
type Variant = keyof typeof memory_MB

/** Both at the same time: each uses a hundredth of a core. */
export const part = definePart<Size>({
  sizes: {
    full: { settled_s: 900, measured_s: 300, initial_s: 60, mintime_s: 20 },
    smoke: { settled_s: 0, measured_s: 3, initial_s: 5, mintime_s: 2 },
  },
  peers: ['socat'],
  async run(size) {
    const variants: Variant[] = ['zed-f9p', 'zed-full']
    const results = await Promise.all(variants.map((variant) => withUndo((undo) => measured(variant, size, undo))))
    return results.flat()
  },
})

async function measured(variant: Variant, { settled_s, measured_s, initial_s, mintime_s }: Size, undo: Undo[]) {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  undo.push(() => rmSync(folder, { recursive: true, force: true }))
  const out = join(folder, 'device')
  await rtkBase(['build', variant, '--out', out])
  const broker = await startBroker()
  undo.push(() => broker.stop())
  const pty = await openPty()
  undo.push(() => pty.close())
  await receiverOn(pty.far, undo)
  const changes = [`gnss-survey-mintime=${mintime_s}`, 'gnss-survey-accuracy=5'].flatMap((one) => ['--change', one])
  const args = [
    '--set',
    `gnss-zed.port=${pty.near}`,
    '--set',
    `integrity.initial_s=${initial_s}`,
    ...changes,
    ...(await loopback(broker.port)),
  ]
  const env = Object.fromEntries(unitEnvironment.map((one) => one.split('=') as [string, string]))
  const station = await startStation(args, { entry: join(out, 'rtk-base.mjs'), env })
  undo.push(() => station.end())
  const pid = station.child.pid as number
  const status = async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status
  await until(async () => (await status()) === 'fixed', 'fixed', 300_000)
  await pause(1_000 * settled_s)
  const before = { ...processUse(pid), wakeUps: wakeUps(pid) }
  await pause(1_000 * measured_s)
  const after = { ...processUse(pid), wakeUps: wakeUps(pid) }
  const share = (100 * (after.cpu_s - before.cpu_s)) / measured_s
  const code = codeBytes(out)
  return [
    atMost(`${variant}: code, share of what 0.2.0 built`, (100 * code) / bytesBefore[variant], 60, '%'),
    atMost(`${variant}: resident memory at rest`, after.rss_bytes / 1e6, memory_MB[variant], 'MB'),
    atMost(`${variant}: processor at rest`, share, 0.7, '%', 20),
    atMost(`${variant}: wake-ups at rest, a second`, (after.wakeUps - before.wakeUps) / measured_s, 25, '', 60),
  ]
}

/** How often the threads of a process have gone to sleep by themselves (proc(5)). */
function wakeUps(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0)
  }, 0)
}

function codeBytes(device: string): number {
  return readdirSync(device, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[cm]?js$/.test(path) && !path.startsWith('node_modules'))
    .reduce((sum, path) => sum + statSync(join(device, path)).size, 0)
}
