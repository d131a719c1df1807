/** The station that is recorded: every plugin of the simulator's variant on a manual clock, with everything that answers for it. */
import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import mqtt from 'mqtt'
import { Random } from '../../../runtime/lib/simulation/random.js'
import { readVariant } from '../../../runtime/tools/cli/variant-file.js'
import { during, pass, settled } from '../drive.js'
import { ManualClock } from '../manual-clock.js'
import { freeTcpPort, freeUdpPort } from '../process.js'
import { shippedPlugin } from '../shipped.js'
import { createTestStation, type TestStation } from '../station.js'
import { bodyLines, type Line, linesOf } from './text.js'
import { listenedNetwork, listenedReceiver } from './wires.js'

const tokens = { operator: 'recorded-operator-token', viewer: 'recorded-viewer-token' }
export type Role = keyof typeof tokens | 'nobody'

const drawn = Math.random

/** A variant has one of them. */
const simulators = ['simulated-receiver', 'simulated-um980', 'simulated-lg290p', 'simulated-mosaic']

/** An answer that takes longer, seconds of the clock, is a stream without an end. */
const answer_s = 90

/** What differs from one installation to the next, and says nothing. */
const unsaid = new Set(['date', 'content-length', 'etag', 'connection', 'keep-alive'])

export interface Asked {
  readonly role?: Role
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
}

export class RecordedStation {
  readonly station: TestStation
  readonly ports: { readonly mqtt: number; readonly udp: number; readonly caster: number }
  readonly #written: Line[]

  private constructor(station: TestStation, ports: RecordedStation['ports'], written: Line[]) {
    this.station = station
    this.ports = ports
    this.#written = written
  }

  /**
   * @param given plugins' options and change parameters beside those of the variant; null leaves a plugin out
   * @param name of the variant
   */
  static async start(
    given: { plugins?: Record<string, Record<string, unknown> | null>; changes?: Record<string, unknown> } = {},
    name = 'simulator',
  ): Promise<RecordedStation> {
    // The runs beside each other must not draw the same ports.
    Math.random = drawn
    const ports = { mqtt: await freeTcpPort(), udp: await freeUdpPort(), caster: await freeTcpPort() }
    // Jitter and names that are drawn are the same each time.
    const random = new Random(1)
    Math.random = () => random.uniform()
    const { variant } = readVariant(name)
    const made = simulators.find((simulator) => simulator in variant.plugins) as string
    const wanted: Record<string, Record<string, unknown> | null> = {
      ...variant.plugins,
      'mqtt-broker': { port: ports.mqtt },
      [made]: { ...variant.plugins[made], ...(made === 'simulated-receiver' && { boot: 'rover' }), seed: 1 },
      ...given.plugins,
    }
    const written: Line[] = []
    const heard = (line: Line) => written.push(line)
    const receiver = wanted[made]
    delete wanted[made]
    const others = Object.values(ports)
    const station = await createTestStation({
      clock: new ManualClock(),
      network: listenedNetwork((port) => !others.includes(port), heard),
      ...(receiver && { plugins: { [made]: [listenedReceiver(await shippedPlugin(made), heard), { ...receiver }] } }),
      variant: {
        ...variant,
        plugins: {},
        http: { host: '127.0.0.1', port: 0, token: tokens.operator, viewerToken: tokens.viewer },
        changes: {
          ...variant.changes,
          'mqtt-port': ports.mqtt,
          'udp-port': ports.udp,
          'ntrip-caster-port': ports.caster,
          ...given.changes,
        },
      },
      sources: Object.fromEntries(
        Object.entries(wanted).flatMap(([name, options]) => (options ? [[name, options]] : [])),
      ),
    })
    return new RecordedStation(station, ports, written)
  }

  /** What was written to the receiver and to the router since the last call. */
  takeWritten(): Line[] {
    return this.#written.splice(0)
  }

  seconds(count: number): Promise<void> {
    return pass(this.station.clock, count * 1_000)
  }

  /** @returns `status = 200`, the headers and the body of the answer */
  async ask(method: string, path: string, { role = 'operator', headers = {}, body }: Asked = {}): Promise<Line[]> {
    const login = role === 'nobody' ? {} : { authorization: `Bearer ${tokens[role]}` }
    const { port } = this.station.address
    const asked = request({ host: '127.0.0.1', port, agent: false, method, path, headers: { ...login, ...headers } })
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>
    answered.catch(() => {})
    asked.on('error', () => {})
    asked.end(body)
    let answer: IncomingMessage
    try {
      ;[answer] = await during(this.station.clock, answered, `${method} ${path}`)
    } catch (error) {
      return [['failed', String((error as NodeJS.ErrnoException).code ?? error)]]
    }
    const chunks: Buffer[] = []
    let isOver = false
    answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
    answer.on('close', () => {
      isOver = true
    })
    const type = String(answer.headers['content-type'] ?? '')
    await settled()
    for (let second = 0; !isOver && second < answer_s && type !== 'text/event-stream'; second++) await this.seconds(1)
    const isEndless = !isOver
    asked.destroy()
    const said = Object.entries(answer.headers).filter(([name]) => !unsaid.has(name))
    return [
      ['status', String(answer.statusCode)],
      ...said.flatMap(([name, value]) => linesOf(value, name)),
      ...bodyLines(type, Buffer.concat(chunks)),
      ...(isEndless ? [['end', 'none'] as const] : []),
    ]
  }

  /** Runs a command as the console does. */
  async command(text: string): Promise<Line[]> {
    const { station, clock } = this.station
    const { status, text: said } = await during(clock, station.command(text, { source: 'console' }), text)
    return [['status', String(status)], ...linesOf(said, 'text')]
  }

  /** Everything that goes through the station's broker from now on. */
  async listen(): Promise<{
    take(): Line[]
    publish(topic: string, text: string): Promise<void>
    close(): Promise<void>
  }> {
    const connected = mqtt.connectAsync(`mqtt://127.0.0.1:${this.ports.mqtt}`, {
      clientId: 'recorder',
      protocolVersion: 4,
    })
    const client = await during(this.station.clock, connected, 'the broker')
    client.on('error', () => {})
    let heard: Line[] = []
    client.on('message', (topic, payload, { qos, retain }) => {
      const isText = /^[\x20-\x7e\n\r\t\u00a0-\uffff]*$/u.test(payload.toString('utf8'))
      const name = `${topic} (qos ${qos}${retain ? ', retained' : ''})`
      const type = !isText ? '' : /^[{[]/.test(payload.toString()) ? 'application/json' : 'text/plain'
      const body = bodyLines(type, payload)
      if (body.length === 0) heard.push([name, 'empty'])
      for (const [at, value] of body) heard.push([`${name} ${at}`, value])
    })
    await client.subscribeAsync('#', { qos: 1 })
    await settled()
    return {
      take() {
        const taken = heard
        heard = []
        // What leaves at one moment by different connections has no order.
        return taken
          .map((line, n) => ({ line, n }))
          .sort((a, b) => topic(a.line).localeCompare(topic(b.line)) || a.n - b.n)
          .map(({ line }) => line)
      },
      publish: async (to, text) => {
        await client.publishAsync(to, text, { qos: 1 })
      },
      close: () => client.endAsync(true),
    }
  }

  stop(): Promise<void> {
    return this.station.stop()
  }
}

const topic = ([name]: Line) => name.split(' ')[0] as string
