import { KeptPort, portFrom } from 'rtk-base/link'
import { legacyField, Selector, type StreamSink } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import type { RtcmSerialInfo } from 'rtk-base/schemas'
import type { RtcmEpoch, RtcmFrame, RtcmStream, RtcmSubscription } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { legacyText } from './plan.js'
import { Thinner } from './thinning.js'

export const Line = Type.Object(
  {
    port: Type.String({
      title: 'Port',
      maxLength: 256,
      pattern: '^(/[^\\s]+|tcp://[^\\s/]+:\\d{1,5})?$',
      description: 'a device path (best below /dev/serial/by-id) or tcp://host:port; empty: none',
    }),
    baud: Type.Optional(
      Type.Integer({
        title: 'Baud rate',
        minimum: 300,
        maximum: 4_000_000,
        description: 'rate of the line; default 57600',
      }),
    ),
    budget: Type.Optional(
      Type.Integer({
        title: 'Highest data rate, bytes/s',
        minimum: 30,
        maximum: 400_000,
        description: 'capacity of the radio, bytes per second; default: 80 % of the line',
      }),
    ),
    legacy: legacyField,
  },
  {
    additionalProperties: false,
    description: 'E.g. port /dev/serial/by-id/usb-radio at 57600 baud. Empty port: none',
  },
)
export type Line = Static<typeof Line>

/** A byte on the line has a start and a stop bit. */
const bitsPerByte = 10
/** The radio needs a share for its own framing. */
const share = 0.8

export const budgetOf = ({ baud = 57_600, budget }: Line): number => budget ?? Math.floor((baud / bitsPerByte) * share)

/** The stream on a serial line, kept open. */
export class SerialOutput implements StreamSink {
  readonly line: Line
  readonly #ctx: PluginContext
  readonly #stream: RtcmStream
  readonly #kept: KeptPort
  readonly #thinner: Thinner
  /** The selection for old rovers; undefined: everything is sent as it is. */
  readonly #selector: Selector | undefined
  #listed: Pick<RtcmSubscription, 'close'> | undefined
  #text = 'not opened yet'

  constructor(ctx: PluginContext, stream: RtcmStream, line: Line) {
    this.line = line
    this.#ctx = ctx
    this.#stream = stream
    const { baud = 57_600, port, legacy } = line
    if (legacy) this.#selector = new Selector({ legacy })
    // Nothing is replayed: the schema of the parameter leaves a device or a serial server.
    const device = portFrom(port, { pace: 0, loop: false, delay: 0 }, ctx)
    this.#kept = new KeptPort(device, ctx, {
      baud: () => baud,
      opened: () => this.#opened(),
      // Input from the radio must be read, but is ignored.
      data: () => {},
      closed: (reason) => this.#closed(reason),
      ended: (reason) => this.#closed(reason),
    })
    this.#thinner = new Thinner(budgetOf(line), () => ctx.clock.monotonic(), {
      write: (bytes) => this.#kept.write(bytes),
      thinned: ({ text }) => ctx.log.info({ port, budget: budgetOf(line) }, `reduced to fit the line: ${text}`),
    })
  }

  start(): void {
    this.#kept.start()
  }

  async stop(): Promise<void> {
    this.#listed?.close()
    await this.#kept.stop()
  }

  frame(frame: RtcmFrame): void {
    if (this.#selector?.frame(frame) ?? true) this.#thinner.frame(frame)
  }

  epoch({ frames }: RtcmEpoch): void {
    this.#thinner.epoch({ frames: this.#selector?.epoch(frames, this.#ctx.clock.monotonic()) ?? frames })
  }

  reset(): void {
    this.#selector?.reset()
    this.#thinner.reset()
  }

  /** `rtcm_serial` of the document. */
  block(): RtcmSerialInfo {
    const { port, baud = 57_600 } = this.line
    const isOpen = this.#kept.phase === 'open'
    return {
      port,
      baud,
      budget: budgetOf(this.line),
      state: isOpen ? 'open' : 'waiting',
      text: isOpen ? '' : this.#text,
      sends: this.#sends,
      sent: this.#thinner.sent_bytes,
      dropped: this.#thinner.dropped,
    }
  }

  get #sends(): string {
    const { step } = this.#thinner
    return this.line.legacy ? legacyText(step) : step.text
  }

  #opened(): void {
    this.#kept.works()
    this.#text = ''
    this.#ctx.status('open')
    this.#listed = this.#stream.list({ via: 'serial', name: this.line.port.slice(-32), ip: '', connected: true })
    this.#thinner.reset()
    if (this.#stream.open) for (const frame of this.#stream.reference()) this.frame(frame)
  }

  #closed(reason: string): void {
    if (this.#listed) this.#ctx.log.warn({ port: this.line.port }, `the port was lost: ${reason}; it is reopened`)
    this.#listed?.close()
    this.#listed = undefined
    this.#text = reason
    this.#ctx.status(reason)
  }
}
