import { isDeepStrictEqual } from 'node:util'
import type { ErrorKind } from '../../schemas/error-table.js'
import { errorTable, RtkError, type RtkErrorCode } from '../errors.js'
import type { Tap } from './hook-point.js'
import type { Instance } from './instance/instance.js'
import type {
  ActionRecord,
  BlockRecord,
  ChangeRecord,
  HookName,
  ParameterRecord,
  RuleRecord,
  TopicDescription,
  TopicRecord,
} from './instance/registrations.js'

export interface ServiceRecord {
  readonly owner: Instance
  /** Undefined until its owner has provided it. */
  readonly value: unknown
}

/** All current registrations by name: compiled from the live instances and swapped as one. */
export interface Tables {
  /** In load order. */
  readonly instances: readonly Instance[]
  readonly services: ReadonlyMap<string, ServiceRecord>
  readonly parameters: ReadonlyMap<string, ParameterRecord>
  readonly changes: readonly ChangeRecord[]
  readonly actions: ReadonlyMap<string, ActionRecord>
  /** Actions by the change parameter that starts them. */
  readonly triggers: ReadonlyMap<string, ActionRecord>
  readonly rules: readonly RuleRecord[]
  /** Shallow paths first, so that nested blocks are merged into existing ones. */
  readonly blocks: readonly BlockRecord[]
  readonly topics: readonly TopicRecord[]
  readonly topicDescriptions: readonly TopicDescription[]
  readonly taps: Record<HookName, readonly Tap[]>
}

/**
 * Compiles what `instances` (in load order) registered.
 * @throws RTK_ERR_*_TAKEN naming both owners when two of them registered the same thing.
 */
export function compileTables(instances: readonly Instance[]): Tables {
  const parameters = new Map<string, ParameterRecord>()
  const actions = new Map<string, ActionRecord>()
  const triggers = new Map<string, ActionRecord>()
  const blocks = new Map<string, BlockRecord>()
  const services = new Map<string, ServiceRecord>()
  const changes: ChangeRecord[] = []
  const rules: RuleRecord[] = []
  const topics: TopicRecord[] = []
  const taps: Record<HookName, Tap[]> = { onInfoBuild: [], onChange: [], onSystemCommand: [], onMqttConnect: [] }

  const claim = <R extends { owner: { name: string } }>(
    table: Map<string, R>,
    key: string,
    record: R,
    code: RtkErrorCode,
    what: string,
    others: ReadonlyMap<string, { owner: { name: string } }> = table,
  ) => {
    const taken = table.get(key) ?? others.get(key)
    if (taken) {
      throw new RtkError(code, `${what} ${key} of ${record.owner.name} is taken by ${taken.owner.name}`)
    }
    table.set(key, record)
  }

  const codes = new Map<string, { owner: { name: string }; kind: ErrorKind }>()
  for (const instance of instances) {
    const { registered } = instance
    for (const kind of Object.values(instance.definition.errors ?? {})) {
      const taken = Object.hasOwn(errorTable, kind.code)
        ? { owner: { name: 'the runtime' }, kind: errorTable[kind.code as RtkErrorCode] }
        : codes.get(kind.code)
      if (taken && taken.kind !== kind && !isDeepStrictEqual(taken.kind, kind)) {
        const text = `the error code ${kind.code} of ${instance.name} is taken by ${taken.owner.name}`
        throw new RtkError('RTK_ERR_CODE_TAKEN', text)
      }
      codes.set(kind.code, { owner: instance, kind })
    }
    for (const record of registered.parameters) {
      claim(parameters, record.name, record, 'RTK_ERR_CONFIG_KEY_TAKEN', 'parameter', triggers)
    }
    for (const record of registered.actions) {
      claim(actions, record.name, record, 'RTK_ERR_COMMAND_TAKEN', 'command')
      const { parameter } = record
      if (parameter) claim(triggers, parameter, record, 'RTK_ERR_CONFIG_KEY_TAKEN', 'parameter', parameters)
    }
    for (const record of registered.blocks) claim(blocks, record.path, record, 'RTK_ERR_INFO_PATH_TAKEN', 'block')
    for (const token of instance.definition.provides ?? []) {
      const record = { owner: instance, value: instance.services.get(token.id) }
      claim(services, token.id, record, 'RTK_ERR_SERVICE_TAKEN', 'service')
    }
    changes.push(...registered.changes)
    rules.push(...registered.rules)
    topics.push(...registered.topics)
    for (const hook of Object.keys(taps) as HookName[]) taps[hook].push(...registered.taps[hook])
  }
  const depth = (block: BlockRecord) => block.path.split('.').length
  return {
    instances,
    topicDescriptions: instances.flatMap(({ registered }) => registered.topicDescriptions),
    services,
    changes,
    parameters,
    actions,
    rules,
    triggers,
    topics,
    taps,
    blocks: [...blocks.values()].sort((a, b) => depth(a) - depth(b)),
  }
}
