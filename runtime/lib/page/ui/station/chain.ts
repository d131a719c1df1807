/** The way of the corrections, from the antenna to the rovers: the first broken link is where to look. Pure. */
import { type Json, listAt, numberAt, textAt } from './document.js'
import { roversOf } from './links.js'
import { outputsOf } from './outputs.js'
import { goesOut } from './rtcm.js'
import { hasReference, isReceiverAway, referenceAccuracy, surveyFollows } from './set-up.js'

export const chainLinks = ['antenna', 'receiver', 'reference', 'gate', 'outputs', 'rovers'] as const
export type ChainLink = (typeof chainLinks)[number]
export type LinkState = 'good' | 'warning' | 'broken' | 'unknown'

export interface Link {
  readonly link: ChainLink
  readonly state: LinkState
  /** In the station's own words, or a figure. */
  readonly facts: readonly string[]
}

const receiverStates: Readonly<Record<string, LinkState>> = {
  offline: 'broken',
  stalled: 'broken',
  identify: 'warning',
  configure: 'warning',
  fault: 'broken',
}

/** Fewer satellites give no position. */
const blind = 4

function antenna(document: Json): Link {
  if (isReceiverAway(document)) return { link: 'antenna', state: 'unknown', facts: [] }
  const status = textAt(document, 'gnss.state.antenna.status')
  const jamming = textAt(document, 'gnss.state.rf.jamming')
  const spoofing = textAt(document, 'gnss.state.rf.spoofing')
  const used = numberAt(document, 'gnss.state.satuse')
  const isFaulty = status === 'open' || status === 'short'
  const isJammed = jamming === 'warning' || jamming === 'critical'
  const isSpoofed = spoofing === 'indicated' || spoofing === 'multiple'
  const isBad = isFaulty || isJammed || isSpoofed || (used !== undefined && used < 8)
  // Behind a splitter that blocks DC the receiver sees an open line, and works all the same.
  const isBroken = isFaulty && (used ?? 0) < blind
  const state = isBroken ? 'broken' : isBad ? 'warning' : status === 'ok' ? 'good' : 'unknown'
  return {
    link: 'antenna',
    state,
    facts: [
      status,
      used === undefined ? '' : `${used} sat`,
      isJammed ? jamming : '',
      isSpoofed ? `spoofing ${spoofing}` : '',
    ].filter(Boolean),
  }
}

function receiver(document: Json): Link {
  const status = textAt(document, 'gnss.state.status')
  const state = status === '' ? 'unknown' : (receiverStates[status] ?? 'good')
  return {
    link: 'receiver',
    state,
    facts: [textAt(document, 'gnss.receiver.model'), textAt(document, 'gnss.state.gps_fix')].filter(Boolean),
  }
}

function reference(document: Json): Link {
  const status = textAt(document, 'gnss.state.status')
  const acc = referenceAccuracy(document)
  const facts = [textAt(document, 'gnss.ref.chosen'), acc ? `±${acc.toFixed(acc < 1 ? 3 : 1)} m` : '']
  // The antenna is away from a reference that there is.
  const isThere = hasReference(document) || status === 'moved'
  return {
    link: 'reference',
    state: stateOfReference(document, status),
    facts: isThere ? facts.filter(Boolean) : [absenceOf(document, status)],
  }
}

/** Why there is no reference. */
function absenceOf(document: Json, status: string): string {
  if (status === 'survey') return 'surveying'
  return surveyFollows(document) ? 'starting' : 'none'
}

function stateOfReference(document: Json, status: string): LinkState {
  if (status === 'moved') return 'broken'
  if (status === 'survey') return 'warning'
  if (hasReference(document)) return status === 'initial' ? 'warning' : 'good'
  return surveyFollows(document) ? 'warning' : 'broken'
}

function gate(document: Json): Link {
  const base = textAt(document, 'base.state.base')
  const state = goesOut(document)
    ? 'good'
    : base === 'starting' || textAt(document, 'gnss.state.status') === 'survey'
      ? 'warning'
      : base === ''
        ? 'unknown'
        : 'broken'
  return { link: 'gate', state, facts: [base].filter(Boolean) }
}

function outputs(document: Json): Link {
  // Incoming corrections are not an output.
  const links = listAt<{ name: string; state: string }>(document, 'links.outputs').filter(
    ({ name, state }) => state !== 'idle' && !/^(ntrip-client|neighbours)\b/.test(name),
  )
  const isNone = outputsOf(document).every(({ state }) => state === 'off')
  if (links.length === 0 && isNone && roversOf(document).length === 0)
    return { link: 'outputs', state: 'warning', facts: ['0'] }
  const down = links.filter(({ state }) => state !== 'up')
  // Rovers in the local network are served all the same.
  const isLocal = outputsOf(document).some(({ state }) => state === 'on')
  const state = down.length === 0 ? 'good' : down.length === links.length && !isLocal ? 'broken' : 'warning'
  const on = outputsOf(document).filter((one) => one.state !== 'off')
  return { link: 'outputs', state, facts: [`${on.filter((one) => one.state === 'on').length}/${on.length}`] }
}

function rovers(document: Json): Link {
  const clients = roversOf(document).length
  // A base without clients is not faulty.
  return { link: 'rovers', state: clients > 0 ? 'good' : 'unknown', facts: [String(clients)] }
}

export function chainOf(document: Json): readonly Link[] {
  return [antenna, receiver, reference, gate, outputs, rovers].map((look) => look(document))
}

/** Links after the first broken one are not meaningful. */
export const firstBroken = (chain: readonly Link[]): ChainLink | undefined =>
  chain.find(({ state }) => state === 'broken')?.link
