import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { StationSettings } from 'rtk-base/schemas'
import { type FleetMessage, fleetBroker } from 'rtk-base/services'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { parseObject, withoutSecrets } from './reading.js'

/** The broker gives at once what it keeps; a station that it has nothing of is asked then. */
const kept_ms = 1_000
const answer_ms = 10_000
/** Stations that are read at a time, of this instance: each is about 60 kB. */
const mostAtOnce = 32

const text = Type.Optional(Type.String())
const number = Type.Optional(Type.Number())
const inner = Type.Ref('Schema')
/** JSON Schema as far as the forms of a page read it: anything else in these members would end the page. */
const ShownSchema = Type.Cyclic(
  {
    Schema: Type.Union([
      Type.Boolean(),
      Type.Object({
        ...{ title: text, description: text, minimum: number, maximum: number },
        ...{ minLength: number, maxLength: number, maxItems: number },
        enum: Type.Optional(Type.Array(Type.Unknown())),
        required: Type.Optional(Type.Array(Type.String())),
        anyOf: Type.Optional(Type.Array(inner)),
        items: Type.Optional(inner),
        properties: Type.Optional(Type.Record(Type.String(), inner)),
      }),
    ]),
  },
  'Schema',
)

/** Without parameters and actions that no form can show. Undefined: not the settings of a station. */
export function readSettings(payload: Buffer): StationSettings | undefined {
  const published = withoutSecrets(parseObject(payload))
  if (!Value.Check(StationSettings, published)) return undefined
  const { actions, parameters } = Value.Clean(StationSettings, published) as StationSettings
  return {
    parameters: parameters.filter(({ schema }) => Value.Check(ShownSchema, schema)),
    actions: actions.filter(({ input }) => Value.Check(ShownSchema, input)),
  }
}

/** What can be set and done on a station, as it published it. The broker keeps it, so nothing of it is stored here. */
export class PublishedSettings {
  readonly #ctx: PluginContext
  /** Several people read the same one once. */
  readonly #reading = new Map<string, Promise<StationSettings>>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** @throws RTK_ERR_UNAVAILABLE: neither the broker nor the station has said it in 10 s */
  read(serial: string): Promise<StationSettings> {
    const known = this.#reading.get(serial)
    if (known) return known
    if (this.#reading.size >= mostAtOnce)
      return Promise.reject(unavailable('too many stations are asked for their settings: try again in a moment'))
    const reading = this.#read(serial).finally(() => this.#reading.delete(serial))
    this.#reading.set(serial, reading)
    return reading
  }

  #read(serial: string): Promise<StationSettings> {
    const { services, signal, timers } = this.#ctx
    const broker = services.use(fleetBroker)
    return new Promise((resolve, reject) => {
      const ends: (() => unknown)[] = []
      const finish = (end: () => void) => {
        for (const one of ends.splice(0)) void one()
        end()
      }
      const fail = (reason: string) => finish(() => reject(unavailable(reason)))
      const heard = ({ payload }: FleetMessage) => {
        const settings = readSettings(payload)
        if (settings) finish(() => resolve(settings))
      }
      const stopped = () => fail('the fleet stops')
      signal.addEventListener('abort', stopped)
      ends.push(
        () => signal.removeEventListener('abort', stopped),
        timers.after(kept_ms, () => broker.publish(`base/${serial}/settings/get`, '')),
        timers.after(answer_ms, () => fail(`${serial} has not said what can be set on it`)),
        broker.subscribe(`base/${serial}/settings`, heard),
      )
    })
  }
}
