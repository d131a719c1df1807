/**
 * The contract as files for editors, validators and compilers: `schemas/*.json` and `schemas/contract.d.ts`, made of
 * the schemas, the options and the parameters of the shipped plugins. Pure. A test compares them with the written
 * files; see `schemas/README.md`.
 */
import type { TSchema } from 'typebox'
import { asyncApi } from '../../../schemas/mqtt/async-api.js'
import { topics } from '../../../schemas/mqtt/topics.js'
import { named, plain, rewritten, withReferences } from '../../../schemas/named.js'
import { type ChangeField, changeOf, fieldSchemas } from '../../../schemas/station.js'
import { Variant } from '../../../schemas/variant.js'
import { declarations } from './declarations.js'

export interface Shipped {
  /** By name of the plugin; undefined: it has none. */
  readonly options: Readonly<Record<string, TSchema | undefined>>
  readonly parameters: readonly ChangeField[]
}

type Json = Record<string, unknown>

/** A property with a default is optional. */
const withoutDefaults = <T>(schema: T): T =>
  rewritten(schema, ({ required, ...rest }) => {
    const properties = (rest.properties ?? {}) as Record<string, Json>
    const needed = Array.isArray(required) ? required.filter((name) => properties[name]?.default === undefined) : []
    return { ...rest, ...(needed.length > 0 && { required: needed }) }
  })

const namesOf = (values: object) => Object.keys(values).toSorted((a, b) => (a < b ? -1 : 1))

/** A plugin's options: no others are allowed, as at loading. A schema without properties is open. */
function optionsOf(schema: TSchema | undefined): Json {
  if (schema === undefined) return { type: 'object', additionalProperties: false }
  const given = withoutDefaults(plain<Json>(schema))
  return given.properties === undefined ? given : { ...given, additionalProperties: false }
}

/** A section of the runtime: nothing else, as at the start of the service. */
const sectionOf = (field: unknown): unknown =>
  (field as Json).properties === undefined ? field : { ...(field as Json), additionalProperties: false }

/** Names of parameters and options of plugins that are not shipped are not known: a variant that has one takes any. */
function variantOf({ options, parameters }: Shipped): Json {
  const { properties, ...rest } = withoutDefaults(plain<{ properties: Json }>(Variant))
  const values = fieldSchemas(parameters.filter(({ title }) => title !== undefined))
  const shipped = namesOf(options)
  return {
    ...rest,
    properties: {
      ...Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, sectionOf(field)])),
      changes: { ...(properties.changes as Json), properties: values },
      plugins: {
        ...(properties.plugins as Json),
        propertyNames: { anyOf: [{ enum: shipped }, { pattern: '^([.@/]|[a-z0-9][a-z0-9._-]*$)' }] },
        properties: Object.fromEntries(shipped.map((name) => [name, optionsOf(options[name])])),
      },
    },
    if: { properties: { plugins: { propertyNames: { enum: shipped } } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { changes: { propertyNames: { enum: Object.keys(values) } } } },
  }
}

const at = '#/$defs/'

function schemaFile(name: string, title: string, schema: object, own = {}): Json {
  const { part, definitions } = withReferences<object>({ schema }, at, own)
  const { schema: body } = part as { schema: Json }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:rtk-base:schema:${name}`,
    title,
    ...body,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  }
}

/** By path below the package. */
export function schemaFiles(shipped: Shipped): Record<string, string> {
  const own = { Change: changeOf(shipped.parameters) }
  const text = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
  const { definitions } = withReferences(named, at, own)
  return {
    'schemas/document.schema.json': text(schemaFile('document', 'Status document', named.InfoDocument)),
    'schemas/change.schema.json': text(schemaFile('change', 'Change', own.Change)),
    'schemas/variant.schema.json': text(schemaFile('variant', 'Variant', variantOf(shipped))),
    // The version of the interface: it does not follow the releases.
    'schemas/asyncapi.json': text(asyncApi({ version: '1.0.0', topics: Object.values(topics) })),
    'schemas/contract.d.ts': declarations(definitions),
  }
}
