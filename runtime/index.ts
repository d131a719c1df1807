import { resolve } from 'node:path'
import type { Static, TSchema } from 'typebox'
import { HttpSection, InfoSection, NetSection, TrialSection } from '../schemas/index.js'
import type { PluginReport, Station, StationError } from '../schemas/services.js'
import { verifyImage } from './build/image.js'
import { packageRoot } from './build/release.js'
import type { StationDevice } from './device.js'
import { RtkError } from './errors.js'
import { Gateway } from './http/gateway.js'
import { LocalNetwork } from './http/local-network.js'
import { keptSessions } from './http/login/kept-sessions.js'
import { catchUncaught, guardExit } from './kernel/instance/attribution.js'
import type { Instance } from './kernel/instance/instance.js'
import { noteRawHandles } from './kernel/instance/raw-handles.js'
import { resolveOptions, type SetOption } from './kernel/options.js'
import { isPath } from './loader/source.js'
import { NamedAddresses } from './net/named-addresses.js'
import type { RuntimeOptions } from './options.js'
import { layFoundation } from './parts/foundation.js'
import { buildPlugins } from './parts/plugins.js'
import { buildRegistries } from './parts/registries.js'
import { reportAlive } from './ports/supervisor.js'
import { applySettings, type BootKnowledge } from './settings.js'

export { RtkError } from './errors.js'
export { createLogger } from './log.js'
export type { RuntimeOptions } from './options.js'
export type { RunningSlot } from './ports/slots.js'
export type { Supervisor } from './ports/supervisor.js'

/** So long a block of the event loop stands in `base.state.errors` after it ended. */
const stallShown_ms = 600_000

/** After the start. */
const imageCheck_ms = 2_000

/** A running service. */
export interface Runtime {
  readonly station: Station
  readonly device: StationDevice
  readonly address: { host: string; port: number }
  /** @param options left out: those of the variant, where it has the plugin */
  load(source: string, options?: Record<string, unknown>): Promise<PluginReport>
  unload(name: string): Promise<void>
  reload(name: string): Promise<PluginReport>
  /** What the plugins say at the start: label and text. @param isTerminal with what is for a terminal only */
  banner(isTerminal?: boolean): [label: string, text: string][]
  /** Graceful: every plugin is stopped, last started first. */
  stop(): Promise<void>
}

function bannerOf(instance: Instance, isTerminal: boolean): [string, string][] {
  if (!instance.live) return []
  return instance.registered.banner.flatMap(({ label, text, onTerminal }): [string, string][] => {
    if (onTerminal && !isTerminal) return []
    try {
      const line = instance.run(text)
      return line ? [[label, line]] : []
    } catch (error) {
      instance.failed(error, `banner ${label}`)
      return []
    }
  })
}

/** An address that stands for every interface is reached through the loopback one. */
function urlHere({ host, port }: { host: string; port: number }): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** The key under which the variant has a plugin, however its path is written here: so it gets its options, and its updates. */
function keyOf(source: string, { variant, base }: RuntimeOptions): string {
  if (source in variant.plugins || !isPath(source)) return source
  const path = resolve(base, source)
  return Object.keys(variant.plugins).find((key) => isPath(key) && resolve(base, key) === path) ?? source
}

/**
 * Starts the service: foundation, registries, HTTP, plugins. Resolves when every plugin was started or has said why not.
 * @throws RTK_ERR_DATA_LOCKED, RTK_ERR_VARIANT, RTK_ERR_PLUGIN_OPTIONS, RTK_ERR_USAGE, RTK_ERR_LISTEN;
 *   RTK_ERR_STOPPED when `options.signal` aborted before it was up
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { variant, log, supervisor, watchdog } = options
  const mistakes: RtkError[] = []
  const section = <S extends TSchema>(name: 'http' | 'net' | 'info' | 'trial', schema: S): Static<S> => {
    const resolve = (given: object, sets: readonly SetOption[]) =>
      resolveOptions(name, schema, given as Record<string, unknown>, sets, [name], 'RTK_ERR_VARIANT') as Static<S>
    try {
      return resolve(variant[name] ?? {}, options.sets?.get(name) ?? [])
    } catch (error) {
      // Shown together with the mistakes of the plugins; until then the defaults do.
      mistakes.push(error as RtkError)
      return resolve({}, [])
    }
  }
  const http = section('http', HttpSection)
  const net = section('net', NetSection)
  const info = section('info', InfoSection)
  const trial = section('trial', TrialSection)

  const stopping = new AbortController()
  const abort = () => stopping.abort()
  options.signal?.addEventListener('abort', abort)
  if (options.signal?.aborted) abort()

  const undo: (() => void | Promise<void>)[] = [() => options.signal?.removeEventListener('abort', abort)]
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopping.abort()
    stopped ??= (async () => {
      supervisor?.stopping()
      for (const step of undo.reverse()) await step()
    })()
    return stopped
  }
  const unlessStopped = () => {
    if (stopping.signal.aborted) throw new RtkError('RTK_ERR_STOPPED', 'the service was stopped while it started')
  }

  try {
    // Trouble of the foundation comes up before there is anybody to report it.
    const above = { pluginTroubles: (): StationError[] => [], changed: () => {} }
    const foundation = await layFoundation(options, above)
    undo.push(() => foundation.close())
    const registries = await buildRegistries(foundation, {
      ...{ data: options.data, info, log, plugins: () => plugins.manager, trial, variant },
    })
    above.changed = registries.changed
    const network = new LocalNetwork(foundation.clock)
    const login = http.token === undefined ? {} : { sessions: await keptSessions(foundation.store) }
    const seen = (address: string) => registries.config.trial.seen({ source: 'http', address })
    const gateway = new Gateway(http, { log, clock: foundation.clock, network, seen, ...login })
    undo.push(() => gateway.close())
    const proxies = new NamedAddresses(net.proxies, 'net.proxies')
    const plugins = buildPlugins(options, foundation, registries, {
      ...{ gateway, network, proxies, stopping: stopping.signal },
    })
    undo.push(() => plugins.close())
    const { manager } = plugins
    above.pluginTroubles = () => manager.troubles()
    if (options.ownProcess) undo.push(catchUncaught(log, manager), guardExit())
    if (options.tracesHandles) undo.push(noteRawHandles())
    let booted = false
    const notice = watchdog?.onStall(({ plugin, place, blocked_s }) => {
      // On a slow machine loading takes that long; the log has it all the same.
      if (!plugin && !booted) return
      const who = plugin ? `plugin ${plugin}` : 'the service'
      const where = place ? ` at ${place}` : ''
      const text = `${who} blocked everything for ${blocked_s.toFixed(1)} s${where}: RTCM and answers were late`
      foundation.troubles.raise('event-loop-blocked', text)
      foundation.clock.timer(stallShown_ms, () => foundation.troubles.clear('event-loop-blocked'))
    })
    if (notice) undo.push(notice)
    if (supervisor && watchdog) {
      // Real time, as that of the watchdog's beat.
      undo.push(
        reportAlive(
          supervisor,
          (fn) => watchdog.onAlive(fn),
          () => performance.now(),
        ),
      )
    }
    unlessStopped()

    let address = { host: http.host, port: http.port }
    const ready = async (known: BootKnowledge) => {
      const trouble = (code: string, text: string) => foundation.troubles.raise(code, text)
      const all = { ...known, mistakes: [...mistakes, ...known.mistakes] }
      await applySettings(options, registries.config, registries.tables(), manager.report(), all, trouble)
      const serve = (at: typeof address) => {
        foundation.troubles.clear('http-listen')
        address = at
        foundation.device.http = { ...at, url: urlHere(at) }
      }
      const at = await gateway.listen(serve)
      if (at) serve(at)
      else
        foundation.troubles.raise('http-listen', `HTTP is not served: this machine has no address ${http.host} (yet)`)
    }
    await plugins.updates.begin()
    await manager.boot(plugins.wanted, ready, stopping.signal)
    booted = true
    registries.config.trial.resume()
    unlessStopped()
    if (options.ownProcess) {
      // Asked for now: an update may take the folder away before it is checked.
      const root = packageRoot()
      const verify = async () => {
        const wrong = await verifyImage(root)
        if (wrong.length === 0) return
        foundation.troubles.raise('image-damaged', `${wrong.slice(0, 3).join(', ')}: install the image again`)
      }
      // To hash all of it takes as long as a tenth of the start.
      undo.push(foundation.clock.timer(imageCheck_ms, () => void verify()))
    }
    // A version on trial is ready when it has proved itself: `Device.confirmed`.
    if (!foundation.device.onTrial) supervisor?.ready()
    return {
      station: registries.station,
      device: foundation.device,
      address,
      load: (named, given) => {
        const source = keyOf(named, options)
        return manager.load({ source, options: given ?? variant.plugins[source] ?? {} })
      },
      unload: (name) => manager.unload(name),
      reload: (name) => manager.reload(name),
      banner: (isTerminal = false) => manager.instances.flatMap((instance) => bannerOf(instance, isTerminal)),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
