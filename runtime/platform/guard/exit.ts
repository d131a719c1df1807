/** A plugin does not end the process of the station. */
import { readFileSync } from 'node:fs'
import { RtkError } from '../../errors.js'
import { currentOwner } from './owner.js'

/**
 * Refuses a plugin that would end the process: its call throws, and is reported as its fault. The runtime's own calls pass.
 * Returns the undo.
 */
export function refuseExit(): () => void {
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
