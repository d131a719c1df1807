import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { fleetDatabase } from 'rtk-base/services'
import { Type } from 'typebox'
import { accountSteps } from './accounts/accounts.js'
import type { Connections } from './accounts/connections.js'
import { type BaseRovers, roverSteps } from './bases/base-rovers.js'
import type { Signatures, SignerRow } from './bases/signatures.js'
import { type Delivery, dayOf, deliverySteps } from './delivery.js'

const store_ms = 60_000
const forget_ms = 3_600_000
const retry_ms = 15_000

interface Parts {
  readonly delivery: Delivery
  readonly signatures: Signatures
  readonly connections: Connections
  readonly rovers: BaseRovers
  readonly days: number
  readonly utc_ms: () => number
}

/** Tables, and rows that are written at most once a minute. */
export class Upkeep {
  readonly #ctx: PluginContext
  readonly #parts: Parts
  #isReady = false

  constructor(ctx: PluginContext, parts: Parts) {
    this.#ctx = ctx
    this.#parts = parts
  }

  start(): void {
    this.#ctx.timers.every(store_ms, () => this.store())
    this.#ctx.timers.every(forget_ms, () => this.#forget())
    void this.#begin()
  }

  async #begin(): Promise<void> {
    const database = this.#ctx.services.use(fleetDatabase)
    try {
      await database.migrate('fleet-caster-accounts', accountSteps)
      await database.migrate('fleet-caster-delivery', deliverySteps)
      await database.migrate('fleet-caster-rovers', roverSteps)
      this.#parts.signatures.begin(await database.query<SignerRow>('select serial, sequence from fleet_caster_signer'))
      this.#isReady = true
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'the numbers of the signers cannot be read: it is tried again')
      this.#ctx.timers.after(retry_ms, () => this.#begin())
    }
  }

  /** Never rejects: what could not be stored waits for the next time. */
  async store(): Promise<void> {
    // When the whole service stops, the database may be gone first.
    const database = this.#ctx.services.find(fleetDatabase)
    if (!this.#isReady || !database?.connected) return
    const { signatures, delivery } = this.#parts
    const signers = signatures.changes()
    try {
      await delivery.store()
      if (signers.length === 0) return
      await database.query(
        `insert into fleet_caster_signer as old (serial, sequence) select * from unnest($1::text[], $2::bigint[])
         on conflict (serial) do update set sequence = greatest(old.sequence, excluded.sequence)`,
        [signers.map(({ serial }) => serial), signers.map(({ sequence }) => sequence)],
      )
    } catch (error) {
      signatures.changedAgain(signers)
      this.#ctx.log.debug({ err: error }, 'the record of delivery is not stored: it is tried again in a minute')
    }
  }

  async #forget(): Promise<void> {
    const database = this.#ctx.services.use(fleetDatabase)
    if (!database.leads || !this.#isReady) return
    const { delivery, connections, rovers, days, utc_ms } = this.#parts
    try {
      await delivery.forget(dayOf(utc_ms() - days * 86_400_000))
      await connections.forget()
      await rovers.forget()
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'old rows are deleted in an hour')
    }
  }
}

const count = (description: string) => Type.Integer({ minimum: 0, description })
const DeliveryRow = Type.Object({
  serial: Type.String(),
  expected: count('Epochs by the time in the RTCM and the interval of the station, while a rover is connected'),
  published: count('Valid epochs that came from the broker while a rover was connected'),
  refused: count('Publications that were not relayed, e.g. without signature'),
  relayed: count('Epochs that were written to at least one rover'),
  acknowledged: count('Epochs that at least one rover acknowledged, by TCP'),
  lost: Type.Object({
    before: count('Lost between the station and this fleet'),
    here: count('Not relayed: the base was not fit, or a rover did not take them'),
    after: count('Lost between the fleet and the rovers, or not acknowledged yet'),
  }),
})

export function deliveryRoute(ctx: PluginContext, delivery: Delivery, utc_ms: () => number): void {
  ctx.http.route({
    method: 'GET',
    url: '/fleet/delivery',
    config: { role: 'viewer' },
    schema: {
      summary: 'Epochs delivered on a day, by base or of one base, of all instances together',
      querystring: Type.Object(
        {
          day: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'UTC; default: today' })),
          serial: Type.Optional(
            Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Only this base; default: all' }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ day: Type.String(), bases: Type.Array(DeliveryRow) }) },
    },
    handler: async (request) => {
      const { day = dayOf(utc_ms()), serial } = request.query as { day?: string; serial?: string }
      if (Number.isNaN(Date.parse(day))) throw new RtkError('RTK_ERR_COMMAND_VALUE', `${day} is not a day`)
      const rows = await delivery.read(day, serial)
      const bases = rows.map((row) => ({
        ...row,
        lost: {
          before: Math.max(0, row.expected - row.published),
          here: Math.max(0, row.published - row.relayed),
          after: Math.max(0, row.relayed - row.acknowledged),
        },
      }))
      return { day, bases }
    },
  })
}
