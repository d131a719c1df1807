/**
 * Inspects the broker's packets before the client's parser: they are counted against a budget, and an illegitimate packet ends the
 * session. The parser would use a timer and several calls for each of millions
 * of two-byte packets, and keep QoS 2 messages forever.
 */
import { Transform, type TransformCallback } from 'node:stream'
import { Intake, rates, rateText } from 'rtk-base/link'

/** No request is larger, and one message could fill the memory of a small device. Stated to brokers of MQTT 5. */
export const largestInbound = 262_144
/** Packets that the parser gets at once. */
export const mostAtOnce = 64

/** A protocol violation of the broker, for `mqtt.state.error` and the log. */
export class Breach extends Error {}

/** Control packets that a broker sends (MQTT 5, section 2.1.2). */
const names: Readonly<Record<number, string>> = {
  2: 'CONNACK',
  3: 'PUBLISH',
  4: 'PUBACK',
  5: 'PUBREC',
  7: 'PUBCOMP',
  9: 'SUBACK',
  11: 'UNSUBACK',
  13: 'PINGRESP',
  14: 'DISCONNECT',
}

const publish = 3

/** The packet that answers one of ours; the QoS where it depends on that. */
const answers: Readonly<Record<string, string | readonly [string, string, string]>> = {
  connect: 'CONNACK',
  publish: ['', 'PUBACK', 'PUBREC'],
  pubrel: 'PUBCOMP',
  subscribe: 'SUBACK',
  unsubscribe: 'UNSUBACK',
  pingreq: 'PINGRESP',
}

/** The peer is no broker; it may be anything: a web server, a caster. */
class NoBroker extends Error {}

/** Follows the packets of a byte stream by their fixed headers, however the bytes are split. Pure. */
export class PacketWatch {
  /** Answers that are due, by packet. */
  readonly #due = new Map<string, number>()
  /** Bytes of the header of the packet that is coming in. */
  #header: number[] = []
  #left = 0
  #begun = false

  /** The client sent one. @param cmd its name in mqtt-packet */
  sent({ cmd, qos = 0 }: { cmd: string; qos?: number }): void {
    const answer = answers[cmd]
    const due = typeof answer === 'string' ? answer : (answer?.[qos] ?? '')
    if (due !== '') this.#due.set(due, (this.#due.get(due) ?? 0) + 1)
  }

  /** @returns where the PUBLISH packets in these bytes begin: of all others the station decides how many come. @throws Breach, NoBroker */
  starts(bytes: Uint8Array): number[] {
    const starts: number[] = []
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const body = Math.min(this.#left, bytes.length - at)
        this.#left -= body
        at += body
        continue
      }
      if (this.#header.length === 0 && (bytes[at] as number) >> 4 === publish) starts.push(at)
      this.#header.push(bytes[at++] as number)
      const length = lengthOf(this.#header)
      if (length === undefined) continue
      const [first = 0] = this.#header
      this.#header = []
      this.#left = length
      this.#check(first, length)
    }
    return starts
  }

  #check(first: number, length: number): void {
    const name = names[first >> 4]
    if (!this.#begun && name !== 'CONNACK') throw new NoBroker('its first packet is not a CONNACK')
    this.#begun = true
    if (name === undefined) throw new Breach(`it sent a packet of type ${first >> 4}, which no broker sends`)
    if (length > largestInbound) throw new Breach(`it sent a ${name} of more than ${largestInbound} bytes`)
    if (name === 'PUBLISH') {
      if ((first & 0b110) > 0b010) throw new Breach('it sent a PUBLISH of QoS 2: the station subscribes with QoS 1')
      return
    }
    if (name === 'DISCONNECT') return
    const due = this.#due.get(name) ?? 0
    if (due === 0) throw new Breach(`it sent a ${name} that answers nothing`)
    this.#due.set(name, due - 1)
  }
}

/** The remaining length in a fixed header (MQTT 5, section 1.5.5); undefined while it is not complete, infinite where it never is */
function lengthOf(header: readonly number[]): number | undefined {
  const digits = header.slice(1)
  if (digits.length === 0 || (digits.at(-1) as number) >= 128) {
    return digits.length < 4 ? undefined : Number.POSITIVE_INFINITY
  }
  return digits.reduce((sum, digit, place) => sum + (digit & 127) * 128 ** place, 0)
}

/** Between the socket and the client's parser. While it waits, nothing is read from the socket. */
export class Inspection extends Transform {
  readonly watch = new PacketWatch()
  readonly #intake: Intake
  #goOn: (() => void) | undefined

  constructor() {
    super()
    const held = { pause: () => {}, resume: () => this.#goOn?.() }
    const overrun = () => void this.destroy(new Breach(`it sends ${rateText(rates.brokerRate)}`))
    this.#intake = new Intake(held, { rate: rates.brokerRate, overrun })
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#intake.close()
    done(error)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let starts: number[]
    try {
      starts = this.watch.starts(chunk)
    } catch (error) {
      done(error as Breach)
      return
    }
    let packet = 0
    let from = 0
    const next = () => {
      this.#goOn = undefined
      while (from < chunk.length && !this.#intake.rests && !this.destroyed) {
        const most = starts.length - packet > mostAtOnce
        const to = most ? (starts[packet + mostAtOnce] as number) : chunk.length
        const part = chunk.subarray(from, to)
        const packets = Math.min(mostAtOnce, starts.length - packet)
        this.push(part)
        packet += packets
        from = to
        this.#intake.took(part.length, packets)
      }
      if (this.destroyed) return
      if (this.#intake.rests) this.#goOn = from < chunk.length ? next : () => done()
      else done()
    }
    next()
  }
}
