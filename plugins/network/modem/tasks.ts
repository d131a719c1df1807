import type { PluginContext } from 'rtk-base/plugin'
import type { CellularModem, ModemSim } from 'rtk-base/services'
import type { Access } from './access.js'
import type { Task } from './state/polling.js'
import type { Reading, Readings } from './state/readings.js'

const limit_ms = 60_000

/** A missing SIM may be intended. */
const unusable: readonly (ModemSim['state'] | undefined)[] = ['pin', 'puk', 'error']

/** Reports a SIM that needs attention. */
export function reportSim(errors: PluginContext['errors'], state: ModemSim['state'] | undefined): void {
  errors.while('modem-sim', state !== undefined && unusable.includes(state) && { state })
}

/** Reactions to a read value. */
export interface Consequences {
  identified(): void
  registered(): Promise<void>
  simRead(): Promise<void>
  apnRead(): Promise<void>
  operatorRead(): void
}

/** All readings of the modem with their rates. The order matters: later ones use earlier values. */
export function readingTasks(access: Access, readings: Readings, then: Consequences): Task[] {
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
  return [
    task('identity', 3_600, readings.identity, (modem, signal) => modem.identity(signal), then.identified),
    task('registration', 15, readings.registration, (modem, signal) => modem.registration(signal), then.registered),
    task('signal', 15, readings.signal, (modem, signal) => modem.signal(signal)),
    task('apn', 300, readings.apn, (modem, signal) => modem.apn(signal), then.apnRead),
    task('sim', 60, readings.sim, (modem, signal) => modem.sim(signal), then.simRead),
    task(
      'operator',
      300,
      readings.operator,
      async (modem, signal) => ({ plmn: await modem.operatorSelection(signal) }),
      then.operatorRead,
    ),
    task('traffic', 60, readings.traffic, (modem, signal) => modem.traffic(signal)),
    task('temperature', 60, readings.temperature_c, (modem, signal) => modem.temperature(signal)),
    task('ping host', 300, readings.pingHost, (modem, signal) => modem.pingHost(signal)),
  ]
}
