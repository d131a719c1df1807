/** Station-specific versions of the named schemas of the contract: the parameters and commands of its plugins. Pure. */
import { Command, changeOf } from 'rtk-base/schemas'
import type { CommandEntry, ParameterEntry } from 'rtk-base/services'

export function ownSchemas(parameters: readonly ParameterEntry[], commands: readonly CommandEntry[]) {
  return { Change: changeOf(parameters), Command: commandOf(commands) }
}

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
