/**
 * What has to go when this process ends, whatever ends it: children, folders. One listener for all, as Node warns of more than ten.
 */
import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { Dispose } from '../../runtime/plugin.js'

const endings = new Set<() => void>()
process.once('exit', () => {
  for (const end of endings) end()
})

/** @returns the undo */
export function atExit(end: () => void): Dispose {
  endings.add(end)
  return () => void endings.delete(end)
}

/** A test that fails before its teardown leaves no process behind. */
export function endsWithThis(child: ChildProcess): void {
  child.once(
    'close',
    atExit(() => void child.kill('SIGKILL')),
  )
}

/** @returns the folder */
export function removedAtExit(folder: string): string {
  // A thread may write until the process is gone.
  atExit(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))
  return folder
}
