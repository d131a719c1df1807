import { Mutex } from 'async-mutex'
import type { InfoBlock, PluginContext } from 'rtk-base/plugin'
import { cellularModem, type ModemFact, type ModemSim } from 'rtk-base/services'
import type { ApnKeeper } from './apn/keeper.js'
import type { OperatorSelection } from './operator/selection.js'
import type { ModemMetrics } from './state/metrics.js'
import type { Readings } from './state/readings.js'

/** How old the facts of the modem may be. */
const every_ms = {
  modemIdentity: 3_600_000,
  registration: 15_000,
  signal: 15_000,
  apn: 300_000,
  sim: 60_000,
  operatorSelection: 300_000,
  traffic: 60_000,
  temperature: 60_000,
  pingReboot: 300_000,
} as const satisfies Record<ModemFact, number>

/** A missing SIM may be intended. */
const unusable: readonly (ModemSim['state'] | undefined)[] = ['pin', 'puk', 'error']

interface Reacting {
  readonly block: InfoBlock
  readonly readings: Readings
  readonly metrics: ModemMetrics
  readonly selection: OperatorSelection
  readonly apn: ApnKeeper
  uplinkRead(): void
}

/** Has the facts of the modem read, and does what follows from each of them, one after the other. From `start` on. */
export function followModem(ctx: PluginContext, deps: Reacting): void {
  const { block, readings, metrics, selection, apn, uplinkRead } = deps
  const turns = new Mutex()
  const reactions: Partial<Record<ModemFact, () => unknown>> = {
    registration() {
      uplinkRead()
      const value = readings.get('registration')
      if (value) metrics.observe(value, readings.registered === true && readings.connected !== false)
      selection.observe()
      return apn.observe()
    },
    apn: () => apn.settle(),
    sim() {
      const state = readings.get('sim')?.state
      ctx.errors.while('modem-sim', state !== undefined && unusable.includes(state) && { state })
      return apn.settle()
    },
    operatorSelection: () => selection.settle(),
  }
  const react = (name: ModemFact) => {
    if (name === 'modemIdentity') block.changed()
    // What is not known any more is read again.
    if (readings.get(name) === undefined) return
    return turns.runExclusive(() => reactions[name]?.())
  }
  ctx.services.watch(cellularModem, (modem) => {
    block.changed()
    if (!modem) return
    ctx.on(modem.onFact, react)
    return modem.follow(every_ms)
  })
}
