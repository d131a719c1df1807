/** The second part: what plugins register, behind the operations that every surface offers. */
import type { Logger } from 'pino'
import { documentOrder, type InfoSection, type TrialSection } from '../../schemas/index.js'
import type { CommandResult, Station } from '../../schemas/services.js'
import type { Variant } from '../../schemas/variant.js'
import { homesOf, readCatalogue } from '../build/catalogue.js'
import { BailHookPoint, SeriesHookPoint, SyncHookPoint } from '../kernel/hook-point.js'
import { EventHub } from '../kernel/instance/events.js'
import type { Manager } from '../kernel/plugins/manager.js'
import { compileTables, type Tables } from '../kernel/tables.js'
import { Bus } from '../mqtt/bus.js'
import type { Caller, ChangeSet, CommandCall, InfoSelection, MqttSession, Source } from '../plugin.js'
import type { Clock } from '../ports/clock.js'
import { CommandRegistry } from '../registry/commands.js'
import { ConfigRegistry } from '../registry/config.js'
import { InfoRegistry } from '../registry/info.js'
import { Nvs } from '../registry/nvs.js'
import { makeReport } from '../report/index.js'
import type { Foundation } from './foundation.js'

/** Listeners of the document are called at most once in this time. */
const documentEvent_ms = 100

export interface Registries {
  readonly config: ConfigRegistry
  readonly documents: InfoRegistry
  readonly bus: Bus
  readonly station: Station
  tables(): Tables
  /** Puts another set of registrations in force. */
  publish(next: Tables): void
  /** Something that a reader of the document may see has changed. */
  changed(): void
}

export async function buildRegistries(
  { clock, device, serial, store, troubles }: Foundation,
  {
    data,
    info,
    log,
    plugins,
    trial,
    variant,
  }: {
    data: string
    info: InfoSection
    log: Logger
    plugins: () => Manager
    trial: TrialSection
    variant: Variant
  },
): Promise<Registries> {
  let tables: Tables = compileTables([])
  const hooks = {
    onInfoBuild: new SyncHookPoint<[Record<string, unknown>, InfoSelection]>('onInfoBuild', clock),
    onChange: new SeriesHookPoint<[ChangeSet]>('onChange', clock),
    onSystemCommand: new BailHookPoint<[CommandCall], string>('onSystemCommand', clock),
    onMqttConnect: new SeriesHookPoint<[MqttSession]>('onMqttConnect', clock),
  }
  const document = new EventHub<void>(clock, 'listener of the document')
  const counters = new EventHub<void>(clock, 'listener of the counters')
  const announce = coalesced(clock, documentEvent_ms, () => document.emit())
  const common = { clock, log, tables: () => tables }
  const documents = new InfoRegistry({
    ...common,
    onInfoBuild: hooks.onInfoBuild,
    assignment: info.mask as 1 | 2,
    order: documentOrder,
  })
  const changed = () => {
    documents.invalidate()
    if (document.listeners > 0) announce()
  }
  const bus = new Bus(log, hooks.onMqttConnect, (address) => config.trial.seen({ source: 'mqtt', address }))
  const config = new ConfigRegistry({
    ...common,
    store,
    trial_s: trial.window_s,
    onChange: hooks.onChange,
    changed: () => {
      changed()
      bus.look()
    },
    trouble: (code, trouble) => troubles.raise(code, trouble),
    settled: (code) => troubles.clear(code),
  })
  await config.load()
  const stateOf = (name: string) =>
    plugins()
      .report()
      .find((plugin) => plugin.name === name)?.state
  const commands = new CommandRegistry({
    ...common,
    onSystemCommand: hooks.onSystemCommand,
    homes: homesOf(readCatalogue(), 'commands'),
    stateOf,
  })
  const nvs = new Nvs({
    store,
    isShown: (name) => isPublic(tables, name),
    isPlugin: (name) =>
      plugins()
        .report()
        .some((plugin) => plugin.name === name),
  })
  // Over MQTT there is one way to the station: that of the link.
  const callerOf = (source: Source, address = source === 'mqtt' ? bus.address : undefined): Caller =>
    address === undefined ? { source } : { source, address }
  const station: Station = {
    serial,
    change: (values, { source, answered, address }) => config.change(values, callerOf(source, address), answered),
    parameters: () => config.list(),
    command: (text, { source, signal }): Promise<CommandResult> => {
      if (source === 'console') config.trial.seen({ source })
      return commands.run(text, source, signal)
    },
    get trial() {
      return config.trial.pending
    },
    confirmChange: () => config.trial.confirm(),
    undoChange: () => config.undoTrial(),
    commands: () => commands.list(),
    document: (mask) => documents.document(mask),
    documentText: (mask, reader) => documents.text(mask, reader),
    onDocument: document.on,
    plugins: () => plugins().report(),
    async report() {
      // The saved log has the newest lines then. Without the plugin there is none.
      await commands.run('logsavenvs', 'console')
      return makeReport({
        data,
        store,
        version: device.version,
        live: {
          version: device.version,
          variant: { name: variant.name, hardware: variant.hardware },
          given: variant,
          document: JSON.parse(documents.text(undefined, 'viewer')),
          plugins: plugins().report(),
          isSecret: (name) => !isPublic(tables, name),
          isShown: (name) => isPublic(tables, name),
        },
      })
    },
    resetCounters: () => {
      counters.emit()
      changed()
    },
    onCountersReset: counters.on,
    nvs,
  }
  return {
    config,
    documents,
    bus,
    station,
    tables: () => tables,
    publish(next) {
      const before = new Set(tables.instances)
      tables = next
      for (const [name, hook] of Object.entries(hooks)) hook.set(next.taps[name as keyof typeof hooks])
      bus.setTopics(next.topics)
      config.published(next.instances.filter((instance) => !before.has(instance)))
      changed()
    },
    changed,
  }
}

/** Calls `fn` soon after the first of many calls, never more often than every `interval_ms`. */
function coalesced(clock: Clock, interval_ms: number, fn: () => void): () => void {
  let last_ms = Number.NEGATIVE_INFINITY
  let pending = false
  return () => {
    if (pending) return
    pending = true
    clock.timer(Math.max(0, last_ms + interval_ms - clock.monotonic()), () => {
      pending = false
      last_ms = clock.monotonic()
      fn()
    })
  }
}

/** A parameter whose value anyone may see: it has an owner here and is no secret. */
function isPublic(tables: Tables, name: string): boolean {
  const record = tables.parameters.get(name)
  return record !== undefined && record.options.secret !== true
}
