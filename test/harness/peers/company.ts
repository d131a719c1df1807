import { createSocket } from 'node:dgram'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ControlClient } from '../../../runtime/tools/control/client.js'
import { until } from '../manual-clock.js'
import { ownPorts, type StationProcess, type StationProcessOptions, startStation } from '../process.js'
import { openEvents } from './event-stream.js'
import { type Mosquitto, mosquittoFor } from './mosquitto.js'

/** Every so many seconds a rover comes, the broker goes or comes, … Not multiples of each other: everything meets everything. */
const every_s = { page: 2, router: 5, rover: 7, eventStream: 31, reload: 37, broker: 53 }
/** A plugin that is loaded again gives everything back, leaks too: those that hold the long-lived connections stay. */
const reloaded = ['http-api', 'udp-rtcm', 'ntrip-caster', 'rtcm-tcp', 'leds']
/** What is still open when the coming and going stops is over by then. */
const rest_s = 30

/** Writes more lines than anything keeps of the log: as many as a plugin may in a minute. */
const chatterbox = `
import { definePlugin } from 'rtk-base/plugin'
export default definePlugin({
  name: 'chatterbox', version: '1.0.0', api: '^1.0.0',
  setup() {},
  start(ctx) {
    for (let kind = 1; kind <= 60; kind++) for (let n = 0; n < 10; n++) ctx.log.info('x'.repeat(kind) + n)
  },
})
`

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000))

interface Seen {
  gnss: { state: { status: string } }
  mqtt: { state: { link: string } }
  ntrip: { caster: { port: number } }
}

/** A station and all that comes to it and goes again: rovers, subscribers, pages, reloads, its broker. */
export class Company {
  readonly station: StationProcess
  /** What was not served. */
  readonly failed = new Set<string>()
  reloads = 0
  readonly #broker: Mosquitto
  readonly #control: ControlClient
  readonly #udp: number
  #caster: number
  #isBrokerUp = true

  private constructor(
    station: StationProcess,
    broker: Mosquitto,
    control: ControlClient,
    ports: { udp: number; caster: number },
  ) {
    this.station = station
    this.#broker = broker
    this.#control = control
    this.#udp = ports.udp
    this.#caster = ports.caster
  }

  /**
   * Starts a station that has a broker of its own.
   * @param folder for a plugin that fills its log, where it can load sources
   */
  static async around(t: Test, options: StationProcessOptions, folder?: string): Promise<Company> {
    const broker = await mosquittoFor(t, ['allow_anonymous true'])
    const { args, udp } = await ownPorts()
    const changes = ['mqtt-host=127.0.0.1', `mqtt-port=${broker.port}`, 'ntrip-caster-anonymous=1']
    // To write a heap down takes longer than a plugin may block.
    const sets = ['watchdog.limit_s=0', 'mqtt-link.brokerTrial=0']
    const station = await startStation(
      [...args, ...changes.flatMap((text) => ['--change', text]), ...sets.flatMap((text) => ['--set', text])],
      options,
    )
    t.teardown(() => station.end())
    const control = await ControlClient.open(station.data)
    t.teardown(() => control.close())
    const { ntrip } = await station.info<Seen>()
    const company = new Company(station, broker, control, { udp, caster: ntrip.caster.port })
    await company.#fixed()
    if (folder === undefined) return company
    const plugin = join(folder, 'chatterbox')
    mkdirSync(plugin)
    writeFileSync(join(plugin, 'index.ts'), chatterbox)
    await control.call('load', { plugin })
    await control.call('unload', { plugin: 'chatterbox' })
    return company
  }

  /** Everything comes and goes for so many minutes, then rests. */
  async live(minutes: number): Promise<void> {
    // To look into the station lets it stand still for so long that the receiver is lost.
    await this.#fixed()
    const under = new Set<Promise<unknown>>()
    const end_ms = performance.now() + minutes * 60_000
    for (let second = 0; performance.now() < end_ms; second++) {
      for (const [what, every] of Object.entries(every_s)) {
        if (second % every !== 0) continue
        const one: Promise<unknown> = this.#comings[what as keyof typeof every_s]()
          .catch((error) => void this.failed.add(`${what}: ${(error as Error).message}`))
          .finally(() => under.delete(one))
        under.add(one)
      }
      await pause(1)
    }
    await Promise.all(under)
    if (!this.#isBrokerUp) await this.#comings.broker()
    await until(async () => (await this.station.info<Seen>()).mqtt.state.link === 'up', 'the link is up', 120_000)
    await pause(rest_s)
  }

  #fixed(): Promise<void> {
    const isFixed = async () => (await this.station.info<Seen>()).gnss.state.status === 'fixed'
    return until(isFixed, 'fixed', 180_000)
  }

  readonly #comings: Record<keyof typeof every_s, () => Promise<unknown>> = {
    page: () => this.station.info(),
    router: async () => (await fetch(`${this.station.url}/system?pull-vendor-data`, { method: 'POST' })).text(),
    rover: () => Promise.all([this.#rover(), this.#subscriber()]),
    eventStream: async () => {
      const stream = await openEvents(this.station.url)
      await pause(20)
      stream.close()
    },
    reload: async () => {
      await this.#control.call('reload', { plugin: reloaded[this.reloads++ % reloaded.length] })
      this.#caster = (await this.station.info<Seen>()).ntrip.caster.port || this.#caster
    },
    broker: async () => {
      this.#isBrokerUp = !this.#isBrokerUp
      await (this.#isBrokerUp ? this.#broker.start() : this.#broker.stop())
    },
  }

  async #rover(): Promise<void> {
    const socket = connect(this.#caster, '127.0.0.1')
    socket.on('error', () => {}).resume()
    socket.write('GET /SIM00001 HTTP/1.0\r\nUser-Agent: NTRIP soak\r\n\r\n')
    await pause(3)
    socket.write('$GPGGA,120000.00,5206.00000,N,00418.00000,E,4,12,0.8,10.0,M,46.0,M,1.0,0001*5E\r\n')
    await pause(15)
    socket.destroy()
  }

  async #subscriber(): Promise<void> {
    const socket = createSocket('udp4')
    socket.on('error', () => {})
    socket.send('soak', this.#udp, '127.0.0.1')
    await pause(15)
    socket.close()
  }
}
