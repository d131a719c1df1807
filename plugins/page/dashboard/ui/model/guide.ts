/** Set-up progress, derived from the station's state only. Pure. */
import { at, type Json, numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { outputsOf } from '../../../../../runtime/lib/page/ui/station/outputs.js'
import { hasReference, referenceAccuracy, surveyFollows } from '../../../../../runtime/lib/page/ui/station/set-up.js'
import type { SkySatellite } from '../station/messages.js'

export const guideSteps = ['access', 'antenna', 'position', 'outputs', 'network'] as const
export type GuideStep = (typeof guideSteps)[number]

/** Missing requirement of a step. */
export type Missing =
  | 'password'
  | 'receiver'
  | 'antennaOpen'
  | 'antennaShort'
  | 'satellites'
  | 'fix'
  | 'reference'
  | 'starting'
  | 'surveying'
  | 'moved'
  | 'output'
  | 'outputDown'
  | 'address'
/** Optional improvement of a finished step. */
export type Advice = 'name' | 'weak' | Exclude<PositionLevel, 'absolute'> | 'moreOutputs'

/** Missing for now only: the station is at it, nobody has to do anything. */
const passing: ReadonlySet<Missing> = new Set(['starting', 'surveying', 'fix'])

export type StepState = 'done' | 'better' | 'waiting' | 'open'

/** Done, done but it can be better, under way by itself, or to be done by a person. */
export function stepState({ advice, missing }: StepReport): StepState {
  if (missing.length === 0) return advice.length > 0 ? 'better' : 'done'
  return missing.every((one) => passing.has(one)) ? 'waiting' : 'open'
}

export interface StepReport {
  readonly step: GuideStep
  /** Empty: it is done. */
  readonly missing: readonly Missing[]
  readonly advice: readonly Advice[]
}

export interface GuideEvidence {
  readonly document: Json
  readonly satellites: readonly SkySatellite[]
  /** Whether a password or token is set; undefined while that is not known. */
  readonly hasLogin: boolean | undefined
}

/** As the verdict: rovers have too few satellites in common with the base. */
const fewest = 8
/** Mean of the satellites in use: a good antenna under an open sky has 40 and more. */
const weak_dbhz = 35

/** Mean C/N0 of the satellites in use, dB-Hz; undefined without any. */
export function meanCno(satellites: readonly SkySatellite[]): number | undefined {
  const used = satellites.filter(({ used, cno }) => used && cno > 0)
  return used.length === 0 ? undefined : used.reduce((sum, { cno }) => sum + cno, 0) / used.length
}

/** Rovers of a base that is known worse than this are visibly shifted on a map. */
const exact_m = 0.1

/**
 * How well the reference is known. `metres`; `relative`: to centimetres from another base, or in a frame that nobody named; `absolute`: to
 * centimetres in a named frame; `unrated`: nobody entered the accuracy.
 */
export type PositionLevel = 'metres' | 'relative' | 'absolute' | 'unrated'

export function positionLevel(document: Json): PositionLevel {
  const acc_m = referenceAccuracy(document)
  if (acc_m === undefined) return 'unrated'
  if (acc_m > exact_m) return 'metres'
  const frame = textAt(document, `gnss.ref.${textAt(document, 'gnss.ref.chosen')}.frame`)
  return frame === '' ? 'relative' : 'absolute'
}

/** The name of the station, and who may change it. */
function access({ document, hasLogin }: GuideEvidence): StepReport {
  const isUnnamed = textAt(document, 'base.name') === ''
  return { step: 'access', missing: hasLogin === false ? ['password'] : [], advice: isUnnamed ? ['name'] : [] }
}

const noFix = /^(|none|dead-reckoning|2d)$/

function antenna({ document, satellites }: GuideEvidence): StepReport {
  const status = textAt(document, 'gnss.state.antenna.status')
  const missing: Missing[] = []
  if (/^(|offline|stalled)$/.test(textAt(document, 'gnss.state.status'))) missing.push('receiver')
  else {
    const isFew = (numberAt(document, 'gnss.state.satuse') ?? 0) < fewest
    // Behind a splitter that blocks DC the receiver sees an open line, and works all the same.
    if (status === 'open' && isFew) missing.push('antennaOpen')
    if (status === 'short') missing.push('antennaShort')
    if (isFew) missing.push('satellites')
    if (noFix.test(textAt(document, 'gnss.state.gps_fix'))) missing.push('fix')
  }
  const cno = meanCno(satellites)
  return { step: 'antenna', missing, advice: cno !== undefined && cno < weak_dbhz ? ['weak'] : [] }
}

function position({ document }: GuideEvidence): StepReport {
  const isSurveying = textAt(document, 'gnss.ref.survey.state') === 'running'
  const isMoved = textAt(document, 'gnss.state.status') === 'moved'
  const next = isSurveying ? 'surveying' : surveyFollows(document) ? 'starting' : 'reference'
  const missing: Missing[] = isMoved ? ['moved'] : hasReference(document) ? [] : [next]
  const level = positionLevel(document)
  return { step: 'position', missing, advice: missing.length > 0 || level === 'absolute' ? [] : [level] }
}

function outputs({ document }: GuideEvidence): StepReport {
  const facts = outputsOf(document)
  const missing: Missing[] = []
  if (facts.every(({ state }) => state === 'off')) missing.push('output')
  if (facts.some(({ state }) => state === 'down')) missing.push('outputDown')
  const isLocal = facts.every(({ output, state }) => state !== 'on' || output === 'udp' || output === 'serial')
  return { step: 'outputs', missing, advice: missing.length === 0 && isLocal ? ['moreOutputs'] : [] }
}

export type NetworkName = 'eth' | 'wap' | 'sta' | 'modem'
export interface NetworkFact {
  readonly network: NetworkName
  readonly isUp: boolean
  /** Address or name of the network; '' unknown. */
  readonly text: string
}

/** The network connections of running plugins. */
export function networksOf(document: Json): readonly NetworkFact[] {
  const facts: NetworkFact[] = []
  const add = (network: NetworkName, isUp: boolean, text: string) => {
    if (at(document, network) !== undefined) facts.push({ network, isUp, text })
  }
  add('eth', textAt(document, 'eth.ip') !== '', textAt(document, 'eth.ip'))
  add('wap', at(document, 'wap.enabled') === true, textAt(document, 'wap.ssid'))
  add('sta', textAt(document, 'sta.ip4') !== '', textAt(document, 'sta.ssid'))
  add('modem', textAt(document, 'modem.state.data') === 'connected', textAt(document, 'modem.state.operator'))
  return facts
}

function network({ document }: GuideEvidence): StepReport {
  const facts = networksOf(document)
  // Without a plugin for networks the machine has one of its own: this page was reached.
  const isReached = facts.length === 0 || facts.some(({ isUp }) => isUp)
  return { step: 'network', missing: isReached ? [] : ['address'], advice: [] }
}

const looks = { access, antenna, position, outputs, network } as const

export const guideOf = (evidence: GuideEvidence): readonly StepReport[] =>
  guideSteps.map((step) => looks[step](evidence))
