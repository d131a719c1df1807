/** A network daemon with radios that the simulated one does not have: several, or one that scans while it is an access point. */

import { type Network, type NetworkInterface, network, type ScannedNetwork, type WifiState } from 'rtk-base/services'
import { type AnyPlugin, definePlugin, type EventSource, RtkError } from '../../../../runtime/plugin.js'
import { networkErrors } from '../../../../schemas/services.js'

const none: WifiState = { mode: 'none', canBeAp: true, ssid: '', bssid: '', channel: 0 }

export class FakeNetwork implements Pick<Network, 'ready' | 'failure' | 'interfaces'> {
  ready = true
  failure = ''
  readonly calls: string[] = []
  /** Networks in the air, each with its password. */
  air: (ScannedNetwork & { password: string })[] = []
  scansAsAp: 'yes' | 'empty' | 'no' = 'yes'
  readonly #radios = new Map<string, NetworkInterface>()
  #changed: EventSource<void> | undefined

  constructor(...names: string[]) {
    for (const name of names) this.add(name)
  }

  get interfaces(): NetworkInterface[] {
    return [...this.#radios.values()]
  }

  get(name: string): NetworkInterface | undefined {
    return this.#radios.get(name)
  }

  add(name: string): void {
    this.#set(name, {
      name,
      kind: 'wifi',
      mac: `02:00:00:00:00:${name.length.toString(16).padStart(2, '0')}`,
      driver: 'fake',
      state: 'disconnected',
      reason: '',
      carrier: false,
      ip4: [],
      ip6: [],
      gateway: '',
      dns: [],
      metric: undefined,
      reach: 'none',
      profile: '',
      wifi: none,
    })
  }

  remove(name: string): void {
    this.#radios.delete(name)
    this.#changed?.emit()
  }

  /** Somebody else's profile is in force. */
  foreign(name: string): void {
    this.#set(name, { state: 'connected', profile: 'home', wifi: { ...none, mode: 'station', ssid: 'home' } })
  }

  lose(name: string): void {
    this.#set(name, { state: 'disconnected', profile: '', ip4: [], wifi: none })
  }

  plugin(): AnyPlugin {
    const fake = this
    return definePlugin({
      name: 'network',
      version: '1.0.0',
      api: '^1.0.0',
      provides: [network],
      setup(ctx) {
        const changed = ctx.event<void>()
        fake.#changed = changed
        ctx.services.provide(network, {
          get ready() {
            return fake.ready
          },
          get failure() {
            return fake.failure
          },
          get interfaces() {
            return fake.interfaces
          },
          onChange: changed.on,
          neighbours: () => [],
          setEnabled: async () => {},
          async startAccessPoint(name, { ssid, channel, address }) {
            fake.calls.push(`ap ${name} ${ssid} ${channel}`)
            const [ip = '', prefix] = address.split('/')
            fake.#set(name, {
              state: 'connected',
              profile: `rtk-base-ap-${name}`,
              ip4: [{ address: ip, prefix: Number(prefix) }],
              wifi: { mode: 'ap', canBeAp: true, ssid, bssid: '02:00:00:00:00:aa', channel },
            })
          },
          async join(name, { ssid, password }) {
            fake.calls.push(`join ${name} ${ssid}`)
            const found = fake.air.find((one) => one.ssid === ssid)
            if (!found)
              throw new RtkError(networkErrors.RTK_ERR_NETWORK, 'not found', { cause: { failure: 'not found' } })
            if (found.password !== password)
              throw new RtkError(networkErrors.RTK_ERR_NETWORK, 'wrong password', {
                cause: { failure: 'wrong password' },
              })
            fake.#set(name, {
              state: 'connected',
              profile: `rtk-base-sta-${name}`,
              ip4: [{ address: '192.168.8.50', prefix: 24 }],
              wifi: { mode: 'station', canBeAp: true, ssid, bssid: found.bssid, channel: found.channel },
            })
          },
          async disconnect(name) {
            fake.calls.push(`disconnect ${name}`)
            fake.lose(name)
          },
          async scan(name) {
            fake.calls.push(`scan ${name}`)
            const isAp = fake.get(name)?.wifi?.mode === 'ap'
            if (isAp && fake.scansAsAp === 'no')
              throw new RtkError(networkErrors.RTK_ERR_NETWORK, 'Scanning not allowed')
            return isAp && fake.scansAsAp === 'empty' ? [] : fake.air
          },
        } satisfies Network)
      },
    }) as AnyPlugin
  }

  #set(name: string, values: Partial<NetworkInterface>): void {
    this.#radios.set(name, { ...(this.#radios.get(name) as NetworkInterface), ...values })
    this.#changed?.emit()
  }
}

export const airOf = (ssid: string, channel = 6, password = 'password'): FakeNetwork['air'][number] => ({
  ssid,
  bssid: '02:00:00:00:00:bb',
  channel,
  rssi: -50,
  auth: 'wpa2-psk',
  password,
})
