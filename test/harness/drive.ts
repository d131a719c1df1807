/**
 * Makes time pass on a manual clock while real work is done: files, threads, child processes, sockets of this machine. The clock
 * stands still while any of it works, so a busy machine gives it as much simulated time as an idle one.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { areResting } from '../../runtime/platform/intake.js'
import { longestWait_ms } from './longest-wait.js'
import type { ManualClock } from './manual-clock.js'

/** A condition that is false after this number of steps is not expected to become true. */
const mostSteps = 5_000

/** Linux tells the state of each thread; elsewhere only the requests of this process are known. */
const hasThreadStates = process.platform === 'linux'

/** Of `turn`, that have not come. */
let turns = 0

/** One turn of the event loop. */
const turn = () =>
  new Promise<void>((resolve) => {
    turns += 1
    setImmediate(() => {
      turns -= 1
      resolve()
    })
  })
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 1))

/** Events of sockets, threads, files and children that the event loop has handled. */
const events = () => performance.nodeTiming.uvMetricsInfo.events

const buffer = Buffer.alloc(8_192)

/** '' if the file is gone: threads and processes end at any time. In place of readFileSync, which takes twice the time. */
function read(file: string): string {
  try {
    const handle = openSync(file, 'r')
    try {
      return buffer.toString('latin1', 0, readSync(handle, buffer, 0, buffer.length, 0))
    } finally {
      closeSync(handle)
    }
  } catch {
    return ''
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/**
 * How often each thread of the process and of its children went to sleep so far, but for the thread that asks.
 * Undefined: one of them runs, or waits for a processor (R) or a disk (D); see proc_pid_status(5).
 */
function sleepsOf(pid: number): string | undefined {
  let sleeps = ''
  for (const thread of threadsOf(pid)) {
    if (Number(thread) === process.pid) continue
    const status = read(`/proc/${pid}/task/${thread}/status`)
    if (/^State:\t[RD]/m.test(status)) return
    sleeps += `${thread}:${status.slice(status.lastIndexOf('\nvoluntary_ctxt_switches'))}`
  }
  // Node starts children from its first thread.
  for (const child of read(`/proc/${pid}/task/${pid}/children`).split(' ')) {
    if (child === '') continue
    const below = sleepsOf(Number(child))
    if (below === undefined) return
    sleeps += below
  }
  return sleeps
}

/** Undefined: work is open. */
function look(): string | undefined {
  if (hasThreadStates) return sleepsOf(process.pid)
  const isOpen = process.getActiveResourcesInfo().some((kind) => /^(FSReq|GetAddrInfoReq|TCPConnect)/.test(kind))
  return isOpen ? undefined : ''
}

/** The last look. If the next one is equal, no thread has run in between: one may wake another while they are looked at. */
let before: string | undefined

/** Work in slices, as a computation that lets others run in between, waits for the next turn of the event loop; others who wait here do no work. */
const isInSlices = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Immediate').length > turns

/**
 * Waits until this process and its children have nothing to do but to wait for time or for strangers: every other thread sleeps,
 * the event loop gets no more events, and no computation waits for its next turn. A request to a server that keeps silent is no work.
 */
export async function settled(): Promise<void> {
  const end_ms = performance.now() + longestWait_ms
  while (performance.now() < end_ms) {
    const handled = events()
    // What a thread has done before it went to sleep is an event now. Its handlers may start other work.
    await turn()
    await turn()
    if (isInSlices()) continue
    const sleeps = look()
    // A stream that had too much work rests for a moment, whatever it has received since.
    if (sleeps !== undefined && sleeps === before && events() === handled && !areResting()) return
    before = sleeps
    if (sleeps === undefined || areResting()) await pause()
  }
  throw new Error(`this process and its children still work after ${longestWait_ms} ms`)
}

/**
 * Advances the clock in steps until `condition` is true. Before each look, all work that the step started has ended.
 * @param what says what is waited for, and may say what was seen last
 * @returns milliseconds of the clock that passed
 */
export async function drive(
  clock: Pick<ManualClock, 'advance' | 'monotonic'>,
  condition: () => unknown,
  what: string | (() => string),
  step_ms = 1_000,
): Promise<number> {
  const began_ms = clock.monotonic()
  const end_ms = performance.now() + longestWait_ms
  for (let step = 0; step <= mostSteps && performance.now() < end_ms; step++) {
    await settled()
    if (await condition()) return clock.monotonic() - began_ms
    await clock.advance(step_ms)
  }
  const waited_s = (clock.monotonic() - began_ms) / 1_000
  throw new Error(`${typeof what === 'string' ? what : what()}: not within ${waited_s} s of the clock`)
}

/** Advances the clock until the promise is settled, and returns its result. */
export async function during<T>(clock: ManualClock, promise: Promise<T>, what: string, step_ms = 1_000): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  promise.then(over, over)
  await drive(clock, () => isOver, what, step_ms)
  return promise
}

/** Advances the clock by `ms`. All work that a step started ends before the next one. */
export async function pass(clock: ManualClock, ms: number, step_ms = 1_000): Promise<void> {
  await settled()
  for (let left_ms = ms; left_ms > 0; left_ms -= step_ms) {
    await clock.advance(Math.min(step_ms, left_ms))
    await settled()
  }
}
