/**
 * Causes that keep RTCM from going out, found in a situation: the predicates of the explanation (answer.ts) and the one cause of the
 * timeline (timeline.ts). Both say the same, as both look here. Pure.
 */
import type { RecordValue } from 'rtk-base/schemas'
import type { Situation } from '../history.js'

export const isClosed = ({ open }: RecordValue): boolean => open === false
export const isWaiting = ({ status }: RecordValue): boolean => status !== 'fixed'
export const isReceiverAway = ({ link }: RecordValue): boolean => link !== 'up'
export const isAntennaBad = ({ status }: RecordValue): boolean => status === 'open' || status === 'short'
export const isJammed = ({ jammed }: RecordValue): boolean => jammed === true
export const isSpoofed = ({ spoofed }: RecordValue): boolean => spoofed === true

/** A plugin that starts or stops is on its way: a restart of the service takes all of them through it. */
export const isPluginFaulty = ({ state }: RecordValue): boolean => !/^(stopped|starting|stopping)$/.test(text(state))
/** The plugin lacks a service: that of a failed plugin is the cause. */
export const isPluginWaiting = ({ state }: RecordValue): boolean => state === 'waiting'

export interface Cause {
  /** Stable, see the README. */
  readonly cause: string
  readonly values: RecordValue
}

/** A value of a key, when it is bad. */
function bad(situation: Situation, key: string, isBad: (value: RecordValue) => boolean): RecordValue | undefined {
  const value = situation[key]
  return value && isBad(value) ? value : undefined
}

const text = (value: unknown) => (value === undefined ? '' : String(value))

/**
 * The cause that a person can act on: what is broken before what waits for it. A person decides about a move, whatever else is
 * wrong.
 */
export function causeOf(situation: Situation): Cause {
  const gate = bad(situation, 'gate', isClosed)
  if (!situation.gate) return { cause: 'unknown', values: {} }
  if (!gate) return { cause: 'sent', values: {} }
  const reason = text(gate.reason)
  return faultOf(situation, reason) ?? { cause: 'gate-closed', values: { reason } }
}

/** The cause behind a closed gate, or behind an open one that nothing goes through. @param reason of the gate */
export function faultOf(situation: Situation, reason: string): Cause | undefined {
  const values = { reason }
  const receiver = bad(situation, 'receiver', isReceiverAway)
  if (receiver) return { cause: receiver.link === 'offline' ? 'receiver-gone' : 'receiver-silent', values }
  const procedure = bad(situation, 'procedure', isWaiting)
  if (procedure?.status === 'moved') return { cause: 'moved', values }
  const antenna = bad(situation, 'antenna', isAntennaBad)
  if (antenna) return { cause: antenna.status === 'open' ? 'antenna-open' : 'antenna-short', values }
  if (bad(situation, 'air', isJammed)) return { cause: 'jammed', values }
  if (bad(situation, 'air', isSpoofed)) return { cause: 'spoofed', values }
  if (procedure?.status === 'survey') return { cause: 'survey', values }
  if (procedure) return { cause: `procedure-${text(procedure.status)}`, values }
  const plugins = Object.entries(situation).filter(([key, value]) => key.startsWith('plugin ') && isPluginFaulty(value))
  const [key, plugin] = plugins.find(([, value]) => !isPluginWaiting(value)) ?? plugins[0] ?? []
  if (key && plugin)
    return { cause: 'plugin', values: { plugin: key.slice(7), state: text(plugin.state), reason: text(plugin.reason) } }
  return undefined
}

/** How the run before a start ended, as a cause. */
const ends: Readonly<Record<string, string>> = {
  stopped: 'service-stopped',
  power: 'power-cut',
  blocked: 'service-blocked',
  failed: 'service-failed',
  killed: 'service-killed',
}
export const endCause = (how: string): string => ends[how] ?? 'service-off'
