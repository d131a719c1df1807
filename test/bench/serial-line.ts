/** The far end of a serial line: a pseudo-terminal that a process of its own writes into, with nothing between the two. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endsWithThis } from '../harness/at-exit.js'
import { python } from '../harness/peers/dbus.js'

/** At 115,200 baud: 10 bits a byte. */
const bytesPerMs = 11.52
export interface Write {
  /** After the sending began. */
  at_ms: number
  bytes: Buffer
}

export interface SerialLine {
  /** What a station or a peer opens. */
  readonly near: string
  /** Returns when each write was made, Unix milliseconds with fractions. */
  send(writes: readonly Write[]): Promise<number[]>
  close(): void
}

/** Frames one after the other from `from_ms` on, each in the time that its bytes take; `speed`: of a line that many times as fast. */
export function onTheLine(frames: readonly Buffer[], from_ms: number, speed = 1): Write[] {
  let at_ms = from_ms
  return frames.map((bytes) => {
    at_ms += bytes.length / (bytesPerMs * speed)
    return { at_ms, bytes }
  })
}

/** Node cannot make a pseudo-terminal: the process that can becomes Node, and gives it the file of the master and the name of the other end. */
const becomeWriter = `import os, sys
master, slave = os.openpty()
os.set_inheritable(master, True)
os.execv(sys.argv[1], [*sys.argv[1:], str(master), os.ttyname(slave)])`

export async function openSerialLine(): Promise<SerialLine> {
  const script = join(fileURLToPath(import.meta.url), '..', 'line-writer.js')
  const child = spawn(python, ['-c', becomeWriter, process.execPath, script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const close = () => void child.kill('SIGKILL')
  endsWithThis(child)
  const [near] = (await once(child, 'message')) as [string]
  return {
    near,
    async send(writes) {
      child.send(writes.map(({ at_ms, bytes }) => [at_ms, bytes.toString('base64')]))
      const [written] = (await once(child, 'message')) as [number[]]
      return written
    },
    close,
  }
}
