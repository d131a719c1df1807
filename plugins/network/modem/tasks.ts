import type { PluginContext } from 'rtk-base/plugin'
import type { CellularModem, ModemSim } from 'rtk-base/services'
import { type Access, reasonOf } from './access.js'
import type { ApnKeeper } from './apn/keeper.js'
import type { OperatorSelection } from './operator/selection.js'
import type { ModemMetrics } from './state/metrics.js'
import type { Polling, Task } from './state/polling.js'
import type { Reading, Readings } from './state/readings.js'

const limit_ms = 60_000

/** A missing SIM may be intended. */
const unusable: readonly (ModemSim['state'] | undefined)[] = ['pin', 'puk', 'error']

interface TaskDeps {
  access: Access
  polling: Polling
  readings: Readings
  metrics: ModemMetrics
  selection: OperatorSelection
  apn: ApnKeeper
  identified(): void
  uplinkRead(): void
}

/** All readings of the modem with their rates, and what follows from each. The order matters: later ones use earlier values. */
export function readingTasks(ctx: PluginContext, deps: TaskDeps): Task[] {
  const { access, polling, readings, metrics, selection, apn, identified, uplinkRead } = deps
  const task = <T>(
    name: string,
    every_s: number,
    reading: Reading<T>,
    ask: (modem: CellularModem, signal: AbortSignal) => Promise<T>,
    done: () => unknown = () => {},
  ): Task => ({
    name,
    every_ms: every_s * 1000,
    async read() {
      reading.set(await access.call(limit_ms, ask))
      await done()
    },
  })
  const registered = async () => {
    uplinkRead()
    const { value } = readings.registration
    if (value) metrics.observe(value, readings.registered === true && readings.connected !== false)
    selection.observe()
    await apn.observe()
  }
  const simRead = async () => {
    const state = readings.sim.value?.state
    ctx.errors.while('modem-sim', state !== undefined && unusable.includes(state) && { state })
    if (apn.isOtherSim) await readForSim()
    await apn.settle()
  }
  /** Values read with the previous SIM do not apply to the new one, which may have its own settings in another slot. */
  const readForSim = async () => {
    readings.registration.clear()
    readings.apn.clear()
    try {
      readings.registration.set(await access.call(limit_ms, (modem, signal) => modem.registration(signal)))
      readings.apn.set(await access.call(limit_ms, (modem, signal) => modem.apn(signal)))
    } catch (error) {
      ctx.log.debug(`the values of the new SIM could not be read, retrying: ${reasonOf(error)}`)
      polling.soon('apn')
    }
  }
  return [
    task('identity', 3_600, readings.identity, (modem, signal) => modem.identity(signal), identified),
    task('registration', 15, readings.registration, (modem, signal) => modem.registration(signal), registered),
    task('signal', 15, readings.signal, (modem, signal) => modem.signal(signal)),
    task(
      'apn',
      300,
      readings.apn,
      (modem, signal) => modem.apn(signal),
      () => apn.settle(),
    ),
    task('sim', 60, readings.sim, (modem, signal) => modem.sim(signal), simRead),
    task(
      'operator',
      300,
      readings.operator,
      async (modem, signal) => ({ plmn: await modem.operatorSelection(signal) }),
      () => selection.settle(),
    ),
    task('traffic', 60, readings.traffic, (modem, signal) => modem.traffic(signal)),
    task('temperature', 60, readings.temperature_c, (modem, signal) => modem.temperature(signal)),
    task('ping host', 300, readings.pingHost, (modem, signal) => modem.pingHost(signal)),
  ]
}
