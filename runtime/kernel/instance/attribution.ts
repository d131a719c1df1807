import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Logger } from 'pino'
import { messageOf, RtkError } from '../../errors.js'
import { enter, leave, ownerSymbol } from '../../platform/supervision/activity.js'
import type { Dispose } from '../../plugin.js'

/** The owner of running code: one life of a plugin. */
export interface Owner {
  readonly name: string
  /** The number by which the watchdog knows it. */
  readonly activity: number
  /** It is being stopped, or gone: its callbacks are passed over. */
  readonly ended: boolean
  /** A callback failed: reported as this owner's fault. */
  failed(error: unknown, what: string): void
  /** An uncaught error of something that it left behind when it was stopped. */
  leftBehind(error: unknown): void
  /** Owns an undo: it runs when the owner goes. */
  own(label: string, dispose: Dispose): Dispose
}

const current = new AsyncLocalStorage<Owner>()

/** Runs `fn` on behalf of a plugin: errors of the timers, promises and sockets that it creates are the plugin's. */
export function runAs<A extends unknown[], T>(owner: Owner, fn: (...args: A) => T, ...args: A): T {
  const before = enter(owner.activity)
  try {
    return current.run(owner, fn, ...args)
  } finally {
    leave(before)
  }
}

/** Runs `fn` without an owner: the handles it opens outlive the calling plugin. */
export function asRuntime<T>(fn: () => T): T {
  return current.run(undefined as unknown as Owner, fn)
}

/** The owner of the code that runs right now; undefined for the runtime itself. */
export function currentOwner(): Owner | undefined {
  return current.getStore()
}

// The watchdog asks a main thread that it has stopped: callbacks of sockets and timers enter no `runAs` of their own.
Object.assign(globalThis, { [Symbol.for(ownerSymbol)]: () => currentOwner()?.name ?? '' })

interface Frame {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The text of a stack. A plugin can throw anything, and `Error.prepareStackTrace` makes a stack of anything. */
function stackOf(error: unknown): string {
  try {
    const stack: unknown = error instanceof Error ? error.stack : ''
    return typeof stack === 'string' ? stack : ''
  } catch {
    return ''
  }
}

/** The frames of a stack, innermost first: source files where source maps are on, else the evaluated ones. */
export function framesOfStack(error: unknown): Frame[] {
  const stack = stackOf(error)
  return [...stack.matchAll(/(?:\(|at |file:\/\/)(\/[^\n]*?):(\d+):(\d+)\)?$/gm)].map(([, file, line, column]) => ({
    file,
    line: Number(line),
    column: Number(column),
  }))
}

/**
 * @param here how this file appears in stacks: as a file of the runtime, in a bundle of a checkout, or in the bundle of
 * a device
 */
function runtimeIn(here: string): string {
  if (here.endsWith('.mjs')) return here
  const folder = dirname(here)
  return basename(folder) === 'instance' ? dirname(dirname(folder)) : folder
}

/**
 * Where code outside of the runtime and of npm packages made an error: `file:line:column`, '' if the stack has no such
 * place.
 */
export function ownPlace(error: unknown): string {
  const runtime = runtimeIn(framesOfStack(new Error('here'))[0]?.file ?? '')
  const own = framesOfStack(error).find(({ file }) => !file.startsWith(runtime) && !file.includes('/node_modules/'))
  return own ? `${own.file}:${own.line}:${own.column}` : ''
}

export interface CrashHandler {
  /** The running plugin that the innermost of these files belongs to that belongs to one plugin alone. */
  ownerOfFiles(files: readonly string[]): string | undefined
  /** Whether one running plugin needs the other, directly or indirectly. */
  dependsOn(plugin: string, provider: string): boolean
  /** False if no such plugin runs, or if its running instance differs from the one that threw. */
  crashed(plugin: string, error: unknown, by: Owner | undefined): boolean
}

/**
 * The plugin blamed for an uncaught error: the owner of the asynchronous context. A plugin deeper in the stack is
 * blamed instead if it depends on the owner: it handed over a callback that failed in its provider's context.
 */
function culprit(error: unknown, plugins: CrashHandler): { name: string | undefined; owner: Owner | undefined } {
  const owner = currentOwner()
  const inStack = plugins.ownerOfFiles(framesOfStack(error).map(({ file }) => file))
  const isHandedOver = owner && inStack && plugins.dependsOn(inStack, owner.name)
  return owner && !isHandedOver ? { name: owner.name, owner } : { name: inStack, owner: undefined }
}

/**
 * Refuses a plugin that would end the process: its call throws, and is reported as its fault. The runtime's own calls pass.
 * Returns the undo.
 */
export function guardExit(): () => void {
  const process_ = process as typeof process & { reallyExit(code?: number): never }
  const real = { exit: process.exit, abort: process.abort, kill: process.kill, reallyExit: process_.reallyExit }
  const refuse = (what: string) => {
    const owner = currentOwner()
    if (!owner) return
    const error = new RtkError(
      'RTK_ERR_PROCESS_EXIT',
      `${owner.name} called ${what}: refused, the station keeps running`,
    )
    owner.failed(error, what)
    throw error
  }
  process.exit = (code) => {
    refuse('process.exit()')
    return real.exit.call(process, code)
  }
  process_.reallyExit = (code) => {
    refuse('process.reallyExit()')
    return real.reallyExit.call(process, code)
  }
  process.abort = () => {
    refuse('process.abort()')
    return real.abort.call(process)
  }
  process.kill = (pid, signal) => {
    if (isStation(Number(pid)) && signal !== 0) refuse('process.kill() of the station')
    return real.kill.call(process, pid, signal)
  }
  return () => void Object.assign(process, real)
}

/**
 * Whether a signal to this number reaches the station: 0 is its process group, -1 every process, and other negative
 * numbers name groups. Those of children that were started `detached` are the plugin's to end.
 */
function isStation(pid: number): boolean {
  if (pid === process.pid || pid === 0 || pid === -1) return true
  if (pid > 0) return false
  const own = ownGroup()
  return own === undefined || own === -pid
}

/** Field 5 of /proc/self/stat, see proc(5); undefined: not known on this system. */
function ownGroup(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
  } catch {
    return undefined
  }
}

/**
 * Routes uncaught errors. A plugin's error stops that plugin. An error from a handle left by a stopped plugin is
 * reported. An error without an owner ends the process with a clear last line, and the supervisor restarts it. Returns
 * the undo.
 */
export function catchUncaught(log: Logger, plugins: CrashHandler): () => void {
  const handle = (error: unknown) => {
    const { name, owner } = culprit(error, plugins)
    if (name && plugins.crashed(name, error, owner)) return
    if (owner) return owner.leftBehind(error)
    log.fatal(
      { err: error },
      `uncaught error that no plugin owns: ${messageOf(error)}; the process ends to be restarted`,
    )
    process.exit(1)
  }
  process.on('uncaughtException', handle)
  process.on('unhandledRejection', handle)
  return () => {
    process.off('uncaughtException', handle)
    process.off('unhandledRejection', handle)
  }
}
