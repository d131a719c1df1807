/**
 * Everything that a plugin may import from the runtime (`rtk-base/plugin`).
 *
 * A plugin is one `definePlugin({ … })`. `setup` registers, `start` begins I/O, `stop` ends it. The runtime undoes
 * everything registered through `ctx`, so a plugin needs no bookkeeping of its own.
 *
 * Types of other packages: `Logger` (pino), `RouteOptions` and `FastifyPluginAsync` (fastify), `TSchema`, `TProperties`, `TObject`
 * and `Static` (typebox). `Rate` is described in `rtk-base/link`, `ErrorValues` in `rtk-base/services`.
 */
import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import type { Logger } from 'pino'
import type { Static, TObject, TProperties, TSchema } from 'typebox'
import type { MaskSelection } from '../schemas/document.js'
import type { ErrorTable } from '../schemas/error-table.js'
import type { Callback, Dispose, Event, ListenerOrder } from '../schemas/event.js'
import type { MqttTopic } from '../schemas/mqtt/topics.js'
import type { ErrorValues, Severity, StationError } from '../schemas/services/device.js'
import type { ServiceToken } from '../schemas/token.js'
import { RtkError } from './errors.js'
import type { ConnectionHandler, Listener, ListenOptions } from './gateway/net/types.js'
import type { Fetch } from './platform/fetch/types.js'
import type { DataDir, DataDirOptions } from './platform/files/data-files.js'
import type { EventSource } from './platform/guard/event-hub.js'
import { guard } from './platform/guard/guard.js'
import { currentOwner, type StopReason } from './platform/guard/owner.js'
import type {
  Counter,
  Gauge,
  GaugeOptions,
  Histogram,
  HistogramOptions,
  MetricOptions,
} from './platform/metrics/types.js'
import type { NetworkPort } from './platform/ports/network.js'
import type { ProcessPort } from './platform/ports/processes.js'
import type { Edges } from './platform/time/edges.js'

export { defineErrors, type ErrorKind, type ErrorTable } from '../schemas/error-table.js'
export type { Callback, Dispose, Event, ListenerOrder } from '../schemas/event.js'
export type { Severity } from '../schemas/services/device.js'
export type { ClientBundle, ClientFile } from '../schemas/services/runtime.js'
export { defineService, type ServiceToken } from '../schemas/token.js'
export { RtkError } from './errors.js'
export type { LoginRole, Role } from './gateway/http/routes/config.js'
export type {
  Connection,
  ConnectionHandler,
  Inherited,
  ListenAddress,
  Listener,
  ListenOptions,
  ListenTls,
} from './gateway/net/types.js'
export { type DeliverOptions, deliver, Undelivered, type Unwillingness } from './platform/fetch/deliver.js'
export type { Fetch, FetchOptions } from './platform/fetch/types.js'
export type { DataDir, DataDirOptions } from './platform/files/data-files.js'
export { forViewer } from './platform/for-viewer.js'
export type { EventSource } from './platform/guard/event-hub.js'
export type { StopReason } from './platform/guard/owner.js'
export { LogLimit } from './platform/log/log-limit.js'
export { censor, isSecretName, withoutSecrets } from './platform/log/redact.js'
export type {
  Counter,
  Gauge,
  GaugeOptions,
  Histogram,
  HistogramOptions,
  MetricLabels,
  MetricOptions,
} from './platform/metrics/types.js'
export { didYouMean } from './platform/nearest.js'
export {
  type BindOptions,
  type Bound,
  type DatagramOptions,
  type DatagramSocket,
  type DialOptions,
  type HostAddress,
  type NetworkPort,
  type RemoteInfo,
  type Resolve,
  rootCertificates,
  type Socket,
  type TLSSocket,
} from './platform/ports/network.js'
export type { ExecOptions, ExecResult, ProcessPort } from './platform/ports/processes.js'
export { type Evidence, mostTries, Trial, type TrialOptions } from './platform/trial.js'

/** The version of this interface. The field `api` of a plugin gives the range of versions that it works with. */
export const apiVersion = '1.0.0'

/** A parameter, for the plugin that defined it. */
export interface ConfigKey<T> {
  readonly name: string
  /** The current value: stored, otherwise that of the variant (the file that lists the plugins), otherwise the default. */
  get(): T
  /**
   * Registers the function that applies a change. It is called after the value was stored, even if the submitted value
   * equals the old one. A rejection makes the whole change `failed` and rolls it back. The function may take at most
   * 10 s. If applying takes longer, treat the value as a desired state and reconcile it in the background.
   */
  onChange(fn: (now: T, before: T) => void | Promise<void>): void
}

/**
 * Checks a combination of parameters before a change is stored.
 * @param get returns the value that a parameter would have after the change
 * @param changed names of the parameters that the change sets
 * @param source where the change comes from
 * @returns undefined: the change is allowed. A text: the change is refused, and the text is the reason. An object: the
 *   change is allowed, and these values are stored in the same write: parameters of this plugin (`set`) and values of
 *   `ctx.store` (`store`). If the change cannot be applied, the `store` values are restored. If a provisional change is
 *   reverted, they are not
 */
export type RuleCheck = (
  get: (name: string) => unknown,
  changed: ReadonlySet<string>,
  source: Source,
) => string | { set?: Readonly<Record<string, unknown>>; store?: Readonly<Record<string, unknown>> } | undefined

export interface ConfigOptions<T> {
  default: T
  /** The label of the parameter's field on the web page, with the unit. */
  title?: string
  /** True: the value is never shown or logged. */
  secret?: boolean
  /**
   * Parameters that name the peer which the secret is for: a host, a port, a URL. A change to another host or port that does not bring
   * the secret along sets it back to its default: whoever may change the host must not learn what was entered for another one.
   */
  boundTo?: readonly string[]
  /** Applying the value may end the caller's own connection, so it is applied after the answer was written. */
  endsLink?: boolean
  /**
   * The change may cut its caller off permanently. It is applied after the answer was written and reverted unless a
   * caller reaches the station through the changed interface within the window of the variant's section `trial` (90 s).
   */
  trial?: {
    /**
     * Whether this caller is connected through the interface that the parameter controls, and this interface already
     * uses the new settings. False while they are being applied (an access point restarts, a network is being joined).
     */
    reaches(caller: Caller): boolean
  }
}

/**
 * The parts of the status document that a caller requested, as booleans: the classes `static`, `runtime` and
 * `config`, and `basic` or `all` (includes the detail parts).
 */
export type InfoSelection = MaskSelection

/** The class of a field of the status document: rarely changing, current state, or settings. */
export type InfoClass = 'static' | 'runtime' | 'config'
/** Builds one part of the document: an object, or a bare value for a path that names one field. */
export type InfoBuilder = () => unknown
/** The builders of a block of the status document, by the class of their fields. */
export interface InfoParts {
  static?: InfoBuilder
  runtime?: InfoBuilder
  config?: InfoBuilder
  /** Parts that are only built if the mask asks for detail (`0x100`). */
  detail?: { static?: InfoBuilder; runtime?: InfoBuilder; config?: InfoBuilder }
  /** Fields that are used only while no other plugin builds them. */
  fallback?: { static?: InfoBuilder; runtime?: InfoBuilder; config?: InfoBuilder }
}
/** A registered block of the status document. */
export interface InfoBlock {
  /**
   * Discards what is cached, including the static part of this block, so the next request builds the document again.
   * Call it if clients must see a change immediately.
   */
  changed(): void
}

/** Where a change or a command came from. */
export type Source = 'http' | 'mqtt' | 'console' | 'plugin'

/** A client that reached the station. */
export interface Caller {
  readonly source: Source
  /** The station's own address that was reached; undefined if that is not known, as on the console. */
  readonly address?: string
}

/** A call of an action. */
export interface ActionCall<I = Readonly<Record<string, unknown>>> {
  readonly name: string
  /** As a command is written: the text after `=`; undefined if there is none. */
  readonly arg: string | undefined
  readonly input: I
  readonly source: Source
  /** Aborts when the plugin is stopped, or after 30 s; not when the client disconnects. */
  readonly signal: AbortSignal
  /** The call as a log or a record may keep it, such as `udp-test=2101`: without secret fields. */
  readonly shown: string
}

/** Whatever a person or a program can ask for. */
export interface Action<P extends TProperties> {
  /** Letters, digits and dashes. */
  name: string
  /** Purpose of the action, in one line. */
  summary: string
  /** The fields of its input: name → schema; omitted: none. A field with `writeOnly: true` is secret: no log or record keeps it. */
  input?: P
  /** How the text `NAME=VALUE` is written, for the answer to a wrong one; default: made of the field. */
  usage?: string
  /** A warning that page, console and fleet show before it runs. */
  caution?: string
  /** True: it changes nothing, so a viewer may run it. */
  reads?: boolean
  /** A change parameter that starts it when a change sets it to true, and is never stored. Only without required fields. */
  parameter?: string
  /**
   * Runs on request, for at most 30 s.
   * @returns the text for a person, or the text and a value for programs
   */
  run(call: ActionCall<Static<TObject<P>>>): ActionReturn | Promise<ActionReturn>
}
export type ActionReturn = string | { readonly text: string; readonly value?: unknown }

/** One change transaction, after its values were validated and stored. */
export interface ChangeSet {
  readonly source: Source
  readonly values: ReadonlyMap<string, unknown>
}

/** A session with the MQTT broker. */
export interface MqttSession {
  readonly clientId: string
  /** False for the first session since the link plugin started. */
  readonly reconnect: boolean
}

export interface TapOptions {
  /** Lower stages run first; default: 0. Within a stage: load order. */
  stage?: number
}

/**
 * A hook point. If a tap (a function registered here) throws, only its own effect is lost. An asynchronous tap may take
 * up to 10 s.
 */
export interface HookPort<A extends unknown[], R> {
  tap(fn: (...args: A) => R, options?: TapOptions): void
}

/** The hook points of `ctx.hooks`. */
export interface Hooks {
  /** Edits the document after all blocks were built. Put a plugin's own fields in `info.block` instead. */
  onInfoBuild: HookPort<[document: Record<string, unknown>, selection: InfoSelection], void>
  /** After the owners of the changed parameters applied them. A rejection makes the change `failed`. */
  onChange: HookPort<[change: ChangeSet], void | Promise<void>>
  /** Sees every call of an action before its owner, whatever surface it came from; the first text returned is the answer. */
  onSystemCommand: HookPort<[call: ActionCall], string | undefined | Promise<string | undefined>>
  /** A broker session is up. */
  onMqttConnect: HookPort<[session: MqttSession], void | Promise<void>>
}

/** A received MQTT message. */
export interface MqttMessage {
  readonly topic: string
  readonly payload: Buffer
  readonly retain: boolean
  /** MQTT 5 only. */
  readonly responseTopic?: string
  readonly correlationData?: Buffer
}

/**
 * `sent`: handed to the socket. `offline`: the link is down. `full`: the outbox had no room, or the broker accepts no packet of
 * this size. With `offline` and `full` the message is lost.
 */
export type PublishResult = 'sent' | 'offline' | 'full'

export interface PublishOptions {
  retain?: boolean
  qos?: 0 | 1 | 2
  /** MQTT 5 properties; left out on 3.1.1. */
  properties?: { userProperties?: Record<string, string>; correlationData?: Buffer }
  /** Published right after it, with the same QoS: both go out, or neither. */
  followedBy?: { topic: string; payload: string | Buffer }
}

/** A plugin's own part of the non-volatile storage. Every write is durable when its promise resolves. */
export interface PluginStore {
  get(key: string): Promise<unknown>
  /** @throws RTK_ERR_STORE_WRITE when it could not be made durable; nothing was written then. */
  set(key: string, value: unknown): Promise<void>
  /** Several writes that become durable together or not at all; `undefined` deletes. */
  batch(values: Readonly<Record<string, unknown>>): Promise<void>
  entries(): Promise<Record<string, unknown>>
}

/** The object `ctx`, through which a plugin uses the runtime. */
export interface PluginContext extends Edges {
  readonly name: string
  /** The serial number of the station, `{SN}` in topics. Characters: `[A-Za-z0-9_-]`. */
  readonly serial: string
  readonly log: Logger
  /** Aborts as the first step when the plugin is stopped. */
  readonly signal: AbortSignal
  /** Makes an event that this plugin emits. Its listeners are removed when this plugin stops. */
  event<T>(): EventSource<T>
  /** Listens to an event of another plugin (or of the runtime), on behalf of this plugin and for its lifetime. */
  on<T>(event: Event<T>, fn: Callback<[value: T]>, order?: ListenerOrder): Dispose
  readonly config: {
    define<S extends TSchema>(name: string, schema: S, options: ConfigOptions<Static<S>>): ConfigKey<Static<S>>
    /**
     * Checks a combination of parameters. Runs when one of `names` is in a change.
     */
    rule(names: readonly string[], check: RuleCheck): void
    /**
     * Registers a function that applies changes to any of these parameters of the plugin. It is called once per change,
     * after the values were stored, with the names that the change sets. It may take at most 10 s. A rejection makes
     * the whole change `failed` and rolls it back. It is also called after a reload, for changes made while the plugin
     * was being replaced.
     */
    onChange(names: readonly string[], fn: (changed: ReadonlySet<string>, source: Source) => void | Promise<void>): void
  }
  readonly info: {
    /**
     * @param path e.g. `'gnss.ref.survey'`; a path may be inside another plugin's block, but each field has one
     * owner.
     */
    block(path: string, build: InfoBuilder | InfoParts): InfoBlock
  }
  /**
   * Registers an action: `POST /actions/NAME`, an entry of `GET /actions` and a button of the page; without input, or with
   * one scalar field, also the command `NAME` or `NAME=VALUE` of `POST /system`, MQTT and the console.
   */
  action<P extends TProperties = Record<never, never>>(action: Action<P>): void
  readonly hooks: Hooks
  readonly http: {
    route(options: RouteOptions): void
    /**
     * A Fastify plugin. It runs again whenever the set of plugins changes, so its `onClose` must not close anything that
     * the rtk-base plugin owns.
     */
    register<O extends object>(plugin: FastifyPluginAsync<O>, options?: O): void
  }
  readonly mqtt: {
    /**
     * @param topic `{SN}` is expanded; the wildcards `+` and `#` work. A function is called again after every change,
     *   so that a topic can follow a parameter; `''` subscribes to nothing.
     */
    on(topic: string | (() => string), fn: Callback<[message: MqttMessage]>): void
    publish(topic: string, payload: string | Buffer, options?: PublishOptions): PublishResult
    /**
     * Describes a topic that this plugin publishes or subscribes to, for `GET /asyncapi.json`. A subscribed topic is
     * listed even without a description.
     * @param topic `address` (with `{SN}`, `+`, `#`), `from` (`'station'` or `'client'`), `summary`. Optional: `payload` (a
     *   TypeBox schema; default: any bytes), `contentType` (default: `application/json`), `retain`, `userProperties` (a
     *   schema), `name` (for several messages on one address), `replyOn` (address of the answers)
     */
    describe(topic: MqttTopic): void
  }
  readonly services: {
    provide<T>(token: ServiceToken<T>, value: T): void
    /** From `start` on; `token` must be listed in `needs`. */
    use<T>(token: ServiceToken<T>): T
    /** Like `use`, but optional: undefined while no plugin provides the service. Call it again at each use. */
    find<T>(token: ServiceToken<T>): T | undefined
    /**
     * Follows a service that may come and go: `fn` is called at once and at every change with the service, or undefined
     * while no plugin provides it. If `fn` returns a function, it is called before the next call and when this plugin
     * stops.
     */
    watch<T>(token: ServiceToken<T>, fn: (service: T | undefined) => unknown): Dispose
  }
  /**
   * Data that must survive a restart. `protected` is for secrets: no interface shows them, a factory reset keeps them,
   * and a replaced or deleted secret soon disappears from the files as well.
   */
  readonly store: PluginStore & { readonly protected: PluginStore }
  /** Entries of `base.state.errors`, for problems that a person should see. They are removed with the plugin. */
  readonly errors: {
    /**
     * An error stands while its condition holds: each call says whether it does. Its text and remedy are `error.CODE` and
     * `error.CODE.advice` in `texts/en.json` beside the plugin's entry file, with `{name}` for a value. Text beyond 480 characters is
     * cut off.
     * @param condition the values of the text, or `true` without values: the error stands. A value whose name begins with `_` is for
     *   the English text alone and is not sent
     * @returns the entry; undefined if the error does not stand, or the plugin has stopped
     */
    while(
      code: string,
      condition: ErrorValues | boolean | undefined,
      standing?: {
        /** Default: `degrades`. */
        severity?: Severity
        /** Since when, UTC seconds. Default: now. */
        t?: number | undefined
      },
    ): StationError | undefined
  }
  /** The English text of a key in `texts/en.json`, with `{name}` for a value, as those of errors. Without a text: key and values. */
  text(key: string, values?: ErrorValues): string
  /**
   * Adds a line to the list of addresses that the command line prints when the station has started, e.g. the URL of a
   * page. `text` is called at that time, and may return '' for no line. `{http}` becomes the address of the station's
   * HTTP server (`http://127.0.0.1:8080`). Lines with `{http}` are printed first, texts of several lines last.
   * @param options `onTerminal`: print the line only on a terminal, not to a file or the journal
   */
  banner(label: string, text: () => string, options?: { onTerminal?: boolean }): void
  /** One line for the plugin list: current activity, or the reason it cannot run. */
  status(text: string): void
  /**
   * Registers a function that undoes something when the plugin stops. The last registered runs first, and all run
   * even if one fails.
   */
  defer(dispose: Dispose): void
  /**
   * Sockets, from `start` on. They close when the plugin stops. `dial` connects by TCP or TLS, `datagram` opens a UDP
   * socket, `resolve` gives the addresses of a name. `bind` accepts TCP connections for a library that takes the
   * sockets itself, without what `listen` does.
   */
  readonly net: NetworkPort & {
    /**
     * Listens for TCP (or TLS) clients, from `start` on. The runtime owns the socket: while the plugin is reloaded,
     * new clients wait for the next version, and open connections move to it if both versions support this
     * (`inheritable`, `inherits`). If the address cannot be opened, the runtime retries and shows an error in
     * `base.state.errors`. The start of the plugin does not fail.
     */
    listen(options: ListenOptions, onConnection: ConnectionHandler): Listener
  }
  /** Other programs on the machine: `ctx.process.execFile('nmcli', ['-t', 'device'])`. They end with the plugin. */
  readonly process: ProcessPort
  /**
   * HTTP client with limits on time, size and redirects, and with pinned certificates. Requests end with the plugin.
   * @throws RTK_ERR_FETCH_… with the cause in words, RTK_ERR_ABORTED. Reading the body can throw the same errors
   */
  readonly fetch: Fetch
  /**
   * A folder for bulk files of this plugin (recordings, updates, certificates), from `start` on. It is made with mode
   * 0700 and kept across restarts and reloads. A factory reset removes it unless `protected`. Settings belong in
   * `store`.
   * @param name kebab-case; default: `'main'`
   * @throws RTK_ERR_DATA_FOLDER
   */
  dataDir(name?: string, options?: DataDirOptions): DataDir
  /**
   * Metrics for Prometheus, in `setup` or later; they are removed with the plugin. After a reload a counter continues
   * from its last value.
   * @throws RTK_ERR_METRIC, RTK_ERR_METRIC_TAKEN
   */
  readonly metrics: {
    counter(options: MetricOptions): Counter
    gauge(options: GaugeOptions): Gauge
    histogram(options: HistogramOptions): Histogram
  }
}

/**
 * The values that the previous version of the plugin returned from `stop` at a reload. Each is read through a schema, because another
 * version may have handed over another shape, and is a structured clone, so it cannot keep the old code alive.
 */
export interface Handoff {
  /**
   * The value of this name; undefined if there is none, or if it does not fit the schema. The log says then that it was not used. Numbers
   * must be finite: `Type.Number()` accepts neither NaN nor infinity.
   */
  get<S extends TSchema>(name: string, schema: S): Static<S> | undefined
  /** Whether the previous version handed over this name, whatever the shape of its value. */
  has(name: string): boolean
}

/** Names and values for the next instance, as `stop` returns them. */
export type HandoffPairs = Iterable<readonly [string, unknown]>

/** Texts by the name of their file. */
export type ReportTexts = Readonly<Record<string, string>>

/** The argument of `definePlugin`. */
export interface PluginDefinition<O extends TSchema = TSchema, S = unknown> {
  /** Kebab-case; the key of the plugin everywhere. */
  name: string
  version: string
  /** Semver range of the interface, e.g. `'^1.0.0'`. */
  api: string
  /** Deploy-time options, from the variant. */
  options?: O
  needs?: readonly ServiceToken<unknown>[]
  provides?: readonly ServiceToken<unknown>[]
  /** Error codes of the plugin: `defineErrors({ LAMP_BROKEN: { status: 503, help: 'Change the lamp.' } })`. */
  errors?: ErrorTable
  /**
   * For a plugin that is part of rtk-base: the names of its commands. If a station without this plugin gets one of
   * these commands, the error names the plugin.
   */
  commands?: readonly string[]
  /**
   * Texts for the support report, by file name (`lamp.jsonl`). Also called for a station that does not run, with its files alone: `state`
   * is undefined then. The runtime takes secrets out of them; of a text that is too long it keeps the last lines.
   * @param folder the path of a `ctx.dataDir` of this plugin, whether it exists or not; default: `'main'`
   */
  report?(folder: (name?: string) => string, state: S | undefined): ReportTexts | Promise<ReportTexts>
  /** System requirements of the plugin: packages that a Debian package recommends, lines for the unit's `[Service]`. */
  system?: { readonly packages?: readonly string[]; readonly unit?: readonly string[] }
  /**
   * Texts by language: `en` has those of the errors, other languages all that the page shows. Language → content of a JSON file with
   * keys and texts. The build fills it from the folder `texts` beside the entry file.
   */
  texts?: Readonly<Record<string, string>>
  /**
   * Synchronous; registrations only, nothing may be opened. Its return value is this instance's own state, handed to
   * `start` and `stop`. Two instances of one definition may exist for a moment, so no state may live in the module.
   */
  setup(ctx: PluginContext, options: Static<O>): S
  /** I/O begins here. It must not fail if hardware, network or peers are missing: report this and retry. */
  start?(ctx: PluginContext, handoff: Handoff, state: S): void | Promise<void>
  /** May return `[name, value]` pairs for the next instance when the reason is `reload`. */
  // Also called after a `start` that failed or took too long, so that it can close what `start` had opened.
  // biome-ignore lint/suspicious/noConfusingVoidType: most stop functions return nothing
  stop?(reason: StopReason, state: S, ctx: PluginContext): HandoffPairs | void | Promise<HandoffPairs | void>
}

/** Any plugin, with any options and state: the element type of plugin lists. */
// biome-ignore lint/suspicious/noExplicitAny: options and state are between a definition and itself
export type AnyPlugin = PluginDefinition<any, any>

/** A registered symbol, so that copies of this package agree on it. */
export const brand = Symbol.for('rtk-base.plugin')

/** Marks a definition as a plugin. */
export function definePlugin<O extends TSchema, S>(definition: PluginDefinition<O, S>): PluginDefinition<O, S> {
  Object.defineProperty(definition, brand, { value: apiVersion })
  return definition
}

/**
 * For a provider whose service takes a callback: `fn` as a callback of the plugin that passes it, in whose call this is. Its errors and
 * running time are then that plugin's.
 * @returns never throws; undefined after an error, and once that plugin is being stopped
 */
export function guarded<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R | undefined {
  const owner = currentOwner()
  return owner ? guard(owner, 'callback', fn) : fn
}

/** Thrown by an action with a wrong value: HTTP 400. `message` describes the expected form. */
export function badValue(message: string): RtkError {
  return new RtkError('RTK_ERR_COMMAND_VALUE', message)
}

/** Thrown by an action that cannot run now: HTTP 503, with the reason. */
export function unavailable(reason: string): RtkError {
  return new RtkError('RTK_ERR_UNAVAILABLE', reason)
}
