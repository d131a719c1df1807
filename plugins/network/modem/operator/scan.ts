import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { accessTechnology } from 'rtk-base/schemas'
import type { ScannedOperator } from 'rtk-base/services'
import { Type } from 'typebox'
import { type Access, reasonOf } from '../access.js'
import type { Jobs } from '../jobs.js'
import type { ModemMetrics } from '../state/metrics.js'
import type { Readings } from '../state/readings.js'

const mostKept = 64
const mostShown = 6

/** State for the next instance at a reload. */
export const ScanHandoff = Type.Object({
  cut: Type.Boolean(),
  shown: Type.Array(Type.Object({ plmn: Type.Integer(), name: Type.String(), act: Type.Integer() }), {
    maxItems: mostShown,
  }),
})
export type ScanHandoff = Type.Static<typeof ScanHandoff>

export interface ScanDeps {
  access: Access
  jobs: Jobs
  readings: Readings
  metrics: ModemMetrics
}

/** `mobile-scan`: which operators there are. */
export class OperatorScan {
  readonly #ctx: PluginContext
  readonly #deps: ScanDeps
  #operators: readonly ScannedOperator[] = []
  #shown: ScanHandoff['shown'] = []

  constructor(ctx: PluginContext, deps: ScanDeps) {
    this.#ctx = ctx
    this.#deps = deps
  }

  /** `modem.scan` */
  get shown(): ScanHandoff['shown'] {
    return this.#shown
  }

  /** Networks of the last scan, in written form. */
  get networks(): string[] {
    return this.#operators.map(({ plmn }) => plmn)
  }

  get handoff(): ScanHandoff {
    return { cut: this.#deps.jobs.has('scan'), shown: this.#shown }
  }

  restore({ cut, shown }: ScanHandoff): void {
    this.#shown = shown
    if (cut) this.#failed('RTK_ERR_ABORTED: the plugin modem was reloaded')
  }

  /** Starts a scan. @throws RTK_ERR_UNAVAILABLE when it cannot be done now */
  request(): void {
    const { access, jobs, readings } = this.#deps
    if (jobs.has('scan')) throw unavailable('a scan for operators is running already')
    if (access.absence !== '') throw unavailable(`no scan for operators: ${access.absence}`)
    if (readings.get('modemIdentity')?.operatorControl === false)
      throw unavailable('no scan for operators: this modem cannot list them')
    this.#ctx.errors.while('modem-scan', false)
    jobs.begin('scan', 'the modem scans for operators', () => this.#run())
  }

  async #run(): Promise<void> {
    const { access, metrics } = this.#deps
    try {
      const operators = await access.modem.scanOperators(this.#ctx.signal)
      this.#operators = operators.slice(0, mostKept)
      this.#shown = shownOf(this.#operators)
      metrics.scanned('ok')
      this.#ctx.log.info({ operators: operators.length }, 'the scan for operators is done')
    } catch (error) {
      if (this.#ctx.signal.aborted) return
      metrics.scanned('failed')
      this.#failed(reasonOf(error))
    }
  }

  #failed(reason: string): void {
    this.#ctx.errors.while('modem-scan', { reason })
  }
}

const ranks: Readonly<Record<ScannedOperator['status'], number>> = {
  current: 0,
  available: 1,
  unknown: 2,
  forbidden: 3,
}

/** Each operator once, then, while there is room, its other technologies. */
export function shownOf(operators: readonly ScannedOperator[]): ScanHandoff['shown'] {
  const sorted = operators
    .filter(({ plmn }) => /^\d{5,6}$/.test(plmn))
    .toSorted((a, b) => ranks[a.status] - ranks[b.status] || b.generation.localeCompare(a.generation))
  const first = sorted.filter(({ plmn }, index) => sorted.findIndex((other) => other.plmn === plmn) === index)
  const entries = [...first, ...sorted.filter((one) => !first.includes(one))].map(({ plmn, name, generation }) => ({
    plmn: Number(plmn),
    name: name.slice(0, 64),
    act: actOf(generation),
  }))
  const isNew = (entry: (typeof entries)[number], index: number) =>
    entries.findIndex(({ plmn, act }) => plmn === entry.plmn && act === entry.act) === index
  return entries.filter(isNew).slice(0, mostShown)
}

function actOf(generation: ScannedOperator['generation']): number {
  if (generation === '2G') return accessTechnology.gsm
  return generation === '4G' ? accessTechnology.lte : accessTechnology.umts
}

/**
 * MCC and MNC as text, from a number that has lost its leading zeros and the length of its MNC. The text comes from the scan or the table.
 * Otherwise the MCC has three digits and the MNC two, or three if the number has six.
 * @param known candidates as text, the best source first
 */
export function plmnDigits(plmn: number, known: Iterable<string>): string {
  for (const digits of known) if (/^\d{5,6}$/.test(digits) && Number(digits) === plmn) return digits
  return String(plmn).padStart(5, '0')
}
