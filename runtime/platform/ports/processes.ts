import { type ChildProcess, spawn } from 'node:child_process'
import { messageOf, RtkError } from '../../errors.js'
import { type Clock, systemClock } from './clock.js'

export interface ExecOptions {
  /** The process is killed after this time; default: 10 s. */
  timeout_ms?: number
  /** Limit of both outputs together; default: 1 MiB. */
  maxOutput_bytes?: number
  /** Standard input of the program; default: empty. */
  input?: string | Uint8Array
  /** Added to the environment of the service. */
  env?: Readonly<Record<string, string>>
  cwd?: string
  signal?: AbortSignal
}

export interface ExecResult {
  /** The exit code; null if a signal ended the program. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Other programs on the machine. */
export interface ProcessPort {
  /**
   * Runs a program with arguments to its end, without a shell. An exit code other than 0 does not throw.
   * @throws RTK_ERR_PROCESS_NOT_FOUND, RTK_ERR_PROCESS_TIMEOUT, RTK_ERR_PROCESS_OUTPUT, RTK_ERR_ABORTED
   */
  execFile(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>
}

const limit_ms = 10_000
const outputLimit_bytes = 1_048_576
/** Delay between the signal that asks a process to end and the signal it cannot refuse. */
const grace_ms = 1_000

/** The programs of this machine. */
export class SystemProcesses implements ProcessPort {
  readonly #clock: Clock

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  execFile(file: string, args: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const { timeout_ms = limit_ms, maxOutput_bytes = outputLimit_bytes, input = '', env, cwd, signal } = options
    const aborted = () => new RtkError('RTK_ERR_ABORTED', `${file}: given up, as its caller no longer waits`)
    if (signal?.aborted) return Promise.reject(aborted())
    return new Promise((resolve, reject) => {
      const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' })
      // First of all: without a listener it would be thrown, and without file descriptors the streams are missing too.
      child.once('error', (error) => {
        if (child.pid !== undefined) return
        over()
        reject(new RtkError('RTK_ERR_PROCESS_NOT_FOUND', `${file}: ${reasonOf(error)}`, { cause: error }))
      })
      const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
      let got_bytes = 0
      const over = () => {
        void cancel()
        signal?.removeEventListener('abort', onAbort)
      }
      const giveUp = (error: RtkError) => {
        over()
        kill(child)
        reject(error)
      }
      const onAbort = () => giveUp(aborted())
      const cancel = this.#clock.timer(timeout_ms, () =>
        giveUp(new RtkError('RTK_ERR_PROCESS_TIMEOUT', `${file} did not end within ${timeout_ms / 1000} s: killed`)),
      )
      signal?.addEventListener('abort', onAbort)
      for (const name of ['stdout', 'stderr'] as const) {
        child[name]?.on('data', (chunk: Buffer) => {
          got_bytes += chunk.length
          if (got_bytes <= maxOutput_bytes) output[name].push(chunk)
          else
            giveUp(new RtkError('RTK_ERR_PROCESS_OUTPUT', `${file} wrote more than ${maxOutput_bytes} bytes: killed`))
        })
      }
      // A program need not read its input.
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
      child.once('close', (code, by) => {
        over()
        const [stdout, stderr] = [output.stdout, output.stderr].map((parts) => Buffer.concat(parts).toString())
        resolve({ code, signal: by, stdout, stderr })
      })
    })
  }
}

/** Asks first. In real time: a process does not wait for a clock that a test holds. */
function kill(child: ChildProcess): void {
  child.stdout?.destroy()
  child.stderr?.destroy()
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), grace_ms).unref()
  child.once('exit', () => clearTimeout(hard))
}

const reasons: Readonly<Record<string, string>> = {
  EMFILE: 'no program can be started, as too many files are open',
  ENFILE: 'no program can be started, as too many files are open',
  EAGAIN: 'no program can be started, as too many run',
  ENOENT: 'no such program (or working folder) on this machine',
  EACCES: 'this user may not run it',
  ENOTDIR: 'no such program (or working folder) on this machine',
}

function reasonOf(error: NodeJS.ErrnoException): string {
  return reasons[error.code ?? ''] ?? messageOf(error)
}
