/** Derives a form field from the JSON Schema of its parameter, and converts its text to a value. Pure. */
import { hostOf, isHostSchema } from '../../../../platform/address/host-name.js'

/** JSON Schema, as far as forms need it. */
export interface Schema {
  type?: string
  /** English label of a part, or English words of a constant. */
  title?: string
  description?: string
  writeOnly?: boolean
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  items?: Schema
  maxItems?: number
  properties?: Record<string, Schema>
  required?: readonly string[]
}

/** A parameter, as far as its field needs it. */
export interface Entered {
  readonly name: string
  readonly schema: Schema
  /** Never read: without a value. */
  readonly secret?: boolean
  readonly value?: unknown
}

/** `object`, `list`: of fields without further ones in them; `json`: everything else. */
export type FieldKind = 'switch' | 'flag' | 'number' | 'text' | 'choice' | 'object' | 'list' | 'json'

export interface Field {
  readonly kind: FieldKind
  /** The empty text means null. */
  readonly nullable: boolean
  readonly choices: readonly unknown[]
  readonly schema: Schema
}

const isNull = ({ type, const: only }: Schema) => type === 'null' || only === null

export function fieldOf(schema: Schema): Field {
  const options = schema.anyOf ?? []
  const nullable = options.some(isNull)
  const rest = options.filter((one) => !isNull(one))
  const choices =
    schema.enum ?? (rest.length > 1 && rest.every((one) => 'const' in one) ? rest.map((one) => one.const) : [])
  const inner = rest.length === 1 ? { ...schema, ...rest[0] } : schema
  const field = (kind: FieldKind): Field => ({ kind, nullable, choices, schema: inner })
  if (choices.length > 0) return field('choice')
  if (inner.type === 'boolean') return field('flag')
  if (inner.type === 'integer' && inner.minimum === 0 && inner.maximum === 1) return field('switch')
  if (inner.type === 'integer' || inner.type === 'number') return field('number')
  if (inner.type === 'string') return field('text')
  if (inner.type === 'object' && isFlat(inner)) return field('object')
  const { items } = inner
  if (inner.type === 'array' && items && (isFlat(items) || isOne(items))) return field('list')
  return field('json')
}

const composed: readonly FieldKind[] = ['object', 'list', 'json']
const isOne = (schema: Schema) => !composed.includes(fieldOf(schema).kind)
const isFlat = ({ type, properties = {} }: Schema) =>
  type === 'object' && Object.keys(properties).length > 0 && Object.values(properties).every(isOne)

/** English words of a choice; its value where the schema has none. */
export const choiceText = ({ schema }: Field, value: string): string =>
  schema.anyOf?.find((one) => String(one.const) === value)?.title ?? value

/** Whether the field is an `object`, `list` or `json`: the text is JSON. */
export const isComposed = ({ kind }: Field): boolean => composed.includes(kind)

/** A value for people, without braces and quotes. */
export function shownValue(field: Field, value: unknown): string {
  if (!isComposed(field) || field.kind === 'json') return textOf(field, value)
  const parts = (one: unknown): string =>
    typeof one === 'object' && one !== null
      ? Object.values(one)
          .filter((part) => part !== '')
          .map(parts)
          .join(', ')
      : String(one)
  return (Array.isArray(value) ? value : [value]).map(parts).join('; ') || '–'
}

/** Units that a label may end with: `Height above the marker, m`. */
const unit = /, (m|s|°|min|dBm|bytes\/s)$/

/** A label without its unit, which is shown in the field. */
export function unitOf(label: string): { label: string; unit: string } {
  const found = unit.exec(label)
  return found ? { label: label.slice(0, found.index), unit: found[1] ?? '' } : { label, unit: '' }
}

/** The bounds of a number; undefined without both. */
export function boundsOf({ kind, schema }: Field): { least: number; most: number } | undefined {
  const { minimum, maximum } = schema
  if (kind !== 'number' || minimum === undefined || maximum === undefined) return undefined
  return { least: minimum, most: maximum }
}

/** Why a field cannot have this text, as a text `settings.wrong.NAME` with values; undefined: only the station may refuse it. */
export interface Wrong {
  readonly name: 'number' | 'whole' | 'between' | 'least' | 'most' | 'longest' | 'host'
  readonly values: Readonly<Record<string, number>>
}

export function wrongOf(field: Field, text: string): Wrong | undefined {
  const { kind, nullable, schema } = field
  const { maximum: most, minimum: least, maxLength: longest, pattern = '' } = schema
  if (kind === 'text') {
    const isHost = isHostSchema(schema)
    // As the station cleans it.
    const entered = isHost ? hostOf(text) : text
    if (longest !== undefined && entered.length > longest) return { name: 'longest', values: { longest } }
    return isHost && !new RegExp(pattern, 'u').test(entered) ? { name: 'host', values: {} } : undefined
  }
  if (kind !== 'number' || (nullable && text.trim() === '')) return undefined
  const number = valueFrom(field, text)
  if (typeof number !== 'number') return { name: 'number', values: {} }
  if (schema.type === 'integer' && !Number.isInteger(number)) return { name: 'whole', values: {} }
  const isBelow = least !== undefined && number < least
  const isAbove = most !== undefined && number > most
  if (!isBelow && !isAbove) return undefined
  if (least !== undefined && most !== undefined) return { name: 'between', values: { least, most } }
  return least === undefined ? { name: 'most', values: { most: most ?? 0 } } : { name: 'least', values: { least } }
}

/** A value as text of its field. */
export function textOf(field: Field, value: unknown): string {
  if (value === undefined || value === null) return ''
  return isComposed(field) ? JSON.stringify(value, null, 2) : String(value)
}

/** The value to submit. An invalid number is submitted as text, and the station reports the error. */
export function valueFrom({ kind, nullable, choices }: Field, text: string): unknown {
  if (text === '' && nullable) return null
  if (kind === 'choice') return choices.find((one) => String(one) === text) ?? text
  if (kind === 'switch') return text === '1' ? 1 : 0
  if (kind === 'flag') return text === 'true'
  if (kind === 'number') {
    const number = Number(text.replace(',', '.'))
    return text.trim() === '' || Number.isNaN(number) ? text : number
  }
  if (!composed.includes(kind)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Entered texts by name → differences from the current values. */
export function changesOf(parameters: readonly Entered[], entered: ReadonlyMap<string, string>): Map<string, unknown> {
  const changes = new Map<string, unknown>()
  for (const parameter of parameters) {
    const text = entered.get(parameter.name)
    if (text === undefined) continue
    const field = fieldOf(parameter.schema)
    const isSame = (field.kind === 'number' ? text.replace(',', '.') : text) === textOf(field, parameter.value)
    if (parameter.secret || !isSame) changes.set(parameter.name, valueFrom(field, text))
  }
  return changes
}

/** The input of an action, of the texts of its fields: an empty one that is not required is left out. */
export function inputFrom({ properties = {}, required = [] }: Schema, texts: Readonly<Record<string, string>>) {
  const given = Object.entries(properties).flatMap(([name, schema]) => {
    const text = texts[name] ?? ''
    return text === '' && !required.includes(name) ? [] : [[name, valueFrom(fieldOf(schema), text)] as const]
  })
  return Object.fromEntries(given)
}
