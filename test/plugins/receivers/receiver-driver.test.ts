/** What every driver of a receiver does with questions, configurations and restarts, on a receiver that answers when the test says so. */
import t, { type Test } from 'tap'
import {
  type BytePort,
  type DriverOptions,
  type OwnFrame,
  type PortSink,
  ReceiverDriver,
  type WantedSetup,
} from '../../../runtime/lib/link/index.js'
import { definePlugin, type PluginContext } from '../../../runtime/plugin.js'
import { type ReceiverTarget, receiver } from '../../../schemas/services.js'
import { createTestStation } from '../../harness/index.js'

const arp = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }
const fixed: ReceiverTarget = { mode: 'fixed', arp, acc_m: 0.02 }
const rover: ReceiverTarget = { mode: 'rover' }
/** A 1005 (RTCM 10403.3, 4.2). */
const frame = Buffer.from('D300133ED4D2038923B9646800A39C05220BA5ED38C44E0B99', 'hex')

class Port implements BytePort {
  readonly name = 'a port'
  readonly hasBaud = false
  readonly live = true
  sink: PortSink | undefined

  async open(_baud: number, sink: PortSink): Promise<void> {
    this.sink = sink
  }

  write(): boolean {
    return true
  }

  async close(): Promise<void> {
    this.sink = undefined
  }
}

/** Every question and configuration waits for the test. */
class Scripted extends ReceiverDriver {
  readonly pending: { what: string; answer(value: unknown): void }[] = []

  constructor(ctx: PluginContext, port: BytePort, options: Partial<DriverOptions> = {}) {
    const rtcm = { msm: 4, observationInterval_s: 1, referenceInterval_s: 1, biasInterval_s: 10 } as const
    const driver: DriverOptions = {
      base: { ...rtcm, constellations: undefined, elevationMask_deg: undefined },
      ...{ bauds: [115_200], configure: true, settings: () => ({ stationId: 0, correctionMaxAge_s: 30 }) },
      ...options,
    }
    super(ctx, port, driver, {
      ...{ plugin: 'scripted', maker: 'nobody', framings: [], answer_ms: 1_000, tick_ms: 250 },
      can: {
        ...{ ownSurvey: false, settings: 'volatile', restarts: false, antennaDescriptor: false },
        ...{ reports: new Set(), rawObservations: [], intervals_s: [1] },
      },
    })
  }

  #later<T>(what: string): Promise<T> {
    return new Promise((resolve) => {
      this.pending.push({ what, answer: resolve as (value: unknown) => void })
    })
  }

  protected heard(_: OwnFrame): void {}
  protected async identify(): Promise<void> {
    const { life } = this
    await this.#later('identify')
    if (life === this.life) this.identified({ module: 'one' })
  }

  protected readMode(): Promise<ReceiverTarget | undefined> {
    return this.#later('mode')
  }

  protected async bring(_: WantedSetup, check: () => void): Promise<{ written: number; refused: string[] }> {
    const { life } = this
    const result = await this.#later<{ written: number; refused: string[] }>('configure')
    check()
    if (life !== this.life) throw new Error('restarted meanwhile')
    return result
  }

  protected verify(wanted: WantedSetup | undefined): Promise<string | undefined> {
    return this.#later(`verify ${wanted?.target.mode}`)
  }

  protected silence(): void {}
  async restart(): Promise<void> {
    this.restarted('it was asked to')
  }

  override suspect(): void {
    super.suspect()
  }
}

async function start(t: Test, options: Partial<DriverOptions> = {}) {
  const port = new Port()
  let made: Scripted | undefined
  const plugin = definePlugin({
    ...{ name: 'scripted', version: '1.0.0', api: '^1.0.0', provides: [receiver] },
    setup(ctx) {
      made = new Scripted(ctx, port, options)
      ctx.services.provide(receiver, made)
    },
    start: () => made?.start(),
    stop: async () => void (await made?.stop()),
  })
  const station = await createTestStation({ plugins: { scripted: plugin as never } })
  t.teardown(() => station.stop())
  if (!made) throw new Error('the plugin does not run')
  const driver = made
  const { clock } = station
  const heard = () => port.sink?.data(frame)
  return {
    ...{ driver, port, clock, heard },
    /** What waits for an answer, in its order. */
    waits: () => driver.pending.map(({ what }) => what),
    /** Answers the one question that is open. */
    async answer(what: string, value?: unknown) {
      await clock.advance(0)
      const [question] = driver.pending.splice(0)
      t.equal(question?.what, what)
      question?.answer(value)
      await clock.advance(0)
    },
    /** Every second a frame. */
    async seconds(count: number) {
      for (let i = 0; i < count; i++) {
        heard()
        await clock.advance(1000)
      }
    },
  }
}
type Rig = Awaited<ReturnType<typeof start>>
const done = { written: 1, refused: [] }

/** A receiver that is a base. */
async function base(t: Test): Promise<Rig> {
  const rig = await start(t)
  await rig.seconds(1)
  await rig.answer('identify')
  const configured = rig.driver.configure(fixed)
  await rig.answer('configure', done)
  await configured
  t.match(rig.driver, { configured: true, mode: 'fixed' })
  return rig
}

t.test('a receiver is known by its answer of this life', async (t) => {
  const { port, seconds, answer, waits, driver } = await start(t)
  await seconds(1)
  t.strictSame(waits(), ['identify'])
  port.sink?.closed('unplugged')
  await answer('identify')
  t.equal(driver.identity.module, '')
  await seconds(2)
  await answer('identify')
  await seconds(2)
  t.strictSame(waits(), [], 'the first answer was of the link before: it was asked once more, and only once')
  t.equal(driver.identity.module, 'one')
})

t.test('the configuration is read again every 20 s', async (t) => {
  const { driver, seconds, answer, waits } = await base(t)
  await seconds(19)
  t.strictSame(waits(), [])
  await seconds(2)
  await answer('verify fixed', '')
  t.ok(driver.configured)
  await seconds(18)
  t.strictSame(waits(), [])
  await seconds(2)
  await answer('verify fixed', 'its mode was changed')
  t.notOk(driver.configured)
})

t.test('what an earlier life answered says nothing of this one', async (t) => {
  const { driver, port, seconds, answer } = await base(t)
  await seconds(21)
  port.sink?.closed('unplugged')
  t.match(driver, { configured: false, mode: 'unknown' })
  await answer('verify fixed', 'its mode was changed')
  await seconds(2)
  await answer('identify')
  const again = driver.configure(fixed)
  await answer('configure', done)
  await again
  t.ok(driver.configured, 'the answer was of the life before')
})

t.test('who configures is told of a restart, a lost link and a newer target meanwhile', async (t) => {
  for (const [event, message] of [
    ['restart', /restarted meanwhile/],
    ['unplug', /offline/],
    ['replace', /another configuration has replaced it/],
  ] as const) {
    const { driver, port, seconds, answer } = await start(t)
    await seconds(1)
    await answer('identify')
    const configured = driver.configure(fixed)
    await seconds(1)
    if (event === 'restart') await driver.restart()
    if (event === 'unplug') port.sink?.closed('unplugged')
    const newer = event === 'replace' ? driver.configure(rover) : undefined
    await Promise.all([t.rejects(configured, { message }), answer('configure', done)])
    t.notOk(driver.configured, event)
    if (!newer) continue
    await answer('configure', done)
    t.match(await newer, done)
    t.match(driver, { configured: true, mode: 'rover' })
  }
})

t.test('the target is kept as a copy', async (t) => {
  const { driver, seconds, answer, waits } = await start(t)
  await seconds(1)
  await answer('identify')
  const target = { mode: 'fixed' as 'fixed' | 'rover', arp: { ...arp }, acc_m: 0.02 }
  const configured = driver.configure(target as ReceiverTarget)
  await answer('configure', done)
  await configured
  target.mode = 'rover'
  await seconds(21)
  t.strictSame(waits(), ['verify fixed'])
})

t.test('a sign of a change is looked into at once, every two seconds at most', async (t) => {
  const { driver, port, clock, heard, answer, waits } = await base(t)
  heard()
  await clock.advance(1999)
  driver.suspect()
  await clock.advance(0)
  t.strictSame(waits(), [])
  await clock.advance(1)
  driver.suspect()
  await answer('verify fixed', '')
  driver.suspect()
  await clock.advance(0)
  t.strictSame(waits(), [], 'that was a moment ago')
  await clock.advance(5000)
  driver.suspect()
  await clock.advance(0)
  t.strictSame(waits(), [], 'the link is silent')
  port.sink?.closed('unplugged')
  await t.rejects(driver.configure(fixed), { code: 'RTK_ERR_UNAVAILABLE' })
})

t.test('a receiver that is only listened to is neither asked nor configured', async (t) => {
  const { driver, seconds, waits } = await start(t, { configure: false })
  await seconds(30)
  t.strictSame(waits(), [])
  t.match(driver, { mode: 'listening', configured: false, output: undefined })
  t.equal(await driver.readTarget(), undefined)
  await t.rejects(driver.configure(fixed), { message: /only listened to \(scripted: configure is false/ })
})
