/**
 * The main thread's activity, readable from another thread while it is blocked: a running beat counter, the plugin on
 * behalf of which it runs, and the phase of that plugin's life.
 */
export const phases = ['', 'load', 'setup', 'start', 'stop'] as const
export type Phase = (typeof phases)[number]

/** Under this name the watchdog finds the function that returns the current owner in a paused main thread. */
export const ownerSymbol = 'rtk-base.owner'

const beatAt = 0
const pluginAt = 1
const phaseAt = 2

const shared = new Int32Array(new SharedArrayBuffer(12))
/** Number of each plugin, its place in this list plus 1. */
const plugins: string[] = []
let announce: (plugin: string, number: number) => void = () => {}

/** The memory that the watchdog's thread reads, and the plugins that were numbered so far. */
export function shareActivity(announced: (plugin: string, number: number) => void): Int32Array {
  announce = announced
  for (const [index, plugin] of plugins.entries()) announce(plugin, index + 1)
  return shared
}

/** The number by which a plugin is known in the shared memory. */
export function activityNumber(plugin: string): number {
  const known = plugins.indexOf(plugin)
  if (known >= 0) return known + 1
  announce(plugin, plugins.push(plugin))
  return plugins.length
}

/** The event loop turns. */
export function beat(): void {
  shared[beatAt]++
}

/** Records the owner of the code that runs now. @returns the previous record, for `leave` */
export function enter(number: number): number {
  const before = shared[pluginAt]
  shared[pluginAt] = number
  return before
}

export function leave(before: number): void {
  shared[pluginAt] = before
}

/** Runs the synchronous part of a phase of a plugin's life. */
export function during<T>(plugin: string, phase: Phase, fn: () => T): T {
  const [number, before] = [shared[pluginAt], shared[phaseAt]]
  shared[pluginAt] = activityNumber(plugin)
  shared[phaseAt] = phases.indexOf(phase)
  try {
    return fn()
  } finally {
    shared[pluginAt] = number
    shared[phaseAt] = before
  }
}

/** As the watchdog's thread reads it. */
export function readActivity(memory: Int32Array): { beats: number; number: number; phase: Phase } {
  return {
    beats: Atomics.load(memory, beatAt),
    number: Atomics.load(memory, pluginAt),
    phase: phases[Atomics.load(memory, phaseAt)] ?? '',
  }
}
