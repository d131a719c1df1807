import type { PluginContext } from 'rtk-base/plugin'
import type { Device } from 'rtk-base/services'

const sample_ms = 500
/** The window in which the arrival with the least delay counts: the others waited for the line or for the processor. */
const window_ms = 60_000
/** A receiver that has not told the time for so long serves none. */
const stale_ms = 10_000
/**
 * Model assumption: an epoch arrives at most this long after its moment when nothing waits (a receiver computes for 30–100 ms, 1 kB at
 * 115,200 baud takes 90 ms). It cannot be seen from here, so it counts as error.
 */
const unseenDelay_s = 0.2
/** The drift of the monotonic clock, as RFC 5905 has it. */
const drift = 15e-6

const packet_bytes = 48
/** From 1900 to 1970, seconds. */
const era_s = 2_208_988_800
const client = 3
const server = 4
const unsynchronised = 3
const localStratum = 1

/** The known time; undefined without a receiver that provides it. */
export interface TimeNow {
  readonly utc_ms: number
  readonly dispersion_s: number
  /** UTC when it was told last. */
  readonly told_ms: number
}

/** UTC by the receiver, from the arrivals of the last minute. Pure except for its samples. */
export class ReceiverTime {
  #samples: { readonly at_ms: number; readonly offset_ms: number }[] = []

  /**
   * @param at_ms the newest arrival, by the monotonic clock; unchanged: no arrival
   * @param offset_ms UTC minus the monotonic clock then
   */
  add(at_ms: number, offset_ms: number): void {
    if (this.#samples.at(-1)?.at_ms === at_ms) return
    this.#samples = [...this.#samples.filter((one) => at_ms - one.at_ms < window_ms), { at_ms, offset_ms }]
  }

  now(at_ms: number): TimeNow | undefined {
    const newest = this.#samples.at(-1)
    if (!newest || at_ms - newest.at_ms > stale_ms) return undefined
    const offsets = this.#samples.map(({ offset_ms }) => offset_ms)
    // A late arrival looks earlier: the largest offset has the least delay.
    const best_ms = Math.max(...offsets)
    const spread_s = (best_ms - Math.min(...offsets)) / 1000
    const age_s = (at_ms - (this.#samples[0]?.at_ms ?? at_ms)) / 1000
    return {
      utc_ms: at_ms + best_ms,
      dispersion_s: unseenDelay_s + Math.min(spread_s, unseenDelay_s) + age_s * drift,
      told_ms: newest.at_ms + best_ms,
    }
  }
}

/**
 * The answer to a client (RFC 4330 and 5905, section 7.3); undefined if it is not a request.
 * @param received, sent the time at these moments
 */
export function answerTo(
  request: Buffer,
  received: TimeNow | undefined,
  sent: TimeNow | undefined,
): Buffer | undefined {
  const first = request[0] ?? 0
  const version = (first >> 3) & 7
  if (request.length < packet_bytes || (first & 7) !== client || version < 1 || version > 4) return undefined
  const answer = Buffer.alloc(packet_bytes)
  const knows = received !== undefined && sent !== undefined
  answer[0] = ((knows ? 0 : unsynchronised) << 6) | (version << 3) | server
  answer[1] = knows ? localStratum : 0
  answer[2] = request[2] ?? 0
  // 2^-10 s: the clock of the process.
  answer.writeInt8(-10, 3)
  if (knows) answer.writeUInt32BE(Math.round(sent.dispersion_s * 65_536), 8)
  answer.write(knows ? 'GNSS' : 'INIT', 12, 'latin1')
  if (knows) writeTime(answer, 16, sent.told_ms)
  request.copy(answer, 24, 40, 48)
  if (knows) writeTime(answer, 32, received.utc_ms)
  if (knows) writeTime(answer, 40, sent.utc_ms)
  return answer
}

function writeTime(packet: Buffer, at: number, utc_ms: number): void {
  const seconds = Math.floor(utc_ms / 1000)
  packet.writeUInt32BE((seconds + era_s) % 2 ** 32, at)
  packet.writeUInt32BE(Math.floor((utc_ms / 1000 - seconds) * 2 ** 32), at + 4)
}

/** The receiver's time on loopback, for chrony or another NTP daemon of this machine. */
export class TimeServer {
  readonly #ctx: PluginContext
  readonly #device: Device
  readonly #time = new ReceiverTime()
  /** 0 while it does not answer. */
  port = 0

  constructor(ctx: PluginContext, device: Device) {
    this.#ctx = ctx
    this.#device = device
  }

  /** @param port of loopback; a port that is taken is an error of the station, not of the start */
  async start(port: number): Promise<void> {
    const { clock, errors, net, timers } = this.#ctx
    timers.every(sample_ms, () => {
      const { toldUtc: told } = this.#device
      if (told) this.#time.add(told.at_ms, told.utc_ms - told.at_ms)
    })
    const failed = (error: Error) => {
      this.port = 0
      errors.while('time-server', { port, reason: error.message })
    }
    const socket = await net.datagram({ host: '127.0.0.1', port }).catch(failed)
    if (!socket) return
    this.port = socket.address().port
    socket.on('error', failed)
    socket.on('message', (request, { address, port: asker }) => {
      const received = this.#time.now(clock.monotonic())
      const answer = answerTo(request, received, this.#time.now(clock.monotonic()))
      if (answer) socket.send(answer, asker, address)
    })
  }

  /** Whether it has a time to serve. */
  get knows(): boolean {
    return this.#time.now(this.#ctx.clock.monotonic()) !== undefined
  }
}
