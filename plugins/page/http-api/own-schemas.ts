/** Station-specific versions of the named schemas of the contract: the parameters and commands of its plugins. Pure. */
import { Command, changeOf, textField } from 'rtk-base/schemas'
import type { ActionEntry, ParameterEntry } from 'rtk-base/services'

export function ownSchemas(parameters: readonly ParameterEntry[], actions: readonly ActionEntry[]) {
  return { Change: changeOf(parameters), Command: commandOf(actions) }
}

function commandOf(actions: readonly ActionEntry[]) {
  const commands = actions.flatMap(({ name, summary, input }) => {
    const hasValue = textField(input) !== undefined
    return hasValue || Object.keys(input.properties ?? {}).length === 0 ? [{ name, summary, hasValue }] : []
  })
  const lines = commands.map(({ name, summary, hasValue }) => `- \`${name}${hasValue ? '[=value]' : ''}\`: ${summary}`)
  const withValue = commands.filter(({ hasValue }) => hasValue).map(({ name }) => name)
  return {
    ...Command,
    description: `A command: \`name\` or \`name=value\`:\n${lines.join('\n')}`,
    anyOf: [
      { enum: commands.map(({ name }) => name) },
      ...(withValue.length > 0 ? [{ pattern: `^(${withValue.join('|')})=` }] : []),
    ],
  }
}
