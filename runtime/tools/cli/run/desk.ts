import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRecordSync } from '../../../platform/files/plain-file.js'
import type { Logger } from '../../../platform/log/log.js'
import type { RunningSlot } from '../../../platform/ports/slots.js'
import { packageRoot } from '../../../platform/release.js'
import { launcherFile } from '../../build/device.js'

/** Between a crash and the next start. */
const pause_ms = 1_000
/** A version on trial that neither confirms itself nor ends is killed: on a device systemd does that. */
const trialLimit_ms = 25 * 60_000

export interface DeskOptions {
  data: string
  /** Of `run`, for whichever version starts: --set, --log. */
  args: readonly string[]
  /** For this version alone: the variant, --watch. */
  ownArgs: readonly string[]
  log: Logger
}

/** From the service to the desk that started it. */
const off = 'off'

/** A shutdown of the simulated machine: ends the service, and the desk that would start it again. */
export function switchOff(): void {
  if (process.connected && process.env.RTK_BASE_ROOT) process.send?.(off)
  else process.emit('SIGTERM', 'SIGTERM')
}

/**
 * A simulator that can be updated. Its slots are below the data folder. Once one exists, `run` acts as systemd does on
 * a device: it starts the service through the launcher and restarts it when it ends. This version is the slot `f`.
 */
export class Desk {
  readonly #options: DeskOptions
  readonly #root: string
  readonly #lib: string

  constructor(options: DeskOptions) {
    this.#options = options
    this.#root = join(options.data, 'slots')
    this.#lib = join(this.#root, 'lib')
  }

  /** Whether this machine meets the launcher's requirements. */
  static get isPossible(): boolean {
    return process.platform === 'linux' && existsSync(join(packageRoot(), launcherFile))
  }

  /** For a run without the launcher, as long as nothing was installed. */
  get slot(): RunningSlot {
    return { root: this.#root, running: 'f', onTrial: false }
  }

  /** A version other than this is to run. */
  get isUpdated(): boolean {
    return /^(good|trial)=[ab]$/m.test(this.#state())
  }

  /** Runs whichever version is to run, until a signal ends it. @returns the exit code */
  async run(stop: AbortSignal): Promise<number> {
    const { log } = this.#options
    this.#writeFactory()
    for (;;) {
      const onTrial = /^trial=[ab]$/m.test(this.#state())
      const child = this.#spawn()
      const end = () => void child.kill('SIGTERM')
      let isOff = false
      child.on('message', (message) => {
        if (message !== off) return
        isOff = true
        end()
      })
      stop.addEventListener('abort', end)
      if (stop.aborted) end()
      const limit = onTrial ? setTimeout(() => this.#endTrial(child), trialLimit_ms) : undefined
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
      clearTimeout(limit)
      stop.removeEventListener('abort', end)
      if (stop.aborted || isOff) return 0
      // The command line is wrong for this version: another start gives the same.
      if (code === 2 && !onTrial) return 2
      if (code === 0) continue
      log.warn(`the service ended with ${signal ?? code}; it is started again in ${pause_ms / 1000} s`)
      await new Promise((resolve) => setTimeout(resolve, pause_ms))
      if (stop.aborted) return 0
    }
  }

  #spawn(): ChildProcess {
    const { data, args } = this.#options
    return spawn('sh', [join(packageRoot(), launcherFile), this.#root, '--data', data, ...args], {
      // The channel tells the service when this process has ended.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, RTK_BASE_LIB: this.#lib, RTK_BASE_NODE: process.execPath },
      // A signal of the terminal comes once, from here: a second one would end it at once.
      detached: true,
    })
  }

  #endTrial(child: ChildProcess): void {
    if (!/^trial=[ab]$/m.test(this.#state())) return
    this.#options.log.error(`the version on trial was not confirmed within ${trialLimit_ms / 60_000} min: it is killed`)
    child.kill('SIGKILL')
  }

  #state(): string {
    try {
      return readRecordSync(join(this.#root, 'state'))
    } catch {
      return ''
    }
  }

  /** Writes the files that the Debian package installs on a device: here this program is the slot `f`. */
  #writeFactory(): void {
    const factory = join(this.#lib, 'factory')
    mkdirSync(factory, { recursive: true })
    const entry = JSON.stringify(realpathSync(process.argv[1] ?? ''))
    const own = JSON.stringify(this.#options.ownArgs)
    const program = `process.argv[1] = ${entry}\nprocess.argv.push(...${own})\nawait import('file://' + encodeURI(${entry}))\n`
    writeFileSync(join(factory, 'rtk-base.mjs'), program)
    const sum = createHash('sha256').update(program).digest('hex')
    writeFileSync(join(factory, 'SHA256SUMS'), `${sum}  ./rtk-base.mjs\n`)
    // No systemd to notify.
    writeFileSync(join(this.#lib, 'notify-exec'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 })
  }
}
