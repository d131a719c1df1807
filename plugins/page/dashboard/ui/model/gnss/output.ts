/** The choice of satellites and messages: what is in the form, what it changes and what that costs. Pure. */
import type { TextKey } from '../../i18n/en.js'

export const systems = ['gps', 'galileo', 'beidou', 'glonass'] as const
export type System = (typeof systems)[number]

/** The answer of `GET /receiver-output`. */
export interface OutputNow {
  readonly model: string
  /** Members of `now` that can be set. */
  readonly can: readonly string[]
  /** Possible intervals of observations, s. */
  readonly intervals: readonly number[]
  readonly now: Readonly<Partial<Record<Member, unknown>>>
}

/** Member → its parameter. */
const parameters = {
  constellations: 'gnss-constellations',
  elevationMask_deg: 'gnss-elevation-mask',
  msm: 'gnss-msm',
  observationInterval_s: 'gnss-msm-interval',
  referenceInterval_s: 'gnss-reference-interval',
  biasInterval_s: 'gnss-bias-interval',
} as const
export type Member = keyof typeof parameters
export const members = Object.keys(parameters) as Member[]
/** Members whose value is typed. */
export const numbers = ['elevationMask_deg', 'referenceInterval_s', 'biasInterval_s'] as const
export const parameterOf = (member: Member): string => parameters[member]

/** Texts of the fields. Of constellations: their names with spaces between. */
export type Entered = Readonly<Record<Member, string>>

/** The form as the receiver is now. An unknown value is an empty field. */
export function formOf({ now }: OutputNow): Entered {
  const text = (value: unknown) =>
    Array.isArray(value)
      ? systems.filter((one) => value.includes(one)).join(' ')
      : value === undefined
        ? ''
        : `${value}`
  return Object.fromEntries(members.map((name) => [name, text(now[name])])) as unknown as Entered
}

export const has = ({ constellations }: Entered, system: System): boolean => constellations.split(' ').includes(system)

export function toggled(form: Entered, system: System): Entered {
  const next = systems.filter((one) => (one === system) !== has(form, one))
  return { ...form, constellations: next.join(' ') }
}

/** Parameters and their new values. A field that was emptied leaves it to the receiver's plugin. */
export function changesOf(before: Entered, form: Entered): Record<string, unknown> {
  const changed = members.filter((name) => form[name].trim() !== before[name])
  return Object.fromEntries(changed.map((name) => [parameters[name], entryOf(name, form[name].trim())]))
}

function entryOf(name: Member, text: string): unknown {
  if (name === 'constellations') return text === '' ? [] : text.split(' ')
  if (text === '') return null
  const number = Number(text.replace(',', '.'))
  return Number.isNaN(number) ? text : number
}

/** Why the form cannot be saved. */
export function wrongOf(before: Entered, form: Entered): TextKey | '' {
  if (form.constellations === before.constellations) return ''
  return has(form, 'gps') || has(form, 'galileo') || has(form, 'beidou') ? '' : 'output.wrong.constellations'
}

/** GPS and GLONASS without Galileo and BeiDou: the movement check is weaker. */
export const isWeak = (form: Entered): boolean =>
  form.constellations !== '' && !has(form, 'galileo') && !has(form, 'beidou')

/** Notices of the cost of saving, and of what it weakens; in the order to read. */
export function noticesOf(before: Entered, form: Entered): readonly TextKey[] {
  const changes = changesOf(before, form)
  if (Object.keys(changes).length === 0) return []
  const isOtherSky = parameters.constellations in changes
  const isRarer =
    Number(form.observationInterval_s) > 3 &&
    Number(form.observationInterval_s) > 3 * Number(before.observationInterval_s)
  return [
    isOtherSky ? 'output.cost.constellations' : isRarer ? 'output.cost.rarer' : 'output.cost.messages',
    ...(isOtherSky && isWeak(form) ? (['output.weak'] as const) : []),
  ]
}
