/** Looks at the caster from a rover's side: its source table, or the own mount point. */
import { Framer } from 'rtk-base/gnss'
import { dial } from 'rtk-base/link'
import { type Answer, AnswerReader, getRequest, type StreamRow, TableReader } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import type { Target } from './target.js'

export const probe_ms = 10_000

export type Probed =
  /** The rows of the target's mount point. */
  | { kind: 'table'; rows: StreamRow[] }
  /** The mount point gives a stream; `wanted` was satisfied or not. */
  | { kind: 'stream'; found: boolean }
  | { kind: 'failed'; text: string }

export interface ProbeRequest {
  target: Target
  /** `''`: the source table. */
  mount: string
  /** Of the station, for the request. */
  agent: string
  /** Whether this is the expected frame, which ends the probe. */
  wanted?(frame: Uint8Array): boolean
  /** Default: 10 s. */
  limit_ms?: number
}

/** Connects, reads for 10 s at most, and ends the connection. Never rejects. */
export function probe({ timers, signal }: PluginContext, request: ProbeRequest): Promise<Probed> {
  const { target, mount, agent, wanted, limit_ms = probe_ms } = request
  const { host, port = 2101, tls, version = 1, user, password, echo } = target
  const login = mount === '' ? {} : { user: echo?.user ?? user, password: echo?.password ?? password }
  return new Promise((resolve) => {
    const reader = new AnswerReader()
    const rows: StreamRow[] = []
    const table = new TableReader((row) => {
      if (row.mount === target.mount) rows.push(row)
    })
    let isFound = false
    const framer = new Framer({
      onFrame: ({ kind, bytes }) => {
        if (kind === 'rtcm' && wanted?.(bytes)) isFound = true
      },
    })
    const end = (found: Probed) => {
      void late()
      line.hangUp()
      signal.removeEventListener('abort', stopped)
      resolve(found)
    }
    /** The connection ended: evaluates the data read so far. */
    const over = (why: string) => {
      reader.end()
      table.end()
      end(resultOf(reader.answer, rows, mount) ?? { kind: 'failed', text: why })
    }
    const stopped = () => end({ kind: 'failed', text: 'the plugin is stopping' })
    const late = timers.after(limit_ms, () => {
      // Of a table that is cut off here the row may follow.
      const isUnknown = mount === '' && reader.answer?.kind === 'table' && rows.length === 0
      if (isUnknown) end({ kind: 'failed', text: `the source table did not end within ${limit_ms / 1_000} s` })
      else over(`the caster did not answer in ${limit_ms / 1_000} s`)
    })
    const line = dial(
      timers,
      { host, port, tls },
      {
        connected: (socket) => socket.write(getRequest({ host, mount, version, ...login, agent })),
        data: (bytes) => {
          try {
            for (const part of reader.push(bytes)) {
              if (reader.answer?.kind === 'table') table.push(part)
              else framer.push(part, 0)
            }
            if (isFound) end({ kind: 'stream', found: true })
            else if (reader.answer?.kind === 'refused' || reader.over || table.over) over('')
          } catch (error) {
            end({ kind: 'failed', text: (error as Error).message })
          }
        },
        failed: (why) => over(why),
        closed: () => over('the caster closed the connection without an answer'),
      },
    )
    signal.addEventListener('abort', stopped)
  })
}

function resultOf(answer: Answer | undefined, rows: StreamRow[], mount: string): Probed | undefined {
  if (answer === undefined) return undefined
  if (answer.kind === 'refused') return { kind: 'failed', text: answer.text }
  if (answer.kind === 'stream') return { kind: 'stream', found: false }
  // A table instead of a stream means an unknown mount point.
  if (mount !== '') return { kind: 'failed', text: `the caster has no mount point ${mount} for rovers` }
  return { kind: 'table', rows }
}
