/** The alerts of a station, from what its services say. Pure. Missing information is undefined, and raises nothing. */
import type { Verdict } from 'rtk-base/schemas'
import type { Alert, AlertKind, StationError } from 'rtk-base/services'

export interface StationFacts {
  readonly serial: string
  readonly name: string
  /** 0: not known. */
  readonly utc_s: number
  readonly verdict: Verdict | undefined
  readonly link: LinkFacts | undefined
  readonly errors: readonly StationError[] | undefined
  /** The disk with the data folder, bytes. */
  readonly disk: { readonly free: number; readonly size: number } | undefined
}

export interface LinkFacts {
  readonly isWanted: boolean
  /** Seconds since it was last up; 0 while it is up. */
  readonly down_s: number
  readonly reason: string
  /** UTC seconds; 0 without a certificate. */
  readonly certificateUntil_s: number
}

const day_s = 86_400
const certificateWarning_s = 14 * day_s
const certificateCritical_s = 3 * day_s
const linkDown_s = 600
const degraded_s = 600
/** Less is nearly full: 5 % of the disk, or 200 MB of a large one. */
const diskShare = 0.05
const diskReserve_bytes = 200e6
const mega = 1e6

/** Verdicts that a start or a person brings about, and how long they may last, seconds. */
const patience_s: Readonly<Record<string, number>> = {
  starting: 600,
  stopping: 600,
  updating: 1_800,
  surveying: 7_200,
}
const verdictKinds = new Set(['moved', 'unfit', 'degraded'])
/** These verdicts have alerts of their own. */
const ownKinds = new Set(['link'])
const ownErrors: Readonly<Record<string, string>> = {
  'update-failed': 'update-failed',
  'update-rauc': 'update-failed',
  'mqtt-cert': 'certificate',
  'log-not-saved': 'disk',
  'raw-not-written': 'disk',
  'record-not-written': 'disk',
  store: 'disk',
}

/** Alert without the station that it is about. */
type Found = Pick<Alert, 'severity' | 'text' | 'advice' | 'since_s'> & { readonly kind: AlertKind }

export function stationAlerts(facts: StationFacts): Alert[] {
  const { serial, name } = facts
  const found = [verdictAlert(facts), linkAlert(facts), updateAlert(facts), certificateAlert(facts), diskAlert(facts)]
  return found.flatMap((one) => (one ? [{ key: `${serial} ${one.kind}`, serial, name, group: '', ...one }] : []))
}

/** Whether an alert that is not reported may hold all the same. */
export function isUndecided({ verdict, link, utc_s }: StationFacts, kind: string): boolean {
  if (kind === 'broker') return link?.isWanted === true && link.down_s > 0
  if (kind === 'certificate') return utc_s === 0
  if (!verdictKinds.has(kind)) return false
  // A verdict that is no better is no all-clear: another cause hides the first, or it lasts too short a time.
  return !verdict || verdict.fitness === 'unfit' || (verdict.fitness === 'degraded' && kind === 'degraded')
}

const ago = (utc_s: number, seconds: number): number => (utc_s > 0 ? Math.round(utc_s - seconds) : 0)

function verdictAlert({ verdict, utc_s }: StationFacts): Found | undefined {
  if (!verdict || verdict.fitness === 'fit' || ownKinds.has(verdict.code)) return undefined
  if (verdict.code === 'error' && verdict.why_code && verdict.why_code in ownErrors) return undefined
  const isUnfit = verdict.fitness === 'unfit'
  const least_s = patience_s[verdict.code] ?? (isUnfit ? 0 : degraded_s)
  if (verdict.for_s < least_s) return undefined
  const { why: text, advice } = verdict
  const since_s = verdict.since || ago(utc_s, verdict.for_s)
  if (verdict.code === 'moved') return { kind: 'moved', severity: 'critical', text, advice, since_s }
  return { kind: isUnfit ? 'unfit' : 'degraded', severity: 'warning', text, advice, since_s }
}

function linkAlert({ link, utc_s }: StationFacts): Found | undefined {
  if (!link?.isWanted || link.down_s < linkDown_s) return undefined
  const text = `the MQTT broker cannot be reached${link.reason && `: ${link.reason}`}`
  const advice = 'check the network of the station, and mqtt-host'
  return { kind: 'broker', severity: 'warning', text, advice, since_s: ago(utc_s, link.down_s) }
}

function updateAlert({ errors = [] }: StationFacts): Found | undefined {
  const error = errors.find(({ code }) => ownErrors[code] === 'update-failed')
  return (
    error && { kind: 'update-failed', severity: 'warning', text: error.why, advice: error.advice, since_s: error.t }
  )
}

function certificateAlert({ link, utc_s }: StationFacts): Found | undefined {
  const until_s = link?.certificateUntil_s ?? 0
  if (until_s === 0 || utc_s === 0 || until_s - utc_s > certificateWarning_s) return undefined
  const left_s = until_s - utc_s
  const day = new Date(until_s * 1_000).toISOString().slice(0, 10)
  return {
    kind: 'certificate',
    severity: left_s <= certificateCritical_s ? 'critical' : 'warning',
    text: `the MQTT certificate ${left_s <= 0 ? 'expired' : 'expires'} on ${day}`,
    advice: 'replace it, or set mqtt-link.est',
    since_s: Math.min(utc_s, until_s - certificateWarning_s),
  }
}

function diskAlert({ disk, errors = [] }: StationFacts): Found | undefined {
  const error = errors.find(({ code }) => ownErrors[code] === 'disk')
  if (error) return { kind: 'disk', severity: 'warning', text: error.why, advice: error.advice, since_s: error.t }
  if (!disk || disk.free >= Math.min(disk.size * diskShare, diskReserve_bytes)) return undefined
  const text = `the disk is nearly full: ${Math.round(disk.free / mega)} MB of ${Math.round(disk.size / mega)} MB are free`
  return { kind: 'disk', severity: 'warning', text, advice: 'delete files that are not needed', since_s: 0 }
}
