/** Clients of the corrections and state of the outbound connections. Pure. */
import { type Json, listAt, numberAt, textAt } from './document.js'

export type LinkTone = 'good' | 'warning' | 'waiting' | 'broken' | 'idle'

const tones: Readonly<Record<string, LinkTone>> = {
  up: 'good',
  connected: 'good',
  acknowledged: 'good',
  proven: 'good',
  // Not known yet whether the data arrives.
  accepted: 'waiting',
  connecting: 'warning',
  renewing: 'warning',
  waiting: 'warning',
  down: 'broken',
  refused: 'broken',
  idle: 'idle',
  off: 'idle',
  disabled: 'idle',
}
export const toneOf = (state: string): LinkTone => tones[state] ?? 'warning'

export interface Subscriber {
  via: string
  name: string
  ip: string
  /** Seconds since it was last heard of; 0: connected. */
  seen: number
}
export const subscribersOf = (document: Json | undefined) => listAt<Subscriber>(document, 'gnss.rtcm.subscribers')

const casterOf = ({ host, port, mount }: Push) => `${host}:${port}/${mount}`

/** Subscribers that are rovers: not the own MQTT topic, a caster or address pushed to, or a radio modem. */
export function roversOf(document: Json | undefined): readonly Subscriber[] {
  // Long mountpoints are cut in the list of casters.
  const casters = listAt<Push>(document, 'ntrip.server').map(casterOf)
  const addresses = listAt<{ host: string; port: number }>(document, 'rtcm_tcp.push').map(
    ({ host, port }) => `${host}:${port}`,
  )
  const isPushed = ({ via, name }: Subscriber) =>
    (via === 'ntrip' && casters.some((one) => name.startsWith(one))) || (via === 'tcp' && addresses.includes(name))
  return subscribersOf(document).filter((one) => /^(udp|ntrip|tcp)$/.test(one.via) && !isPushed(one))
}

export interface Rover {
  id: number
  mount: string
  /** The rover's mountpoint is that of a foreign base, which this station has not verified. */
  unverified?: boolean
  user: string
  agent: string
  ip: string
  since: number
  quality: number
  dist: number
  age: number
  lat: number
  lon: number
}

/** The fix that a rover states in GGA. */
export type RoverFix = 'none' | 'single' | 'dgps' | 'float' | 'fixed' | 'silent'
const fixes: Readonly<Record<number, RoverFix>> = { 0: 'none', 1: 'single', 2: 'dgps', 4: 'fixed', 5: 'float' }
/** @returns `silent` without a GGA */
export const fixOf = ({ quality, lat, lon }: Rover): RoverFix =>
  lat === 0 && lon === 0 ? 'silent' : (fixes[quality] ?? 'single')

/** A foreign base that sends its stream in, for rovers of its mountpoint. */
export interface ForeignBase {
  mount: string
  connected: boolean
  ip: string
  agent: string
  silent: number
  rovers: number
}

export interface Push {
  host: string
  port: number
  mount: string
  version: number
  tls: boolean
  state: string
  text: string
  next: number
  since: number
  sent: number
  dropped: number
}

export interface Output {
  name: string
  state: string
  reason: string
  since: number
  attempts: number
  step: string
  family: number
  next: number
}

export interface Certificate {
  readonly from: number
  readonly until: number
  readonly serial: string
  /** Whole days that are left; negative: it has expired. Undefined while the station has no time. */
  readonly days: number | undefined
  readonly tone: LinkTone
}

const day_s = 86_400
/** The station itself warns (`mqtt-cert`) when so much of its life is left. */
const lastPart = 1 / 6

/** Undefined without a certificate. */
export function certificateOf(document: Json | undefined): Certificate | undefined {
  const until = numberAt(document, 'mqtt.state.cert.until') ?? 0
  if (until === 0) return undefined
  const now = numberAt(document, 'gnss.state.time') ?? 0
  const days = now === 0 ? undefined : Math.floor((until - now) / day_s)
  const from = numberAt(document, 'mqtt.state.cert.from') ?? 0
  const isLast = until - now < (until - from) * lastPart
  const tone = days === undefined ? 'idle' : days < 0 ? 'broken' : isLast ? 'warning' : 'good'
  return { from, until, serial: textAt(document, 'mqtt.state.cert.serial'), days, tone }
}
