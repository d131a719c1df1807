/** The figures and buttons that Home Assistant shows, and where they are in the information document. */
import { valueAt } from 'rtk-base/schemas'

export interface Entity {
  readonly name: string
  readonly platform: 'sensor' | 'binary_sensor'
  /** In the document. */
  readonly path: string
  /** As Home Assistant names it: `device_class`, `unit_of_measurement`, `state_class`, `icon`. */
  readonly facts: Readonly<Record<string, string>>
  /** Of a `binary_sensor`: it is on when the value is one of these. */
  readonly on?: readonly string[]
  /** 0 says that nothing is known. */
  readonly isUnknownAt0?: boolean
  /** Of the receiver: what an absent one said last is not known now. */
  readonly isReceivers?: boolean
}

const measurement = { state_class: 'measurement' }

export const entities: Readonly<Record<string, Entity>> = {
  fitness: {
    name: 'Fitness',
    platform: 'sensor',
    path: 'base.state.verdict.fitness',
    facts: { icon: 'mdi:check-decagram' },
  },
  why: { name: 'Why', platform: 'sensor', path: 'base.state.verdict.why', facts: { icon: 'mdi:comment-question' } },
  status: {
    name: 'GNSS status',
    platform: 'sensor',
    path: 'gnss.state.status',
    facts: { icon: 'mdi:satellite-variant' },
  },
  problem: {
    name: 'Problem',
    platform: 'binary_sensor',
    path: 'base.state.verdict.fitness',
    facts: { device_class: 'problem' },
    on: ['unfit', 'degraded'],
  },
  antenna: {
    name: 'Antenna',
    platform: 'binary_sensor',
    path: 'gnss.state.antenna.status',
    facts: { device_class: 'problem' },
    on: ['open', 'short'],
    isReceivers: true,
  },
  satellites: {
    name: 'Satellites used',
    platform: 'sensor',
    path: 'gnss.state.satuse',
    facts: { ...measurement, icon: 'mdi:satellite-uplink' },
  },
  accuracy: {
    name: 'Accuracy of the survey',
    platform: 'sensor',
    path: 'gnss.ref.survey.acc',
    isUnknownAt0: true,
    facts: { ...measurement, device_class: 'distance', unit_of_measurement: 'm' },
  },
  delta: {
    name: 'Distance to the reference',
    platform: 'sensor',
    path: 'gnss.pos.delta',
    isUnknownAt0: true,
    facts: { ...measurement, device_class: 'distance', unit_of_measurement: 'm' },
  },
  uptime: {
    name: 'Uptime',
    platform: 'sensor',
    path: 'esp.state.uptime',
    facts: { device_class: 'duration', unit_of_measurement: 's', entity_category: 'diagnostic' },
  },
}

/** Commands of the specification that make sense as buttons. */
export const buttons: Readonly<Record<string, string>> = { 'start-survey-in': 'Start survey-in', reboot: 'Restart' }

/** What the state topic carries: one value an entity, null where it is not known. */
export function stateOf(document: Record<string, unknown>): Record<string, unknown> {
  const isAway = /^(offline|stalled)$/.test(String(valueAt(document, 'gnss.state.status')))
  const known = ({ path, isReceivers, isUnknownAt0 }: Entity) => {
    const value = valueAt(document, path)
    return (isReceivers && isAway) || (isUnknownAt0 && value === 0) ? null : (value ?? null)
  }
  return Object.fromEntries(Object.entries(entities).map(([key, entity]) => [key, known(entity)]))
}
