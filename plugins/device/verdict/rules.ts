/**
 * The fitness of the base by one table: the first row that applies is the verdict. Pure. Document, MQTT, metrics and page all
 * show this verdict, so they cannot disagree. A row requires evidence: unknown is not a fault.
 */
import { roundTo } from 'rtk-base/gnss'
import type { BaseStateName, Fitness, MqttFailureCause } from 'rtk-base/schemas'
import type {
  AntennaStatus,
  ChosenReference,
  ErrorValues,
  Link,
  NeighbourCheck,
  ProcedureWish,
  StationError,
} from 'rtk-base/services'

/** The input, from the station's services. Missing information is `unknown` or undefined. */
export interface Facts {
  base: BaseStateName
  /** RTCM goes out. */
  isSending: boolean
  /** The oldest first. */
  errors: readonly Omit<StationError, 'text' | 't'>[]
  /** The status of the GNSS procedure, or how the receiver is connected; undefined: nothing runs a receiver. */
  status: string | undefined
  /** Wish of a person that the station is carrying out. */
  asked?: ProcedureWish | undefined
  antenna: AntennaStatus
  interfered: boolean | undefined
  spoofed: boolean | undefined
  /** The share of phases with a slip, in 5 minutes. */
  slips_percent: number | undefined
  satellitesUsed: number | undefined
  /** The receiver is only listened to: nothing here judges its reference. */
  isListening: boolean
  /** A plugin of the station compares the reference with where the antenna is. */
  isJudged: boolean
  reference: ChosenReference | undefined
  /** The comparison with neighbouring bases; undefined: no plugin compares. */
  neighbours?: Pick<NeighbourCheck, 'effect' | 'text' | 'advice' | 'cause' | 'values'> | undefined
  /** Clients of the stream. */
  outputs: number
  /** The outputs that have been down for more than a minute, MQTT excepted. */
  failed: readonly Pick<Link, 'name' | 'reason'>[]
  /** Why the link to the broker has been down for more than a minute; `''`: it is up, or was a moment ago. */
  linkFailure: MqttFailureCause
}

/** The fault and its remedy; what the texts have of numbers and names; their code, where it is not that of the rule. */
type Finding = readonly [why: string, advice: string, values?: ErrorValues, code?: string]
type Rule = readonly [code: string, fitness: Fitness, find: (facts: Facts) => Finding | undefined]

/** Fewer than this, and rovers have too few satellites in common with the base. */
const fewSatellites = 8
/** Fewer give no position: an antenna line that looks faulty is the cause then. */
const blindSatellites = 4
/** Share of carrier-phase observations after a loss of lock at which rovers lose their fix. */
const manySlips_percent = 10
/** A link without a broker is not wanted, and a held link comes back at once. */
const notAFailure: readonly MqttFailureCause[] = ['', 'config', 'held']
/** A reference that is worse puts every position of every rover so far off. */
const coarse_m = 5
const noReference: ChosenReference = { method: 'manual', acc_m: undefined, isComplete: true }

const when = (holds: boolean, why: string, advice: string, values?: ErrorValues, code?: string): Finding | undefined =>
  holds ? [why, advice, values, code] : undefined
/** By the actual output, not by `base`: an update may be fetched during a survey-in, or without a receiver. */
const stopped = (facts: Facts) => !facts.isSending
/** Readings that come and go with single satellites and pulses; verdict-watch.ts waits until they last. */
export const isFew = (satellites: number | undefined): boolean => satellites !== undefined && satellites < fewSatellites

/** Findings before the first RTCM: by the wish of a person, else by the status of the procedure. */
const beginnings: Readonly<Record<string, string>> = {
  survey: 'a survey-in was started: it begins with the next good position',
  confirmed: 'the position was confirmed: it is checked, then corrections go out',
  reference: 'another position was chosen: it is checked, then corrections go out',
  identify: 'no corrections yet: the receiver is being identified',
  configure: 'no corrections yet: the receiver is being configured',
  acquire: 'no corrections yet: the receiver is acquiring a position',
  initial: 'no corrections yet: the position is being checked',
}

function startOf({ asked, status = '' }: Facts): Finding {
  const step = asked ?? status
  const beginning = beginnings[step]
  const advice = asked === 'survey' ? 'wait; nothing may move meanwhile' : 'wait up to 2 minutes'
  return [beginning ?? 'the station starts', advice, undefined, `starting-${beginning ? step : 'station'}`]
}

/** The oldest of these errors, in its own words. */
function reported({ errors }: Facts, isMeant: (error: Facts['errors'][number]) => boolean): Finding | undefined {
  const found = errors.find(isMeant)
  return found && [found.why, found.advice, found.values, found.code]
}

const coded =
  (...codes: string[]) =>
  ({ code }: { code: string }): boolean =>
    codes.includes(code)

/** The error raised if no other error explains the missing RTCM. */
export const silentCode = 'base-degraded'

const antennaOf = ({ antenna }: Facts): Finding | undefined =>
  when(
    antenna === 'short' || antenna === 'open',
    `the antenna line is ${antenna === 'open' ? 'open' : 'short-circuited'}`,
    'check the antenna, its cable and the plugs',
    undefined,
    `antenna-${antenna}`,
  )

const status =
  (name: string, why: string, advice: string) =>
  (facts: Facts): Finding | undefined =>
    when(stopped(facts) && facts.status === name, why, advice)

export const rules: readonly Rule[] = [
  [
    'stopping',
    'unfit',
    ({ base }) =>
      when(base === 'stopping', 'the station restarts or switches off', 'after a restart it is back in a minute'),
  ],
  [
    'receiver',
    'unfit',
    // While the plugins start, none has one yet.
    ({ base, status }) =>
      when(
        status === undefined && base !== 'starting',
        'no plugin has a receiver',
        'connect a receiver, or add the plugin of its make to the variant',
      ),
  ],
  // The last antenna status of an absent receiver is not a current cause.
  ['offline', 'unfit', status('offline', 'the receiver is not connected', 'check its cable and its power')],
  ['stalled', 'unfit', status('stalled', 'the receiver is silent', 'check its power and the line to it')],
  // Behind a splitter that blocks DC the receiver sees an open line, and works all the same.
  [
    'antenna',
    'unfit',
    (facts) => (stopped(facts) && (facts.satellitesUsed ?? 0) < blindSatellites ? antennaOf(facts) : undefined),
  ],
  [
    'moved',
    'unfit',
    (facts) =>
      facts.status === 'moved'
        ? (reported(facts, coded('gnss-moved')) ?? [
            'the antenna is not where its reference is',
            'if it is where it was, send confirm-position; otherwise start a survey-in, or enter the position',
          ])
        : undefined,
  ],
  [
    'surveying',
    'unfit',
    (facts) =>
      stopped(facts) && facts.status === 'survey'
        ? (reported(facts, coded('gnss-survey')) ?? [
            'a survey-in determines the position',
            'wait until it ends; nothing may move meanwhile',
          ])
        : undefined,
  ],
  [
    'starting',
    'unfit',
    (facts) =>
      facts.base === 'starting' ? (reported(facts, coded('gnss-initial', 'gnss-survey')) ?? startOf(facts)) : undefined,
  ],
  [
    'silent',
    'unfit',
    (facts) =>
      stopped(facts)
        ? (reported(facts, ({ severity }) => severity === 'silences') ??
          reported(facts, coded(silentCode)) ?? [
            'no RTCM goes out',
            'check the receiver, and the state of each plugin',
          ])
        : undefined,
  ],

  ['antenna-line', 'degraded', antennaOf],
  [
    'spoofing',
    'degraded',
    ({ spoofed }) =>
      when(
        spoofed === true,
        'satellite signals look spoofed',
        'find out what transmits nearby; do not trust the positions meanwhile',
      ),
  ],
  [
    'jamming',
    'degraded',
    ({ interfered }) =>
      when(
        interfered === true,
        'something interferes with the satellite signals',
        'look for transmitters, cameras and switching power supplies near the antenna',
      ),
  ],
  ['unwatched', 'degraded', (facts) => reported(facts, coded('gnss-unwatched'))],
  [
    'unverified',
    'degraded',
    ({ isListening, isJudged }) =>
      isListening
        ? [
            'the receiver is in listening mode: its position is not checked',
            'let the station configure the receiver',
            undefined,
            'listening',
          ]
        : when(
            !isJudged,
            'no plugin checks whether the antenna is at the position that goes out',
            'add survey-in to the variant',
          ),
  ],
  ['reference', 'degraded', (facts) => reported(facts, ({ severity }) => severity === 'doubts')],
  [
    'incomplete',
    'degraded',
    ({ reference }) =>
      when(
        reference?.isComplete === false,
        'the position comes from a survey-in that did not reach its accuracy',
        'repeat the survey-in with a better view of the sky, or enter the position',
      ),
  ],
  [
    'coarse',
    'degraded',
    ({ reference: { acc_m = 0, method } = noReference }) =>
      when(
        acc_m > coarse_m,
        `the ${method === 'survey' ? 'surveyed' : 'entered'} position is only accurate to ${acc_m.toFixed(1)} m: all rover positions are off by as much`,
        'survey with corrections or for longer, or enter the position',
        { accuracy_m: acc_m, method },
      ),
  ],
  ['neighbours', 'degraded', ({ neighbours }) => contradictionOf(neighbours, 'degrades', 'holds')],
  ['override-far', 'degraded', ({ reference }) => overrideOf(reference, coarse_m)],
  [
    'slips',
    'degraded',
    ({ slips_percent = 0 }) =>
      when(
        slips_percent > manySlips_percent,
        `lock was lost in ${Math.round(slips_percent)} % of the carrier-phase observations of the last 5 minutes`,
        'check the plugs of the antenna cable, its view of the sky and interference',
        { slips_percent: Math.round(slips_percent) },
      ),
  ],
  [
    'satellites',
    'degraded',
    ({ satellitesUsed }) =>
      when(
        isFew(satellitesUsed),
        `only ${satellitesUsed} satellites are used`,
        'check the view of the sky and the antenna cable',
        { satellites: satellitesUsed ?? 0 },
      ),
  ],
  [
    'updating',
    'degraded',
    ({ base }) =>
      when(
        base === 'updating',
        'an update is being installed: RTCM stops for half a minute at the restart',
        'wait until it ends',
      ),
  ],
  [
    'link',
    'degraded',
    ({ linkFailure }) =>
      when(
        !notAFailure.includes(linkFailure),
        'the MQTT broker cannot be reached: remote control is unavailable',
        'check the network of the station, and mqtt-host',
        { cause: linkFailure },
      ),
  ],
  ['output', 'degraded', ({ failed: [first, ...others] }) => first && outputOf(first, others.length)],
  // A request that was refused changed nothing: whoever mistypes a command takes no base out of service.
  ['error', 'degraded', (facts) => reported(facts, ({ code }) => code !== 'mqtt-refused')],
  ['override', 'fit', ({ reference }) => overrideOf(reference, 0)],
  ['neighbours-note', 'fit', ({ neighbours }) => contradictionOf(neighbours, 'notes')],
]

/** Names of an output's peers for a person, by the plugin. */
const peers: Readonly<Record<string, string>> = { 'ntrip-server': 'the caster', 'rtcm-tcp': 'the TCP address' }

/** @param more outputs that failed beside it */
function outputOf({ name, reason }: Pick<Link, 'name' | 'reason'>, more: number): Finding {
  const [plugin = '', ...rest] = name.split(' ')
  const kind = peers[plugin] ?? 'the output'
  const output = rest.join(' ') || name
  return [
    `no corrections reach ${kind} ${output}${more > 0 ? ` and ${more} more` : ''}${reason && `: ${reason}`}`,
    more > 0
      ? 'check the settings of these outputs, and their peers'
      : 'check the settings of this output, and its peer',
    // The first of these that has a text of its own decides the words.
    { ...(more > 0 && { more }), reason, kind, output },
  ]
}

/** Causes of a contradiction with texts of their own. */
const contradictions = ['far', 'frame', 'height', 'survey', 'swapped']

/** Neighbouring bases agree with each other against the position. */
function contradictionOf(check: Facts['neighbours'], ...effects: NeighbourCheck['effect'][]): Finding | undefined {
  if (!check || !effects.includes(check.effect)) return undefined
  const why = `neighbouring bases contradict the position: ${check.text}`
  const cause = contradictions.includes(check.cause) ? check.cause : 'unexplained'
  const { size_m = 0, up_m = 0, ...others } = check.values
  return [why, check.advice, { size_m, up_m, ...others }, `neighbours-${cause}`]
}

/** A person's word for the position. @param least_m how far away the antenna seemed to be at least */
function overrideOf(reference: ChosenReference | undefined, least_m: number): Finding | undefined {
  const { distance_m } = reference?.override ?? {}
  if (distance_m === undefined || distance_m < least_m) return undefined
  return [
    `RTCM is sent from a position that a person confirmed: the antenna seemed to be ${distance_m.toFixed(2)} m away`,
    distance_m < coarse_m
      ? 'if exact positions matter, start a survey-in or enter the position'
      : 'if the antenna is not at this position, choose the reference again (gnss-ref-chosen): this takes the confirmation back',
    { distance_m: roundTo(distance_m, 2) },
  ]
}

export interface Judgement {
  readonly fitness: Fitness
  /** The code of the rule that decides; `ok` when none holds. */
  readonly code: string
  readonly why: string
  readonly advice: string
  /** The code of `why` and `advice`. */
  readonly why_code: string
  readonly values: ErrorValues
}

export function judge(facts: Facts): Judgement {
  for (const [code, fitness, find] of rules) {
    const found = find(facts)
    if (!found) continue
    const [why, advice, values, why_code = code] = found
    return { fitness, code, why, advice, why_code, values: { ...ofReference(facts), ...values } }
  }
  const why =
    facts.outputs > 0
      ? 'corrections go out, and the antenna is at its reference'
      : 'corrections are ready, and the antenna is at its reference; no client is connected'
  const why_code = facts.outputs > 0 ? 'ok' : 'ok-no-client'
  return { fitness: 'fit', code: 'ok', why, advice: '', why_code, values: ofReference(facts) }
}

/** The reference belongs to every verdict: fit says nothing of how well its position is known. */
function ofReference({ reference }: Facts): ErrorValues {
  if (!reference) return {}
  const { acc_m, method, override } = reference
  return {
    method,
    ...(acc_m !== undefined && { accuracy_m: Math.round(acc_m * 1e4) / 1e4 }),
    ...(override && { override_m: override.distance_m, override_by: override.by, override_t: override.t }),
  }
}
