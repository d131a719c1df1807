import type { Counter, PluginContext } from 'rtk-base/plugin'
import {
  cellularUplink,
  device,
  firmwareInstaller,
  type Link,
  type RecoveryStep,
  station,
  uplinks,
} from 'rtk-base/services'
import { calm, decide, type Limits, type Step } from './decide.js'
import type { RecoveryMemory } from './memory.js'
import type { LinkTable } from './table.js'

const look_ms = 10_000
const mostSteps = 4
/** Maximum length of a shown reason. */
const longestText = 180

/** Looks at all links together, takes the steps that a link cannot take alone, and records each with its reason. */
export class RecoveryLadder {
  readonly #ctx: PluginContext
  readonly #table: LinkTable
  readonly #memory: RecoveryMemory
  readonly #limits: () => Limits
  readonly #counter: Counter
  #state = calm
  #text = ''
  #steps: RecoveryStep[] = []
  #busy = false

  constructor(ctx: PluginContext, table: LinkTable, memory: RecoveryMemory, limits: () => Limits) {
    this.#ctx = ctx
    this.#table = table
    this.#memory = memory
    this.#limits = limits
    this.#counter = ctx.metrics.counter({
      name: 'recovery_steps_total',
      help: 'Steps of the recovery ladder that were taken.',
      labels: ['step'],
      zeros: ['uplink', 'modem', 'back'].map((step) => ({ step })),
    })
  }

  async start(): Promise<void> {
    await this.#memory.load()
    const { steered } = this.#memory
    if (steered !== '') this.#state = { ...calm, steered }
    this.#ctx.timers.every(look_ms, () => this.#look())
  }

  /** A reload keeps the default route; removing the plugin restores it. */
  async stop(): Promise<void> {
    if (this.#state.steered !== undefined) await this.#prefer(undefined).catch(() => {})
  }

  get block() {
    const now_ms = this.#ctx.clock.monotonic()
    const { outage_ms, steered } = this.#state
    return {
      outage: outage_ms === undefined ? 0 : Math.floor((now_ms - outage_ms) / 1000),
      text: this.#text.slice(0, longestText),
      uplink: steered ?? '',
      restarts: this.#memory.restarts(this.#utc_ms),
      steps: this.#steps.map(({ t_ms, step, text, done }) => ({ t: Math.floor(t_ms / 1000), step, text, done })),
    }
  }

  get #utc_ms(): number {
    return this.#ctx.services.use(device).utc_ms() || this.#ctx.clock.now()
  }

  async #look(): Promise<void> {
    if (this.#busy) return
    const { services, clock } = this.#ctx
    for (const link of this.#table.list) if (link.state === 'up') this.#memory.prove(idOf(link))
    const modem = services.find(cellularUplink)
    const update = services.find(firmwareInstaller)?.state ?? 'idle'
    const { state, step, text } = decide(this.#state, {
      now_ms: clock.monotonic(),
      links: this.#table.list,
      isProven: (link) => this.#memory.isProven(idOf(link)),
      uplinks: services.find(uplinks)?.list,
      modem: modem && { connected: modem.connected, pending: modem.pending ?? [] },
      updating: update !== 'idle' && update !== 'failed' && !services.use(device).onTrial,
      restarts: this.#memory.restarts(this.#utc_ms),
      limits: this.#limits(),
    })
    if (text !== this.#text) this.#ctx.status(text || 'the links come through')
    this.#text = text
    this.#state = state
    if (!step) return
    this.#busy = true
    try {
      await this.#take(step)
    } finally {
      this.#busy = false
    }
  }

  async #take(step: Step): Promise<void> {
    const what =
      step.step === 'uplink'
        ? `${step.to} gets the default route`
        : step.step === 'modem'
          ? 'the modem restarts'
          : 'the default route goes back'
    try {
      if (step.step === 'uplink') await this.#prefer(step.to)
      else if (step.step === 'back') await this.#prefer(undefined)
      else await this.#restartModem()
      this.#counter.inc(1, { step: step.step })
      this.#note(step, `${what}: ${step.why}`, true)
    } catch (error) {
      this.#note(step, `${what}, as ${step.why}; that failed: ${(error as Error).message}`, false)
      if (step.step !== 'uplink') return
      this.#state = { ...this.#state, steered: undefined, back: undefined }
      await this.#memory.steer('')
    }
  }

  async #prefer(name: string | undefined): Promise<void> {
    const ways = this.#ctx.services.find(uplinks)
    if (!ways?.prefer) throw new Error('no plugin of this station can change the default route')
    // Before it is done: a service that is killed now gives the route back when it starts again.
    if (name !== undefined) await this.#memory.steer(name)
    await ways.prefer(name)
    if (name === undefined) await this.#memory.steer('')
  }

  /** Counted first, and durably: a service that restarts must not restart the modem once more. */
  async #restartModem(): Promise<void> {
    await this.#memory.countRestart(this.#utc_ms)
    const { status, text } = await this.#ctx.services.use(station).command('reboot-modem', { source: 'plugin' })
    if (status !== 200) throw new Error(text)
  }

  #note(step: Step, text: string, done: boolean): void {
    const taken = { t_ms: this.#utc_ms, step: step.step, text: text.slice(0, longestText), done }
    this.#steps = [...this.#steps, taken].slice(-mostSteps)
    this.#ctx.log.warn({ step: step.step, done }, `recovery: ${text}`)
    this.#table.stepped(taken)
  }
}

/** A link to another peer has to prove itself. */
const idOf = ({ name, peer }: Link) => `${name} ${peer}`.slice(0, 300)
