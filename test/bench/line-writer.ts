/** Run as a child by serial-line.ts: writes what it is sent into a terminal's master, each piece in its time. */
import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { unixNow_ms } from './edges.js'

const [master, near] = process.argv.slice(2) as [string, string]

process.on('message', async (writes: [at_ms: number, base64: string][]) => {
  const pieces = writes.map(([at_ms, base64]) => ({ at_ms, bytes: Buffer.from(base64, 'base64') }))
  const written: number[] = []
  const started = performance.now()
  for (const { at_ms, bytes } of pieces) {
    await setTimeout(Math.max(0, started + at_ms - performance.now()))
    written.push(unixNow_ms())
    // At once: a write that another thread makes would be timed as well.
    writeSync(Number(master), bytes)
  }
  process.send?.(written)
})
process.send?.(near)
