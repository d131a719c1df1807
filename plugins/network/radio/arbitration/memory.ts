/** State of the arbitration. Pure: an event and the time give the next memory. */
import { waitAfter_ms } from 'rtk-base/time'
import { type Static, Type } from 'typebox'

/** Use of the radio: none, access point, uplink, or both at once. */
export type Mode = 'off' | 'ap' | 'station' | 'both'

export interface Limits {
  /** After the start the radio waits so long before it becomes an access point: the daemon is still bringing up its own profiles. */
  readonly bootWait_ms: number
  /** The uplink may be away for so long, counted from its loss, before the access point takes the radio. */
  readonly fallback_ms: number
  /** Failed joins in a row that give the radio to the access point, */
  readonly mostFailures: number
  /** or failures by a wrong password, */
  readonly mostWrongPasswords: number
  /** for so long. With a wrong password each further time is twice as long, */
  readonly suppression_ms: number
  /** up to this. */
  readonly longestSuppression_ms: number
  /** While the access point has the radio, the uplink's network is searched for so often. */
  readonly rescan_ms: number
  /** Scans in a row that must see the network before the access point is given up for it. */
  readonly seenTicks: number
  /** Where the driver cannot scan as an access point: so often a join is tried without having seen the network. */
  readonly blind_ms: number
  /** An access point with clients keeps the radio at least so long. */
  readonly clientsHold_ms: number
  /** The access point is given up for the uplink at most so often in an hour. */
  readonly mostDepartures: number
  /** Wait between two joins that fail: the first one, doubled up to the second one. */
  readonly firstRetry_ms: number
  readonly longestRetry_ms: number
}

export const defaultLimits: Limits = {
  bootWait_ms: 3_000,
  fallback_ms: 60_000,
  mostFailures: 3,
  mostWrongPasswords: 2,
  suppression_ms: 600_000,
  longestSuppression_ms: 6 * 3_600_000,
  rescan_ms: 60_000,
  seenTicks: 2,
  blind_ms: 900_000,
  clientsHold_ms: 600_000,
  mostDepartures: 4,
  firstRetry_ms: 5_000,
  longestRetry_ms: 300_000,
}

const retrySpread = [0.5, 1.5] as const

const Time = Type.Number()

/** A schema, so that a reload can hand it over. */
export const RadioMemory = Type.Object({
  mode: Type.Enum(['off', 'ap', 'station', 'both']),
  modeSince_ms: Time,
  startedAt_ms: Time,
  /** Since when the uplink is away: its loss, the beginning of the attempt, other settings. */
  awayAt_ms: Time,
  /** The radio has not tried the uplink with these settings yet. */
  isFresh: Type.Boolean(),
  /** Joins that failed in a row: their back-off. */
  tries: Type.Integer(),
  /** Failed joins in which the network was there, since the last window. */
  failures: Type.Integer(),
  wrongPasswords: Type.Integer(),
  /** Windows in which the access point kept the radio because of a wrong password, since a join succeeded. */
  suppressions: Type.Integer(),
  suppressedUntil_ms: Time,
  /** The next join is not tried before. */
  retryAt_ms: Time,
  /** Scans in a row that saw the network. */
  seen: Type.Integer(),
  scannedAt_ms: Time,
  /** The driver refused to scan while it was an access point. */
  isBlind: Type.Boolean(),
  /** When the access point was given up for the uplink in the last hour. */
  departures: Type.Array(Time),
})
export type RadioMemory = Readonly<Static<typeof RadioMemory>>

/** `away`: the network was out of reach, which is not a fault of the settings. */
export type JoinFailure = 'password' | 'away' | 'other'

export type Happening =
  /** The uplink's settings were changed by a person. */
  | { readonly kind: 'settings' }
  | { readonly kind: 'mode'; readonly mode: Mode }
  /** A join begins. */
  | { readonly kind: 'trying' }
  | { readonly kind: 'joined' }
  | { readonly kind: 'lost' }
  /** A join failed. @param random 0…1, keeps several stations out of step */
  | { readonly kind: 'failed'; readonly cause: JoinFailure; readonly random: number }
  | { readonly kind: 'scanned'; readonly seen: boolean }
  | { readonly kind: 'scanRefused' }
  /** The radio was removed or came back. */
  | { readonly kind: 'radio' }

/** A time before every other one, and a plain number. */
const never_ms = -1e15

export function emptyMemory(now_ms: number): RadioMemory {
  return {
    mode: 'off',
    modeSince_ms: now_ms,
    startedAt_ms: now_ms,
    awayAt_ms: now_ms,
    isFresh: true,
    tries: 0,
    failures: 0,
    wrongPasswords: 0,
    suppressions: 0,
    suppressedUntil_ms: never_ms,
    retryAt_ms: never_ms,
    seen: 0,
    scannedAt_ms: never_ms,
    isBlind: false,
    departures: [],
  }
}

export const hour_ms = 3_600_000

/** Departures of the last hour. */
export const recentDepartures = ({ departures }: RadioMemory, now_ms: number): number[] =>
  departures.filter((at_ms) => at_ms > now_ms - hour_ms)

export function note(memory: RadioMemory, happening: Happening, limits: Limits, now_ms: number): RadioMemory {
  switch (happening.kind) {
    case 'settings':
      return {
        ...emptyMemory(now_ms),
        mode: memory.mode,
        modeSince_ms: memory.modeSince_ms,
        startedAt_ms: memory.startedAt_ms,
        isFresh: memory.mode === 'ap' || memory.mode === 'off',
        isBlind: memory.isBlind,
        departures: memory.departures,
      }
    case 'mode':
      return changeMode(memory, happening.mode, now_ms)
    case 'trying':
      return { ...memory, isFresh: false, retryAt_ms: now_ms + limits.firstRetry_ms }
    case 'joined':
      return {
        ...memory,
        tries: 0,
        failures: 0,
        wrongPasswords: 0,
        suppressions: 0,
        retryAt_ms: now_ms,
        isFresh: false,
      }
    case 'lost':
      return { ...memory, awayAt_ms: now_ms, retryAt_ms: now_ms, seen: 0 }
    case 'failed':
      return failed(memory, happening, limits, now_ms)
    case 'scanned':
      return { ...memory, seen: happening.seen ? memory.seen + 1 : 0, scannedAt_ms: now_ms, isBlind: false }
    case 'scanRefused':
      return { ...memory, seen: 0, scannedAt_ms: now_ms, isBlind: true }
    case 'radio':
      return { ...memory, awayAt_ms: now_ms, tries: 0, failures: 0, wrongPasswords: 0, retryAt_ms: now_ms, seen: 0 }
  }
}

function changeMode(memory: RadioMemory, mode: Mode, now_ms: number): RadioMemory {
  if (mode === memory.mode) return memory
  const departures = recentDepartures(memory, now_ms)
  const leaves = memory.mode === 'ap' && mode === 'station'
  return {
    ...memory,
    mode,
    modeSince_ms: now_ms,
    seen: 0,
    departures: leaves ? [...departures, now_ms] : departures,
    // The window of an attempt begins with it; the scans of an access point begin after its own start.
    ...(mode === 'station' && { awayAt_ms: now_ms, isFresh: false, retryAt_ms: now_ms }),
    ...(mode === 'both' && { isFresh: false }),
    ...(mode === 'ap' && { scannedAt_ms: now_ms }),
  }
}

function failed(
  memory: RadioMemory,
  { cause, random }: { cause: JoinFailure; random: number },
  limits: Limits,
  now_ms: number,
): RadioMemory {
  const tries = memory.tries + 1
  const failures = memory.failures + (cause === 'away' ? 0 : 1)
  const wrongPasswords = memory.wrongPasswords + (cause === 'password' ? 1 : 0)
  const waits = { first_ms: limits.firstRetry_ms, longest_ms: limits.longestRetry_ms, spread: retrySpread }
  const wait_ms = waitAfter_ms(tries, { ...waits, random: () => random })
  const next = { ...memory, tries, failures, wrongPasswords, retryAt_ms: now_ms + wait_ms }
  if (failures < limits.mostFailures && wrongPasswords < limits.mostWrongPasswords) return next
  if (wrongPasswords < limits.mostWrongPasswords)
    return { ...next, failures: 0, suppressedUntil_ms: now_ms + limits.suppression_ms }
  // A password that was wrong is tried once in each window, and each window is twice as long as the one before.
  const window_ms = limits.suppression_ms * 2 ** Math.min(20, memory.suppressions)
  return {
    ...next,
    wrongPasswords: limits.mostWrongPasswords - 1,
    suppressions: memory.suppressions + 1,
    suppressedUntil_ms: now_ms + Math.min(limits.longestSuppression_ms, window_ms),
  }
}
