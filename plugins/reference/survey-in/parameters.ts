/** The change parameters of the survey-in and of the manual reference, and the rules across them. */
import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { type TSchema, Type } from 'typebox'
import { type DatumParameters, defineDatum } from './reference/datum.js'
import { disagreement, type ManualEntry, manualPosition, type ReferenceSettings } from './reference/manual-entry.js'
import type { SurveyLimits } from './survey/survey-run.js'

const longest_s = 2_592_000
const axis_m = 7e6

/** A number that null clears. */
const optional = (minimum: number, maximum: number, description: string) =>
  Type.Union([Type.Number({ minimum, maximum }), Type.Null()], {
    description: `${description}, ${minimum} to ${maximum}; null clears it`,
  })

const coordinates = {
  lat: optional(-90, 90, 'degrees'),
  lon: optional(-180, 180, 'degrees'),
  alt: optional(-axis_m, axis_m, 'ellipsoidal height, metres'),
  x: optional(-axis_m, axis_m, 'ECEF metres'),
  y: optional(-axis_m, axis_m, 'ECEF metres'),
  z: optional(-axis_m, axis_m, 'ECEF metres'),
}
type Coordinate = keyof typeof coordinates
const names = Object.keys(coordinates) as Coordinate[]
const angles: readonly Coordinate[] = ['lat', 'lon', 'alt']
const axes: readonly Coordinate[] = ['x', 'y', 'z']
const keyOf = (name: string) => `gnss-ref-manual-${name}`

export interface Parameters extends ReferenceSettings {
  /** The parameter that chooses the reference. */
  readonly choice: string
  /** The parameters that make up the reference. */
  readonly reference: readonly string[]
  /** Frame and epoch of the reference and of the corrections. */
  readonly datum: DatumParameters
  /** Which point of the antenna was entered, and how far the phase centre is above the reference point. */
  point(): { point: Point; offset_m: number }
  limits(): SurveyLimits
}

type Point = 'arp' | 'phase-centre'

const titles: Readonly<Record<Coordinate, string>> = {
  lat: 'Entered position: latitude, °',
  lon: 'Entered position: longitude, °',
  alt: 'Entered position: height above the ellipsoid, m',
  x: 'Entered position: ECEF X, m',
  y: 'Entered position: ECEF Y, m',
  z: 'Entered position: ECEF Z, m',
}

export function defineParameters({ config }: Pick<PluginContext, 'config'>): Parameters {
  const seconds = (name: string, value: number, title: string) =>
    config.define(name, Type.Integer({ minimum: 0, maximum: longest_s }), { default: value, title })
  const metres = (name: string, value: number, minimum: number, maximum: number, title: string) =>
    config.define(name, Type.Number({ minimum, maximum }), { default: value, title })
  const flag = (name: string, value: boolean, title: string) =>
    config.define(name, Type.Boolean(), { default: value, title })

  const mintime = seconds('gnss-survey-mintime', 300, 'Survey-in: minimum time, s')
  const maxtime = seconds('gnss-survey-maxtime', 86_400, 'Survey-in: maximum time, s')
  const accuracy = metres('gnss-survey-accuracy', 2, 0.001, 1000, 'Survey-in: required accuracy, m')
  const accuracyCorr = metres(
    'gnss-survey-accuracy-corr',
    0.03,
    0.001,
    100,
    'Survey-in with corrections: required accuracy, m',
  )

  const acc = metres(keyOf('acc'), 0, 0, 100_000, 'Entered position: accuracy, 3D 1 sigma, m')
  const corr = flag(keyOf('corr'), false, 'Entered position: was determined with RTK corrections')
  const hp = flag(keyOf('hp'), true, 'Entered position: use it to 0.1 mm')
  const entered = Object.fromEntries(
    names.map((name) => [
      name,
      config.define(keyOf(name), coordinates[name] as TSchema, { default: null, title: titles[name] }),
    ]),
  ) as Record<Coordinate, ConfigKey<number | null>>
  const point = config.define(keyOf('point'), Type.Union([Type.Literal('arp'), Type.Literal('phase-centre')]), {
    default: 'arp',
    title: 'Entered position: reference point or phase centre',
  })
  const offset = metres(keyOf('offset'), 0, -1, 1, 'Phase centre above the reference point of the antenna, m')
  const source = config.define(
    keyOf('source'),
    Type.String({
      maxLength: 127,
      pattern: '^[\\x20-\\x7e]*$',
      description: 'Where the coordinates come from, e.g. a report. Cleared by other coordinates',
    }),
    { default: '', title: 'Entered position: source' },
  )
  const provenance = config.define(
    keyOf('provenance'),
    Type.Enum(['entered', 'ppp'], {
      description:
        'How the coordinates were determined; ppp: by precise point positioning. Cleared by other coordinates',
    }),
    { default: 'entered', title: 'Entered position: provenance' },
  )
  const datum = defineDatum({ config })
  const chosen = config.define('gnss-ref-chosen', Type.Union([Type.Literal('manual'), Type.Literal('survey')]), {
    default: 'survey',
    title: 'Which reference is used',
  })

  const entry = (get: (name: Coordinate | 'hp') => unknown): ManualEntry => {
    const { lat, lon, alt, x, y, z } = Object.fromEntries(names.map((name) => [name, get(name)])) as Record<
      Coordinate,
      number | null
    >
    return { lat, lon, alt, x, y, z, hp: get('hp') as boolean }
  }

  config.rule([mintime.name, maxtime.name], (get) => {
    const [least, most] = [get(mintime.name) as number, get(maxtime.name) as number]
    return least <= most ? undefined : `gnss-survey-mintime ${least} is above gnss-survey-maxtime ${most}`
  })
  config.rule([point.name, offset.name], (get) =>
    get(point.name) === 'phase-centre' && get(offset.name) === 0
      ? 'gnss-ref-manual-point is phase-centre, which needs gnss-ref-manual-offset: how far the phase centre is above the reference point of the antenna, metres'
      : undefined,
  )
  const groups = names.map(keyOf)
  config.rule(groups, (get, changed) => {
    const problem = disagreement(entry((name) => get(keyOf(name))))
    if (!problem) return undefined
    // The group that this change completes replaces the other; two that disagree in one change are a mistake.
    const touched = [axes, angles].filter((group) => group.some((name) => changed.has(keyOf(name))))
    if (touched.length > 1) return problem
    const replaced = touched[0] === axes ? angles : axes
    return { set: Object.fromEntries(replaced.map((name) => [keyOf(name), null])) }
  })
  for (const { name, none } of [
    { name: source.name, none: '' },
    { name: provenance.name, none: 'entered' },
  ])
    config.rule(groups, (get, changed) =>
      get(name) !== none && !changed.has(name) ? { set: { [name]: none } } : undefined,
    )
  config.rule([chosen.name, ...groups], (get) => {
    if (get(chosen.name) !== 'manual' || manualPosition(entry((name) => get(keyOf(name))))) return undefined
    return 'gnss-ref-chosen is manual, which needs gnss-ref-manual-x, -y, -z or -lat, -lon, -alt to be complete'
  })

  return {
    choice: chosen.name,
    reference: [
      ...[chosen.name, acc.name, corr.name, hp.name, point.name, offset.name, provenance.name, source.name],
      ...[...groups, ...datum.reference],
    ],
    datum,
    point: () => ({ point: point.get(), offset_m: offset.get() }),
    limits: () => ({
      mintime_s: mintime.get(),
      maxtime_s: maxtime.get(),
      accuracy_m: accuracy.get(),
      accuracyCorr_m: accuracyCorr.get(),
    }),
    manual: () => ({
      ...entry((name) => (name === 'hp' ? hp.get() : entered[name].get())),
      acc: acc.get(),
      corr: corr.get(),
      // Absent if nothing was entered, so that the earlier stored entry stays equal.
      ...(point.get() === 'phase-centre' && { phaseCentre_m: offset.get() }),
      ...(datum.wanted().frame !== '' && { datum: datum.wanted() }),
      ...(provenance.get() !== 'entered' && { provenance: provenance.get() }),
      ...(source.get() !== '' && { source: source.get() }),
    }),
    announced: datum.announced,
    chosen: () => chosen.get(),
  }
}
