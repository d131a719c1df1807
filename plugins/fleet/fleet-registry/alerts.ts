/** The alerts of a fleet, from what the registry knows of its stations. */
import type { EventSource, PluginContext } from 'rtk-base/plugin'
import {
  type Alert,
  type AlertKind,
  type AlertSource,
  type Fleet,
  type FleetJudgement,
  type FleetStation,
  fleetBroker,
  fleetDatabase,
  fleetNet,
  isPositionWrong,
} from 'rtk-base/services'

const look_ms = 5_000
/** Alerts at one time; the rest of a fleet that is lost as a whole says nothing new. */
const most = 20_000
const day_s = 86_400
const certificateWarning_s = 14 * day_s
const certificateCritical_s = 3 * day_s
const degraded_s = 600
/** Verdicts that a start or a person brings about, and how long they may last, seconds. */
const patience_s = new Map(Object.entries({ starting: 600, stopping: 600, updating: 1_800, surveying: 7_200 }))
const verdictKinds = new Set(['moved', 'unfit', 'degraded'])
const diskErrors = new Set(['log-not-saved', 'raw-not-written', 'record-not-written', 'store'])

export interface AlertLimits {
  readonly offline_s: number
  /** UTC seconds. */
  readonly now_s: number
}

type Found = Omit<Alert, 'key' | 'serial' | 'name' | 'group' | 'kind'> & { readonly kind: AlertKind }

/**
 * The alerts of one station. Pure. A station that was never heard, or whose verdict is not known, raises nothing by that.
 * @param judgement of its position, by its neighbours
 */
export function alertsOf(
  station: FleetStation,
  { now_s, offline_s }: AlertLimits,
  judgement?: FleetJudgement,
): Alert[] {
  const { serial, name, group } = station
  const found = [
    offline(station, now_s, offline_s),
    verdict(station, now_s),
    certificate(station, now_s),
    station.update.failed && {
      ...{ kind: 'update-failed' as const, severity: 'warning' as const, since_s: 0 },
      ...{ text: 'the update failed: the previous version runs', advice: 'see the errors of the station' },
    },
    disk(station),
    position(judgement),
  ]
  return found.flatMap((one) => (one ? [{ key: `${serial} ${one.kind}`, serial, name, group, ...one }] : []))
}

function offline(station: FleetStation, now_s: number, offline_s: number): Found | undefined {
  const { online, onlineSince_s, verdict, cause, verdictSince_s } = station
  const advice = 'check its power and its network'
  // Its last will was lost, with the broker.
  if (online === 'online' && verdict === 'unknown' && cause === 'silent') {
    const text = 'the station does not answer, though the broker says that it is online'
    return { kind: 'offline', severity: 'warning', text, advice, since_s: verdictSince_s }
  }
  if (online !== 'offline' || now_s - onlineSince_s < offline_s) return undefined
  return { kind: 'offline', severity: 'warning', text: 'the station is offline', advice, since_s: onlineSince_s }
}

function verdict(station: FleetStation, now_s: number): Found | undefined {
  const { cause, online, verdict: fitness, verdictSince_s: since_s, why } = station
  if (fitness !== 'unfit' && fitness !== 'degraded') return undefined
  const text = why || `its verdict is ${fitness}: ${cause}`
  const advice = ''
  if (cause === 'moved') return { kind: 'moved', severity: 'critical', text, advice: 'survey it again', since_s }
  // Offline, it is told as such.
  if (online === 'offline') return undefined
  const isUnfit = fitness === 'unfit'
  const least_s = patience_s.get(cause) ?? (isUnfit ? 0 : degraded_s)
  if (now_s - since_s < least_s) return undefined
  return { kind: isUnfit ? 'unfit' : 'degraded', severity: 'warning', text, advice, since_s }
}

function certificate({ certificateUntil_s: until_s }: FleetStation, now_s: number): Found | undefined {
  const left_s = until_s - now_s
  if (until_s === 0 || left_s > certificateWarning_s) return undefined
  const day = new Date(until_s * 1_000).toISOString().slice(0, 10)
  return {
    kind: 'certificate',
    severity: left_s <= certificateCritical_s ? 'critical' : 'warning',
    text: `the MQTT certificate ${left_s <= 0 ? 'expired' : 'expires'} on ${day}`,
    advice: 'replace it, or set mqtt-link.est at the station',
    since_s: Math.min(now_s, until_s - certificateWarning_s),
  }
}

function disk({ errors }: FleetStation): Found | undefined {
  const code = errors.find((one) => diskErrors.has(one))
  const text = `the station cannot write to its disk (${code})`
  return code ? { kind: 'disk', severity: 'warning', text, advice: 'free space on its disk', since_s: 0 } : undefined
}

function position(judgement: FleetJudgement | undefined): Found | undefined {
  if (!judgement || !isPositionWrong(judgement)) return undefined
  const { offset, vectors, cause, since_s } = judgement
  const away_m = Math.hypot(offset.east, offset.north, offset.up)
  const text = `the position is wrong by ${away_m.toFixed(3)} m (${directionOf(offset)}) according to ${vectors} neighbours: ${cause.text}`
  const advice = 'check the entered position and the antenna, or survey it again'
  return { kind: 'position', severity: 'critical', text, advice, since_s }
}

/** Where the announced position is, along the axis of the largest offset. @param offset true minus announced position */
function directionOf({ east, north, up }: FleetJudgement['offset']): string {
  const largest = Math.max(Math.abs(east), Math.abs(north), Math.abs(up))
  if (Math.abs(up) === largest) return up > 0 ? 'too low' : 'too high'
  if (Math.abs(north) === largest) return north > 0 ? 'too far south' : 'too far north'
  return east > 0 ? 'too far west' : 'too far east'
}

/**
 * Whether an alert that is not reported may hold all the same. Pure.
 * @param judgement of its position; null: nobody judges positions (any more)
 */
export function isUndecided(
  { online, verdict: fitness }: FleetStation,
  kind: string,
  judgement?: FleetJudgement | null,
): boolean {
  if (kind === 'offline') return online !== 'online'
  // Only its neighbours can say that it is right again, or as right as it promises.
  if (kind === 'position')
    return (
      judgement !== null &&
      judgement?.state !== 'agrees' &&
      (judgement?.state !== 'contradicts' || isPositionWrong(judgement))
    )
  if (!verdictKinds.has(kind)) return false
  // A verdict that is no better is no all-clear: another cause hides the first, or it lasts too short a time.
  return (
    fitness === 'unknown' || online !== 'online' || fitness === 'unfit' || (fitness === 'degraded' && kind === fitness)
  )
}

/** The service `alertSource` of the fleet. */
export class FleetAlerts implements AlertSource {
  readonly #ctx: PluginContext
  readonly #stations: Pick<Fleet, 'stations' | 'station'>
  readonly #offline_s: number
  readonly #changed: EventSource<void>
  /** When a connection was lost, UTC seconds. */
  readonly #lost_s = new Map<string, number>()
  #active: readonly Alert[] = []

  constructor(ctx: PluginContext, stations: Pick<Fleet, 'stations' | 'station'>, offline_s: number) {
    this.#ctx = ctx
    this.#stations = stations
    this.#offline_s = offline_s
    this.#changed = ctx.event()
  }

  get onChange(): AlertSource['onChange'] {
    return this.#changed.on
  }

  active(): readonly Alert[] {
    return this.#active
  }

  isUndecided({ serial, kind }: Alert): boolean {
    if (serial === '') return false
    const station = this.#stations.station(serial)
    return (
      !this.#ctx.services.use(fleetBroker).connected ||
      (station !== undefined &&
        isUndecided(station, kind, this.#ctx.services.find(fleetNet) ? this.#judgement(serial) : null))
    )
  }

  start(): void {
    this.#ctx.timers.every(look_ms, () => this.#look())
  }

  #look(): void {
    const { clock, services } = this.#ctx
    const now_s = Math.floor(clock.now() / 1_000)
    const hasBroker = services.use(fleetBroker).connected
    const lost = [
      this.#lost(
        'broker',
        hasBroker,
        now_s,
        'the fleet has no connection to its broker: nothing is known of its stations',
      ),
      this.#lost(
        'database',
        services.use(fleetDatabase).connected,
        now_s,
        'the fleet has no connection to its database',
      ),
    ]
    // Without the broker, nothing new is known of the stations.
    const active = [...lost.flatMap((alert) => alert ?? []), ...(hasBroker ? this.#ofStations(now_s) : [])]
    const isSame = active.length === this.#active.length && active.every((one, at) => isAlike(one, this.#active[at]))
    this.#active = active
    if (!isSame) this.#changed.emit()
  }

  #ofStations(now_s: number): Alert[] {
    const found: Alert[] = []
    for (const station of this.#stations.stations()) {
      if (found.length >= most) break
      found.push(...alertsOf(station, { now_s, offline_s: this.#offline_s }, this.#judgement(station.serial)))
    }
    return found
  }

  #judgement(serial: string): FleetJudgement | undefined {
    return this.#ctx.services.find(fleetNet)?.judgement(serial)
  }

  #lost(kind: 'broker' | 'database', isConnected: boolean, now_s: number, text: string): Alert | undefined {
    if (isConnected) {
      this.#lost_s.delete(kind)
      return undefined
    }
    const since_s = this.#lost_s.get(kind) ?? now_s
    this.#lost_s.set(kind, since_s)
    const advice = `the connection is tried again: check the ${kind} itself, and fleet.${kind}`
    return { key: `fleet ${kind}`, serial: '', name: '', group: '', kind, severity: 'critical', text, advice, since_s }
  }
}

const isAlike = (one: Alert, other: Alert | undefined): boolean =>
  one.key === other?.key && one.severity === other.severity && one.text === other.text
