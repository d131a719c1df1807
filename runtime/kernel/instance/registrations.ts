import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { MqttTopic } from '../../../schemas/mqtt/topics.js'
import type { OwnTexts } from '../../loader/texts.js'
import type { Owner } from '../../platform/guard/owner.js'
import type {
  ActionCall,
  ActionReturn,
  ConfigOptions,
  InfoBuilder,
  InfoClass,
  MqttMessage,
  RuleCheck,
  Source,
} from '../../plugin.js'
import type { Tap } from '../hook-point.js'

export interface ParameterRecord {
  readonly owner: Owner
  readonly name: string
  readonly schema: TSchema
  readonly options: ConfigOptions<unknown>
  readonly listeners: ((now: unknown, before: unknown) => void | Promise<void>)[]
}

/** A listener for changes of several parameters at once. */
export interface ChangeRecord {
  readonly owner: Owner
  readonly names: readonly string[]
  readonly fn: (changed: ReadonlySet<string>, source: Source) => void | Promise<void>
}

export interface ActionRecord {
  readonly owner: Owner
  readonly name: string
  readonly summary: string
  /** A warning for a person before it runs; '' for none. */
  readonly caution: string
  readonly reads: boolean
  /** The schema of the whole input. */
  readonly input: TObject
  /** The right form of its text, for the answer to a wrong one. */
  readonly usage: string | undefined
  /** The change parameter that starts it. */
  readonly parameter: string | undefined
  readonly run: (call: ActionCall) => ActionReturn | Promise<ActionReturn>
}

export interface RuleRecord {
  readonly owner: Owner
  readonly names: readonly string[]
  readonly check: RuleCheck
}

export interface InfoPart {
  readonly class: InfoClass
  readonly detail: boolean
  /** Merged last, and only into fields that no other plugin built. */
  readonly fallback: boolean
  readonly build: InfoBuilder
}

export interface BlockRecord {
  readonly owner: Owner
  readonly path: string
  readonly parts: readonly InfoPart[]
  /** Built static parts, by their place in `parts`; emptied by `changed()`. */
  readonly cache: Map<InfoPart, unknown>
}

export interface TopicRecord {
  readonly owner: Owner
  /** With {SN} expanded; '' while nothing is wanted. */
  readonly filter: () => string
  readonly fn: (message: MqttMessage) => unknown
}

export interface TopicDescription {
  readonly owner: Owner
  readonly topic: MqttTopic
}

export type HookName = 'onInfoBuild' | 'onChange' | 'onSystemCommand' | 'onMqttConnect'

/** Everything one plugin registered in its `setup`. */
export interface Registrations {
  readonly parameters: ParameterRecord[]
  readonly changes: ChangeRecord[]
  readonly actions: ActionRecord[]
  readonly rules: RuleRecord[]
  readonly blocks: BlockRecord[]
  readonly topics: TopicRecord[]
  readonly topicDescriptions: TopicDescription[]
  readonly taps: Record<HookName, Tap[]>
  readonly routes: RouteOptions[]
  // biome-ignore lint/suspicious/noExplicitAny: Fastify plugins of any option type are kept alike
  readonly httpPlugins: { plugin: FastifyPluginAsync<any>; options: object }[]
  readonly banner: { label: string; text: () => string; onTerminal: boolean }[]
  /** From the definition. */
  texts: OwnTexts
}

export function noRegistrations(): Registrations {
  return {
    parameters: [],
    changes: [],
    actions: [],
    rules: [],
    blocks: [],
    topics: [],
    topicDescriptions: [],
    taps: { onInfoBuild: [], onChange: [], onSystemCommand: [], onMqttConnect: [] },
    routes: [],
    httpPlugins: [],
    banner: [],
    texts: { files: new Map(), digest: '' },
  }
}
