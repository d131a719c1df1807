import { join } from 'node:path'
import type { Logger } from 'pino'
import { commandHomes, documentOrder, HttpSection, InfoSection, type Variant } from '../schemas/index.js'
import type { CommandResult, PluginReport, Station } from '../schemas/services.js'
import { device as deviceToken, localNetwork, mqttBus, station as stationToken } from '../schemas/services.js'
import { verifyImage } from './build/image.js'
import { packageRoot, type Release, readRelease, shippedPlugins } from './build/release.js'
import { StationDevice, type StationError } from './device.js'
import { Gateway } from './http/gateway.js'
import { LocalNetwork } from './http/local-network.js'
import { catchUncaught } from './kernel/attribution.js'
import type { Wanted } from './kernel/entry.js'
import { BailHookPoint, SeriesHookPoint, SyncHookPoint } from './kernel/hook-point.js'
import type { Instance } from './kernel/instance.js'
import { Lifecycle } from './kernel/lifecycle.js'
import { Manager } from './kernel/manager.js'
import { resolveOptions, type SetOption } from './kernel/options.js'
import { compileTables, type Tables } from './kernel/tables.js'
import { Loader } from './loader/load.js'
import { SourceWatcher } from './loader/watch.js'
import { Bus } from './mqtt/bus.js'
import type { ChangeSet, CommandCall, InfoSelection, MqttSession, PluginDefinition } from './plugin.js'
import { type Clock, systemClock } from './ports/clock.js'
import { type Machine, machineSerial } from './ports/machine.js'
import { SealableStore } from './ports/sealed-store.js'
import { openStore, type Store, type StoreTrouble } from './ports/store.js'
import { CommandRegistry } from './registry/commands.js'
import { ConfigRegistry } from './registry/config.js'
import { InfoRegistry } from './registry/info.js'
import { Nvs } from './registry/nvs.js'
import { checkSets, presetChanges } from './settings.js'

export { RtkError } from './errors.js'
export { createLogger } from './log.js'

export interface RuntimeOptions {
  variant: Variant
  /** Where relative plugin paths of the variant are resolved from. */
  base: string
  /** Data folder: store, bundle cache. */
  data: string
  log: Logger
  machine: Machine
  /** `--set`, sorted by plugin or section name. */
  sets?: ReadonlyMap<string, readonly SetOption[]>
  /** `--change`: stored after `setup`, before `start`. Texts are read by the parameter's own schema. */
  changes?: Readonly<Record<string, string>>
  /** Reload plugins whose source changes. */
  watch?: boolean
  /** Take uncaught errors of the process: a plugin's end the plugin, others the process. */
  ownProcess?: boolean
  // For tests and embedding:
  clock?: Clock
  store?: Store
  release?: Release
  /** Definitions given in the process; the key is the plugin's key in the variant. */
  definitions?: Readonly<Record<string, PluginDefinition>>
  /** Folder of the shipped plugins. */
  builtIn?: string
}

/** A running service. */
export interface Runtime {
  readonly station: Station
  readonly device: StationDevice
  readonly address: { host: string; port: number }
  /** @param options left out: those of the variant, where it has the plugin */
  load(source: string, options?: Record<string, unknown>): Promise<PluginReport>
  unload(name: string): Promise<void>
  reload(name: string): Promise<PluginReport>
  /** Graceful: every plugin is stopped, last started first. */
  stop(): Promise<void>
}

/**
 * Starts the service: store, registries, plugins, HTTP. Resolves when every plugin was started or has said why not.
 * @throws RTK_ERR_DATA_LOCKED, RTK_ERR_VARIANT, RTK_ERR_PLUGIN_OPTIONS, RTK_ERR_USAGE, RTK_ERR_LISTEN
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { variant, log, data, clock = systemClock, release = readRelease() } = options
  const setsOf = (owner: string) => options.sets?.get(owner) ?? []
  const http = resolveOptions(
    'http',
    HttpSection,
    variant.http ?? {},
    setsOf('http'),
    ['http'],
    'RTK_ERR_VARIANT',
  ) as HttpSection
  const info = resolveOptions('info', InfoSection, variant.info ?? {}, setsOf('info'), ['info'], 'RTK_ERR_VARIANT')

  const store = new SealableStore(options.store ?? (await openStore(join(data, 'store'), log, { clock })))
  const undo: (() => void | Promise<void>)[] = [() => store.close()]
  try {
    return await run()
  } catch (error) {
    for (const step of undo.reverse()) await step()
    throw error
  }

  async function run(): Promise<Runtime> {
    let tables: Tables = compileTables([])
    const troubles = new Map<string, StationError>()
    const trouble = (code: string, text: string) => {
      troubles.set(code, { code, text, t: utc_s() })
      log.error({ code }, text)
      documents.invalidate()
    }
    const serial = await serialNumber(variant, store)

    const hooks = {
      onInfoBuild: new SyncHookPoint<[Record<string, unknown>, InfoSelection]>('onInfoBuild', clock),
      onChange: new SeriesHookPoint<[ChangeSet]>('onChange', clock),
      onSystemCommand: new BailHookPoint<[CommandCall], string>('onSystemCommand', clock),
      onMqttConnect: new SeriesHookPoint<[MqttSession]>('onMqttConnect', clock),
    }
    const documents = new InfoRegistry({
      clock,
      log,
      tables: () => tables,
      onInfoBuild: hooks.onInfoBuild,
      assignment: info.mask as 1 | 2,
      order: documentOrder,
    })
    const config = new ConfigRegistry({
      store,
      clock,
      log,
      tables: () => tables,
      onChange: hooks.onChange,
      changed: () => documents.invalidate(),
      trouble,
    })
    await config.load()
    const commands = new CommandRegistry({
      clock,
      log,
      tables: () => tables,
      onSystemCommand: hooks.onSystemCommand,
      homes: commandHomes,
    })
    const network = new LocalNetwork(clock)
    const bus = new Bus(log, hooks.onMqttConnect)
    const device = new StationDevice({
      hardware: variant.hardware,
      variant: variant.name,
      release,
      partition: process.env.RTK_BASE_SLOT ?? '',
      clock,
      machine: options.machine,
      errors: () => [...storeErrors, ...troubles.values(), ...manager.troubles()],
      clearStore: () => store.factory(),
    })
    const utc_s = () => Math.floor(device.utc_ms() / 1000)
    let storeErrors: StationError[] = []
    const readStoreErrors = () => {
      const known = ({ code, text }: StoreTrouble) =>
        storeErrors.find((error) => error.code === code && error.text === text)
      storeErrors = store.troubles.map((now) => known(now) ?? { ...now, t: utc_s() })
      documents.invalidate()
    }
    store.onTroubles(readStoreErrors)
    readStoreErrors()
    const nvs = new Nvs({
      store,
      isShown: (name) => isPublic(tables, name),
      isPlugin: (name) => manager.report().some((plugin) => plugin.name === name),
    })
    const station: Station = {
      serial,
      change: (values, { source, answered }) => config.change(values, source, answered),
      command: (text, { source, signal }): Promise<CommandResult> => commands.run(text, source, signal),
      commands: () => commands.list(),
      document: (mask) => documents.document(mask),
      documentText: (mask) => documents.text(mask),
      plugins: () => manager.report(),
      nvs,
    }
    const services = new Map<string, unknown>([
      [stationToken.id, station],
      [deviceToken.id, device],
      [mqttBus.id, bus],
      [localNetwork.id, network],
    ])

    const gateway = new Gateway(http, { log, clock, network })
    const loader = new Loader({
      builtIn: options.builtIn ?? shippedPlugins(),
      base: options.base,
      cache: join(data, 'plugins'),
    })
    const watcher = options.watch ? new SourceWatcher(clock, log, (plugin) => void reloadChanged(plugin)) : undefined
    const lifecycle = new Lifecycle({
      log,
      clock,
      released: (plugin) => gateway.release(plugin),
      host: {
        serial,
        clock,
        store,
        parameterValue: (record) => config.value(record),
        infoChanged: () => documents.invalidate(),
        publish: (topic, payload, publishOptions) => bus.publish(topic, payload, publishOptions),
        findService: (id) => manager.findService(id),
        utc_s,
      },
    })
    const manager: Manager = new Manager({
      log,
      clock,
      lifecycle,
      services,
      utc_s,
      load: (source) => loader.load(source),
      digest: (source) => loader.digest(source),
      sets: setsOf,
      stage: (instances) => gateway.stage(instances.map(routeOwner)),
      publish: (next, generation) => {
        tables = next
        for (const [name, hook] of Object.entries(hooks)) hook.set(next.taps[name as keyof typeof hooks])
        bus.setTopics(next.topics)
        gateway.commit(generation)
        documents.invalidate()
      },
      stateChanged: () => documents.invalidate(),
      forgotten: (source) => void loader.forget(source),
      unreadable: (plugin, source) => watcher?.add(plugin, loader.looked(source)),
      loaded: (plugin, inputs) => (inputs.length > 0 ? watcher?.set(plugin, inputs) : watcher?.drop(plugin)),
    })
    const reloadChanged = async (plugin: string) => {
      try {
        const report = await manager.reloadIfChanged(plugin)
        if (report) log.info({ plugin, version: report.version }, 'reloaded')
      } catch (error) {
        const runs = manager.report().some(({ name, state }) => name === plugin && state === 'running')
        const next = runs ? 'the old version goes on' : 'it does not run; save it again when it is corrected'
        log.error({ plugin, err: error }, `not reloaded: ${(error as Error).message}; ${next}`)
      }
    }

    undo.push(
      () => watcher?.close(),
      () => gateway.close(),
      () => manager.close(),
    )
    if (options.ownProcess) undo.push(catchUncaught(log, manager))

    let address = { host: http.host, port: http.port }
    await manager.boot(wantedPlugins(options), async () => {
      checkSets(options, manager.report())
      await presetChanges(options, config, tables, manager.report(), trouble)
      address = await gateway.listen()
    })
    if (options.ownProcess) {
      void verifyImage(packageRoot()).then((wrong) => {
        if (wrong.length > 0) trouble('image-damaged', `${wrong.slice(0, 3).join(', ')}: install the image again`)
      })
    }

    let stopped: Promise<void> | undefined
    return {
      station,
      device,
      address,
      load: (source, pluginOptions = variant.plugins[source] ?? {}) => manager.load({ source, options: pluginOptions }),
      unload: (name) => manager.unload(name),
      reload: (name) => manager.reload(name),
      stop: () => {
        stopped ??= (async () => {
          for (const step of undo.reverse()) await step()
        })()
        return stopped
      },
    }
  }
}

/** A parameter whose value anyone may see: it has an owner here and is no secret. */
function isPublic(tables: Tables, name: string): boolean {
  const record = tables.parameters.get(name)
  return record !== undefined && record.options.secret !== true
}

function routeOwner(instance: Instance) {
  const { registered } = instance
  return {
    name: instance.name,
    live: () => instance.live,
    run: <T>(fn: () => T) => instance.run(fn),
    failed: (error: unknown, what: string) => instance.failed(error, what),
    routes: registered.routes,
    plugins: registered.httpPlugins,
    upgrades: registered.upgrades,
  }
}

function wantedPlugins({ variant, definitions }: RuntimeOptions): Wanted[] {
  return Object.entries(variant.plugins).map(([source, options]) => ({
    source,
    options,
    definition: definitions && source in definitions ? () => definitions[source] : undefined,
  }))
}

async function serialNumber(variant: Variant, store: Store): Promise<string> {
  if (variant.serial) return variant.serial
  const kept = await store.get('protected.kernel', 'serial')
  if (typeof kept === 'string') return kept
  const serial = await machineSerial()
  await store.batch([{ namespace: 'protected.kernel', key: 'serial', value: serial }]).catch(() => {})
  return serial
}
