/** Visits a caster once, as a rover does, to read its source table or one of its streams. */

import type { PluginContext } from '../../plugin.js'
import { Framer } from '../gnss/index.js'
import { type DialFailure, dial } from '../link/index.js'
import { AnswerPause, type RefusalCode } from './answer.js'
import { AnswerReader, type GetOptions, getRequest } from './get.js'
import { type StreamRow, TableReader } from './source-table.js'

/** Default time limit of a visit. */
export const visit_ms = 10_000

/** A caster and what to read from it. */
export interface Visit extends GetOptions {
  tls?: boolean | undefined
  /** Default: 10 s. */
  limit_ms?: number
  /**
   * Called for each row of a source table. @returns whether it is the wanted row: then the result counts even if the
   * table is cut off
   */
  row?(row: StreamRow): boolean
  /** Called for each valid RTCM frame of a stream. @returns whether the visit can end */
  frame?(frame: Uint8Array): boolean
  /** Sent when a stream begins, because some mountpoints send nothing until they know the position of the rover. */
  gga?: Uint8Array | undefined
}

/** The result of a visit. */
export type Visited =
  | { kind: 'table' }
  /** The mountpoint sent a stream. `found`: whether `frame` ended the visit. */
  | { kind: 'stream'; found: boolean }
  | { kind: 'failed'; code: DialFailure | RefusalCode | 'no-answer'; text: string }

/** Connects, reads for at most `limit_ms`, and ends the connection. Never rejects. */
export function visit(
  { net, timers, signal }: Pick<PluginContext, 'net' | 'timers' | 'signal'>,
  options: Visit,
): Promise<Visited> {
  const { host, port = 2101, tls, mount, row, frame, gga, limit_ms = visit_ms } = options
  return new Promise((resolve) => {
    const reader = new AnswerReader()
    let isRowFound = false
    const table = new TableReader((one) => {
      if (row?.(one)) isRowFound = true
    })
    let isFound = false
    let hasSent = false
    const framer = new Framer({
      onFrame: ({ kind, bytes }) => {
        if (kind === 'rtcm' && frame?.(bytes)) isFound = true
      },
    })
    const failed = (code: (Visited & { kind: 'failed' })['code'], text: string) => end({ kind: 'failed', code, text })
    const end = (found: Visited) => {
      void late()
      pause.end()
      line.hangUp()
      signal.removeEventListener('abort', stopped)
      resolve(found)
    }
    const sendGga = () => {
      if (reader.answer?.kind !== 'stream' || !gga || hasSent) return
      hasSent = true
      line.socket.write(gga)
    }
    const pause = new AnswerPause(timers, () => {
      if (reader.silent()) sendGga()
    })
    /** The connection ended: evaluates the data read so far. */
    const over = (why: string) => {
      reader.end()
      table.end()
      const { answer } = reader
      if (answer === undefined) failed('no-answer', why)
      else if (answer.kind === 'refused') failed(answer.code, answer.text)
      else if (answer.kind === 'stream') end({ kind: 'stream', found: isFound })
      // A table instead of a stream means an unknown mountpoint.
      else if (mount !== '') failed('mount', `the caster has no mountpoint ${mount} for rovers`)
      else end({ kind: 'table' })
    }
    const stopped = () => failed('network', 'the plugin is stopping')
    const seconds = limit_ms / 1_000
    const late = timers.after(limit_ms, () => {
      // A row may still follow in a table that is cut off here.
      if (mount === '' && reader.answer?.kind === 'table' && !isRowFound)
        failed('no-answer', `the source table did not end within ${seconds} s`)
      else over(`the caster did not answer in ${seconds} s`)
    })
    const line = dial(
      { net, timers },
      { host, port, tls },
      {
        connected: (socket) => socket.write(getRequest(options)),
        data: (bytes) => {
          try {
            for (const part of reader.push(bytes)) {
              if (reader.answer?.kind === 'table') table.push(part)
              else framer.push(part, 0)
            }
            if (reader.answer) pause.end()
            else pause.heard()
            sendGga()
            if (isFound || reader.answer?.kind === 'refused' || reader.over || table.over) over('')
          } catch (error) {
            failed('other', (error as Error).message)
          }
        },
        failed: (text, _answered, code) => failed(code, text),
        closed: () => over('the caster closed the connection without an answer'),
      },
    )
    signal.addEventListener('abort', stopped)
  })
}
