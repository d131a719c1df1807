import { RtkError, type RtkErrorCode } from '../errors.js'
import type { Tap } from './hook-point.js'
import type {
  ActionRecord,
  BlockRecord,
  CommandRecord,
  HookName,
  Instance,
  ParameterRecord,
  RuleRecord,
  TopicRecord,
} from './instance/instance.js'

/** What is registered right now, by name: compiled from the live instances and swapped as one. */
export interface Tables {
  readonly parameters: ReadonlyMap<string, ParameterRecord>
  readonly actions: ReadonlyMap<string, ActionRecord>
  readonly rules: readonly RuleRecord[]
  /** Shallow paths first, so that nested blocks are merged into what is there. */
  readonly blocks: readonly BlockRecord[]
  readonly commands: ReadonlyMap<string, CommandRecord>
  readonly topics: readonly TopicRecord[]
  readonly taps: Record<HookName, readonly Tap[]>
}

/**
 * Compiles what `instances` (in load order) registered.
 * @throws RTK_ERR_*_TAKEN naming both owners when two of them registered the same thing.
 */
export function compileTables(instances: readonly Instance[]): Tables {
  const parameters = new Map<string, ParameterRecord>()
  const actions = new Map<string, ActionRecord>()
  const commands = new Map<string, CommandRecord>()
  const blocks = new Map<string, BlockRecord>()
  const services = new Map<string, { owner: Instance }>()
  const rules: RuleRecord[] = []
  const topics: TopicRecord[] = []
  const taps: Record<HookName, Tap[]> = { onInfoBuild: [], onChange: [], onSystemCommand: [], onMqttConnect: [] }

  const take = <R extends { owner: Instance }>(
    table: Map<string, R>,
    key: string,
    record: R,
    code: RtkErrorCode,
    what: string,
    others: ReadonlyMap<string, { owner: Instance }> = table,
  ) => {
    const taken = table.get(key) ?? others.get(key)
    if (taken) {
      throw new RtkError(code, `${what} ${key} of ${record.owner.name} is taken by ${taken.owner.name}`)
    }
    table.set(key, record)
  }

  for (const instance of instances) {
    const { registered } = instance
    for (const record of registered.parameters) {
      take(parameters, record.name, record, 'RTK_ERR_CONFIG_KEY_TAKEN', 'parameter', actions)
    }
    for (const record of registered.actions) {
      take(actions, record.name, record, 'RTK_ERR_CONFIG_KEY_TAKEN', 'parameter', parameters)
    }
    for (const record of registered.blocks) take(blocks, record.path, record, 'RTK_ERR_INFO_PATH_TAKEN', 'block')
    for (const record of registered.commands) take(commands, record.name, record, 'RTK_ERR_COMMAND_TAKEN', 'command')
    for (const token of instance.definition.provides ?? []) {
      take(services, token.id, { owner: instance }, 'RTK_ERR_SERVICE_TAKEN', 'service')
    }
    rules.push(...registered.rules)
    topics.push(...registered.topics)
    for (const hook of Object.keys(taps) as HookName[]) taps[hook].push(...registered.taps[hook])
  }
  const depth = (block: BlockRecord) => block.path.split('.').length
  return {
    parameters,
    actions,
    rules,
    commands,
    topics,
    taps,
    blocks: [...blocks.values()].sort((a, b) => depth(a) - depth(b)),
  }
}
