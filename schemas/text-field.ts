/** Which actions are commands of one line: `NAME`, or `NAME=VALUE`. */
import type { TSchema } from 'typebox'

interface FieldSchema {
  readonly type?: unknown
  readonly const?: unknown
  readonly anyOf?: readonly FieldSchema[]
  readonly examples?: readonly unknown[]
  readonly writeOnly?: boolean
}

const scalars = new Set<unknown>(['string', 'integer', 'number', 'boolean'])
const isScalar = ({ type, anyOf }: FieldSchema): boolean => scalars.has(type) || anyOf?.every(isScalar) === true

/**
 * The field that the text `NAME=VALUE` of a command gives.
 * @param input the schema of an action
 * @returns undefined if there is no field, or several, or one that is not a scalar
 */
export function textField(input: object) {
  const { properties = {}, required = [] } = input as {
    properties?: Readonly<Record<string, FieldSchema>>
    required?: readonly string[]
  }
  const [[name, schema] = ['', {}], ...others] = Object.entries(properties)
  if (others.length > 0 || !isScalar(schema)) return undefined
  const { anyOf = [], examples = [], writeOnly = false } = schema
  return {
    name,
    schema: schema as TSchema,
    isRequired: required.includes(name),
    isSecret: writeOnly,
    /** Possible values of the field, or how they begin; empty if they cannot be listed. */
    words: [...anyOf.map((one) => one.const), ...examples].filter((one) => typeof one === 'string'),
  }
}
