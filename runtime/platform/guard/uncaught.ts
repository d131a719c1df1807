/** Uncaught errors, and the plugin that each of them belongs to. */
import { basename, dirname } from 'node:path'
import type { Logger } from 'pino'
import { messageOf } from '../../errors.js'
import { currentOwner, type Owner } from './owner.js'

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
  return basename(folder) === 'guard' ? dirname(dirname(folder)) : folder
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
