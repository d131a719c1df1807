import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from 'pino'
import { messageOf } from '../../errors.js'

/** Whoever code is running for. */
export interface Owner {
  readonly name: string
  /** An uncaught error of something that it left behind when it was stopped. */
  leftBehind(error: unknown): void
}

const current = new AsyncLocalStorage<Owner>()

/** Runs `fn` on behalf of a plugin: errors of the timers, promises and sockets that it creates are the plugin's. */
export function runAs<T>(owner: Owner, fn: () => T): T {
  return current.run(owner, fn)
}

/** The files of a stack, innermost first: source files where source maps are on, else the evaluated ones. */
export function filesOfStack(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return [...stack.matchAll(/(?:\(|at |file:\/\/)(\/[^\n]*?):\d+:\d+\)?$/gm)].map(([, file]) => file)
}

export interface CrashHandler {
  /** The plugin that one of these files belongs to, the first that tells. */
  ownerOfFiles(files: readonly string[]): string | undefined
  /** False when no such plugin runs, or another instance of it than the one that the error is of. */
  crashed(plugin: string, error: unknown, by: Owner | undefined): boolean
}

/**
 * Routes uncaught errors: a plugin's stop that plugin, those of what a stopped one left behind are only told; an error that
 * nobody owns ends the process with a clear last line, for the supervisor to restart. Returns the undo.
 */
export function catchUncaught(log: Logger, plugins: CrashHandler): () => void {
  const handle = (error: unknown) => {
    // Undefined for a listener of somebody else's emitter.
    const owner = current.getStore()
    const name = owner?.name ?? plugins.ownerOfFiles(filesOfStack(error))
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
