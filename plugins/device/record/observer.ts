/** The current situation by key, as recorded. */
import { isDeepStrictEqual } from 'node:util'
import type { PluginContext } from 'rtk-base/plugin'
import type { RecordValue } from 'rtk-base/schemas'
import {
  cellularUplink,
  correctionStatus,
  device,
  type GateReason,
  links,
  neighbourCheck,
  procedureStatus,
  receiver,
  reception,
  rtcmStream,
  station,
  uplinks,
} from 'rtk-base/services'
import type { Situation } from './history.js'

const longest = 300
/** Maximum entries of any list. */
const most = 32
/** Older corrections count as missing. */
const freshFor_s = 15

const isText = (value: unknown) => typeof value === 'string'
const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** Its code and values are for readers of other languages. */
function reasonOf(reason: GateReason | undefined): RecordValue {
  if (!reason) return { reason: '' }
  const values = Object.entries(reason.values ?? {}).map(([name, value]) => [name, isText(value) ? cut(value) : value])
  return { ...Object.fromEntries(values), reason: cut(reason.text), reason_code: `gate.${reason.code}` }
}

export function observe({ services }: PluginContext): Situation {
  const found: Situation = {}
  const put = (key: string, value: RecordValue | undefined) => {
    if (value) found[key.slice(0, longest)] = value
  }
  const stream = services.find(rtcmStream)
  put(
    'gate',
    stream
      ? { open: stream.open, ...reasonOf(stream.reason) }
      : { open: false, reason: 'the plugin rtcm does not run' },
  )
  const procedure = services.find(procedureStatus)
  put('procedure', procedure && { status: procedure.status })
  const source = services.find(receiver)
  put('receiver', source && { link: source.link, mode: source.mode, fix: source.fix?.fix ?? 'none' })
  const received = services.find(reception)
  put('antenna', received && { status: received.antenna })
  const neighbours = services.find(neighbourCheck)
  put('neighbours', neighbours && { state: neighbours.state, effect: neighbours.effect, text: cut(neighbours.text) })
  const { jammed, spoofed } = received ?? {}
  if (jammed !== undefined || spoofed !== undefined)
    put('air', { jammed: jammed ?? 'unknown', spoofed: spoofed ?? 'unknown' })
  const corrections = services.find(correctionStatus)
  put(
    'corrections',
    corrections && {
      wanted: procedure?.wantsCorrections === true,
      input: corrections.input ?? 'auto',
      come: corrections.age_s() < freshFor_s,
      remote: cut(corrections.remote),
      km: Math.round((corrections.distance_m ?? 0) / 1000),
    },
  )
  for (const { name, state, reason } of (services.find(links)?.list ?? []).slice(0, most))
    put(`link ${name}`, { state, reason: cut(reason) })
  for (const one of (services.find(uplinks)?.list ?? []).slice(0, most))
    put(`uplink ${one.name}`, {
      kind: one.kind,
      up: one.up,
      default: one.default,
      reach: one.reach,
      text: cut(one.up ? '' : one.text),
    })
  const modem = services.find(cellularUplink)
  put(
    'modem',
    modem && {
      connected: modem.connected === undefined ? 'unknown' : modem.connected,
      pending: (modem.pending ?? []).join(' '),
    },
  )
  for (const { code, text } of services.use(device).errors()) put(`error ${code}`, { text: cut(text) })
  for (const { name, state, reason } of services.use(station).plugins())
    if (state !== 'running') put(`plugin ${name}`, { state, reason: cut(reason) })
  return found
}

/**
 * The changes; undefined if none.
 * @param isExact false: a text in which only a number changed counts as equal, otherwise it would add a line every second
 */
export function changesOf(
  before: Situation,
  now: Situation,
  isExact: boolean,
): Record<string, RecordValue | null> | undefined {
  const changes: Record<string, RecordValue | null> = {}
  for (const [key, value] of Object.entries(now))
    if (isExact ? !isDeepStrictEqual(before[key], value) : !same(before[key], value)) changes[key] = value
  for (const key of Object.keys(before)) if (!(key in now)) changes[key] = null
  return Object.keys(changes).length > 0 ? changes : undefined
}

function same(one: RecordValue | undefined, other: RecordValue): boolean {
  if (one === undefined) return false
  const names = Object.keys(other)
  return names.length === Object.keys(one).length && names.every((name) => plain(one[name]) === plain(other[name]))
}

const plain = (value: unknown) => (typeof value === 'string' ? value.replace(/\d+/g, '0') : value)
