/** Budgets for incoming data, each several times the needs of a well-behaved peer of its kind. */
import type { Rate } from './intake.js'

/**
 * Data from a broker: commands, changes, the RTCM of another base. Its acknowledgements of the station's messages do
 * not count as packets.
 */
export const brokerRate: Rate = { bytes_s: 524_288, burst_bytes: 4_194_304, packets_s: 100 }

/**
 * A connection to one of the station's listeners. A base that pushes 20 Hz of MSM7 needs 40 kB/s. What comes at once is read in one go, of
 * all connections: 1 MiB each of 200 strangers kept the station from all else for more than a second.
 */
export const clientRate: Rate = { bytes_s: 131_072, burst_bytes: 131_072 }

/** Data from a peer that the station dialled: a caster's stream, a source table of several hundred kilobytes. */
export const dialledRate: Rate = { bytes_s: 131_072, burst_bytes: 1_048_576 }

/** A receiver's line: 4 Mbaud. A faster one is read at this pace. */
export const receiverRate: Rate = { bytes_s: 524_288, burst_bytes: 2_097_152 }

/** Requests by HTTP from one address that is not this machine; a page with all its panels makes 30 at once. */
export const requestRate: Rate = { bytes_s: 100, burst_bytes: 400, packets_s: 100 }

/** Datagrams of one address: subscriptions once a minute, corrections a few times a second. */
export const datagramRate: Rate = { bytes_s: 65_536, burst_bytes: 131_072, packets_s: 100 }
