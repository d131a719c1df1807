import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { disk, readPlainSync, replaceFileSync } from 'rtk-base/files'

const nameOf = (run: number) => `run-${String(run).padStart(8, '0')}.log.gz`
const pattern = /^run-(\d{8})\.log\.gz$/
/** A damaged or foreign file does not unfold to more than this. */
const largest_bytes = 8 * 1_048_576

/**
 * The saved logs: one gzip file a run, replaced at each save, the newest runs kept. Written at once, not in the background: the last
 * save of a run happens while its process ends.
 */
export class LogFiles {
  readonly #open: () => string
  readonly #runs: number
  #run: number | undefined

  /**
   * @param open makes the folder and returns its path; may throw while the disk is not writable
   * @param runs number of kept runs, including this one
   */
  constructor(open: () => string, runs = 32) {
    this.#open = open
    this.#runs = runs
  }

  /** Durable on return. @throws the file system error; the previous file is then kept */
  save(text: string): void {
    const at = this.#open()
    this.#run ??= (this.#numbers(at).at(-1) ?? 0) + 1
    replaceFileSync(join(at, nameOf(this.#run)), gzipSync(text), join(at, 'new'))
    for (const run of this.#numbers(at).slice(0, -this.#runs))
      disk.rmSync(join(at, nameOf(run)), { recursive: true, force: true })
  }

  /** Every saved line, oldest first. An unreadable file gives one line with the error. */
  read(): string[] {
    const at = this.#folder()
    return this.#numbers(at).flatMap((run) => {
      try {
        const text = gunzipSync(readPlainSync(join(at, nameOf(run)), largest_bytes), { maxOutputLength: largest_bytes })
        return text.toString('utf8').split('\n').filter(Boolean)
      } catch (error) {
        const msg = `${nameOf(run)} cannot be read: ${(error as Error).message}`
        return [JSON.stringify({ level: 40, time: 0, plugin: 'log', msg })]
      }
    })
  }

  clear(): void {
    const at = this.#folder()
    for (const run of this.#numbers(at)) disk.rmSync(join(at, nameOf(run)), { recursive: true, force: true })
  }

  /** '' where there is none. */
  #folder(): string {
    try {
      return this.#open()
    } catch {
      return ''
    }
  }

  #numbers(at: string): number[] {
    if (at === '') return []
    try {
      return disk
        .readdirSync(at)
        .flatMap((name) => pattern.exec(name)?.[1] ?? [])
        .map(Number)
        .sort((one, other) => one - other)
    } catch {
      return []
    }
  }
}
