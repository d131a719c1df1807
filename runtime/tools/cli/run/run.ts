import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WatchdogSection } from '../../../../schemas/index.js'
import { messageOf, RtkError } from '../../../errors.js'
import { createRuntime, type Runtime } from '../../../index.js'
import { resolveOptions, type SetOption } from '../../../kernel/options.js'
import { logForm } from '../../../platform/log/journal.js'
import { createLogger, type Logger, prettyOutput } from '../../../platform/log/log.js'
import { systemClock } from '../../../platform/ports/clock.js'
import { LinuxMachine, SimulatedMachine } from '../../../platform/ports/machine.js'
import type { Notice } from '../../../platform/standing-errors.js'
import { Watchdog } from '../../../platform/supervision/index.js'
import { memoryLimit } from '../../../platform/supervision/memory.js'
import { NotifySupervisor } from '../../../platform/supervision/notify-supervisor.js'
import { Trial } from '../../../platform/trial.js'
import { serveControl } from '../../control/server.js'
import { parseArgs } from '../parse-args.js'
import { located, type VariantFile } from '../variant-file.js'
import { banner } from './banner.js'
import { openDataFolder } from './data-folder.js'
import { boundHeap } from './heap.js'
import { HeldOutput } from './held-output.js'
import { type Arguments, type Settings, serviceRoot, settingsOf, slotNotice, startProven } from './kept-settings.js'
import { endIfLate, endOf, restartLimit_ms, stopOnSignal } from './stop.js'

export const runHelp = `rtk-base run [VARIANT.json] [--data DIR] [--set PLUGIN.OPTION=VALUE]... [--change KEY=VALUE]... [--watch] [--log LEVEL]

  VARIANT.json   variant file, or the name of a shipped one (default: simulator)
  --data DIR     folder for settings and logs (default: ./data)
  --set          for this run only, sets an option of a plugin or of a section of the variant (http, net, info, ...),
                 e.g. --set http.port=0 --set PLUGIN.port=/dev/serial/by-id/usb-…
  --change       sets a parameter permanently, e.g. --change udp-port=2200
  --watch        reloads a plugin when its source changes
  --log LEVEL    trace, debug, info, warn, error (default: info)

Ctrl-C or SIGTERM stops the station. Exit codes: 0 done or stopped, 1 failed, 2 wrong command line, option or variant,
75 data folder or HTTP address in use by another program.
`

/** The start has settled by then. */
const settled_ms = 10_000

interface RunOptions {
  settings: Settings
  file: VariantFile
  data: string
  sets: Map<string, SetOption[]>
  changes: Record<string, string>
  watch: boolean
  log: Logger
  /** The banner is written: the held log lines follow. */
  releaseLog(): void
  /** For `base.state.errors`. */
  notices: Notice[]
}

/** Cuts `NAME=VALUE`; the value may contain `=`. */
function assignment(flag: string, text: string): [string, string] {
  const equals = text.indexOf('=')
  if (equals <= 0) throw new RtkError('RTK_ERR_USAGE', `${flag} takes NAME=VALUE, not "${text}"`)
  return [text.slice(0, equals), text.slice(equals + 1)]
}

interface Given {
  variant: string | undefined
  data: string
  watch: boolean
  arguments: Arguments
}

/**
 * @throws RTK_ERR_USAGE, or an error of parseArgs
 */
function parseRun(args: string[]): Given {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      data: { type: 'string', default: 'data' },
      set: { type: 'string', multiple: true, default: [] },
      change: { type: 'string', multiple: true, default: [] },
      watch: { type: 'boolean', default: false },
      log: { type: 'string', default: 'info' },
    },
  })
  if (positionals.length > 1) throw new RtkError('RTK_ERR_USAGE', `one variant, not ${positionals.join(' ')}`)
  const levels = ['trace', 'debug', 'info', 'warn', 'error']
  if (!levels.includes(values.log)) {
    throw new RtkError('RTK_ERR_USAGE', `--log takes ${levels.join(', ')}, not "${values.log}"`)
  }
  const { data, set, change, log, watch } = values
  return { variant: positionals[0], data, watch, arguments: { set, change, log } }
}

/** Where the person's arguments were refused, they may be what cannot be parsed: the launcher's own come first, `--data DIR`. */
function parseRefused(args: string[]): Given {
  const { RTK_BASE_VARIANT: file = '' } = process.env
  return { ...parseRun(args.slice(0, 2)), variant: existsSync(file) ? file : undefined }
}

function readOptions(args: string[]): RunOptions {
  const isRefused = serviceRoot() !== undefined && (process.env.RTK_BASE_SETTINGS ?? '') !== ''
  const { variant, data, watch, arguments: given } = isRefused ? parseRefused(args) : parseRun(args)
  const settings = settingsOf(variant, given, process.env, args)
  const { file, set, change, log, notice } = settings
  const held = process.stdout.isTTY ? new HeldOutput(prettyOutput()) : undefined
  return {
    settings,
    file,
    data: resolve(data),
    sets: setsOf(set),
    changes: Object.fromEntries(change.map((text) => assignment('--change', text))),
    watch,
    log: createLogger({ level: log, ...(held && { destination: held }) }),
    releaseLog: () => held?.release(),
    notices: [...(notice ? [notice] : []), ...slotNotice()],
  }
}

function setsOf(texts: readonly string[]): Map<string, SetOption[]> {
  const sets = new Map<string, SetOption[]>()
  for (const text of texts) {
    const [named, value] = assignment('--set', text)
    const dot = named.indexOf('.')
    if (dot <= 0) throw new RtkError('RTK_ERR_USAGE', `--set takes PLUGIN.OPTION=VALUE, not "${text}"`)
    const [owner, path] = [named.slice(0, dot), named.slice(dot + 1)]
    sets.set(owner, [...(sets.get(owner) ?? []), { path, text: value }])
  }
  return sets
}

/** Runs a station until a signal ends it. A restart (reboot of the simulator, factory) runs it again in this process. */
export async function runCommand(args: string[], handOverSignals: () => void): Promise<number> {
  const options = readOptions(args)
  boundHeap()
  openDataFolder(options)
  // The reader of the banner may be gone, or its disk full: the station runs all the same.
  process.stdout.on('error', () => {})
  const stop = stopOnSignal(options.log, handOverSignals)
  const watchdog = startWatchdog(options)
  const supervisor = NotifySupervisor.of()
  let isExhausted = false
  watchdog.onExhausted(() => {
    isExhausted = true
  })
  for (let first = true; ; first = false) {
    try {
      await runOnce(options, stop, { watchdog, supervisor, first })
    } catch (error) {
      options.releaseLog()
      // Its thread would keep the process.
      await watchdog.close()
      throw error
    }
    if (isExhausted) {
      // Only another process has its memory back.
      setImmediate(() => process.exit(1))
      return 1
    }
    // The supervisor restarts the service, from the slot selected by then.
    if (stop.aborted || supervisor || process.env.RTK_BASE_ROOT) {
      options.log.info('stopped')
      // Sockets of third parties may keep the event loop: the work is done and written.
      setImmediate(() => process.exit(0))
      return 0
    }
    options.log.info('restarting')
  }
}

function watchdogSection({ file, sets }: RunOptions): WatchdogSection {
  const given = file.variant.watchdog ?? {}
  const owner = 'watchdog'
  const section = resolveOptions(owner, WatchdogSection, given, sets.get(owner) ?? [], [owner], 'RTK_ERR_VARIANT')
  return section as WatchdogSection
}

function startWatchdog(options: RunOptions): Watchdog {
  const { data, log } = options
  const { warn_s, limit_s, memory_mb } = watchdogSection(options)
  const memory_bytes = memoryLimit(memory_mb)
  return new Watchdog({ data, log, warn_ms: warn_s * 1000, limit_ms: limit_s * 1000, form: logForm(), memory_bytes })
}

interface Run {
  watchdog: Watchdog
  supervisor: NotifySupervisor | undefined
  first: boolean
}

/** Nothing is behind a simulated machine that could be switched off. */
const shutDown = () => void process.emit('SIGTERM', 'SIGTERM')

/** One run, until a signal or a restart ends it. */
async function runOnce(options: RunOptions, stop: AbortSignal, { watchdog, supervisor, first }: Run): Promise<void> {
  const { file, data, sets, log, watch, settings } = options
  const unnamed = watchdog.unnamed
  const notices = [...options.notices, ...(unnamed ? [{ code: 'memory-exhausted', values: { reason: unnamed } }] : [])]
  const end = endOf(stop)
  const forgetExhausted = watchdog.onExhausted(end.restart)
  const { variant, base } = file
  const runtime = await createRuntime({
    ...{ variant, base, data, log, sets, watch, notices, watchdog },
    machine: variant.simulator ? new SimulatedMachine(end.restart, shutDown) : new LinuxMachine(end.restart),
    changes: first ? options.changes : {},
    careful: settings.careful,
    ownProcess: true,
    tracesHandles: variant.simulator === true || process.env.RTK_BASE_TRACE_HANDLES === '1',
    signal: stop,
    ...(supervisor && { supervisor }),
  }).catch((error) => {
    if (error instanceof RtkError && error.code === 'RTK_ERR_STOPPED') return undefined
    const isSet = ([owner = '', ...path]: readonly string[]) =>
      sets.get(owner)?.some((set) => set.path === path.join('.')) === true
    throw located(error, file, isSet)
  })
  if (!runtime) return
  const closeControl = await openControl(options, runtime)
  process.stdout.write(banner(runtime, options))
  options.releaseLog()
  const sweep = setTimeout(sweepStartUp, settled_ms).unref()
  const proof = proveStart(runtime, options)
  await end.reached
  clearTimeout(sweep)
  clearInterval(proof)
  forgetExhausted()
  const isOwnRestart = !supervisor && !process.env.RTK_BASE_ROOT
  const inTime = stop.aborted ? () => {} : endIfLate(log, isOwnRestart ? restartLimit_ms : undefined)
  try {
    await closeControl()
    await runtime.stop()
  } catch (error) {
    log.error({ err: error }, `while stopping: ${messageOf(error)}`)
  } finally {
    inTime()
  }
}

/** On a full or read-only disk the station does its work without a control socket. */
async function openControl({ data, log }: RunOptions, runtime: Runtime): Promise<() => Promise<void>> {
  try {
    return await serveControl(data, runtime, log)
  } catch (error) {
    const effect = '`rtk-base plugins` and `rtk-base console` do not reach this station'
    log.error({ err: error }, `${messageOf(error)}; ${effect}`)
    return async () => {}
  }
}

/**
 * Gives back what only the start needed. A station allocates so little afterwards that V8 would keep tens of megabytes of
 * it for hours, on a device that has few.
 */
function sweepStartUp(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

/** Notes once that this start was ready, and confirmed, for long enough to count as good. */
function proveStart({ device }: Runtime, options: RunOptions): NodeJS.Timeout | undefined {
  const root = serviceRoot()
  if (root === undefined) return undefined
  const hold_ms = watchdogSection(options).proven_s * 1000
  const trial = new Trial<Settings>({ clock: systemClock, hold_ms })
  trial.begin(options.settings)
  trial.start()
  const look = () => {
    if (trial.look(device.onTrial ? 'unknown' : 'good') !== 'kept') return
    clearInterval(timer)
    startProven(root, options.settings, options.log)
  }
  const timer = setInterval(look, Math.min(hold_ms, 10_000)).unref()
  look()
  return timer
}
