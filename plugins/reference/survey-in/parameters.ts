/** The change parameters of the survey-in, of the reference and of its frame, and the rules across them. */
import { type DatumWish, type FrameName, frameNames, frameTexts, type PlateName, plateTexts } from 'rtk-base/gnss'
import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { type Static, type TSchema, Type } from 'typebox'
import type { Datum } from './reference/datum.js'
import {
  disagreement,
  leastSure_m,
  longestText,
  type ManualEntry,
  manualPosition,
  printable,
} from './reference/manual-entry.js'
import type { SurveyLimits } from './survey/survey-run.js'

const isPrintable = new RegExp(printable)

const seconds = Type.Integer({ minimum: 0, maximum: 2_592_000 })
const metres = (minimum: number, maximum: number) => Type.Number({ minimum, maximum })

/** A number that may be left out. */
const optional = (most: number, sign = '') =>
  Type.Union([Type.Number({ minimum: -most, maximum: most }), Type.Null()], { description: `${sign}Empty: none` })

const coordinates = {
  lat: [optional(90, 'Negative to the south. '), 'latitude, °'],
  lon: [optional(180, 'Negative to the west. '), 'longitude, °'],
  alt: [optional(7e6), 'height above the ellipsoid, m'],
  x: [optional(7e6), 'ECEF X, m'],
  y: [optional(7e6), 'ECEF Y, m'],
  z: [optional(7e6), 'ECEF Z, m'],
} as const
type Coordinate = keyof typeof coordinates
const names = Object.keys(coordinates) as Coordinate[]
const angles: readonly Coordinate[] = ['lat', 'lon', 'alt']
const axes: readonly Coordinate[] = ['x', 'y', 'z']
const keyOf = (name: string) => `gnss-ref-manual-${name}`

export type Parameters = ReturnType<typeof defineParameters>

export function defineParameters({ config }: Pick<PluginContext, 'config'>) {
  const define = <S extends TSchema>(name: string, schema: S, value: Static<S>, title: string) =>
    config.define(name, schema, { default: value, title })
  const entered = <S extends TSchema>(name: string, schema: S, value: Static<S>, title: string) =>
    define(keyOf(name), schema, value, `Entered position: ${title}`)

  const survey = {
    mintime: define('gnss-survey-mintime', seconds, 300, 'Survey-in: minimum time, s'),
    maxtime: define('gnss-survey-maxtime', seconds, 86_400, 'Survey-in: maximum time, s'),
    accuracy: define('gnss-survey-accuracy', metres(0.001, 1000), 2, 'Survey-in: required accuracy, m'),
    accuracyCorr: define(
      'gnss-survey-accuracy-corr',
      metres(0.001, 100),
      0.03,
      'Survey-in with corrections: required accuracy, m',
    ),
  }
  const acc = entered('acc', metres(0, leastSure_m), 0, 'accuracy, 3D 1 sigma, m')
  const corr = entered('corr', Type.Boolean(), false, 'was determined with RTK corrections')
  const hp = entered('hp', Type.Boolean(), true, 'use it to 0.1 mm')
  const coordinate = Object.fromEntries(
    names.map((name) => [name, entered(name, coordinates[name][0] as TSchema, null, coordinates[name][1])]),
  ) as Record<Coordinate, ConfigKey<number | null>>
  const pointShape = Type.Union([
    Type.Literal('arp', { title: 'antenna reference point' }),
    Type.Literal('phase-centre', { title: 'phase centre' }),
  ])
  const point = entered('point', pointShape, 'arp', 'reference point or phase centre')
  const offset = define(keyOf('offset'), metres(-1, 1), 0, 'Phase centre above the reference point of the antenna, m')
  const sourceShape = Type.String({
    maxLength: 127,
    pattern: printable,
    description: 'Where the coordinates come from, e.g. a report. Cleared by other coordinates',
  })
  const source = entered('source', sourceShape, '', 'source')
  const provenanceShape = Type.Union(
    [Type.Literal('entered', { title: 'entered' }), Type.Literal('ppp', { title: 'precise point positioning (PPP)' })],
    { description: 'How the coordinates were determined. Other coordinates reset it' },
  )
  const provenance = entered('provenance', provenanceShape, 'entered', 'provenance')
  const chosenShape = Type.Union([
    Type.Literal('manual', { title: 'entered position' }),
    Type.Literal('survey', { title: 'surveyed position' }),
  ])
  const wanted = defineDatum('gnss-ref', 'Reference', "of this station's reference")
  const corrections = defineDatum('gnss-recvrtcm', 'Corrections', 'of the correction source')
  const announced = defineAnnounced()
  const chosen = define('gnss-ref-chosen', chosenShape, 'survey', 'Which reference is used')

  function defineDatum(prefix: string, title: string, of: string) {
    const text = (name: string, what: string, description: string) => {
      const shape = Type.String({ maxLength: longestText, description })
      const key = define(`${prefix}-${name}`, shape, '', `${title}: ${what}`)
      config.rule([key.name], (get) =>
        isPrintable.test(get(key.name) as string) ? undefined : `${key.name} may hold printable ASCII characters only`,
      )
      return key
    }
    const frame = text('frame', 'frame', `The frame ${of}, e.g. ETRF2000, at most ${longestText} characters`)
    const epoch = text('epoch', 'epoch of the frame', `The epoch ${of}, e.g. 2010.0, at most ${longestText} characters`)
    return {
      names: [frame.name, epoch.name],
      read: (): Datum => ({ frame: frame.get().trim(), epoch: epoch.get().trim() }),
    }
  }

  function defineAnnounced() {
    const frameShape = Type.Enum(['', ...frameNames], {
      description: `${frameNames.map((name) => `${name}: ${frameTexts[name]}`).join('; ')}. Empty: the frame of the reference, unchanged`,
    })
    const epochShape = Type.Union([Type.Null(), Type.Number({ minimum: 1980, maximum: 2100 })], {
      description: 'Decimal year, e.g. 2010.0; empty: the epoch of the reference. Needs the tectonic plate',
    })
    const plateNames = Object.keys(plateTexts) as PlateName[]
    const plateShape = Type.Union(
      [Type.Literal(''), ...plateNames.map((name) => Type.Literal(name, { title: plateTexts[name] }))],
      { description: 'Tectonic plate that carries the station. Empty: unknown' },
    )
    const frame = define('gnss-announce-frame', frameShape, '', 'Announced position: frame')
    const epoch = define('gnss-announce-epoch', epochShape, null, 'Announced position: epoch')
    const plate = define('gnss-plate', plateShape, '', 'Tectonic plate')
    config.rule([epoch.name, plate.name], (get) =>
      get(epoch.name) !== null && get(plate.name) === ''
        ? 'gnss-announce-epoch needs gnss-plate: between two epochs, the plate moves the station'
        : undefined,
    )
    return {
      names: [frame.name, epoch.name, plate.name],
      read: (): DatumWish => ({
        frame: (frame.get() || undefined) as FrameName | undefined,
        epoch: epoch.get() ?? undefined,
        plate: (plate.get() || undefined) as PlateName | undefined,
      }),
    }
  }

  const entryBy = (get: (name: Coordinate | 'hp') => unknown): ManualEntry =>
    Object.fromEntries([...names, 'hp' as const].map((name) => [name, get(name)])) as unknown as ManualEntry

  config.rule([survey.mintime.name, survey.maxtime.name], (get) => {
    const [shortest, longest] = [get(survey.mintime.name) as number, get(survey.maxtime.name) as number]
    return shortest <= longest ? undefined : `gnss-survey-mintime ${shortest} is above gnss-survey-maxtime ${longest}`
  })
  config.rule([point.name, offset.name], (get) =>
    get(point.name) === 'phase-centre' && get(offset.name) === 0
      ? 'gnss-ref-manual-point is phase-centre, which needs gnss-ref-manual-offset: how far the phase centre is above the reference point of the antenna, metres'
      : undefined,
  )
  const groups = names.map(keyOf)
  config.rule(groups, (get, changed) => {
    const problem = disagreement(entryBy((name) => get(keyOf(name))))
    if (!problem) return undefined
    // The group that this change completes replaces the other; two that disagree in one change are a mistake.
    const touched = [axes, angles].filter((group) => group.some((name) => changed.has(keyOf(name))))
    if (touched.length > 1) return problem
    const replaced = touched[0] === axes ? angles : axes
    return { set: Object.fromEntries(replaced.map((name) => [keyOf(name), null])) }
  })
  for (const [{ name }, none] of [[source, ''] as const, [provenance, 'entered'] as const])
    config.rule(groups, (get, changed) =>
      get(name) !== none && !changed.has(name) ? { set: { [name]: none } } : undefined,
    )
  config.rule([chosen.name, ...groups], (get) => {
    if (get(chosen.name) !== 'manual' || manualPosition(entryBy((name) => get(keyOf(name))))) return undefined
    return 'gnss-ref-chosen is manual, which needs gnss-ref-manual-x, -y, -z or -lat, -lon, -alt to be complete'
  })

  return {
    /** The parameter that chooses the reference. */
    choice: chosen.name,
    /** The parameters that make up the reference. */
    reference: [
      ...[chosen, acc, corr, hp, point, offset, provenance, source].map(({ name }) => name),
      ...[...groups, ...wanted.names, ...announced.names],
    ],
    /** The parameters of the corrections' frame. */
    corrections: corrections.names,
    chosen: () => chosen.get(),
    /** The intended frame and epoch of the station's reference. */
    wantedDatum: wanted.read,
    /** The declared frame and epoch of the corrections. */
    correctionDatum: corrections.read,
    /** The frame and epoch that the station announces its reference in. */
    announced: announced.read,
    /** Which point of the antenna was entered, and how far the phase centre is above the reference point. */
    point: () => ({ point: point.get(), offset_m: offset.get() }),
    limits: (): SurveyLimits => ({
      mintime_s: survey.mintime.get(),
      maxtime_s: survey.maxtime.get(),
      accuracy_m: survey.accuracy.get(),
      accuracyCorr_m: survey.accuracyCorr.get(),
    }),
    /** As entered, with what is known of it. */
    manual: () => ({
      ...entryBy((name) => (name === 'hp' ? hp.get() : coordinate[name].get())),
      acc: acc.get(),
      corr: corr.get(),
      // Absent if nothing was entered, so that the earlier stored entry stays equal.
      ...(point.get() === 'phase-centre' && { phaseCentre_m: offset.get() }),
      ...(wanted.read().frame !== '' && { datum: wanted.read() }),
      ...(provenance.get() !== 'entered' && { provenance: provenance.get() }),
      ...(source.get() !== '' && { source: source.get() }),
    }),
  }
}
