/**
 * Whether the base is fit to serve, by one table over the information document: the first row that holds is the verdict. Pure. What a
 * person sees (document, MQTT, metrics, page) is this, so that no two of them can disagree.
 */
import { type Fitness, valueAt } from 'rtk-base/schemas'

/** What decides, from the information document. What a station without that plugin does not have is `undefined`. */
export interface Facts {
  /** `base.state.base` */
  base: string
  /** `base.state.errors` */
  errors: readonly { code: string; text: string }[]
  /** Of the GNSS procedure, as `gnss.state.status`; undefined: nothing runs a receiver. */
  status: string | undefined
  antenna: string
  jamming: string
  spoofing: string
  slips_percent: number
  satellitesUsed: number
  /** The receiver is only listened to: nothing here judges its reference. */
  isListening: boolean
  /** The reference in use. */
  reference: { method: string; acc_m: number; isIncomplete: boolean }
  /** `mqtt.state.error.cause` while the link is down for more than a minute; `''` else. */
  linkFailure: string
}

/** What is wrong, and what a person can do. */
type Finding = readonly [why: string, advice: string]
type Rule = readonly [code: string, fitness: Exclude<Fitness, 'fit'>, find: (facts: Facts) => Finding | undefined]

/** Fewer than this, and rovers have too few satellites in common with the base. */
const fewSatellites = 8
/** So many of the phases lost lock: rovers lose their fix. */
const manySlips_percent = 10
/** A link without a broker is not wanted, and one that is held comes back at once. */
const notAFailure = ['', 'config', 'held']
/** A reference that is worse puts every position of every rover so far off. */
const coarse_m = 5

const when = (holds: boolean, why: string, advice: string): Finding | undefined => (holds ? [why, advice] : undefined)
const stopped = (facts: Facts) => facts.base !== 'ready' && facts.base !== 'updating'

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
  ['antenna', 'unfit', (facts) => (stopped(facts) ? antennaOf(facts) : undefined)],
  [
    'receiver',
    'unfit',
    ({ status }) => when(status === undefined, 'no plugin has a receiver', 'add gnss-zed to the variant'),
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
    ({ base }) =>
      when(
        base === 'surveying',
        'a survey-in determines the position',
        'wait until it ends; nothing may move meanwhile',
      ),
  ],
  ['offline', 'unfit', status('offline', 'the receiver is not connected', 'check its cable and its power')],
  ['stalled', 'unfit', status('stalled', 'the receiver says nothing', 'check its power and the line to it')],
  [
    'starting',
    'unfit',
    ({ base, status }) => when(base === 'starting', `the station starts (${status})`, 'wait up to 2 minutes'),
  ],
  [
    'silent',
    'unfit',
    (facts) =>
      stopped(facts)
        ? (reported(facts, /^(gnss-|receiver-|antenna-|plugin-failed|base-degraded)/) ?? [
            'no RTCM goes out',
            'check the receiver, and the state of each plugin',
          ])
        : undefined,
  ],

  // Behind a splitter that blocks DC the receiver sees an open line, and works all the same.
  ['antenna-line', 'degraded', antennaOf],
  [
    'spoofing',
    'degraded',
    ({ spoofing }) =>
      when(
        /^(indicated|multiple)$/.test(spoofing),
        'satellite signals look feigned',
        'find out what transmits nearby; do not trust the positions meanwhile',
      ),
  ],
  [
    'jamming',
    'degraded',
    ({ jamming }) =>
      when(
        /^(warning|critical)$/.test(jamming),
        'something interferes with the satellite signals',
        'look for transmitters, cameras and switching power supplies near the antenna',
      ),
  ],
  ['unwatched', 'degraded', (facts) => reported(facts, /^gnss-unwatched$/)],
  [
    'unverified',
    'degraded',
    ({ isListening }) =>
      when(
        isListening,
        'the receiver is only listened to: nobody here checks its position',
        'let the station configure the receiver',
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
        satellitesUsed < fewSatellites,
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
  return { fitness: 'fit', code: 'ok', why: 'RTCM goes out from a position that is checked', advice: '' }
}

/** The facts of a document, whichever plugins made it. */
export function factsOf(
  document: Record<string, unknown>,
  { status, isListening }: Pick<Facts, 'status' | 'isListening'>,
): Facts {
  const at = (path: string) => valueAt(document, path)
  const text = (path: string) => String(at(path) ?? '')
  const number = (path: string) => Number(at(path) ?? 0)
  const method = text('gnss.ref.chosen')
  return {
    base: text('base.state.base'),
    errors: (at('base.state.errors') as Facts['errors'] | undefined) ?? [],
    status,
    antenna: text('gnss.state.antenna.status'),
    jamming: text('gnss.state.rf.jamming'),
    spoofing: text('gnss.state.rf.spoofing'),
    slips_percent: number('gnss.state.rf.slips'),
    satellitesUsed: number('gnss.state.satuse'),
    isListening,
    reference: {
      method,
      acc_m: number(`gnss.ref.${method || 'manual'}.acc`),
      isIncomplete: method === 'survey' && at('gnss.ref.survey.allow_use') === 1,
    },
    linkFailure: text('mqtt.state.link') === 'down' ? text('mqtt.state.error.cause') : '',
  }
}
