/**
 * Converts a flight record into timed `sim` lines for the simulated receiver. Pure. A record has only state changes and minute values of the
 * receiver, so the replay repeats states at their times, not measurements.
 */
import { distance, enu, roundTo } from 'rtk-base/gnss'
import type { RecordEntry, RecordMinute, RecordValue } from 'rtk-base/schemas'
import type { Ecef } from 'rtk-base/services'

export interface ReplayStep {
  /** Since the first entry of the record. */
  readonly after_ms: number
  /** As behind `sim=`. */
  readonly command: string
}

/** The simulator shows these interferences as `critical` and `warning`. */
const jammed_db = 30
const disturbed_db = 10
/** The part of the most satellites of the record: fewer are a state, and no fluctuation. */
const few = 0.7
/** A position that is farther from the first one is another place, unless its own accuracy explains it. */
const place_m = 5
const sigmas = 4
/** A base shows its reference, wherever its antenna is: of a move that only the state `moved` shows, the record has no direction. */
const knownMove = { east: 0.1, north: 0, up: 0 }

/** State of the receiver according to the record; '' or undefined: default. */
interface Seen {
  link: string
  antenna: string
  jam_db: number
  spoofed: boolean
  satellites: number | undefined
  corrections_m: number | undefined
  offset: { east: number; north: number; up: number }
}

const usual: Seen = {
  link: 'up',
  antenna: 'ok',
  jam_db: 0,
  spoofed: false,
  satellites: undefined,
  corrections_m: undefined,
  offset: { east: 0, north: 0, up: 0 },
}

export function scriptOf(entries: readonly RecordEntry[]): ReplayStep[] {
  const [first] = entries
  if (!first) return []
  const most = Math.max(0, ...entries.map(({ min }) => min?.visible ?? 0))
  const steps: ReplayStep[] = []
  let seen = usual
  let home: Ecef | undefined
  for (const entry of entries) {
    const before = seen
    const values = entry.all ?? entry.set ?? {}
    for (const [key, value] of Object.entries(values)) if (value) seen = withState(seen, key, value)
    if (entry.all && !entry.all.corrections) seen = { ...seen, corrections_m: undefined }
    if (entry.min) {
      const place = placeOf(entry.min)
      home ??= place
      seen = withMinute(seen, entry.min, most)
      if (home && place && entry.min.fixes > 0)
        seen = { ...seen, offset: offsetNow(seen.offset, home, place, entry.min.acc) }
    }
    // The rounding of two clocks must not turn the order.
    const after_ms = Math.max(steps.at(-1)?.after_ms ?? 0, entry.t - first.t)
    for (const command of commandsFor(before, seen)) steps.push({ after_ms, command })
  }
  return steps
}

function withState(seen: Seen, key: string, value: RecordValue): Seen {
  if (key === 'receiver') return { ...seen, link: String(value.link) }
  if (key === 'antenna')
    return { ...seen, antenna: value.status === 'open' || value.status === 'short' ? value.status : 'ok' }
  if (key === 'air') return { ...seen, jam_db: value.jammed === true ? jammed_db : 0, spoofed: value.spoofed === true }
  if (key === 'corrections')
    return { ...seen, corrections_m: value.come === true ? Number(value.km) * 1000 : undefined }
  if (key !== 'procedure') return seen
  // Measurements are more precise than the state.
  if (isMeasured(seen.offset)) return seen
  return {
    ...seen,
    offset: value.status === 'moved' ? knownMove : value.status === 'fixed' ? usual.offset : seen.offset,
  }
}

function withMinute(seen: Seen, minute: RecordMinute, most: number): Seen {
  // Effects of the antenna or interference are not a state of the sky.
  const isClear = seen.antenna === 'ok' && seen.jam_db < jammed_db && seen.link === 'up'
  const isFew = isClear && minute.fixes > 0 && minute.visible < few * most
  const jam_db = minute.jam === 'critical' ? jammed_db : minute.jam === 'warning' ? disturbed_db : 0
  return {
    ...seen,
    satellites: isFew ? minute.visible : isClear ? undefined : seen.satellites,
    jam_db: seen.jam_db === jammed_db ? jammed_db : jam_db,
  }
}

function placeOf({ pos: [x, y, z] }: RecordMinute): Ecef | undefined {
  return x === undefined || y === undefined || z === undefined ? undefined : { x, y, z }
}

/** The offset by the position of a minute. A move that the state has shown stays if the position cannot contradict it. */
function offsetNow(before: Seen['offset'], home: Ecef, place: Ecef, acc_m: number): Seen['offset'] {
  if (distance(home, place) <= Math.max(place_m, sigmas * acc_m)) return isMeasured(before) ? usual.offset : before
  const { east, north, up } = enu(home, place)
  return { east: roundTo(east, 2), north: roundTo(north, 2), up: roundTo(up, 2) }
}

/** Whether an offset comes from positions, and not from the state of the procedure. */
const isMeasured = ({ east, north, up }: Seen['offset']) => Math.hypot(east, north, up) > 1

/** The `sim` lines for the change from `before` to `now`. */
function commandsFor(before: Seen, now: Seen): string[] {
  const commands: string[] = []
  const say = (is: boolean, command: string) => is && commands.push(command)
  if (now.link !== before.link) {
    say(before.link === 'stalled', 'silence off')
    say(before.link === 'offline', 'replug')
    say(now.link === 'stalled', 'silence on')
    say(now.link === 'offline', 'unplug')
  }
  say(now.antenna !== before.antenna, `antenna ${now.antenna}`)
  say(now.jam_db !== before.jam_db, `jam ${now.jam_db === 0 ? 'off' : now.jam_db}`)
  say(now.spoofed !== before.spoofed, `spoof ${now.spoofed ? 2 : 'off'}`)
  say(now.satellites !== before.satellites, `satellites ${now.satellites ?? 'off'}`)
  say(now.corrections_m !== before.corrections_m, `corrections ${now.corrections_m ?? 'off'}`)
  const by = (['east', 'north', 'up'] as const).map((axis) => roundTo(now.offset[axis] - before.offset[axis], 2))
  say(Math.hypot(...by) > 0.01, `move ${by.join(' ')}`)
  return commands
}
