/** The first part of the service: stored data (store, serial number), identity (device), and its errors. */
import { join } from 'node:path'
import type { Variant } from '../../../schemas/index.js'
import type { StationError } from '../../../schemas/services.js'
import { forgetLogin } from '../../gateway/login/kept-login.js'
import { StationDevice } from '../../platform/device.js'
import { DataFiles } from '../../platform/files/data-files.js'
import { type Clock, systemClock } from '../../platform/ports/clock.js'
import { isSerial, machineSerial } from '../../platform/ports/machine.js'
import type { NetworkPort } from '../../platform/ports/network.js'
import { slotFromEnvironment } from '../../platform/ports/slots.js'
import { systemNetwork } from '../../platform/ports/system-network.js'
import { readRelease } from '../../platform/release.js'
import { StandingErrors, stationError } from '../../platform/standing-errors.js'
import { openStore, type Store, type StoreTrouble } from '../../platform/store/store.js'
import { bootId, RunRecord } from '../../platform/supervision/run-record.js'
import type { RuntimeOptions } from '../runtime-options.js'
import type { Changes } from './changes.js'

export interface Foundation {
  readonly clock: Clock
  readonly network: NetworkPort
  readonly serial: string
  /** Refuses writes once a factory reset has begun, except to data that the reset keeps. */
  readonly store: Store
  readonly device: StationDevice
  readonly files: DataFiles
  /** The standing errors of the runtime itself. */
  readonly errors: StandingErrors
  close(): Promise<void>
}

/**
 * @param pluginTroubles those of plugins
 * @throws RTK_ERR_DATA_LOCKED, RTK_ERR_DATA_FOLDER
 */
export async function layFoundation(
  options: RuntimeOptions,
  { pluginTroubles, changes }: { pluginTroubles(): StationError[]; changes: Changes },
): Promise<Foundation> {
  const { variant, log, data, clock = systemClock, network = systemNetwork, release = readRelease() } = options
  const store = options.store ?? (await openStore(join(data, 'store'), log, { clock }))
  try {
    const files = new DataFiles(data)
    const serial = await serialNumber(variant, store)
    const errors = new StandingErrors({
      utc_s: () => Math.floor(device.utc_ms() / 1000),
      raised: (code, text) => log.error({ code }, text),
      textMissing: (code) => log.error({ code }, `the runtime has no text for its error ${code}: its values are shown`),
      changed: changes.errors,
    })
    const record = options.ownProcess ? (options.watchdog?.record ?? new RunRecord(data)) : undefined
    const device = new StationDevice({
      hardware: variant.hardware,
      variant: variant.name,
      release,
      slot: options.slots ?? slotFromEnvironment(),
      confirmed: () => {
        options.supervisor?.ready()
        void store.dropCopy()
      },
      keepSettings: () => store.keepCopy(),
      extendStart: (ms) => options.supervisor?.extendStart(ms),
      described: (text) => options.supervisor?.status(text),
      lastEnd: record?.begin(() => clock.now()),
      bootId: options.bootId ?? bootId(),
      clock,
      machine: options.machine,
      contradicted: (utc_ms) => void errors.while('time-contradiction', utc_ms !== undefined),
      onErrors: changes.onErrors,
      errors: () => [...storeErrors, ...errors.list(), ...pluginTroubles()],
      clearStore: async () => {
        await store.factory()
        await forgetLogin(store)
        await files.clear()
      },
    })
    let storeErrors: StationError[] = []
    const readStoreErrors = () => {
      storeErrors = errorsOf(store.troubles, storeErrors, Math.floor(device.utc_ms() / 1000))
      changes.errors()
    }
    for (const { code, values } of options.notices ?? []) errors.while(code, values)
    store.onTroubles(readStoreErrors)
    readStoreErrors()
    if (!device.onTrial) await store.dropCopy()
    const close = async () => {
      record?.stopped()
      await store.close()
    }
    return { clock, network, serial, store, device, files, errors, close }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** @param before errors that persist keep their time */
function errorsOf(troubles: readonly StoreTrouble[], before: readonly StationError[], t: number): StationError[] {
  const known = ({ code, text }: StoreTrouble) => before.find((error) => error.code === code && error.text === text)
  return troubles.map(
    (now) => known(now) ?? stationError(now.code, { reason: now.text, _advice: now.advice ?? '' }, { t }),
  )
}

async function serialNumber(variant: Variant, store: Store): Promise<string> {
  if (variant.serial) return variant.serial
  const kept = await store.get('protected.kernel', 'serial')
  if (isSerial(kept)) return kept
  const serial = await machineSerial()
  await store.batch([{ namespace: 'protected.kernel', key: 'serial', value: serial }]).catch(() => {})
  return serial
}
