/**
 * Assigns the radio. The rules, in this order:
 *
 * | # | situation                                                         | the radio is                                      |
 * |---|-------------------------------------------------------------------|---------------------------------------------------|
 * | 1 | no radio, or nothing is wanted                                    | off                                               |
 * | 2 | only the access point is wanted                                   | the access point, after the wait at the start     |
 * | 3 | only the uplink is wanted                                         | the uplink                                        |
 * | 4 | both are wanted and the radio can do both                         | both                                              |
 * | 5 | the uplink is joined (an address is enough: LAN only counts)      | the uplink                                        |
 * | 6 | it is the uplink, joins failed too often or the password is wrong | the access point, until the window is over        |
 * | 7 | it is the uplink, away for less than the fallback time            | the uplink; the time counts from the loss         |
 * | 8 | it is the uplink, away for longer                                 | the access point                                  |
 * | 9 | it is not, and these settings were never tried                    | the uplink                                        |
 * | 10| it is the access point, in a window, or given up often this hour  | the access point                                  |
 * | 11| it is the access point, with clients, for a short time            | the access point                                  |
 * | 12| it is the access point, and scans in a row saw the network        | the uplink                                        |
 * | 13| it is the access point, its driver cannot scan meanwhile          | the uplink, tried blindly at long intervals       |
 * | 14| else                                                              | the access point, which scans now and then        |
 *
 * The station's own access point is not an uplink: `joined` only counts a radio in station mode.
 */
import { type Limits, type Mode, type RadioMemory, recentDepartures } from './memory.js'

export interface Situation {
  /** There is a radio that the daemon manages. */
  readonly present: boolean
  readonly wantsAp: boolean
  readonly wantsStation: boolean
  /** Both can run at the same time. */
  readonly canBoth: boolean
  /** The uplink's network is joined and has given an address. */
  readonly joined: boolean
  /** Clients of the access point. */
  readonly clients: number
  readonly memory: RadioMemory
}

export interface Decision {
  readonly mode: Mode
  /** A join is due now. */
  readonly join: boolean
  /** A scan for the uplink's network is due now. */
  readonly scan: boolean
  /** The network daemon is still starting: nothing is touched. */
  readonly wait: boolean
  /** For a person. */
  readonly why: string
}

export function decide(situation: Situation, limits: Limits, now_ms: number): Decision {
  const { present, wantsAp, wantsStation, canBoth, joined, memory } = situation
  const joinDue = !joined && now_ms >= memory.retryAt_ms
  const as = (mode: Mode, why: string, scan = false): Decision => ({
    mode,
    why,
    scan,
    wait: false,
    join: (mode === 'station' || mode === 'both') && joinDue,
  })
  if (!present) return as('off', 'no radio found')
  if (!wantsStation) {
    if (!wantsAp) return as('off', 'neither the access point nor the uplink is wanted')
    if (memory.mode === 'off' && now_ms - memory.startedAt_ms < limits.bootWait_ms)
      return { ...as('off', 'the network daemon starts'), wait: true }
    return as('ap', 'no uplink is set')
  }
  if (!wantsAp) return as('station', joined ? 'joined' : 'the access point is switched off')
  if (canBoth) return as('both', 'this radio does both at once')
  if (joined) return as('station', 'joined')
  return memory.mode === 'station'
    ? whileAway(situation, limits, now_ms, as)
    : asAccessPoint(situation, limits, now_ms, as)
}

type As = (mode: Mode, why: string, scan?: boolean) => Decision

function whileAway({ memory }: Situation, limits: Limits, now_ms: number, as: As): Decision {
  if (now_ms < memory.suppressedUntil_ms) return as('ap', suppressedText(memory, limits, now_ms))
  if (now_ms - memory.awayAt_ms >= limits.fallback_ms)
    return as('ap', `the uplink has been away for ${limits.fallback_ms / 1000} s`)
  return as('station', 'the uplink is away')
}

function asAccessPoint({ memory, clients }: Situation, limits: Limits, now_ms: number, as: As): Decision {
  if (memory.isFresh) return as('station', 'the uplink is tried')
  if (now_ms < memory.suppressedUntil_ms) return as('ap', suppressedText(memory, limits, now_ms))
  const departures = recentDepartures(memory, now_ms).length
  if (departures >= limits.mostDepartures)
    return as('ap', `the access point was given up ${departures} times within the hour`)
  const isHeld = clients > 0 && now_ms - memory.modeSince_ms < limits.clientsHold_ms
  if (memory.isBlind) {
    const isDue = now_ms - memory.modeSince_ms >= limits.blind_ms
    if (isDue && !isHeld) return as('station', 'the uplink is tried: the driver cannot scan as an access point')
    return as(
      'ap',
      'the uplink is away, and the driver cannot scan as an access point',
      isScanDue(memory, limits, now_ms),
    )
  }
  if (memory.seen >= limits.seenTicks && !isHeld) return as('station', 'the network of the uplink is on the air')
  const why = isHeld && memory.seen > 0 ? 'clients use the access point' : 'the uplink is away'
  return as('ap', why, isScanDue(memory, limits, now_ms))
}

const isScanDue = (memory: RadioMemory, limits: Limits, now_ms: number) =>
  now_ms - memory.scannedAt_ms >= limits.rescan_ms

function suppressedText(memory: RadioMemory, limits: Limits, now_ms: number): string {
  const left_min = Math.ceil((memory.suppressedUntil_ms - now_ms) / 60_000)
  const cause =
    memory.suppressions > 0
      ? 'the password of the uplink is wrong'
      : `${limits.mostFailures} joins of the uplink failed`
  return `${cause}: it is tried again in ${left_min} min, or when its settings are changed`
}
