/** The messages that go out, and which of them are late. Pure. */
import { type Json, listAt, numberAt, textAt, verdictOf } from './document.js'

interface Message {
  id: number
  interval?: number
  since?: number
  nominal?: number
  bytes?: number
}

export type MessageState = 'good' | 'late' | 'stopped'

export interface MessageRow extends Message {
  readonly state: MessageState
}

/** RTCM goes out: as a rule also while an update is fetched. */
export function goesOut(document: Json): boolean {
  const base = textAt(document, 'base.state.base')
  return base === 'ready' || (base === 'updating' && verdictOf(document)?.fitness !== 'unfit')
}

/** An identifier has no separators; '' unknown. */
export const stationIdOf = (document: Json): string => String(numberAt(document, 'gnss.config.station.id') ?? '')

/** Content of a message; RTCM 10403. */
export type MessageKind = 'reference' | 'antenna' | 'observations' | 'biases' | 'ephemeris' | 'other'

/** Number of intervals after which a message is late; jitter is allowed. */
const lateAfter = 2.5
const play_s = 1

function stateOf({ interval, since, nominal }: Message): MessageState {
  if (since === undefined) return 'stopped'
  const usual = nominal ?? (interval || undefined)
  if (usual === undefined) return 'good'
  const isRare = nominal !== undefined && interval !== undefined && interval > nominal * lateAfter
  return isRare || since > usual * lateAfter + play_s ? 'late' : 'good'
}

export function messagesOf(document: Json | undefined): readonly MessageRow[] {
  return listAt<Message>(document, 'gnss.rtcm.msgs').map((message) => ({ ...message, state: stateOf(message) }))
}

export function kindOf(id: number): MessageKind {
  if (id === 1005 || id === 1006) return 'reference'
  if (id === 1007 || id === 1008 || id === 1033) return 'antenna'
  if (id === 1230) return 'biases'
  if ((id >= 1001 && id <= 1004) || (id >= 1009 && id <= 1012) || (id >= 1071 && id <= 1137)) return 'observations'
  return id === 1019 || id === 1020 || (id >= 1041 && id <= 1046) ? 'ephemeris' : 'other'
}

/** `GPS MSM7` of 1077; empty if not a multiple-signal message. */
export function msmOf(id: number): string {
  const families: Readonly<Record<number, string>> = {
    107: 'GPS',
    108: 'GLONASS',
    109: 'Galileo',
    110: 'SBAS',
    111: 'QZSS',
    112: 'BeiDou',
    113: 'NavIC',
  }
  const family = families[Math.floor(id / 10)]
  const kind = id % 10
  return family && kind >= 1 && kind <= 7 ? `${family} MSM${kind}` : ''
}

/** Bytes a second of all messages together, as they come now. */
export const rateOf = (rows: readonly MessageRow[]): number =>
  rows.reduce(
    (sum, { bytes = 0, interval = 0, state }) => sum + (state !== 'stopped' && interval > 0 ? bytes / interval : 0),
    0,
  )
