import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Baseline, Station } from 'rtk-base/baseline'
import { Backoff } from 'rtk-base/time'
import program from './baseline-thread.js?thread'
import { buffersOf, type FromThread, packed, type ToThread } from './packed.js'

export interface BaselineThreadsOptions {
  /** Threads at most. Default: one less than the machine has processors, between 1 and 16. They are started when they are needed. */
  readonly most?: number
  /** A vector takes seconds: a thread that takes longer is ended, seconds. Default: 120 */
  readonly limit_s?: number
  /** A thread ended, and another one takes its place. */
  readonly ended?: (reason: string) => void
  /** Calls `fn` later. Default: the timer of the machine */
  readonly after?: (ms: number, fn: () => void) => unknown
}

/** Hostile RTCM must not take the memory of the service: an hour of RTCM takes a tenth of it. */
const memory_MB = 256
/** A vector whose thread ended as often is given up: its RTCM may be the cause. */
const mostTries = 2

interface Task {
  readonly from: Station
  readonly to: Station
  tries: number
  resolve(solved: SolvedBaseline): void
  reject(error: Error): void
}

export interface SolvedBaseline {
  readonly found: Baseline
  /** Processor time, without the time in which it waited for a thread. */
  readonly took_s: number
}

interface Thread {
  readonly worker: Worker
  readonly limit: NodeJS.Timeout
  task: Task | undefined
}

/** `baseline` in threads beside the one that asks, which only moves bytes. */
export class BaselineThreads {
  readonly #most: number
  readonly #limit_s: number
  readonly #ended: (reason: string) => void
  readonly #after: (ms: number, fn: () => void) => unknown
  readonly #threads = new Set<Thread>()
  readonly #waiting: Task[] = []
  readonly #backoff = new Backoff({ first_ms: 1_000, longest_ms: 60_000 })
  /** Until the next thread may be started, after one has ended. */
  #isResting = false
  #isStopped = false

  constructor({
    most,
    limit_s = 120,
    ended = () => {},
    after = (ms, fn) => setTimeout(fn, ms),
  }: BaselineThreadsOptions = {}) {
    this.#most = most ?? Math.max(1, Math.min(16, availableParallelism() - 1))
    this.#limit_s = limit_s
    this.#ended = ended
    this.#after = after
  }

  /** @throws if it cannot be computed, or after `stop` */
  solve(from: Station, to: Station): Promise<SolvedBaseline> {
    if (this.#isStopped) return Promise.reject(new Error('stopped'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ from, to, tries: 0, resolve, reject })
      this.#begin()
    })
  }

  /** Vectors that wait are rejected. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('stopped'))
    await Promise.all([...this.#threads].map((thread) => this.#close(thread, 'stopped')))
  }

  #begin(): void {
    while (this.#waiting.length > 0) {
      const thread = [...this.#threads].find(({ task }) => task === undefined) ?? this.#start()
      if (!thread) return
      const task = this.#waiting.shift() as Task
      task.tries += 1
      thread.task = task
      const message: ToThread = { from: packed(task.from), to: packed(task.to) }
      thread.limit.refresh()
      thread.worker.ref()
      thread.worker.postMessage(message, [...buffersOf(message.from), ...buffersOf(message.to)])
    }
  }

  #start(): Thread | undefined {
    if (this.#isResting || this.#threads.size >= this.#most) return undefined
    let worker: Worker
    try {
      worker = new Worker(new URL(program), { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memory_MB } })
    } catch (error) {
      // The machine has no room for another thread.
      this.#couldNotStart((error as Error).message)
      return undefined
    }
    // Of the machine: a thread may hang, whatever the clock of the service says.
    const limit = setTimeout(() => {
      if (thread.task) this.#lost(thread, `a vector took longer than ${this.#limit_s} s`)
    }, 1_000 * this.#limit_s)
    limit.unref()
    const thread: Thread = { worker, limit, task: undefined }
    worker.on('message', (answer: FromThread) => this.#answered(thread, answer))
    worker.on('error', (error) => this.#lost(thread, error.message))
    worker.on('exit', () => this.#lost(thread, 'it ended'))
    this.#threads.add(thread)
    return thread
  }

  /** While others compute, the vectors wait for them. */
  #couldNotStart(reason: string): void {
    this.#ended(reason)
    this.#rest()
    if (this.#threads.size > 0) return
    const task = this.#waiting[0]
    if (!task) return
    task.tries += 1
    if (task.tries < mostTries) return
    this.#waiting.shift()
    task.reject(new Error(`no thread can be started: ${reason}`))
  }

  #answered(thread: Thread, answer: FromThread): void {
    const { task } = thread
    thread.task = undefined
    // A thread without work keeps no process.
    thread.worker.unref()
    this.#backoff.reset()
    if ('found' in answer) task?.resolve(answer)
    else task?.reject(new Error(answer.failed))
    this.#begin()
  }

  /** Its vector is computed by another thread, which is started with back-off. */
  #lost(thread: Thread, reason: string): void {
    if (!this.#threads.has(thread)) return
    const { task } = thread
    thread.task = undefined
    void this.#close(thread, reason)
    this.#ended(reason)
    if (task && task.tries >= mostTries) task.reject(new Error(`its thread ended: ${reason}`))
    else if (task) this.#waiting.unshift(task)
    this.#rest()
  }

  #rest(): void {
    this.#isResting = true
    this.#after(this.#backoff.next(), () => {
      this.#isResting = false
      this.#begin()
    })
  }

  async #close(thread: Thread, reason: string): Promise<void> {
    this.#threads.delete(thread)
    clearTimeout(thread.limit)
    thread.task?.reject(new Error(reason))
    await thread.worker.terminate()
  }
}
