import type { DestinationStream, LevelWithSilent, Logger } from 'pino'
import type { LogLine } from '../../../schemas/services.js'

const key = Symbol('rtk-base.log-control')
type Controlled = Logger & { [key]?: LogControl }

/** Control of a running service's log: listen to its lines, set its levels. */
export class LogControl {
  readonly #root: Logger
  /** The levels of plugins that have another one than the rest. */
  readonly #own = new Map<string, LevelWithSilent>()
  /** Every logger made from the root: a level is a child's own, so each has to be set. */
  readonly #children = new Set<WeakRef<Logger>>()
  /** Forgets a logger that nobody has any more. */
  readonly #collected = new FinalizationRegistry<WeakRef<Logger>>((child) => this.#children.delete(child))

  readonly #tap: LogTap | undefined

  /** @param make makes the root; `adopt` has to be called for every child of it */
  constructor(make: (adopt: (child: Logger) => void) => Logger, tap?: LogTap) {
    this.#tap = tap
    this.#root = make((child) => this.#adopt(child))
    // Children have it from their root, through their prototype.
    Object.defineProperty(this.#root, key, { value: this })
  }

  /** The control of a logger; a logger not made by `createLogger` has levels only. */
  static of(log: Logger): LogControl {
    return (log as Controlled)[key] ?? new LogControl(() => log)
  }

  get logger(): Logger {
    return this.#root
  }

  /** Sends every line from now on to `listener`, replacing the previous one. */
  listen(listener: LineListener | undefined): void {
    if (this.#tap) this.#tap.listener = listener
  }

  level(plugin?: string): string {
    return (plugin !== undefined && this.#own.get(plugin)) || this.#root.level
  }

  /** At once, and for future loggers. @param plugin default: everything, also plugins that had their own level */
  setLevel(level: LevelWithSilent, plugin?: string): void {
    const known = [...Object.keys(this.#root.levels.values), 'silent']
    if (!known.includes(level)) {
      throw new Error(`"${level}" is not a level: ${known.join(', ')}`)
    }
    if (plugin !== undefined) this.#own.set(plugin, level)
    else {
      this.#own.clear()
      this.#root.level = level
    }
    for (const weak of this.#children) {
      const child = weak.deref()
      if (child && (plugin === undefined || pluginOf(child) === plugin)) child.level = level
    }
  }

  #adopt(child: Logger): void {
    const own = this.#own.get(pluginOf(child) ?? '')
    if (own !== undefined) child.level = own
    const weak = new WeakRef(child)
    this.#children.add(weak)
    this.#collected.register(child, weak)
  }
}

function pluginOf(child: Logger): string | undefined {
  return child.bindings().plugin as string | undefined
}

export interface LineListener {
  /** An unwanted line is not even parsed. */
  wanted(): boolean
  show(line: LogLine): void
}

type Destination = DestinationStream & { flushSync?(): void }

/** Passes lines on, and shows them to the listener in their written form, so without secrets. */
export class LogTap implements DestinationStream {
  readonly #to: Destination
  #showing = false
  #listener: LineListener | undefined

  constructor(to: Destination) {
    this.#to = to
  }

  set listener(listener: LineListener | undefined) {
    this.#listener = listener
  }

  write(line: string): void {
    this.#to.write(line)
    // A listener's own log lines are written but not shown to it: it would log again.
    if (this.#showing || !this.#listener?.wanted()) return
    this.#showing = true
    try {
      this.#listener.show(JSON.parse(line) as LogLine)
    } finally {
      this.#showing = false
    }
  }

  flushSync(): void {
    this.#to.flushSync?.()
  }
}
