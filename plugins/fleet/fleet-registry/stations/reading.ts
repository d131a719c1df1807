/** Reads what stations publish, of any make and version, as far as it is understood. Pure; nothing from outside is trusted. */
import { createHash } from 'node:crypto'
import { ecefToGeodetic, isObservation } from 'rtk-base/gnss'
import { isSecretName } from 'rtk-base/plugin'
import type { Ecef, FleetStation } from 'rtk-base/services'
import { lasting } from './lasting.js'

type Json = Record<string, unknown>
export type Facts = Partial<Omit<FleetStation, 'serial'>>

/** The longest text that a station sends. */
const mostText = 200
const mostErrors = 32
/** Deeper documents are cut off: nothing that a station publishes is. */
const mostDepth = 16

export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), value)

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** PostgreSQL stores no NUL and no half of a surrogate pair, which JSON may contain: one such text would block the rest of its statement. */
export const storable = (value: string): string => value.replaceAll('\u0000', '').replace(/\p{Cs}/gu, '\ufffd')
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? storable(value.replace(/\p{Cc}/gu, ' ').slice(0, mostText)) : undefined
const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined
const time = (value: unknown): number | undefined => {
  const found = number(value)
  return found !== undefined && found >= 0 && found < 2 ** 40 ? Math.floor(found) : undefined
}

/** Without members that are undefined, so that what a station does not say keeps its value. */
const said = (facts: Record<string, unknown>): Facts =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Facts

/** JSON of an object; undefined for anything else. */
export function parseObject(payload: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const fitnesses = ['fit', 'degraded', 'unfit'] as const
const fitness = (value: unknown) => fitnesses.find((known) => known === value)

/** `base/{SN}/state`. Undefined: it is not one. */
export function readState(payload: Buffer): Facts | undefined {
  if (payload.length > 1_000) return undefined
  const state = parseObject(payload)
  const verdict = fitness(state?.verdict)
  if (state === undefined || verdict === undefined) return undefined
  const arp = ecef(Array.isArray(state.arp) ? state.arp : [])
  return {
    ...said({
      cause: text(state.cause) ?? '',
      verdictSince_s: time(state.since),
      reference: text(state.reference),
      version: text(state.version),
    }),
    verdict,
    source: 'state',
    arp,
    // Where it was last: a station that announces no position, as one that has moved, stays on the map.
    ...(arp && { place: ecefToGeodetic(arp) }),
  }
}

function ecef([x, y, z]: readonly unknown[]): Ecef | undefined {
  const point = { x: number(x), y: number(y), z: number(z) }
  const { x: px, y: py, z: pz } = point
  if (px === undefined || py === undefined || pz === undefined) return undefined
  const radius = Math.hypot(px, py, pz)
  return radius > 6.3e6 && radius < 6.5e6 ? { x: px, y: py, z: pz } : undefined
}

/**
 * Clients of the station's own outputs. The broker is none of them. Of `ntrip`, the caster's own number counts: pushes to casters have the
 * same name.
 */
function roversOf(document: Json): number | undefined {
  const subscribers = at(document, 'gnss.rtcm.subscribers')
  if (!Array.isArray(subscribers)) return undefined
  const others = subscribers.filter((one) => isObject(one) && one.via !== 'mqtt' && one.via !== 'ntrip').length
  return others + (number(at(document, 'ntrip.caster.connected')) ?? 0)
}

/** The configured interval of the observations, seconds: no publication comes sooner. 0: the document does not say it. */
function intervalOf(document: Json): number {
  const messages = at(document, 'gnss.rtcm.msgs')
  if (!Array.isArray(messages)) return 0
  const all = messages.flatMap((one) => {
    const nominal_s = isObject(one) && isObservation(number(one.id) ?? 0) ? number(one.nominal) : undefined
    return nominal_s ? [nominal_s] : []
  })
  return all.length > 0 ? Math.min(...all) : 0
}

/** Facts of the document besides the verdict. */
export function readDocument(document: Json): Facts {
  const errors = at(document, 'base.state.errors')
  const chosen = text(at(document, 'gnss.ref.chosen'))
  const reference = chosen === 'manual' || chosen === 'survey' ? at(document, `gnss.ref.${chosen}`) : undefined
  const arp = isObject(reference) ? ecef([reference.x, reference.y, reference.z]) : undefined
  return said({
    version: text(at(document, 'esp.version')),
    variant: text(at(document, 'esp.hardware')),
    name: text(at(document, 'base.name')),
    rtcm: {
      signed: at(document, 'mqtt.rtcm.sign') === true,
      rate_s: Math.min(3_600, Math.max(1, number(at(document, 'mqtt.rtcm.rate')) ?? 1, intervalOf(document))),
    },
    rovers: roversOf(document),
    uplink: text(at(document, 'mqtt.via')),
    certificateUntil_s: time(at(document, 'mqtt.state.cert.until')),
    update: {
      state: text(at(document, 'base.update.state')) ?? '',
      failed: at(document, 'base.update.failed') === true,
    },
    errors: Array.isArray(errors)
      ? errors.slice(0, mostErrors).map((error) => text(isObject(error) ? error.code : error) ?? '?')
      : [],
    why: text(at(document, 'base.state.verdict.why')),
    arp,
    place: arp && ecefToGeodetic(arp),
  })
}

/**
 * The verdict of a station without the topic `state`: that of its document, otherwise by the states that the specification names. A
 * station that sends from a reference is fit; anything else is not.
 */
export function verdictOf(document: Json): Pick<FleetStation, 'verdict' | 'cause' | 'why'> {
  const own = fitness(at(document, 'base.state.verdict.fitness'))
  if (own !== undefined)
    return {
      verdict: own,
      cause: text(at(document, 'base.state.verdict.code')) ?? '',
      why: text(at(document, 'base.state.verdict.why')) ?? '',
    }
  const status = text(at(document, 'gnss.state.status'))
  if (status === undefined)
    return { verdict: 'unknown', cause: 'no-status', why: 'its document does not have gnss.state.status' }
  if (status === 'fixed') return { verdict: 'fit', cause: 'ok', why: '' }
  return { verdict: 'unfit', cause: status, why: `gnss.state.status is ${status}` }
}

/** The document without passwords: the fleet needs none, so it stores none. */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (depth > mostDepth) return null
  if (Array.isArray(value)) {
    const parts = value.map((part) => withoutSecrets(part, depth + 1))
    return parts.every((part, n) => part === value[n]) ? value : parts
  }
  if (!isObject(value)) return typeof value === 'string' ? storable(value) : value
  const keys = Object.keys(value)
  const parts = keys.map((key) => {
    const part = value[key]
    return typeof part === 'string' && (key === 'pin' || isSecretName(key)) ? '' : withoutSecrets(part, depth + 1)
  })
  // Most parts stay as they are: to copy all of them takes five times as long as to parse them.
  if (keys.every((key, n) => parts[n] === value[key] && storable(key) === key)) return value
  return Object.fromEntries(keys.map((key, n) => [storable(key), parts[n]]))
}

/** Changes with the settings, the identity and the reference of a station; not with counters and times. */
export function documentMark(document: Json): string {
  const parts = lasting.map((path) => at(document, path) ?? null)
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}
