import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from 'pino'
import { messageOf } from '../errors.js'

/** Whoever code is running for. */
export interface Owner {
  readonly name: string
}

const current = new AsyncLocalStorage<Owner>()

/** Runs `fn` on behalf of a plugin: errors of the timers, promises and sockets that it creates are the plugin's. */
export function runAs<T>(owner: Owner, fn: () => T): T {
  return current.run(owner, fn)
}

/** A loaded bundle is called `<plugin>-<12 hex>.cjs`, unique per version. */
const bundleInStack = /([a-z0-9][a-z0-9-]*)-[0-9a-f]{12}\.cjs/

/** Whose error it was: the plugin that code ran for, else the plugin whose bundle stands in the stack. */
export function ownerOf(error: unknown): string | undefined {
  const owner = current.getStore()?.name
  if (owner) return owner
  return error instanceof Error ? bundleInStack.exec(error.stack ?? '')?.[1] : undefined
}

/**
 * Routes uncaught errors: a plugin's go to `crashed`; an error that nobody owns ends the process with a clear last line,
 * for the supervisor to restart. Returns the undo.
 */
export function catchUncaught(log: Logger, crashed: (plugin: string, error: unknown) => boolean): () => void {
  const handle = (error: unknown) => {
    const owner = ownerOf(error)
    if (owner && crashed(owner, error)) return
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
