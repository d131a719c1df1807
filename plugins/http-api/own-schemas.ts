/** Station-specific versions of the named schemas of the contract: the parameters and commands of its plugins. Pure. */
import { Change, Command } from 'rtk-base/schemas'
import type { CommandEntry, ParameterEntry } from 'rtk-base/services'

export function ownSchemas(parameters: readonly ParameterEntry[], commands: readonly CommandEntry[]) {
  return { Change: changeOf(parameters), Command: commandOf(commands) }
}

/** A switch takes `true` and `false` beside 1 and 0. */
const relaxed = (schema: ParameterEntry['schema']) => {
  const { type, minimum, maximum, ...rest } = schema
  return type === 'integer' && minimum === 0 && maximum === 1
    ? { ...rest, anyOf: [{ type, minimum, maximum }, { type: 'boolean' }] }
    : schema
}

const changeOf = (parameters: readonly ParameterEntry[]) => ({
  ...Change,
  properties: Object.fromEntries(
    parameters.map(({ name, title, schema, secret, default: preset }) => [
      name,
      { ...relaxed(schema), title, ...(secret ? { writeOnly: true } : { default: preset }) },
    ]),
  ),
})

function commandOf(commands: readonly CommandEntry[]) {
  const lines = commands.map(({ name, help, value }) => `- \`${name}${value ? '[=value]' : ''}\`: ${help}`)
  const withValue = commands.filter(({ value }) => value).map(({ name }) => name)
  return {
    ...Command,
    description: `A command: \`name\` or \`name=value\`:\n${lines.join('\n')}`,
    anyOf: [
      { enum: commands.map(({ name }) => name) },
      ...(withValue.length > 0 ? [{ pattern: `^(${withValue.join('|')})=` }] : []),
    ],
  }
}
