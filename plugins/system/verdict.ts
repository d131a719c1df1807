/**
 * Whether the base is fit to serve, by one table over the information document: the first row that holds is the verdict. Pure. What a
 * person sees (document, MQTT, metrics, page) is this, so that no two of them can disagree.
 */
import { type Fitness, valueAt } from 'rtk-base/schemas'
import type { Reception } from 'rtk-base/services'

/** What decides, from the information document. What a station without that plugin does not have is `undefined`. */
export interface Facts {
  /** `base.state.base` */
  base: string
  /** RTCM goes out. */
  isSending: boolean
  /** `base.state.errors` */
  errors: readonly { code: string; text: string }[]
  /** Of the GNSS procedure, as `gnss.state.status`; undefined: nothing runs a receiver. */
  status: string | undefined
  antenna: string
  jamming: string
  spoofing: string
  /** See `isHeldAsSpoofed`. */
  isHeldAsSpoofed: boolean
  slips_percent: number
  satellitesUsed: number
  /** The receiver is only listened to: nothing here judges its reference. */
  isListening: boolean
  /** A plugin of the station compares the reference with where the antenna is. */
  isJudged: boolean
  /** The reference in use; `acc_m` 0: not known. */
  reference: { method: string; acc_m: number; isIncomplete: boolean }
  /** Who takes the stream. */
  takers: number
  /** An output that has not come through for more than a minute, MQTT excepted. */
  output: { name: string; reason: string } | undefined
  /** `mqtt.state.error.cause` while the link is down for more than a minute; `''` else. */
  linkFailure: string
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
const notAFailure = ['', 'config', 'held']
/** A reference that is worse puts every position of every rover so far off. */
const coarse_m = 5

const when = (holds: boolean, why: string, advice: string): Finding | undefined => (holds ? [why, advice] : undefined)
/** By what goes out, not by `base`: an update may be fetched while a survey-in runs, or without a receiver. */
const stopped = (facts: Facts) => !facts.isSending
/** Readings that come and go with single satellites and pulses; verdict-watch.ts waits until they last. */
export const isFew = (satellites: number): boolean => satellites < fewSatellites
export const isJammed = (jamming: string): boolean => /^(warning|critical)$/.test(jamming)
export const isSpoofed = (spoofing: string): boolean => /^(indicated|multiple)$/.test(spoofing)

/**
 * The codes of errors that say why no RTCM goes out. With a reference that is doubtful or new it goes out, and with spoofed signals too,
 * unless the receiver holds it back then.
 */
export const silencing = (isHeldAsSpoofed: boolean): RegExp =>
  isHeldAsSpoofed
    ? /^(gnss-(?!reference-(doubtful|moved)$)|receiver-|antenna-|plugin-failed)/
    : /^(gnss-(?!reference-(doubtful|moved)$|spoofed$)|receiver-|antenna-|plugin-failed)/

/** The receiver reports spoofed signals, and no RTCM goes out while it does (`spoofedHold`). */
export const isHeldAsSpoofed = (received: Pick<Reception, 'held'> | undefined): boolean => received?.held === 'spoofed'

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

/** The error of the first of these codes, in its own words. */
function reported({ errors }: Facts, codes: RegExp): Finding | undefined {
  const found = errors.find(({ code }) => codes.test(code))
  if (!found) return undefined
  const [why = '', ...advice] = found.text.split('; ')
  return [why, advice.join('; ')]
}

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
    (facts) => (stopped(facts) && facts.satellitesUsed < blindSatellites ? antennaOf(facts) : undefined),
  ],
  [
    'moved',
    'unfit',
    (facts) =>
      facts.status === 'moved'
        ? (reported(facts, /^gnss-moved$/) ?? [
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
        ? (reported(facts, /^gnss-survey$/) ?? [
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
        ? (reported(facts, /^gnss-(initial|survey)$/) ?? [startOf(facts), 'wait up to 2 minutes'])
        : undefined,
  ],
  [
    'silent',
    'unfit',
    (facts) =>
      stopped(facts)
        ? (reported(facts, silencing(facts.isHeldAsSpoofed)) ??
          reported(facts, /^base-degraded$/) ?? [
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
  ['unwatched', 'degraded', (facts) => reported(facts, /^gnss-unwatched$/)],
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
  ['reference', 'degraded', (facts) => reported(facts, /^gnss-(reference-|initial)/)],
  [
    'incomplete',
    'degraded',
    ({ reference }) =>
      when(
        reference.isIncomplete,
        'the position comes from a survey-in that did not reach its accuracy',
        'repeat the survey-in with a better view of the sky, or enter the position',
      ),
  ],
  [
    'coarse',
    'degraded',
    ({ reference: { acc_m, method } }) =>
      when(
        acc_m > coarse_m,
        `the ${method === 'survey' ? 'surveyed' : 'entered'} position is good to ${acc_m.toFixed(1)} m only: every position of a rover is off by as much`,
        'survey with corrections or for longer, or enter the position',
      ),
  ],
  [
    'slips',
    'degraded',
    ({ slips_percent }) =>
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
    ({ output }) =>
      output && [
        `no corrections reach ${output.name}${output.reason && `: ${output.reason}`}`,
        'check the settings of this output, and its peer',
      ],
  ],
  ['error', 'degraded', (facts) => reported(facts, /./)],
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
    facts.takers > 0
      ? 'RTCM goes out from a position that is checked'
      : 'RTCM is ready from a position that is checked; nobody takes it now'
  return { fitness: 'fit', code: 'ok', why, advice: '' }
}

/** What only the services know. */
type Seen = Omit<Facts, 'base' | 'errors' | 'linkFailure' | 'output' | 'reference'>

/** An output that does not come through for less is no fault: its next attempts follow. */
const patience_s = 60
/** The broker has a rule of its own; corrections that come in are no output. */
const notAnOutput = /^(mqtt-link|ntrip-client)\b/

/** Of `links.outputs`. */
interface Link {
  name: string
  state: string
  reason: string
  since: number
}

function outputOf(links: readonly Link[]): Facts['output'] {
  return links.find(
    ({ name, since, state }) =>
      (state === 'down' || state === 'refused') && since >= patience_s && !notAnOutput.test(name),
  )
}

/** The facts of a document, whichever plugins made it. */
export function factsOf(document: Record<string, unknown>, seen: Seen): Facts {
  const at = (path: string) => valueAt(document, path)
  const text = (path: string) => String(at(path) ?? '')
  const number = (path: string) => Number(at(path) ?? 0)
  const method = text('gnss.ref.chosen')
  const isAllowed = at('gnss.ref.survey.allow_use') === 1
  // A survey-in that failed is shown, while the station serves from the reference before it.
  const isInUse = method !== 'survey' || isAllowed || text('gnss.ref.survey.state') === 'complete'
  return {
    ...seen,
    base: text('base.state.base'),
    errors: (at('base.state.errors') as Facts['errors'] | undefined) ?? [],
    reference: {
      method,
      acc_m: isInUse ? number(`gnss.ref.${method || 'manual'}.acc`) : 0,
      isIncomplete: method === 'survey' && isAllowed,
    },
    output: outputOf((at('links.outputs') as readonly Link[] | undefined) ?? []),
    linkFailure: text('mqtt.state.link') === 'down' ? text('mqtt.state.error.cause') : '',
  }
}
