/**
 * Whether the base is fit to serve, by one table: the first row that holds is the verdict. Pure. What a person sees (document, MQTT,
 * metrics, page) is this, so that no two of them can disagree. A row holds on evidence alone: what is unknown is no fault.
 */
import type { BaseStateName, Fitness, MqttFailureCause } from 'rtk-base/schemas'
import type { AntennaStatus, ChosenReference, Jamming, Link, Spoofing, StationError } from 'rtk-base/services'

/** What decides, from the services of the station. What nobody says is `unknown` or undefined. */
export interface Facts {
  base: BaseStateName
  /** RTCM goes out. */
  isSending: boolean
  /** The oldest first. */
  errors: readonly Omit<StationError, 'text' | 't'>[]
  /** Of the GNSS procedure, or how the receiver is connected; undefined: nothing runs a receiver. */
  status: string | undefined
  antenna: AntennaStatus
  jamming: Jamming
  spoofing: Spoofing
  /** Of the phases, in 5 minutes. */
  slips_percent: number | undefined
  satellitesUsed: number | undefined
  /** The receiver is only listened to: nothing here judges its reference. */
  isListening: boolean
  /** A plugin of the station compares the reference with where the antenna is. */
  isJudged: boolean
  reference: ChosenReference | undefined
  /** Clients of the stream. */
  outputs: number
  /** An output that has been down for more than a minute, MQTT excepted. */
  failed: Pick<Link, 'name' | 'reason'> | undefined
  /** Why the link to the broker has been down for more than a minute; `''`: it has not. */
  linkFailure: MqttFailureCause
}

/** What is wrong, and what a person can do. */
type Finding = readonly [why: string, advice: string]
type Rule = readonly [code: string, fitness: Exclude<Fitness, 'fit'>, find: (facts: Facts) => Finding | undefined]

/** Fewer than this, and rovers have too few satellites in common with the base. */
const fewSatellites = 8
/** Fewer give no position: an antenna line that looks faulty is the cause then. */
const blindSatellites = 4
/** So many of the phases lost lock: rovers lose their fix. */
const manySlips_percent = 10
/** A link without a broker is not wanted, and one that is held comes back at once. */
const notAFailure: readonly MqttFailureCause[] = ['', 'config', 'held']
/** A reference that is worse puts every position of every rover so far off. */
const coarse_m = 5
const noReference: ChosenReference = { method: 'manual', acc_m: undefined, isComplete: true }

const when = (holds: boolean, why: string, advice: string): Finding | undefined => (holds ? [why, advice] : undefined)
/** By what goes out, not by `base`: an update may be fetched while a survey-in runs, or without a receiver. */
const stopped = (facts: Facts) => !facts.isSending
/** Readings that come and go with single satellites and pulses; verdict-watch.ts waits until they last. */
export const isFew = (satellites: number | undefined): boolean => satellites !== undefined && satellites < fewSatellites
export const isJammed = (jamming: Jamming): boolean => jamming === 'warning' || jamming === 'critical'
export const isSpoofed = (spoofing: Spoofing): boolean => spoofing === 'indicated' || spoofing === 'multiple'

/** What a station that starts is at, by the status of its procedure. */
const beginnings: Readonly<Record<string, string>> = {
  identify: 'the receiver is asked what it is',
  configure: 'the receiver is configured',
  acquire: 'the receiver looks for its position',
  initial: 'its position is checked',
}

function startOf({ status = '' }: Facts): string {
  const beginning = beginnings[status]
  return beginning ? `the station starts: ${beginning}` : 'the station starts'
}

/** The oldest of these errors, in its own words. */
function reported({ errors }: Facts, isMeant: (error: Facts['errors'][number]) => boolean): Finding | undefined {
  const found = errors.find(isMeant)
  return found && [found.why, found.advice]
}

const coded =
  (...codes: string[]) =>
  ({ code }: { code: string }): boolean =>
    codes.includes(code)

/** The code of the error that stands where no other error says why no RTCM goes out. */
export const degradedCode = 'base-degraded'

const antennaOf = ({ antenna }: Facts): Finding | undefined =>
  when(
    antenna === 'short' || antenna === 'open',
    `the antenna line is ${antenna === 'open' ? 'open' : 'short-circuited'}`,
    'check the antenna, its cable and the plugs',
  )

const status =
  (name: string, why: string, advice: string) =>
  (facts: Facts): Finding | undefined =>
    when(stopped(facts) && facts.status === name, why, advice)

export const rules: readonly Rule[] = [
  ['stopping', 'unfit', ({ base }) => when(base === 'stopping', 'the station restarts', 'wait a minute')],
  [
    'receiver',
    'unfit',
    ({ status }) => when(status === undefined, 'no plugin has a receiver', 'add gnss-zed to the variant'),
  ],
  // What an absent receiver said last of its antenna is no cause of now.
  ['offline', 'unfit', status('offline', 'the receiver is not connected', 'check its cable and its power')],
  ['stalled', 'unfit', status('stalled', 'the receiver says nothing', 'check its power and the line to it')],
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
            'start a survey-in, or enter the position',
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
      facts.base === 'starting'
        ? (reported(facts, coded('gnss-initial', 'gnss-survey')) ?? [startOf(facts), 'wait up to 2 minutes'])
        : undefined,
  ],
  [
    'silent',
    'unfit',
    (facts) =>
      stopped(facts)
        ? (reported(facts, ({ severity }) => severity === 'silences') ??
          reported(facts, coded(degradedCode)) ?? [
            'no RTCM goes out',
            'check the receiver, and the state of each plugin',
          ])
        : undefined,
  ],

  ['antenna-line', 'degraded', antennaOf],
  [
    'spoofing',
    'degraded',
    ({ spoofing }) =>
      when(
        isSpoofed(spoofing),
        'satellite signals look feigned',
        'find out what transmits nearby; do not trust the positions meanwhile',
      ),
  ],
  [
    'jamming',
    'degraded',
    ({ jamming }) =>
      when(
        isJammed(jamming),
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
            'the receiver is only listened to: nobody here checks its position',
            'let the station configure the receiver',
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
        `the ${method === 'survey' ? 'surveyed' : 'entered'} position is good to ${acc_m.toFixed(1)} m only: every position of a rover is off by as much`,
        'survey with corrections or for longer, or enter the position',
      ),
  ],
  [
    'slips',
    'degraded',
    ({ slips_percent = 0 }) =>
      when(
        slips_percent > manySlips_percent,
        `${Math.round(slips_percent)} % of the phases lost lock in 5 minutes`,
        'check the plugs of the antenna cable, its view of the sky and interference',
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
        'the MQTT broker is not reached: the station cannot be run from afar',
        'check the network of the station, and mqtt-host',
      ),
  ],
  [
    'output',
    'degraded',
    ({ failed }) =>
      failed && [
        `no corrections reach ${failed.name}${failed.reason && `: ${failed.reason}`}`,
        'check the settings of this output, and its peer',
      ],
  ],
  ['error', 'degraded', (facts) => reported(facts, () => true)],
]

export interface Judgement {
  readonly fitness: Fitness
  /** Of the rule that decides; `ok` when none holds. */
  readonly code: string
  readonly why: string
  readonly advice: string
}

export function judge(facts: Facts): Judgement {
  for (const [code, fitness, find] of rules) {
    const found = find(facts)
    if (found) return { fitness, code, why: found[0], advice: found[1] }
  }
  const why =
    facts.outputs > 0
      ? 'RTCM goes out from a position that is checked'
      : 'RTCM is ready from a position that is checked; nobody takes it now'
  return { fitness: 'fit', code: 'ok', why, advice: '' }
}
