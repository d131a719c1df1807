/** Another value than the present one for any parameter, from its schema. */
export interface Parameter {
  name: string
  plugin: string
  schema: Schema
  value?: unknown
  set?: boolean
  secret: boolean
}

interface Schema {
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  items?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
}

/** One of them fits any pattern that a parameter of the shipped plugins has. */
const texts = [
  'other-text',
  'other.example',
  'NL',
  '192.168.9.9',
  '192.168.9.9/24',
  '02:00:00:00:00:01',
  'https://other.example/path',
  'http://other.example/path',
  '/dev/ttyS9',
  '1077(2)',
  '1077',
  '12:30',
  '22:00-06:30',
  'me@example.org',
  '7',
  '',
]

/** Where a value has to fit another, or the station: a place on Earth, a gateway in its network, an interval that the receiver has. */
const fitting: Readonly<Record<string, unknown>> = {
  'alerts-hooks': [{ name: 'other', url: 'https://other.example/path' }],
  'alerts-zone': 'Europe/Berlin',
  'eth-gateway': '192.168.9.1',
  'gnss-msm-interval': 2,
  neighbours: [{ serial: 'OTHER' }],
  'map-tiles': 'https://other.example/{z}/{x}/{y}.png',
  'raw-push-url': 'https://other.example/raw',
  'gnss-ref-manual-x': 3_925_405.8088,
  'gnss-ref-manual-y': 274_491.1138,
  'gnss-ref-manual-z': 5_002_842.746,
}

/** Undefined where none is known. */
export function otherValue({ name, schema, value }: Parameter): unknown {
  if (name in fitting) return fitting[name]
  return candidates(schema).find((one) => one !== undefined && JSON.stringify(one) !== JSON.stringify(value))
}

/** Boundaries first. */
function candidates(schema: Schema): unknown[] {
  const { anyOf, enum: list, const: only, type, minimum = -1_000, maximum = 1_000 } = schema
  if (only !== undefined) return [only]
  if (list) return [...list]
  // What says nothing, null and an empty text, last.
  if (anyOf) return anyOf.flatMap(candidates).sort((one, other) => Number(isEmpty(one)) - Number(isEmpty(other)))
  if (type === 'null') return [null]
  if (type === 'boolean') return [true, false]
  if (type === 'integer' || type === 'number') return [maximum, minimum]
  if (type === 'string') return texts.filter((text) => fits(schema, text))
  if (type === 'array') return [[candidates(schema.items ?? {})[0]], []]
  if (type !== 'object') return []
  const names = schema.required ?? []
  return [Object.fromEntries(names.map((name) => [name, candidates(schema.properties?.[name] ?? {})[0]]))]
}

const fits = ({ pattern = '', minLength = 0, maxLength = 1_000 }: Schema, text: string) =>
  text.length >= minLength && text.length <= maxLength && new RegExp(pattern, 'u').test(text)

const isEmpty = (value: unknown) => value === null || value === ''
