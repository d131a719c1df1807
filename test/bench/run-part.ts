/** Runs one part in a process of its own, and tells what went wrong beside its figures. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresPrograms } from '../harness/peers/postgres.js'
import { childEnv } from '../harness/process.js'
import { hasProgram } from './edges.js'
import type { Measurement } from './measurement.js'
import { type Part, type PartMessage, type Share, whole } from './part.js'
import { parts } from './parts.js'

export type SizeName = 'full' | 'smoke'

export interface RunOptions {
  readonly size: SizeName
  /** Of a part that is divisible. Default: the whole. */
  readonly share?: Share | undefined
  /** Root of the tree to measure. Default: this one. */
  readonly tree?: string
  readonly progress?: (text: string) => void
  /** A part that takes longer hangs. */
  readonly limit_ms?: number
}

export interface Outcome {
  /** Why the part did not run. */
  readonly skipped?: string | undefined
  /** Why some of it was not measured: a peer is missing. */
  readonly leftOut: readonly string[]
  readonly measurements: readonly Measurement[]
  /** A crash, a warning of Node, a line on stderr: one line each. */
  readonly faults: readonly string[]
}

const script = fileURLToPath(new URL('./part-child.js', import.meta.url))
const running = new Set<ChildProcess>()

/** Ends the parts that run, and with them their stations and clients. */
export function endParts(): void {
  for (const child of running) child.kill('SIGTERM')
}

/** What a part needs and this machine has not. */
function missing({ peers = [], needsRoot = false }: Part): string | undefined {
  if (needsRoot && process.getuid?.() !== 0) return 'it needs root'
  const peer = peers.find((name) => (name === 'postgresql' ? postgresPrograms() === undefined : !hasProgram(name)))
  return peer && `${peer} is not installed on this machine`
}

export async function runPart(name: string, options: RunOptions): Promise<Outcome> {
  const part = await parts[name]?.load()
  if (!part) throw new Error(`there is no part ${name}`)
  const lack = missing(part)
  if (lack !== undefined) {
    return process.env.CI === 'true'
      ? { leftOut: [], measurements: [], faults: [lack] }
      : { skipped: lack, leftOut: [], measurements: [], faults: [] }
  }
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-part-'))
  try {
    return await runIn(folder, name, options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whatever its processes print on stderr, and warnings of Node in any of them, go into files of the folder. */
async function runIn(
  folder: string,
  name: string,
  { size, share = whole, tree, progress, limit_ms }: RunOptions,
): Promise<Outcome> {
  const [stderr, warnings] = [join(folder, 'stderr'), join(folder, 'warnings')]
  const file = openSync(stderr, 'a')
  const child = fork(script, [name, size, `${share.number}/${share.of}`], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', file, file, 'ipc'],
    // JSON has no number that is none.
    serialization: 'advanced',
    env: {
      ...childEnv(),
      NODE_REDIRECT_WARNINGS: warnings,
      RTK_BASE_BENCH_STDERR: stderr,
      ...(tree !== undefined && { RTK_BASE_BENCH_TREE: tree }),
    },
  })
  closeSync(file)
  running.add(child)
  let measurements: readonly Measurement[] | undefined
  let skipped: string | undefined
  let failure: string | undefined
  const leftOut: string[] = []
  child.on('message', (message: PartMessage) => {
    if ('progress' in message) progress?.(message.progress)
    else if ('leftOut' in message) leftOut.push(message.leftOut)
    else if ('notComparable' in message) skipped = message.notComparable
    else if ('failed' in message) failure = message.failed
    else measurements = message.measurements
  })
  let isHung = false
  const timer = setTimeout(
    () => {
      isHung = true
      child.kill('SIGTERM')
      // One that computes hears no signal.
      setTimeout(() => child.kill('SIGKILL'), 10_000).unref()
    },
    limit_ms ?? 2 ** 31 - 1,
  )
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  running.delete(child)
  if (isHung) failure = `not over after ${(limit_ms ?? 0) / 1_000} s`
  else if (measurements === undefined && skipped === undefined) failure ??= `it ended with ${signal ?? code}`
  const faults = [...(failure !== undefined ? [failure] : []), ...linesOf(warnings), ...linesOf(stderr)]
  return { skipped, leftOut, measurements: measurements ?? [], faults }
}

/** Its lines, without those that belong to the line before: frames of a stack, fields of an error. */
function linesOf(file: string): string[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^\S/.test(line))
}
