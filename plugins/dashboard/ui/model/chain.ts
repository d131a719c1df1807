/** The way of the corrections, from the antenna to the rovers: the first broken link is where to look. Pure. */
import { type Json, listAt, numberAt, textAt, verdictOf } from '../station/document.js'

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

function antenna(document: Json): Link {
  const status = textAt(document, 'gnss.state.antenna.status')
  const jamming = textAt(document, 'gnss.state.rf.jamming')
  const used = numberAt(document, 'gnss.state.satuse')
  const isBroken = status === 'open' || status === 'short'
  const isBad = jamming === 'warning' || jamming === 'critical' || (used !== undefined && used < 8)
  const state = isBroken ? 'broken' : isBad ? 'warning' : status === '' ? 'unknown' : 'good'
  return {
    link: 'antenna',
    state,
    facts: [status, used === undefined ? '' : `${used} sat`, isBad ? jamming : ''].filter(Boolean),
  }
}

function receiver(document: Json): Link {
  const status = textAt(document, 'gnss.state.status')
  const state = status === '' ? 'unknown' : (receiverStates[status] ?? 'good')
  return {
    link: 'receiver',
    state,
    facts: [textAt(document, 'gnss.zed.module'), textAt(document, 'gnss.state.gps_fix')].filter(Boolean),
  }
}

function reference(document: Json): Link {
  const status = textAt(document, 'gnss.state.status')
  const chosen = textAt(document, 'gnss.ref.chosen')
  const isThere = textAt(document, `gnss.ref.${chosen || 'survey'}.type`) !== ''
  const acc = numberAt(document, `gnss.ref.${chosen || 'survey'}.acc`)
  const state =
    status === 'moved'
      ? 'broken'
      : status === 'survey' || status === 'initial'
        ? 'warning'
        : isThere
          ? 'good'
          : 'broken'
  return {
    link: 'reference',
    state,
    facts: [chosen, isThere && acc ? `±${acc.toFixed(acc < 1 ? 3 : 1)} m` : ''].filter(Boolean),
  }
}

function gate(document: Json): Link {
  const base = textAt(document, 'base.state.base')
  const fitness = verdictOf(document)?.fitness
  const isOpen = base === 'ready' || (base === 'updating' && fitness !== 'unfit')
  const state = isOpen
    ? 'good'
    : base === 'starting' || base === 'surveying'
      ? 'warning'
      : base === ''
        ? 'unknown'
        : 'broken'
  return { link: 'gate', state, facts: [base].filter(Boolean) }
}

function outputs(document: Json): Link {
  const links = listAt<{ name: string; state: string }>(document, 'links.outputs').filter(
    ({ state }) => state !== 'idle',
  )
  const down = links.filter(({ state }) => state !== 'up')
  const state =
    links.length === 0 ? 'good' : down.length === links.length ? 'broken' : down.length > 0 ? 'warning' : 'good'
  return { link: 'outputs', state, facts: links.length === 0 ? [] : [`${links.length - down.length}/${links.length}`] }
}

function rovers(document: Json): Link {
  const takers = listAt(document, 'gnss.rtcm.subscribers').length
  // That nobody listens is no fault of the base.
  return { link: 'rovers', state: takers > 0 ? 'good' : 'unknown', facts: [String(takers)] }
}

export function chainOf(document: Json): readonly Link[] {
  return [antenna, receiver, reference, gate, outputs, rovers].map((look) => look(document))
}

/** What comes after the first broken link says nothing. */
export const firstBroken = (chain: readonly Link[]): ChainLink | undefined =>
  chain.find(({ state }) => state === 'broken')?.link
