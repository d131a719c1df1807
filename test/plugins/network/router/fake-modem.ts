/** A modem in the hands of a test, and the router and the link to the broker around it. */
import { type AnyPlugin, definePlugin, type EventSource, type PluginContext, RtkError } from 'rtk-base/plugin'
import {
  type ApnSettings,
  type CellularRouter,
  cellularModem,
  cellularRouter,
  type Device,
  device,
  type Metrics,
  type ModemFacts,
  type MqttLink,
  metrics,
  mqttLink,
  type ScannedOperator,
} from 'rtk-base/services'
import { createTestStation, ManualClock, type TestStationOptions } from 'rtk-base/testing'
import type { Test } from 'tap'
import modem from '../../../../plugins/network/modem/index.js'
import { type ModemSource, modemService } from '../../../../plugins/network/teltonika-router/modem-service.js'
import { RouterFacts } from '../../../../plugins/network/teltonika-router/state/facts.js'
import { RouterPoll } from '../../../../plugins/network/teltonika-router/state/poll.js'

export const lte: ScannedOperator[] = [
  { plmn: '24601', name: 'Telia LT', generation: '4G', status: 'available' },
  { plmn: '24603', name: 'Tele2 LT', generation: '2G', status: 'current' },
  { plmn: '24603', name: 'Tele2 LT', generation: '4G', status: 'current' },
]

/** A call that is not answered ends then, and a router that lets three in a row wait is offline. */
const limit_ms = 30_000
const mostStrikes = 3

/** Its methods have the names of the operations of the router. */
export class FakeModem {
  readonly #clock: ManualClock
  /** Names of the calls, in order. */
  calls: string[] = []
  /** Calls that run now, and the most at a time. */
  running = 0
  most = 0
  away = false
  hangs = false
  /** These are rejected as unsupported. */
  unsupported: string[] = []
  id = { imei: '860000000000009', model: 'EC25', manuf: 'Quectel', rev: 'EC25EFAR06A01', operatorControl: true }
  signals: ModemFacts['signal'] = {
    rssi_dbm: -57,
    rsrp_dbm: -105.4,
    rsrq_db: -12,
    sinr_db: 13,
  }
  registered: ModemFacts['registration'] = {
    network: 'home',
    operator: 'Tele2 LT',
    carrier: 'Tele2',
    plmn: 24603,
    technology: 'LTE',
    cellId: '1A2B3C',
    packetService: 'attached',
    connected: true,
  }
  card: ModemFacts['sim'] = {
    state: 'ready',
    imsi: '246030000000001',
    iccid: '8937003000000000017',
  }
  bytes = { sent: 1000, recvd: 2000 }
  temperature_c: number | undefined = 41.5
  selected: string | undefined
  selections: (string | undefined)[] = []
  settings: ApnSettings = { apn: 'internet.tele2.lt', user: '', pswd: '', auth: 'none' }
  written: ApnSettings[] = []
  ping = '8.8.8.8'
  found: ScannedOperator[] = lte
  scan_ms = 200_000
  /** What a selection or a scan rejects with. */
  refusal: Error | undefined
  reboots = 0

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  modemIdentity = () => this.#answer('modemIdentity', () => this.id)
  signal = () => this.#answer('signal', () => this.signals)
  registration = () => this.#answer('registration', () => this.registered)
  sim = () => this.#answer('sim', () => this.card)
  traffic = () => this.#answer('traffic', () => this.bytes)
  temperature = () => this.#answer('temperature', () => ({ celsius: this.temperature_c }))
  operatorSelection = () => this.#answer('operatorSelection', () => ({ plmn: this.selected }))
  apn = () => this.#answer('apn', () => this.settings)
  pingReboot = () => this.#answer('pingReboot', () => ({ enabled: true, host: this.ping }))
  rebootModem = () => this.#answer('rebootModem', () => void this.reboots++)
  setApn = (settings: ApnSettings) =>
    this.#answer('setApn', () => {
      this.settings = settings
      this.written.push(settings)
    })
  selectOperator = ({ plmn }: { plmn: string | undefined }) =>
    this.#answer('selectOperator', () => {
      this.selections.push(plmn)
      if (this.refusal) throw this.refusal
      this.selected = plmn
    })
  scanOperators = async () => {
    await this.#answer('scanOperators', () => {})
    await new Promise<void>((resolve) => void this.#clock.timer(this.scan_ms, resolve))
    if (this.refusal) throw this.refusal
    return this.#answer('the result of the scan', () => this.found)
  }

  count = (name: string) => this.calls.filter((call) => call === name).length

  /** The modem behind a router whose link goes offline when it does not answer, and looks for it again each half minute. */
  source(ctx: PluginContext, router: FakeRouter): ModemSource {
    let strikes = 0
    const perform = async (name: keyof FakeModem, input: unknown, { signal = ctx.signal } = {}) => {
      // It is asked for the router itself, too.
      if (!(name in this)) throw Object.assign(new Error(`no ${name}`), { code: 'RTK_ERR_ROUTER_UNSUPPORTED' })
      const over = new AbortController()
      this.running++
      this.most = Math.max(this.most, this.running)
      try {
        const aborted = new Promise<never>((_resolve, reject) => {
          const onAbort = () => reject(new RtkError('RTK_ERR_ABORTED', `${name}: cancelled`))
          for (const one of [signal, ctx.signal]) one.addEventListener('abort', onAbort, { signal: over.signal })
        })
        aborted.catch(() => {})
        const value = await Promise.race([(this[name] as (input: unknown) => unknown)(input), aborted])
        strikes = 0
        return value
      } catch (error) {
        const { code } = error as { code?: unknown }
        strikes = code === 'RTK_ERR_ROUTER_TIMEOUT' ? strikes + 1 : 0
        if (code === 'RTK_ERR_ROUTER_OFFLINE' || strikes >= mostStrikes) router.go('offline')
        throw error
      } finally {
        over.abort()
        this.running--
      }
    }
    ctx.timers.every(limit_ms, () => {
      if (router.state === 'offline' && !this.away && !this.hangs) router.go('online')
    })
    const facts = new RouterFacts(ctx)
    const fake = this
    const polled = {
      get state() {
        return router.state
      },
      link: {
        perform: perform as ModemSource['link']['perform'],
        reconnect() {},
        queue: {
          get length() {
            return fake.running
          },
        },
      },
    }
    return Object.assign(polled, { facts, poll: new RouterPoll(ctx, polled, facts) })
  }

  async #answer<T>(name: string, answer: () => T): Promise<T> {
    this.calls.push(name)
    if (this.hangs) {
      await new Promise<void>((resolve) => void this.#clock.timer(limit_ms, resolve))
      throw Object.assign(new Error(`${name}: no answer`), { code: 'RTK_ERR_ROUTER_TIMEOUT' })
    }
    await null
    if (this.away) throw Object.assign(new Error('the router does not answer'), { code: 'RTK_ERR_ROUTER_OFFLINE' })
    if (this.unsupported.includes(name))
      throw Object.assign(new Error(`no ${name}`), { code: 'RTK_ERR_ROUTER_UNSUPPORTED' })
    return answer()
  }
}

/** The link to the broker, as far as the modem needs it. */
export class FakeLink {
  via: MqttLink['via'] = 'cellular'
  held: string[] = []
  released = 0
  hold = async (reason: string) => {
    this.held.push(reason)
    return () => {
      this.released++
    }
  }
}

export class FakeRouter {
  state: CellularRouter['state'] = 'online'
  macaddr = '00:1E:42:AA:BB:CC'
  address = '192.168.1.1'
  changed: EventSource<void> | undefined
  go(state: CellularRouter['state']): void {
    this.state = state
    this.changed?.emit()
  }
}

export interface Rig extends Omit<TestStationOptions, 'plugins'> {
  options?: Record<string, unknown>
  /** Changes the modem before the station starts. */
  before?: (fake: FakeModem) => void
  /** Without a plugin of a router. */
  bare?: boolean
}

/** A station with the plugin modem on a fake one. */
export async function modemStation(t: Test, { options = {}, before, bare, ...more }: Rig = {}) {
  const clock = more.clock ?? new ManualClock()
  const fake = new FakeModem(clock)
  before?.(fake)
  const link = new FakeLink()
  const router = new FakeRouter()
  let figures: Metrics | undefined
  let machine: Device | undefined
  const surroundings = definePlugin({
    name: 'fake-router',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [metrics, device],
    provides: [cellularModem, cellularRouter, mqttLink],
    setup(ctx) {
      router.changed = ctx.event<void>()
      const service = {
        get state() {
          return router.state
        },
        onState: router.changed.on,
        macaddr: router.macaddr,
        address: router.address,
        reboot: async () => {},
      }
      const source = fake.source(ctx, router)
      ctx.services.provide(cellularModem, modemService(source))
      ctx.services.provide(cellularRouter, service)
      ctx.services.provide(mqttLink, link as unknown as MqttLink)
      return { poll: source.poll }
    },
    start: (ctx, _handoff, { poll }) => {
      if (router.changed) ctx.on(router.changed.on, () => poll.stateChanged())
      poll.stateChanged()
      poll.start()
      figures = ctx.services.use(metrics)
      machine = ctx.services.use(device)
    },
  }) as AnyPlugin
  const plugins = { ...(bare ? {} : { 'fake-router': surroundings }), modem: [modem, options] as [AnyPlugin, object] }
  const station = await createTestStation({ ...more, clock, plugins: plugins as never })
  t.teardown(() => station.stop())
  /** In steps, so that what is called gets its turn. */
  const pass = async (seconds: number, step_s = 1) => {
    for (let passed = 0; passed < seconds; passed += step_s) await clock.advance(step_s * 1000)
  }
  const errors = () => Object.fromEntries((machine?.errors() ?? []).map(({ code, text }) => [code, text]))
  const sample = async (name: string) =>
    (await figures?.text())
      ?.split('\n')
      .find((line) => line.startsWith(`rtk_base_modem_${name} `))
      ?.split(' ')[1]
  const command = (text: string) => station.station.command(text, { source: 'http' })
  const change = (values: Record<string, unknown>) => station.station.change(values, { source: 'http' })
  await pass(10)
  return { station, clock, fake, link, router, pass, errors, sample, command, change }
}
