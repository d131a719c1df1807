/** Processes of the tree that is measured. What they print on stderr is a fault of a smoke run, as is a warning of Node. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { childEnv, type StationProcess, type StationProcessOptions, startStation as start } from '../harness/process.js'
import { entryOf, tree } from './tree.js'

const entry = entryOf(tree)
/** Where a smoke run looks for it. */
const stderr = process.env.RTK_BASE_BENCH_STDERR

/** Starts `rtk-base run` of the tree. */
export function startStation(
  args: readonly string[] = [],
  options: StationProcessOptions = {},
): Promise<StationProcess> {
  const station = { ...options, entry: options.entry ?? entry }
  if (stderr === undefined) return start(args, station)
  // The shell becomes the station, which so keeps its process ID.
  const nodeOptions = ['-c', `exec "$0" "$@" 2>>'${stderr}'`, process.execPath, ...(options.nodeOptions ?? [])]
  return start(args, { ...station, execPath: '/bin/sh', nodeOptions })
}

/** Runs `rtk-base …` of the tree until it ends. @throws when it fails */
export async function rtkBase(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env: childEnv() })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`rtk-base ${args.join(' ')} ended with ${code}`)
}
