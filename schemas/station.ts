/** Entries of `GET /plugins`, `/parameters` and `/actions`, and the answers to a change and to an action. */
import Type, { type Static } from 'typebox'

/** `POST /change` and `base/{SN}/change/post`. The parameters depend on the running plugins. */
export const Change = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Change parameters and their new values, at most 65,536 bytes; one change is one transaction',
})
export type Change = Static<typeof Change>

/** A parameter, or an action, as a change names it. */
export interface ChangeField {
  readonly name: string
  readonly schema: object
  /** For a person; omitted: an action. */
  readonly title?: string
  readonly secret?: boolean
  /** Omitted: a secret, or an action. */
  readonly default?: unknown
}

/** A switch takes `true` and `false` beside 1 and 0. */
function relaxed(schema: object): object {
  const { type, minimum, maximum, ...rest } = schema as Record<string, unknown>
  const isSwitch = type === 'integer' && minimum === 0 && maximum === 1
  return isSwitch ? { ...rest, anyOf: [{ type, minimum, maximum }, { type: 'boolean' }] } : schema
}

/** Their schemas by name. */
export const fieldSchemas = (fields: readonly ChangeField[]): Record<string, object> =>
  Object.fromEntries(
    [...fields]
      .sort(({ name: a }, { name: b }) => (a < b ? -1 : 1))
      .map(({ name, schema, title, secret, default: preset }) => [
        name,
        {
          ...relaxed(schema),
          ...(title !== undefined && { title }),
          ...(secret && { writeOnly: true }),
          ...(preset !== undefined && { default: preset }),
        },
      ]),
  )

/** `Change` with these fields; others are allowed, and left over. */
export const changeOf = (fields: readonly ChangeField[]): object => ({ ...Change, properties: fieldSchemas(fields) })

/** The answer to a change, over HTTP and MQTT. */
export const ChangeAnswer = Type.Object({
  result: Type.Union([Type.Literal('ok'), Type.Literal('failed')]),
  leftover: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Submitted fields that belong to no plugin; all submitted fields if `failed`',
  }),
  errors: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), message: Type.String() }), {
      description: 'What is wrong with a `failed` change, or what the sender of a taken one should know: unknown names',
    }),
  ),
})
export type ChangeAnswer = Static<typeof ChangeAnswer>

/** {SN}. `fleet` is reserved: it is the common name of a fleet's own certificate, so a station of this name would have its rights. */
export const serialPattern = '^(?!fleet$)[A-Za-z0-9_-]{1,64}$'

/** `POST /system?cmd=…` and `base/{SN}/cmd`. The commands depend on the running plugins. */
export const Command = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: 'A command: `name` or `name=value`',
})

/** An action: `POST /actions/NAME`, `POST /system?NAME`, `base/{SN}/cmd`. */
export const ActionEntry = Type.Object({
  name: Type.String(),
  plugin: Type.String(),
  summary: Type.String(),
  caution: Type.Optional(Type.String({ description: 'Warning before use, e.g. that RTCM stops meanwhile' })),
  reads: Type.Boolean({ description: 'Only reads: a viewer may run it' }),
  input: Type.Record(Type.String(), Type.Unknown(), {
    description: 'JSON Schema of the input, an object; a field with `writeOnly` is secret',
  }),
})
export type ActionEntry = Static<typeof ActionEntry>

/** The answer of an action. */
export const ActionAnswer = Type.Object({
  text: Type.String({ description: 'For a person' }),
  value: Type.Optional(Type.Unknown({ description: 'For a program' })),
})

/** The answer to a wrong input. */
export const InputErrors = Type.Object({
  errors: Type.Array(Type.Object({ name: Type.String({ description: 'The field' }), message: Type.String() })),
})

/** A change parameter, with everything a form needs. */
export const ParameterEntry = Type.Object({
  name: Type.String(),
  plugin: Type.String(),
  title: Type.String({ description: 'For people; the name if the plugin gives none' }),
  schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the value' }),
  default: Type.Optional(Type.Unknown({ description: 'Omitted for a secret' })),
  value: Type.Optional(Type.Unknown({ description: 'Omitted for a secret' })),
  set: Type.Optional(Type.Boolean({ description: 'Only for a secret: whether it differs from the default' })),
  secret: Type.Boolean(),
  endsLink: Type.Boolean({ description: 'Changing it may disconnect the caller' }),
  onTrial: Type.Boolean({
    description: 'A change is reverted unless the caller reaches the station again',
  }),
})
export type ParameterEntry = Static<typeof ParameterEntry>

/** `base/{SN}/settings`: what can be set and done, without what is set. */
export const StationSettings = Type.Object(
  {
    parameters: Type.Array(Type.Omit(ParameterEntry, ['value', 'set'])),
    actions: Type.Array(ActionEntry),
  },
  { description: 'What can be set and done on a station' },
)
export type StationSettings = Static<typeof StationSettings>

export const PluginStateName = Type.Union([
  Type.Literal('waiting'),
  Type.Literal('starting'),
  Type.Literal('running'),
  Type.Literal('stopping'),
  Type.Literal('stopped'),
  Type.Literal('failed'),
  Type.Literal('quarantined'),
])
export type PluginStateName = Static<typeof PluginStateName>

export const PluginReport = Type.Object({
  name: Type.String(),
  version: Type.String(),
  state: PluginStateName,
  reason: Type.String({ description: 'Reason for the state, or a status text of the plugin' }),
  needs: Type.Array(Type.String(), { description: 'Service ids' }),
  provides: Type.Array(Type.String(), { description: 'Service ids' }),
})
export type PluginReport = Static<typeof PluginReport>
