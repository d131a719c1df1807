/**
 * The reason why the previous run ended, from the traces it left: its own record, the watchdog's, the supervisor's, the
 * boot id.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import type { RunEnd } from '../../../schemas/services.js'
import { readRecordSync } from '../files/plain-file.js'
import { StateFile } from '../files/state-file.js'
import { type Stall, stallFile } from './stalls.js'

const Run = Type.Object({
  /** The machine's boot, '' unknown. */
  boot: Type.String(),
  started_ms: Type.Number(),
  end: Type.Optional(Type.Object({ how: Type.String(), text: Type.String(), at_ms: Type.Number() })),
})
type Run = Static<typeof Run>

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

/** The run that has begun. */
export class RunRecord {
  /** How the run before ended. */
  readonly before: RunEnd
  readonly #file: StateFile<typeof Run>
  readonly #run: Run
  readonly #onExit = (code: number) => {
    if (code !== 0) this.#end('failed', `the process ended with exit code ${code}`)
  }

  /**
   * Reads the traces of the previous run, and records the start of this one. On a read-only disk, this run has no
   * record.
   * @param now_ms UTC by the system clock
   */
  constructor(data: string, now_ms: () => number, boot = bootId()) {
    this.#now_ms = now_ms
    this.#file = new StateFile(Run, join(data, 'run.json'))
    this.before = runEndOf({
      run: this.#file.readSync().value,
      boot,
      stalls: stallFile(data).readSync().value ?? [],
      supervisor: readSupervisor(join(data, 'ended')),
    })
    // It describes the end of one run: after a power cut it must not be read again for the next run.
    this.#forget(join(data, 'ended'))
    this.#run = { boot, started_ms: now_ms() }
    this.#write()
    process.on('exit', this.#onExit)
  }
  readonly #now_ms: () => number

  #forget(file: string): void {
    try {
      rmSync(file, { force: true })
    } catch {}
  }

  /** A graceful stop. */
  stopped(): void {
    process.off('exit', this.#onExit)
    this.#end('stopped', 'the service was stopped')
  }

  #end(how: RunEnd['how'], text: string): void {
    this.#run.end = { how, text, at_ms: this.#now_ms() }
    this.#write()
  }

  /** Durable when it returns, unless the disk takes no writes. */
  #write(): void {
    try {
      this.#file.writeSync(this.#run)
    } catch {}
  }
}

/** Pure: derives the end of a run from its traces. */
export function runEndOf(traces: {
  run: Run | undefined
  boot: string
  stalls: readonly Stall[]
  supervisor: SupervisorRecord | undefined
}): RunEnd {
  const { run, boot, supervisor } = traces
  if (run === undefined)
    return { how: 'first', text: 'there was no previous run, or its record is missing', at_ms: 0, stack: [] }
  if (run.end) {
    const { how, text, at_ms } = run.end
    // Each run that begins deletes this record: after a graceful end it is of a start that did not get that far (an update that crashes).
    if (how === 'stopped' && supervisor && supervisor.result !== 'success') {
      return { ...saidBy(supervisor), at_ms: 0, stack: [] }
    }
    return { how: how as RunEnd['how'], text, at_ms, stack: [] }
  }
  const stall = traces.stalls.findLast(({ at_ms }) => at_ms >= run.started_ms)
  if (stall) {
    const { plugin, place, blocked_s, at_ms, stack } = stall
    const who = plugin ? `plugin ${plugin}` : 'something'
    const text = `${who} blocked it for ${Math.round(blocked_s)} s${place ? ` at ${place}` : ''}, so the watchdog ended it`
    return { how: 'blocked', text, at_ms, stack }
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
