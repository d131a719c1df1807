/** Puts NAV-SAT and NAV-SIG of one epoch together. Complete at NAV-SIG, at NAV-EOE, or when the next epoch begins. */
import type { Satellite, SatelliteEpoch, SatelliteSignal } from 'rtk-base/services'
import * as ubx from '../ubx/index.js'

type SatBlock = ubx.Decoded<typeof ubx.navSat>['blocks'][number]
type SigBlock = ubx.Decoded<typeof ubx.navSig>['blocks'][number]

interface Pending {
  readonly iTOW_ms: number
  readonly arrival_ms: number
  readonly satellites: readonly SatBlock[]
}

/** Without NAV-EOE and NAV-SIG an epoch is reported after this long. */
const patience_ms = 300

export class SatelliteAssembler {
  readonly #onEpoch: (epoch: SatelliteEpoch) => void
  #pending: Pending | undefined

  constructor(onEpoch: (epoch: SatelliteEpoch) => void) {
    this.#onEpoch = onEpoch
  }

  navSat(iTOW_ms: number, satellites: readonly SatBlock[], arrival_ms: number): void {
    this.#finish()
    this.#pending = { iTOW_ms, arrival_ms, satellites }
  }

  navSig(iTOW_ms: number, signals: readonly SigBlock[]): void {
    if (this.#pending?.iTOW_ms === iTOW_ms) this.#finish(signals)
  }

  endOfEpoch(iTOW_ms: number): void {
    if (this.#pending?.iTOW_ms === iTOW_ms) this.#finish()
  }

  /** Called a few times a second. */
  tick(now_ms: number): void {
    if (this.#pending && now_ms - this.#pending.arrival_ms >= patience_ms) this.#finish()
  }

  #finish(signals?: readonly SigBlock[]): void {
    const epoch = this.#pending
    this.#pending = undefined
    if (!epoch) return
    const { iTOW_ms, arrival_ms } = epoch
    const byId = bySatellite(signals ?? [])
    const satellites = epoch.satellites.flatMap((block) => satelliteOf(block, byId) ?? [])
    this.#onEpoch({ tow_ms: iTOW_ms, arrival_ms, hasSignals: signals !== undefined, satellites })
  }
}

const idOf = (gnssId: number, svId: number) => gnssId * 256 + svId

function bySatellite(signals: readonly SigBlock[]): Map<number, SigBlock[]> {
  const byId = new Map<number, SigBlock[]>()
  for (const signal of signals) {
    const id = idOf(signal.gnssId, signal.svId)
    byId.set(id, [...(byId.get(id) ?? []), signal])
  }
  return byId
}

function satelliteOf(block: SatBlock, signals: ReadonlyMap<number, readonly SigBlock[]>): Satellite | undefined {
  const constellation = ubx.constellationName(block.gnssId)
  if (!constellation) return undefined
  // Beyond ±90° the receiver does not know where the satellite is.
  const isPlaced = Math.abs(block.elev_deg) <= 90
  return {
    constellation,
    satellite: block.svId,
    azimuth_deg: isPlaced ? block.azim_deg : undefined,
    elevation_deg: isPlaced ? block.elev_deg : undefined,
    cno_dbhz: block.cno_dbhz,
    locked: block.quality >= ubx.carrierLocked,
    used: block.used,
    signals: (signals.get(idOf(block.gnssId, block.svId)) ?? []).map(
      (signal): SatelliteSignal => ({
        signal: ubx.signalName(constellation, signal.sigId),
        cno_dbhz: signal.cno_dbhz,
        residual_m: signal.prRes_m,
        locked: signal.quality >= ubx.carrierLocked,
        used: signal.prUsed || signal.crUsed,
      }),
    ),
  }
}
