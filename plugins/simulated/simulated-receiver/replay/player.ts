import { open } from 'node:fs/promises'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { RecordEntry } from 'rtk-base/schemas'
import type { Companion } from 'rtk-base/simulation'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { type ReplayStep, scriptOf } from './script.js'

const largest_bytes = 67_108_864
const code = 'sim-record'

/** The place in the record, for the next instance at a reload of the plugin. */
const Played = Type.Object({ begun_ms: Type.Number(), at: Type.Integer({ minimum: 0 }) })
type Played = Static<typeof Played>

/** Plays the states of a flight record on the simulated receiver, at their own times. */
export class RecordPlayer implements Companion {
  readonly shape = Played
  readonly #ctx: PluginContext
  readonly #file: string
  readonly #delay_s: number
  readonly #run: (command: string) => void
  #begun_ms = 0
  #next: Dispose = () => {}
  #steps: readonly ReplayStep[] = []
  #at = 0

  /** @param file as `GET /record` answers @param run one line of `sim` */
  constructor(ctx: PluginContext, file: string, delay_s: number, run: (command: string) => void) {
    this.#ctx = ctx
    this.#file = file
    this.#delay_s = delay_s
    this.#run = run
  }

  get handoff(): Played {
    return { begun_ms: this.#begun_ms, at: this.#at }
  }

  /** @param before of the instance that played it until now */
  async start(before?: Played): Promise<void> {
    try {
      this.#steps = scriptOf(await entriesIn(this.#file))
    } catch (error) {
      const reason = (error as Error).message
      this.#ctx.errors.while(code, { file: this.#file, reason })
      return
    }
    this.#begun_ms = before?.begun_ms ?? this.#ctx.clock.monotonic() + this.#delay_s * 1000
    this.#at = before?.at ?? 0
    this.#ctx.log.info(
      { steps: this.#steps.length, file: this.#file, delay_s: this.#delay_s },
      'a flight record is played',
    )
    this.#arm()
  }

  #arm(): void {
    void this.#next()
    const step = this.#steps[this.#at]
    if (!step) return
    const wait_ms = Math.max(0, this.#begun_ms + step.after_ms - this.#ctx.clock.monotonic())
    this.#next = this.#ctx.timers.after(wait_ms, () => {
      this.#at += 1
      this.#ctx.log.info({ after_s: Math.round(step.after_ms / 1000) }, `the record: ${step.command}`)
      this.#run(step.command)
      this.#arm()
    })
  }
}

/** @throws the file system error, or the fault of its first line */
async function entriesIn(path: string): Promise<RecordEntry[]> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size > largest_bytes) throw new Error(`it has ${size} bytes, more than ${largest_bytes}`)
    const entries: RecordEntry[] = []
    for await (const line of file.readLines()) {
      const entry = line.trim() === '' ? undefined : parsed(line)
      if (entry) entries.push(entry)
      else if (line.trim() !== '' && entries.length === 0)
        throw new Error('its first line is not a line of a flight record')
    }
    if (entries.length === 0) throw new Error('it is empty')
    return entries
  } finally {
    await file.close().catch(() => {})
  }
}

function parsed(line: string): RecordEntry | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return Value.Check(RecordEntry, value) ? value : undefined
  } catch {
    return undefined
  }
}
