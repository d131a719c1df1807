/**
 * The whole station, for programs that embed it (`rtk-base`): `createRuntime` starts a station in the process of the caller. The command
 * `rtk-base run` uses the same function.
 */
import { resolve } from 'node:path'
import { type Accounts, accounts, type PluginReport, type Station } from '../schemas/services.js'
import { LocalNetwork } from './gateway/http/local-network.js'
import { HttpServer } from './gateway/http/server.js'
import { type KeptLogin, keptLogin } from './gateway/login/kept-login.js'
import { hostTable } from './host-table.js'
import type { Instance } from './kernel/instance/instance.js'
import { noteRawHandles } from './kernel/instance/raw-handles.js'
import { Changes } from './kernel/parts/changes.js'
import { type Foundation, layFoundation } from './kernel/parts/foundation.js'
import { buildPlugins, type Plugins, wantedPlugins } from './kernel/parts/plugins.js'
import { buildRegistries, type Registries } from './kernel/parts/registries.js'
import { readSections, type Sections } from './kernel/parts/sections.js'
import { applySettings } from './kernel/parts/settings.js'
import { Shutdown } from './kernel/parts/shutdown.js'
import type { BootKnowledge } from './kernel/plugins/boot.js'
import { edgesOf } from './kernel/plugins/entry.js'
import { PluginGraph } from './kernel/plugins/plugin-graph.js'
import type { RuntimeOptions } from './kernel/runtime-options.js'
import { Services } from './kernel/services.js'
import { homesOf, readCatalogue } from './loader/catalogue.js'
import { isPath } from './loader/source.js'
import { Prefixes } from './platform/address/address.js'
import type { StationDevice } from './platform/device.js'
import { refuseExit } from './platform/guard/exit.js'
import { guard } from './platform/guard/guard.js'
import { catchUncaught } from './platform/guard/uncaught.js'
import { verifyImage } from './platform/installed-files.js'
import { systemClock } from './platform/ports/clock.js'
import { packageRoot } from './platform/release.js'
import { reportAlive } from './platform/supervision/supervisor.js'

export { RtkError } from './errors.js'
export type { RuntimeOptions } from './kernel/runtime-options.js'
export { createLogger } from './platform/log/log.js'
export type { RunningSlot } from './platform/ports/slots.js'
export type { Supervisor } from './platform/supervision/supervisor.js'

/** A block of the event loop of at least this length stays in `base.state.errors` after it ended. */
const stallShown_ms = 600_000

/** After the start. */
const imageCheck_ms = 2_000

/** A running service. `address` is that of its HTTP server. */
export interface Runtime {
  readonly station: Station
  readonly device: StationDevice
  readonly address: { host: string; port: number }
  /** Loads a plugin. @param source name or path, as in a variant @param options default: those of the variant, if it lists the plugin */
  load(source: string, options?: Record<string, unknown>): Promise<PluginReport>
  unload(name: string): Promise<void>
  reload(name: string): Promise<PluginReport>
  /** Removes the passwords of the HTTP login. @returns whether there were any */
  resetPasswords(): Promise<boolean>
  /**
   * The plugins' lines of the start banner: label and text. @param isTerminal include the lines meant for a terminal
   * only
   */
  banner(isTerminal?: boolean): [label: string, text: string][]
  /** Graceful: every plugin is stopped, last started first. */
  stop(): Promise<void>
}

function bannerOf(instance: Instance, isTerminal: boolean): [string, string][] {
  if (!instance.live) return []
  return instance.registered.banner.flatMap(({ label, text, onTerminal }): [string, string][] => {
    if (onTerminal && !isTerminal) return []
    const line = guard(instance, `banner ${label}`, text)()
    return line ? [[label, line]] : []
  })
}

/** A wildcard address is reached through the loopback address. */
function urlHere({ host, port }: { host: string; port: number }, scheme: 'http' | 'https'): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** The key under which the variant has a plugin, however its path is written here: so it gets its options, and its updates. */
function keyOf(source: string, { variant, base }: RuntimeOptions): string {
  if (source in variant.plugins || !isPath(source)) return source
  const path = resolve(base, source)
  return Object.keys(variant.plugins).find((key) => isPath(key) && resolve(base, key) === path) ?? source
}

/**
 * Starts the service: foundation, registries, HTTP, plugins. Resolves when every plugin has started or has reported why
 * it did not.
 * @throws RTK_ERR_DATA_LOCKED, RTK_ERR_VARIANT, RTK_ERR_PLUGIN_OPTIONS, RTK_ERR_USAGE, RTK_ERR_LISTEN;
 *   RTK_ERR_STOPPED when `options.signal` aborted before it was up
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const shutdown = new Shutdown(options)
  try {
    return await start(options, shutdown)
  } catch (error) {
    await shutdown.stop()
    throw error
  }
}

interface Parts {
  readonly foundation: Foundation
  readonly registries: Registries
  readonly graph: PluginGraph
  readonly httpServer: HttpServer
  readonly kept: KeptLogin
  readonly plugins: Plugins
}

async function start(options: RuntimeOptions, shutdown: Shutdown): Promise<Runtime> {
  const sections = readSections(options)
  const parts = await buildParts(options, sections, shutdown)
  const { foundation, registries, graph, plugins } = parts
  const { manager } = plugins
  let booted = false
  watchProcess(options, parts, shutdown, () => booted)
  shutdown.unlessStopped()

  let address = { host: sections.http.host, port: sections.http.port }
  const ready = async (known: BootKnowledge) => {
    const all = { ...known, mistakes: [...sections.mistakes, ...known.mistakes] }
    await rememberPeople(parts, options)
    await applySettings(options, registries.config, registries.tables(), graph.report(), all, foundation)
    await listen(parts, address, (at) => {
      address = at
    })
  }
  await plugins.updates.begin()
  await manager.boot(wantedPlugins(options), ready, shutdown.signal)
  booted = true
  options.watchdog?.booted()
  registries.config.trial.applied()
  shutdown.unlessStopped()
  if (options.ownProcess) {
    // Asked for now: an update may take the folder away before it is checked.
    const root = packageRoot()
    // To hash all of it takes as long as a tenth of the start.
    shutdown.add(foundation.clock.timer(imageCheck_ms, () => void checkImage(foundation, root)))
  }
  // A version on trial is ready when it has proved itself: `Device.confirmed`.
  if (!foundation.device.onTrial) options.supervisor?.ready()
  return {
    station: registries.station,
    device: foundation.device,
    address,
    load: (named, given) => {
      const source = keyOf(named, options)
      return manager.load({ source, options: given ?? options.variant.plugins[source] ?? {} })
    },
    unload: (name) => manager.unload(name),
    reload: (name) => manager.reload(name),
    resetPasswords: () => parts.httpServer.resetPasswords(),
    banner: (isTerminal = false) => graph.instances.flatMap((instance) => bannerOf(instance, isTerminal)),
    stop: () => shutdown.stop(),
  }
}

/** Builds the parts, the lowest first. */
async function buildParts(options: RuntimeOptions, sections: Sections, shutdown: Shutdown): Promise<Parts> {
  const { data, log, variant } = options
  const { http, info, net, trial } = sections
  const changes = new Changes(options.clock ?? systemClock)
  const services = new Services()
  const homes = homesOf(readCatalogue(), 'provides')
  const graph = new PluginGraph(services, homes, changes.plugins)
  const foundation = await layFoundation(options, { pluginTroubles: () => graph.troubles(), changes })
  const { clock, network: sockets, store } = foundation
  shutdown.add(() => foundation.close())
  const registries = await buildRegistries(foundation, { data, info, log, graph, changes, trial, variant })
  const network = new LocalNetwork(clock)
  const kept = await keptLogin(store)
  const seen = (address: string) => registries.config.trial.seen({ source: 'http', address })
  const knowsPeople = variantNames(options, homes[accounts.id]) || variantNames(options, kept.peopleOf)
  const httpServer = new HttpServer(http, {
    ...{ log, clock, sockets, network, seen, kept },
    certificate: {
      utc_ms: () => foundation.device.utc_ms(),
      report: (trouble) => void foundation.errors.while('http-certificate-renewal', trouble),
    },
    // While the plugin that knows people does not run, nobody is let in in its place.
    accounts: () =>
      (services.find(accounts.id) as Accounts | undefined) ??
      (knowsPeople || graph.names(accounts.id) ? 'away' : undefined),
  })
  shutdown.add(() => httpServer.close())
  const plugins = buildPlugins(options, {
    ...{ foundation, registries, services, graph, httpServer, network, changes },
    host: hostTable,
    proxies: Prefixes.named(net.proxies, 'net.proxies'),
    stopping: shutdown.signal,
  })
  shutdown.add(() => plugins.close())
  return { foundation, registries, graph, httpServer, kept, plugins }
}

/** The next start may not be able to load the code of the plugin that knows people: nobody is let in in its place then, either. */
async function rememberPeople({ graph, kept }: Parts, options: RuntimeOptions): Promise<void> {
  const found = graph.entries.find(({ version }) => edgesOf(version).provides.includes(accounts.id))?.wanted.source
  const before = variantNames(options, kept.peopleOf) ? kept.peopleOf : undefined
  const now = found ?? before
  if (now === kept.peopleOf) return
  await kept.keepPeopleOf(now).catch((error: Error) => {
    options.log.error(
      { err: error },
      `that ${now} knows the people who may log in could not be stored: the next start tries again`,
    )
  })
}

const variantNames = ({ variant }: RuntimeOptions, plugin: string | undefined) =>
  plugin !== undefined && plugin in variant.plugins

/** Follows uncaught errors and open handles to their plugins, and reports blocks of the event loop. */
function watchProcess(
  { log, ownProcess, tracesHandles, supervisor, watchdog }: RuntimeOptions,
  { foundation: { clock, errors }, graph, plugins: { manager } }: Parts,
  shutdown: Shutdown,
  hasBooted: () => boolean,
): void {
  if (ownProcess) {
    const owners = {
      ownerOfFiles: (files: readonly string[]) => graph.ownerOfFiles(files),
      dependsOn: (plugin: string, provider: string) => graph.dependsOn(plugin, provider),
      crashed: (plugin: string, error: unknown, by: unknown) => manager.crashed(plugin, error, by),
    }
    shutdown.add(catchUncaught(log, owners), refuseExit())
  }
  if (tracesHandles) shutdown.add(noteRawHandles())
  if (!watchdog) return
  const forgetStalls = watchdog.onStall(({ plugin, place, blocked_s }) => {
    // On a slow machine loading takes that long; the log has it all the same.
    if (!plugin && !hasBooted()) return
    const duration = blocked_s.toFixed(1)
    const values = { plugin: plugin ?? '', blocked_s: Number(duration), place: place ?? '' }
    errors.while('event-loop-blocked', { ...values, _duration: duration, _where: place ? ` at ${place}` : '' })
    clock.timer(stallShown_ms, () => void errors.while('event-loop-blocked', false))
  })
  shutdown.add(forgetStalls)
  if (!supervisor) return
  // Real time, as that of the watchdog's beat.
  const now_ms = () => performance.now()
  shutdown.add(reportAlive(supervisor, (fn) => watchdog.onAlive(fn), now_ms))
}

/** @param served called with the address, now or when the machine has it */
async function listen(
  { httpServer, foundation: { device, errors } }: Parts,
  { host }: { host: string },
  served: (at: Runtime['address']) => void,
): Promise<void> {
  const serve = (at: Runtime['address']) => {
    errors.while('http-listen', false)
    errors.while('http-certificate', false)
    served(at)
    const scheme = httpServer.fingerprint256 === undefined ? 'http' : 'https'
    device.http = {
      ...at,
      url: urlHere(at, scheme),
      get fingerprint256() {
        return httpServer.fingerprint256
      },
    }
  }
  const at = await httpServer.listen(serve)
  if (at === 'address') errors.while('http-listen', { host })
  else if (at === 'certificate') errors.while('http-certificate', true)
  else serve(at)
}

async function checkImage({ errors }: Foundation, root: string): Promise<void> {
  const wrong = await verifyImage(root)
  errors.while('image-damaged', wrong.length > 0 && { files: wrong.slice(0, 3).join(', ') })
}
