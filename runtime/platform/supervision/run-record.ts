/**
 * The record of the last run (`run.json`): when it began, how it ended, and the plugins that the watchdog ended it for. The main thread writes
 * it; the watchdog's thread does when the event loop is blocked. What ends a process without a word is told by the supervisor's
 * record (`ended`) and the boot id.
 */
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import type { RunEnd } from '../../../schemas/services.js'
import { disk } from '../files/disk.js'
import { readRecordSync } from '../files/plain-file.js'
import { StateFile } from '../files/state-file.js'

/** The watchdog ended a run. */
export const Stall = Type.Object({
  /** '' if no plugin could be named. */
  plugin: Type.String(),
  phase: Type.String(),
  /** `file:line:column` of the plugin's innermost frame, '' unknown. */
  place: Type.String(),
  /** Innermost first. Only that of the newest is kept. */
  stack: Type.Array(Type.String(), { maxItems: 64 }),
  /** UTC milliseconds by the system clock. */
  at_ms: Type.Number(),
  blocked_s: Type.Number(),
  /** Where it was the memory that was used up. */
  used_mb: Type.Optional(Type.Number()),
  limit_mb: Type.Optional(Type.Number()),
  /** A start has kept the plugin out for it. */
  served: Type.Optional(Type.Boolean()),
})
export type Stall = Static<typeof Stall>

const Run = Type.Object({
  /** The machine's boot, '' unknown. */
  boot: Type.String(),
  started_ms: Type.Number(),
  end: Type.Optional(
    Type.Object({
      how: Type.Enum(['stopped', 'failed', 'blocked']),
      text: Type.String(),
      at_ms: Type.Number(),
      stack: Type.Array(Type.String(), { maxItems: 64 }),
    }),
  ),
  /** The stalls of this run and those before, the oldest first. */
  stalls: Type.Array(Stall),
})
export type Run = Static<typeof Run>

/** The record written by the unit's ExecStopPost: boot id, $SERVICE_RESULT, $EXIT_CODE, $EXIT_STATUS. */
interface SupervisorRecord {
  boot: string
  result: string
  code: string
  status: string
}

const readText = (file: string): string => {
  try {
    return readRecordSync(file)
  } catch {
    return ''
  }
}

export const bootId = (): string => readText('/proc/sys/kernel/random/boot_id').trim()

function readSupervisor(file: string): SupervisorRecord | undefined {
  const [boot, result, code, status] = readText(file).trim().split(/\s+/)
  return boot && result ? { boot, result, code: code ?? '', status: status ?? '' } : undefined
}

/** The records of the runs of a data folder. On a read-only disk, a run has no record. */
export class RunRecord {
  readonly path: string
  readonly #file: StateFile<typeof Run>
  readonly #supervisor: string
  readonly #written = new Set<(run: Run) => void>()
  /** The last run, until the next one begins. */
  #run: Run | undefined
  #now_ms: () => number = Date.now
  readonly #onExit = (code: number) => {
    if (code !== 0) this.#end('failed', `the process ended with exit code ${code}`)
  }

  constructor(data: string) {
    this.path = join(data, 'run.json')
    this.#file = new StateFile(Run, this.path)
    this.#supervisor = join(data, 'ended')
    this.#run = this.#file.readSync().value
  }

  /**
   * A run begins. @param now_ms UTC by the system clock
   * @returns how the one before ended
   */
  begin(now_ms: () => number, boot = bootId()): RunEnd {
    this.#now_ms = now_ms
    const before = runEndOf({ run: this.#run, boot, supervisor: readSupervisor(this.#supervisor) })
    // It describes the end of one run: after a power cut it must not be read again for the next run.
    try {
      disk.rmSync(this.#supervisor, { force: true })
    } catch {}
    this.#tryWrite({ boot, started_ms: now_ms(), stalls: this.stalls })
    process.on('exit', this.#onExit)
    return before
  }

  /** A graceful stop. */
  stopped(): void {
    process.off('exit', this.#onExit)
    this.#end('stopped', 'the service was stopped')
  }

  get stalls(): Stall[] {
    return this.#run?.stalls ?? []
  }

  /** @throws an error of the file system: the next run does not know of it */
  keep(stalls: Stall[]): void {
    this.#write({ boot: '', started_ms: 0, ...this.#run, stalls })
  }

  /** Told what the file holds, now and after each write. */
  onWrite(fn: (run: Run) => void): void {
    this.#written.add(fn)
    if (this.#run) fn(this.#run)
  }

  #end(how: 'stopped' | 'failed', text: string): void {
    const { boot, started_ms } = this.#run ?? { boot: '', started_ms: 0 }
    this.#tryWrite({ boot, started_ms, stalls: this.stalls, end: { how, text, at_ms: this.#now_ms(), stack: [] } })
  }

  #tryWrite(run: Run): void {
    try {
      this.#write(run)
    } catch {}
  }

  /** Durable when it returns. @throws an error of the file system */
  #write(run: Run): void {
    this.#run = run
    for (const fn of this.#written) fn(run)
    this.#file.writeSync(run)
  }
}

/** The end of a run, from its traces. */
export function runEndOf(traces: {
  run: Run | undefined
  boot: string
  supervisor: SupervisorRecord | undefined
}): RunEnd {
  const { run, boot, supervisor } = traces
  if (run === undefined)
    return { how: 'first', text: 'there was no previous run, or its record is missing', at_ms: 0, stack: [] }
  if (run.end) {
    const { how, text, at_ms, stack } = run.end
    // Each run that begins deletes this record: after a graceful end it is of a start that did not get that far (an update that crashes).
    if (how === 'stopped' && supervisor && supervisor.result !== 'success') {
      return { ...saidBy(supervisor), at_ms: 0, stack: [] }
    }
    return { how, text, at_ms, stack }
  }
  const told = supervisor?.boot === run.boot ? supervisor : undefined
  if (told) return { ...saidBy(told), at_ms: 0, stack: [] }
  if (run.boot !== '' && boot !== '' && run.boot !== boot) {
    const text = 'the machine restarted without stopping the service: a power cut, a reset or a crash of the system'
    return { how: 'power', text, at_ms: 0, stack: [] }
  }
  return {
    how: 'killed',
    text: 'the process was killed (SIGKILL, or the system was out of memory)',
    at_ms: 0,
    stack: [],
  }
}

function saidBy({ result, code, status }: SupervisorRecord): Pick<RunEnd, 'how' | 'text'> {
  if (result === 'watchdog') return { how: 'blocked', text: 'it did not answer the system’s watchdog' }
  if (result === 'oom-kill') return { how: 'killed', text: 'the system was out of memory and killed it' }
  if (status === 'ABRT') return { how: 'failed', text: 'it aborted (SIGABRT): its heap was full' }
  if (code === 'exited') return { how: 'failed', text: `the process ended with exit code ${status}` }
  return {
    how: 'killed',
    text: `the process was ended by SIG${status}${result === 'timeout' ? ' after a time limit' : ''}`,
  }
}
