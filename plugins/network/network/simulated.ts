import { type PluginContext, unavailable } from 'rtk-base/plugin'
import {
  type AccessPointProfile,
  type FixedAddress,
  type Network,
  type StationProfile,
  simulatedNetwork,
} from 'rtk-base/services'
import { type Backend, Changes } from './backend.js'

const missing = 'backend=simulator needs the plugin simulated-machine, which this variant does not have'

/** `backend: "simulator"`: the network of the plugin simulated-machine, while that is there. */
export class SimulatedBackend implements Backend {
  readonly #ctx: PluginContext
  readonly #changes: Changes

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#changes = new Changes(ctx)
  }

  async start(): Promise<void> {
    const { errors, services } = this.#ctx
    services.watch(simulatedNetwork, (service) => {
      errors.while('network-simulator', !service)
      this.#changes.note()
      return service && this.#ctx.on(service.backend.onChange, () => this.#changes.note())
    })
  }

  async stop(): Promise<void> {}

  get ready(): boolean {
    return this.#simulated?.ready ?? false
  }
  get failure(): string {
    return this.#simulated ? this.#simulated.failure : missing
  }
  get interfaces() {
    return this.#simulated?.interfaces ?? []
  }
  get onChange() {
    return this.#changes.on
  }

  setEnabled = async (name: string, enabled: boolean) => this.#network.setEnabled(name, enabled)
  setAddress = async (name: string, address: FixedAddress | undefined) => this.#network.setAddress?.(name, address)
  startAccessPoint = async (name: string, profile: AccessPointProfile) => this.#network.startAccessPoint(name, profile)
  join = async (name: string, profile: StationProfile) => this.#network.join(name, profile)
  disconnect = async (name: string) => this.#network.disconnect(name)
  scan = async (name: string, signal?: AbortSignal) => this.#network.scan(name, signal)
  steer = async (name: string | undefined) => this.#network.steer?.(name)
  neighbours = (name: string) => this.#simulated?.neighbours(name) ?? []

  get #simulated(): Network | undefined {
    return this.#ctx.services.find(simulatedNetwork)?.backend
  }

  get #network(): Network {
    if (this.#simulated) return this.#simulated
    throw unavailable(missing)
  }
}
