/** A station as the specification has it on MQTT, of any make: nothing of rtk-base is in it. */
import { connect, type MqttClient } from 'mqtt'

type Json = Record<string, unknown>

export interface SpecStationOptions {
  readonly url: string
  readonly serial: string
  /** Its document; times and counters change by themselves. */
  readonly document?: Json
  /** It has the additional topic `state`. */
  readonly state?: Json
  readonly version?: 4 | 5
  /** What it does with a change; default: takes everything. undefined: it does not answer. */
  readonly change?: (values: Json) => Json | undefined
  /** What it does with a command; the text is the answer. */
  readonly command?: (text: string) => string
}

export class SpecStation {
  readonly serial: string
  document: Json
  state: Json | undefined
  readonly changes: Json[] = []
  readonly commands: string[] = []
  asked = 0
  readonly #options: SpecStationOptions
  #client: MqttClient

  private constructor(options: SpecStationOptions) {
    this.serial = options.serial
    this.#options = options
    this.document = options.document ?? {}
    this.state = options.state
    this.#client = this.#dial()
  }

  static async start(options: SpecStationOptions): Promise<SpecStation> {
    const station = new SpecStation(options)
    await station.connected()
    return station
  }

  #dial(): MqttClient {
    const { url, serial, version = 4 } = this.#options
    const client = connect(url, {
      clientId: serial,
      protocolVersion: version,
      keepalive: 120,
      // Real time, in which hours of a fleet's clock can pass: its broker ends a connection that is silent for 3 min of that clock.
      reconnectPeriod: 1,
      queueQoSZero: false,
      will: { topic: this.#topic('online'), payload: Buffer.from('L'), qos: 0, retain: true },
    })
    client.on('error', () => {})
    client.on('connect', () => {
      client.subscribe(['info/get', 'change/post', 'cmd'].map((part) => this.#topic(part)))
      this.say('online', 'y', true)
      this.sayState()
      this.sayDocument()
    })
    client.on('message', (topic, payload, packet) => {
      if (packet.retain) return
      const part = topic.slice(`base/${serial}/`.length)
      const { responseTopic } = packet.properties ?? {}
      if (part === 'info/get') {
        this.asked += 1
        this.sayDocument()
      } else if (part === 'change/post') {
        const values = JSON.parse(payload.toString()) as Json
        this.changes.push(values)
        const answer = this.#options.change ? this.#options.change(values) : { result: 'ok', leftover: {} }
        if (answer) this.say('change/resp', JSON.stringify(answer))
      } else if (part === 'cmd') {
        this.commands.push(payload.toString())
        const answer = this.#options.command?.(payload.toString()) ?? 'ok'
        if (responseTopic) client.publish(responseTopic, answer)
      }
    })
    return client
  }

  async connected(): Promise<void> {
    if (!this.#client.connected) await new Promise<void>((resolve) => this.#client.once('connect', () => resolve()))
  }

  #topic(part: string): string {
    return `base/${this.serial}/${part}`
  }

  say(part: string, payload: string | Buffer, retain = false): void {
    this.#client.publish(this.#topic(part), payload, { retain })
  }

  /** On any topic: a station that a broker does not keep to its own. Resolves when the broker has it. */
  async lie(topic: string, payload: string | Buffer, retain = false): Promise<void> {
    await this.#client.publishAsync(topic, payload, { retain, qos: 1 })
  }

  sayState(): void {
    if (this.state) this.say('state', JSON.stringify(this.state), true)
  }

  sayDocument(): void {
    this.say('info', JSON.stringify(this.document))
  }

  /** The connection breaks without a DISCONNECT: the broker publishes `L`. */
  vanish(): void {
    this.#client.options.reconnectPeriod = 0
    this.#client.stream.destroy()
  }

  comeBack(): Promise<void> {
    this.#client = this.#dial()
    return this.connected()
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#client.end(true, {}, () => resolve()))
  }
}
