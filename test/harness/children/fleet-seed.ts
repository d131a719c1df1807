/** Stations of a fleet that exist only as messages: they publish what a station publishes, and answer changes and commands. */
import { connectAsync, type MqttClient } from 'mqtt'
import { geodeticToEcef } from '../../../runtime/lib/gnss/geodesy.js'

export interface SeededStation {
  readonly serial: string
  readonly lat: number
  readonly lon: number
  readonly verdict: 'fit' | 'degraded' | 'unfit'
  readonly cause: string
  readonly version: string
  readonly online: 'y' | 'q'
}

/** Always the same: over Europe, in clumps as cities are. */
export function seededStations(count: number): SeededStation[] {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const cities = Array.from({ length: 60 }, () => ({ lat: 38 + 22 * random(), lon: -8 + 36 * random() }))
  return Array.from({ length: count }, (_, at) => {
    const city = cities[Math.floor(random() * cities.length)] ?? { lat: 50, lon: 10 }
    const spread = () => (random() + random() + random() - 1.5) * 1.5
    const luck = random()
    const [verdict, cause] =
      luck < 0.03
        ? (['unfit', 'moved'] as const)
        : luck < 0.08
          ? (['degraded', 'jamming'] as const)
          : (['fit', 'ok'] as const)
    return {
      serial: `SEED${String(at + 1).padStart(5, '0')}`,
      lat: city.lat + spread(),
      lon: city.lon + spread(),
      ...{ verdict, cause, version: `0.${3 + (at % 3)}.0`, online: random() < 0.02 ? 'q' : 'y' },
    }
  })
}

/** What can be set and done on each of them; the words of one setting are HTML. */
const settings = {
  parameters: [
    [
      'mqtt-rtcm-rate',
      'RTCM over MQTT: seconds between two publications',
      { type: 'integer', minimum: 1, maximum: 60 },
    ],
    ['station-name', '<img src=x onerror="hacked=1">', { type: 'string', description: '<script>hacked=1</script>' }],
  ].map(([name, title, schema]) => ({
    ...{ name, title, schema, plugin: 'seed', secret: false, endsLink: false, onTrial: false },
  })),
  actions: [
    {
      ...{ name: 'reboot', plugin: 'seed', summary: 'Restarts the station', reads: false },
      ...{ caution: 'RTCM stops for half a minute.', input: { type: 'object', properties: {} } },
    },
  ],
}

export class Seed {
  readonly #client: MqttClient

  private constructor(client: MqttClient) {
    this.#client = client
    client.on('message', (topic, payload, packet) => {
      const [, serial = '', part = '', sub = ''] = topic.split('/')
      const answerTo = packet.properties?.responseTopic
      if (part === 'info' && sub === 'get') this.#documents.get(serial)?.()
      else if (part === 'settings') client.publish(`base/${serial}/settings`, JSON.stringify(settings))
      else if (part === 'cmd' && answerTo) client.publish(answerTo, `done: ${payload}`)
      else if (part === 'change' && sub === 'post')
        client.publish(answerTo ?? `base/${serial}/change/resp`, JSON.stringify({ result: 'ok', leftover: {} }))
    })
  }

  readonly #documents = new Map<string, () => void>()

  static async to(url: string): Promise<Seed> {
    // A broker beside the start of a fleet takes its time on a busy machine.
    const client = await connectAsync(url, { connectTimeout: 600_000 })
    await client.subscribeAsync(['base/+/info/get', 'base/+/settings/get', 'base/+/cmd', 'base/+/change/post'])
    return new Seed(client)
  }

  async state({ cause, lat, lon, online, serial, verdict, version }: SeededStation): Promise<void> {
    const { x, y, z } = geodeticToEcef({ lat, lon, alt: 100 })
    const since = Math.floor(Date.now() / 1_000) - 3_600
    const state = { verdict, cause, since, arp: [x, y, z], reference: 'aaaaaaaa', version }
    // Not retained: the embedded broker keeps few topics.
    this.#client.publish(`base/${serial}/online`, online)
    await this.#client.publishAsync(`base/${serial}/state`, JSON.stringify(state), { qos: 1 })
  }

  /** Published now, and whenever it is asked for. */
  async document(serial: string, document: object): Promise<void> {
    const publish = () => this.#client.publishAsync(`base/${serial}/info`, JSON.stringify(document), { qos: 1 })
    this.#documents.set(serial, () => void publish())
    await publish()
  }

  async end(): Promise<void> {
    await this.#client.endAsync(true)
  }
}
