/** What a station consists of, as `GET /plugins`, `/parameters` and `/commands` list it, and the answer to a change. */
import Type, { type Static } from 'typebox'

/** `POST /change` and `base/{SN}/change/post`. Which parameters there are depends on the plugins that run. */
export const Change = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Change parameters and their new values, at most 65,536 bytes; one change is one transaction',
})
export type Change = Static<typeof Change>

/** The answer to a change, over HTTP and MQTT. */
export const ChangeAnswer = Type.Object({
  result: Type.Union([Type.Literal('ok'), Type.Literal('failed')]),
  leftover: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Submitted fields that no plugin owns; everything that was submitted when `failed`',
  }),
  errors: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), message: Type.String() }), { description: 'Only when `failed`' }),
  ),
})
export type ChangeAnswer = Static<typeof ChangeAnswer>

/** `POST /system?cmd=…` and `base/{SN}/cmd`. Which commands there are depends on the plugins that run. */
export const Command = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: 'A command: `name` or `name=value`',
})

export const CommandEntry = Type.Object({
  name: Type.String(),
  help: Type.String(),
  plugin: Type.String(),
  value: Type.Boolean({ description: 'It takes text after `=`' }),
  caution: Type.Optional(
    Type.String({ description: 'What a person should know before it runs, e.g. that RTCM stops meanwhile' }),
  ),
  words: Type.Optional(Type.Array(Type.String(), { description: 'Of a group: what its value begins with' })),
})
export type CommandEntry = Static<typeof CommandEntry>

/** A change parameter, as a form needs it. */
export const ParameterEntry = Type.Object({
  name: Type.String(),
  plugin: Type.String(),
  title: Type.String({ description: 'For a person; the name where the plugin gives none' }),
  schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the value' }),
  default: Type.Optional(Type.Unknown({ description: 'Not of a secret' })),
  value: Type.Optional(Type.Unknown({ description: 'Not of a secret' })),
  set: Type.Optional(Type.Boolean({ description: 'Only of a secret: whether it is other than its default' })),
  secret: Type.Boolean(),
  endsLink: Type.Boolean({ description: "A change of it may end the caller's own connection" }),
  onTrial: Type.Boolean({
    description: 'A change of it is set back unless the caller reaches the station again',
  }),
})
export type ParameterEntry = Static<typeof ParameterEntry>

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
  reason: Type.String({ description: 'Why it is in that state, or what it says of itself' }),
  needs: Type.Array(Type.String(), { description: 'Ids of services' }),
  provides: Type.Array(Type.String(), { description: 'Ids of services' }),
})
export type PluginReport = Static<typeof PluginReport>
