/** Recordings of real receivers, one frame a line. They are not part of the project: tests that need them skip without. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Frame, Framer, sbf, unicoreLog } from '../../../runtime/lib/gnss/index.js'

const folder = join(resolve(process.env.RTK_BASE_CAPTURES ?? '../shared/captures'), 'receivers')

/** A reason to skip, for tap's `skip` option; false when the recording is there. */
export const noRecording = (name: string): string | false =>
  existsSync(join(folder, `${name}.jsonl`)) ? false : `no recording ${name} in ${folder}`

/** The bytes that the receiver sent. */
export function recorded(name: string): Buffer {
  const records = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  const parts = records.map((record) => JSON.parse(record) as { ascii?: string; bin?: string; out?: boolean })
  const received = parts.filter(({ out }) => !out)
  return Buffer.concat(
    received.map(({ ascii, bin = '' }) =>
      ascii === undefined ? Buffer.from(bin, 'hex') : Buffer.from(ascii, 'latin1'),
    ),
  )
}

/** All verified frames. */
export function framesOf(bytes: Uint8Array): Frame[] {
  const found: Frame[] = []
  const framer = new Framer({ framings: [sbf, unicoreLog], onFrame: (frame) => found.push(frame) })
  framer.push(bytes, 0)
  framer.flush()
  return found
}
