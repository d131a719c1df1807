/** JSON Schemas as TypeScript declarations, with their descriptions. Pure. */

interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly type?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly description?: string
  readonly title?: string
}

const primitives: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

const header = `// Generated from the schemas; see schemas/README.md.
/** Types of the data on HTTP and MQTT, by their names in /openapi.json and /asyncapi.json. */

type DeepPartial<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: DeepPartial<T[K]> } : T

`

/** One exported type for each schema. */
export const declarations = (schemas: Readonly<Record<string, Schema>>): string =>
  header +
  Object.entries(schemas)
    .map(([name, schema]) => `${comment(schema, '')}export type ${name} = ${parts[name] ?? typeOf(schema, '')}\n`)
    .join('\n')

/** Parts of others: their schemas repeat every field. */
const parts: Readonly<Record<string, string>> = { InfoDocumentPart: 'DeepPartial<InfoDocument>' }

function typeOf(schema: Schema, indent: string): string {
  const { $ref, anyOf, type, items } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  if (anyOf && type === undefined) return [...new Set(anyOf.map((one) => typeOf(one, indent)))].join(' | ')
  if (type === 'array') return `Array<${typeOf(items ?? {}, indent)}>`
  if (type === 'object') return objectOf(schema, indent)
  return primitives[type ?? ''] ?? 'unknown'
}

function objectOf({ properties = {}, required = [], patternProperties = {} }: Schema, indent: string): string {
  const [others] = Object.values(patternProperties)
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(schema, inner)}${inner}${key(name)}${mark}: ${typeOf(schema, inner)}\n`
  })
  if (fields.length === 0) return `Record<string, ${others ? typeOf(others, inner) : 'unknown'}>`
  const index = others ? `${inner}[name: string]: ${typeOf(others, inner)}\n` : ''
  return `{\n${fields.join('')}${index}${indent}}`
}

function comment({ title, description }: Schema, indent: string): string {
  const text = [title, description].filter(Boolean).join('. ').replaceAll('*/', '* /')
  return text === '' ? '' : `${indent}/** ${text.replaceAll('\n', `\n${indent} * `)} */\n`
}

const literal = (value: unknown) => JSON.stringify(value)
const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))
