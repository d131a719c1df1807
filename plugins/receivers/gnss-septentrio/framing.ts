/** Blocks and replies of a Septentrio receiver. @see the framings `sbf` and `septentrioReply` of rtk-base/gnss */

const latin1 = new TextDecoder('latin1')

/** A block without its header. */
export interface Block {
  readonly id: number
  /** GPS week and milliseconds of the week; undefined while the receiver does not know them. */
  readonly week: number | undefined
  readonly tow_ms: number | undefined
  /** The whole block: offsets are those of the reference guide. */
  readonly view: DataView
}

export function readBlock(frame: Uint8Array): Block {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  const [tow_ms, week] = [view.getUint32(8, true), view.getUint16(12, true)]
  return {
    // The upper three bits are the revision.
    id: view.getUint16(4, true) & 0x1fff,
    week: week === 0xffff ? undefined : week,
    tow_ms: tow_ms === 0xffffffff ? undefined : tow_ms,
    view,
  }
}

export interface Reply {
  readonly kind: ':' | ';' | '!' | '?' | '-'
  /** The command that it answers, or why that was refused; '' for a part of a listing. */
  readonly echo: string
  /** Lines after the first, such as the state after a command. */
  readonly lines: readonly string[]
  /** The port at which it answers: `USB1`. */
  readonly port: string
}

export function readReply(frame: Uint8Array): Reply {
  const [first = '', ...rest] = latin1.decode(frame).split('\r\n')
  const port = (rest.pop() ?? '').replace(/>$/, '').replace('----', '')
  const kind = first.startsWith('$-') ? '-' : (first[2] as Reply['kind'])
  return { kind, echo: kind === '-' ? '' : first.slice(3).trim(), lines: rest.map((line) => line.trim()), port }
}

/** The line before a command, in whatever state the port is. */
export const commandInput = 'SSSSSSSSSS'

export const command = (text: string): Uint8Array => new TextEncoder().encode(`${text}\r\n`)
