/** RTKLIB's str2str as a peer of the station: from the serial line to clients. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { pause } from './part.js'
import type { SerialLine } from './serial-line.js'

/** @param out where it serves, in its own notation */
export async function startStr2str(line: SerialLine, out: string): Promise<{ pid: number; stop(): Promise<void> }> {
  // It names serial ports from /dev on.
  const device = relative('/dev', line.near)
  const child = spawn('str2str', ['-in', `serial://${device}:115200`, '-out', out], { stdio: 'ignore' })
  // It says nothing when it serves.
  await pause(1_000)
  return {
    pid: child.pid as number,
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}
