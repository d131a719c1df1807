/** The programs and files around a simulated radio: read and set by the tools next to the network daemon. */
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import type { Network, NetworkInterface, RadioMachine } from 'rtk-base/services'
import { answerIw } from './iw.js'
import { initialState, type RadioView } from './state.js'

const ok = (stdout = '') => ({ code: 0, stdout, stderr: '' })
const failed = (stderr: string, code = 1) => ({ code, stdout: '', stderr })

export class SimulatedRadioMachine implements RadioMachine, RadioView {
  readonly state = initialState()
  readonly #ctx: Pick<PluginContext, 'clock' | 'timers'>
  readonly #interfaces: () => Network['interfaces']

  /** @param interfaces what the network daemon of the station shows now */
  constructor(ctx: Pick<PluginContext, 'clock' | 'timers'>, interfaces: () => Network['interfaces']) {
    this.#ctx = ctx
    this.#interfaces = interfaces
  }

  now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  interface(name: string): NetworkInterface | undefined {
    return this.#interfaces().find((one) => one.name === name && one.kind === 'wifi')
  }

  get accessPoint(): NetworkInterface | undefined {
    return this.#interfaces().find(({ wifi, state }) => wifi?.mode === 'ap' && state === 'connected')
  }

  async execFile(file: string, args: readonly string[], { timeout_ms = 10_000 } = {}) {
    const { missing, faults, slow_ms } = this.state
    if (missing.has(file)) throw new RtkError('RTK_ERR_PROCESS_NOT_FOUND', `${file}: no such program on this machine`)
    const delay_ms = slow_ms.get(file) ?? 0
    if (delay_ms > 0)
      await new Promise<void>((resolve) => this.#ctx.timers.after(Math.min(delay_ms, timeout_ms), resolve))
    if (delay_ms > timeout_ms)
      throw new RtkError('RTK_ERR_PROCESS_TIMEOUT', `${file} did not end within ${timeout_ms / 1000} s: killed`)
    return faults.get(file) ?? this.#run(file, args)
  }

  async readFile(path: string): Promise<string | undefined> {
    const { state } = this
    const ap = this.accessPoint
    if (ap && path.endsWith(`nm-dnsmasq-${ap.name}.pid`)) return '4711\n'
    if (ap && path === '/proc/4711/cmdline') return `/usr/sbin/dnsmasq\0--conf-file=/dev/null\0--interface=${ap.name}\0`
    if (!path.endsWith('.leases')) return state.files.get(path)
    if (state.leases === 'missing' || !ap) return undefined
    if (state.leases === 'garbage') return '\u0000\u0001 not a lease\n12 34\n9999999999999 zz:zz 300.1.1.1 * *\n'
    const until_s = Math.floor(this.#ctx.clock.now() / 1000) + 3_600
    return [...state.clients]
      .filter(([, { ip }]) => ip !== '')
      .map(([mac, { ip }]) => `${until_s} ${mac} ${ip} * 01:${mac}\n`)
      .join('')
  }

  async writeFile(path: string, text: string): Promise<void> {
    this.state.files.set(path, text)
  }

  async removeFile(path: string): Promise<void> {
    this.state.files.delete(path)
  }

  #run(file: string, args: readonly string[]) {
    const { state } = this
    const text = args.join(' ')
    if (file === 'iw') return answerIw(this, args)
    if (file === 'busctl') return this.#busctl(text)
    if (file === 'wpa_cli') return ok(state.announces && this.accessPoint ? 'OK\n' : 'FAIL\n')
    if (file === 'ip') return this.#ip(text)
    if (file === 'resolvectl') {
      const [, name = '', server = ''] = args
      if (args[0] === 'dns') state.dns.set(name, server)
      if (args[0] === 'revert') state.dns.delete(name)
      return ok()
    }
    if (file === 'kill') {
      state.dhcpReloads += 1
      return ok()
    }
    throw new RtkError('RTK_ERR_PROCESS_NOT_FOUND', `${file}: no such program on this machine`)
  }

  #busctl(text: string) {
    const { state } = this
    const name = /GetInterface s (\S+)/.exec(text)?.[1]
    if (name !== undefined)
      return this.interface(name) ? ok('o "/fi/w1/wpa_supplicant1/Interfaces/1"\n') : failed('Interface unknown')
    const count = /MaxNumSta s (\d+)/.exec(text)?.[1]
    if (count !== undefined) state.maxStations = Number(count)
    return ok(text.includes('get-property') ? `s "${state.maxStations}"\ns "${state.beacon_tu}"\n` : '')
  }

  #ip(text: string) {
    const { routes } = this.state
    const [, name = ''] = /dev (\S+)/.exec(text) ?? []
    if (text.includes('route replace')) {
      if (!this.interface(name)) return failed(`Cannot find device "${name}"`)
      routes.set(name, text.slice(text.indexOf('default')))
    }
    if (text.includes('route flush')) routes.delete(name)
    return ok()
  }
}
