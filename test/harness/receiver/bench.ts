/** A station around the receiver that is tested, and the time that passes there. */
import type { AnyPlugin } from '../../../runtime/plugin.js'
import type { Receiver } from '../../../schemas/services.js'
import { ManualClock } from '../manual-clock.js'
import { createTestStation, type TestStation, type TestStationOptions } from '../station.js'
import type { ReceiverDevice } from './device.js'
import { Witness } from './witness.js'

/** Where a test runs on the clock of the station, and bytes of a socket or a terminal in real time. */
const step_ms = 250
const pauses = 3

export class Bench {
  readonly device: ReceiverDevice
  readonly station: TestStation
  readonly witness: Witness
  readonly problems: string[] = []

  private constructor(device: ReceiverDevice, station: TestStation, witness: Witness) {
    this.device = device
    this.station = station
    this.witness = witness
  }

  static async create(
    plugin: AnyPlugin,
    device: ReceiverDevice,
    options: Record<string, unknown>,
    surroundings: TestStationOptions,
  ): Promise<Bench> {
    const witness = new Witness()
    const { clock = new ManualClock(), plugins, sources } = surroundings
    const station = await createTestStation({
      ...surroundings,
      clock,
      sources: { gnss: {}, rtcm: {}, integrity: { initial_s: 10 }, 'survey-in': {}, ...sources },
      plugins: { ...plugins, [plugin.name]: [plugin, options], 'receiver-witness': witness.definition },
    })
    return new Bench(device, station, witness)
  }

  problem(text: string): void {
    this.problems.push(text)
  }

  /** @throws Error while there is none */
  get receiver(): Receiver {
    const { receiver } = this.witness
    if (!receiver) throw new Error('nobody provides the service receiver')
    return receiver
  }

  async seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second++) {
      await this.device.second?.()
      for (let passed_ms = 0; passed_ms < 1000; passed_ms += step_ms) {
        await this.station.clock.advance(step_ms)
        for (let i = 0; i < pauses; i++) await new Promise((done) => setImmediate(done))
        this.witness.look()
      }
    }
  }

  /** Goes on until the condition holds. @returns whether it did within `limit_s` */
  async within(limit_s: number, condition: () => unknown): Promise<boolean> {
    for (let second = 0; second < limit_s; second++) {
      if (condition()) return true
      await this.seconds(1)
      // Files and sockets take real time: the longer it waits the more of it they get.
      await new Promise((done) => setTimeout(done, second < limit_s / 2 ? 1 : 10))
    }
    return Boolean(condition())
  }

  /** @returns whether the condition came to hold; it is a problem if not */
  async expect(limit_s: number, condition: () => unknown, otherwise: string | (() => string)): Promise<boolean> {
    const held = await this.within(limit_s, condition)
    if (!held) this.problem(`${typeof otherwise === 'string' ? otherwise : otherwise()} within ${limit_s} s`)
    return held
  }

  /** Lets time pass until the promise has settled. @returns undefined when it has not within `limit_s` */
  async settled<T>(work: Promise<T>, limit_s = 60): Promise<PromiseSettledResult<T> | undefined> {
    let result: PromiseSettledResult<T> | undefined
    void Promise.allSettled([work]).then(([settled]) => {
      result = settled
    })
    await this.within(limit_s, () => result)
    return result
  }

  /** RTCM leaves the station. */
  async expectRtcm(limit_s: number, after: string): Promise<boolean> {
    const before = this.witness.sent
    const { witness } = this
    return this.expect(
      limit_s,
      () => witness.open && witness.sent > before + 2,
      () => `no RTCM leaves the station ${after} (gnss.state.status ${witness.status})`,
    )
  }
}
