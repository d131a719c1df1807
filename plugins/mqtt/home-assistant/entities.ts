/** The metrics and buttons that Home Assistant shows: safety from the services, the rest from the document. */
import { type Verdict, valueAt } from 'rtk-base/schemas'
import type { Reception } from 'rtk-base/services'

/** Input of the entities; undefined: unknown. */
export interface Evidence {
  readonly document: Record<string, unknown>
  readonly verdict: Pick<Verdict, 'fitness' | 'why'> | undefined
  readonly reception: Pick<Reception, 'antenna' | 'satellitesUsed'> | undefined
}

export interface Entity {
  readonly name: string
  readonly platform: 'sensor' | 'binary_sensor'
  /** Value of the entity; undefined: not known. */
  read(evidence: Evidence): unknown
  /** As Home Assistant names it: `device_class`, `unit_of_measurement`, `state_class`, `icon`. */
  readonly facts: Readonly<Record<string, string>>
  /** For a `binary_sensor`: it is on when the value is one of these. */
  readonly on?: readonly string[]
}

const field =
  (path: string) =>
  ({ document }: Evidence): unknown =>
    valueAt(document, path)
/** For fields where 0 means unknown. */
const unless0 = (path: string) => (evidence: Evidence) => field(path)(evidence) || undefined

const measurement = { state_class: 'measurement' }

export const entities: Readonly<Record<string, Entity>> = {
  fitness: {
    name: 'Fitness',
    platform: 'sensor',
    read: ({ verdict }) => verdict?.fitness,
    facts: { icon: 'mdi:check-decagram' },
  },
  why: {
    name: 'Why',
    platform: 'sensor',
    read: ({ verdict }) => verdict?.why,
    facts: { icon: 'mdi:comment-question' },
  },
  status: {
    name: 'GNSS status',
    platform: 'sensor',
    read: field('gnss.state.status'),
    facts: { icon: 'mdi:satellite-variant' },
  },
  problem: {
    name: 'Problem',
    platform: 'binary_sensor',
    read: ({ verdict }) => verdict?.fitness,
    facts: { device_class: 'problem' },
    on: ['unfit', 'degraded'],
  },
  antenna: {
    name: 'Antenna',
    platform: 'binary_sensor',
    // Unknown is neither a problem nor the absence of one.
    read: ({ reception }) => (/^(ok|open|short)$/.test(reception?.antenna ?? '') ? reception?.antenna : undefined),
    facts: { device_class: 'problem' },
    on: ['open', 'short'],
  },
  satellites: {
    name: 'Satellites used',
    platform: 'sensor',
    read: ({ reception }) => reception?.satellitesUsed,
    facts: { ...measurement, icon: 'mdi:satellite-uplink' },
  },
  accuracy: {
    name: 'Accuracy of the survey',
    platform: 'sensor',
    read: unless0('gnss.ref.survey.acc'),
    facts: { ...measurement, device_class: 'distance', unit_of_measurement: 'm' },
  },
  delta: {
    name: 'Distance to the reference',
    platform: 'sensor',
    read: unless0('gnss.pos.delta'),
    facts: { ...measurement, device_class: 'distance', unit_of_measurement: 'm' },
  },
  uptime: {
    name: 'Uptime',
    platform: 'sensor',
    read: field('esp.state.uptime'),
    facts: { device_class: 'duration', unit_of_measurement: 's', entity_category: 'diagnostic' },
  },
}

/** Commands of the specification that make sense as buttons. */
export const buttons: Readonly<Record<string, string>> = { 'start-survey-in': 'Start survey-in', reboot: 'Restart' }

/** Payload of the state topic: one value per entity, null if unknown. */
export const stateOf = (evidence: Evidence): Record<string, unknown> =>
  Object.fromEntries(Object.entries(entities).map(([key, { read }]) => [key, read(evidence) ?? null]))

/** The name that people gave the station; `''` for none. */
export const nameOf = (document: Record<string, unknown>): string =>
  (document as { base?: { name?: string } }).base?.name ?? ''
