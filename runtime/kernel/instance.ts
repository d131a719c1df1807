import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import type { Logger } from 'pino'
import type { TSchema } from 'typebox'
import { messageOf } from '../errors.js'
import type { Upgrade } from '../http/routes/owner.js'
import type {
  CommandCall,
  ConfigOptions,
  InfoBuilder,
  InfoClass,
  MqttMessage,
  PluginContext,
  PluginDefinition,
} from '../plugin.js'
import type { Clock } from '../ports/clock.js'
import { runAs } from './attribution.js'
import type { Tap, TapOwner } from './hook-point.js'
import { Scope } from './scope.js'

export interface ParameterRecord {
  readonly owner: Instance
  readonly name: string
  readonly schema: TSchema
  readonly options: ConfigOptions<unknown>
  readonly listeners: ((now: unknown, before: unknown) => void | Promise<void>)[]
}

export interface ActionRecord {
  readonly owner: Instance
  readonly name: string
  readonly schema: TSchema
  readonly run: (value: unknown) => void | Promise<void>
}

export interface RuleRecord {
  readonly owner: Instance
  readonly names: readonly string[]
  readonly check: (get: (name: string) => unknown) => string | undefined
}

export interface InfoPart {
  readonly class: InfoClass
  readonly detail: boolean
  readonly build: InfoBuilder
}

export interface BlockRecord {
  readonly owner: Instance
  readonly path: string
  readonly parts: readonly InfoPart[]
  /** Built static parts, by their place in `parts`; emptied by `changed()`. */
  readonly cache: Map<InfoPart, unknown>
}

export interface CommandRecord {
  readonly owner: Instance
  readonly name: string
  readonly help: string
  readonly run: (call: CommandCall) => string | Promise<string>
}

export interface TopicRecord {
  readonly owner: Instance
  readonly filter: string
  readonly fn: (message: MqttMessage) => void | Promise<void>
}

export type HookName = 'onInfoBuild' | 'onChange' | 'onSystemCommand' | 'onMqttConnect'

/** Everything one plugin registered in its `setup`. */
export interface Registrations {
  readonly parameters: ParameterRecord[]
  readonly actions: ActionRecord[]
  readonly rules: RuleRecord[]
  readonly blocks: BlockRecord[]
  readonly commands: CommandRecord[]
  readonly topics: TopicRecord[]
  readonly taps: Record<HookName, Tap[]>
  readonly routes: RouteOptions[]
  // biome-ignore lint/suspicious/noExplicitAny: Fastify plugins of any option type are kept alike
  readonly httpPlugins: { plugin: FastifyPluginAsync<any>; options: object }[]
  readonly upgrades: Map<string, Upgrade>
}

const sameFault_ms = 60_000

/** One life of a plugin: what it registered, what it owns, and whether its callbacks are let through. */
export class Instance implements TapOwner {
  readonly name: string
  readonly definition: PluginDefinition
  readonly scope: Scope
  readonly log: Logger
  readonly registered: Registrations = {
    parameters: [],
    actions: [],
    rules: [],
    blocks: [],
    commands: [],
    topics: [],
    taps: { onInfoBuild: [], onChange: [], onSystemCommand: [], onMqttConnect: [] },
    routes: [],
    httpPlugins: [],
    upgrades: new Map(),
  }
  /** Set right after construction; the same `ctx` for `setup` and `start`. */
  context!: PluginContext
  /** What `setup` returned. */
  state: unknown
  readonly services = new Map<string, unknown>()
  readonly errors = new Map<string, { code: string; text: string; t: number }>()
  /** Registrations are taken until `setup` has returned. */
  inSetup = true
  /** True from the end of `start` until `stop` begins. */
  live = false
  /** What the plugin says of itself, or its last fault. */
  statusText = ''
  readonly #clock: Clock
  readonly #lastFault = new Map<string, number>()

  constructor(definition: PluginDefinition, log: Logger, clock: Clock) {
    this.name = definition.name
    this.definition = definition
    this.log = log
    this.#clock = clock
    this.scope = new Scope(this.name, log, clock)
  }

  /** Runs code of the plugin on its behalf. */
  run<T>(fn: () => T): T {
    return runAs(this, fn)
  }

  /** A callback of the plugin failed: one log line (the same fault at most once a minute) and its status. */
  failed(error: unknown, what: string): void {
    const text = `${what}: ${messageOf(error)}`
    this.statusText = text
    this.#tell(error, text, 'the plugin goes on without it')
  }

  leftBehind(error: unknown): void {
    this.#tell(error, `uncaught error after it was stopped: ${messageOf(error)}`, 'what it left behind goes on')
  }

  #tell(error: unknown, text: string, outcome: string): void {
    const now = this.#clock.monotonic()
    const last = this.#lastFault.get(text)
    if (last !== undefined && now - last < sameFault_ms) return
    if (this.#lastFault.size >= 64) this.#lastFault.clear()
    this.#lastFault.set(text, now)
    this.log.error({ err: error }, `${text}; ${outcome}`)
  }
}
