import type { PluginContext } from 'rtk-base/plugin'
import type { ApnSettings } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

const Settings = Type.Object({
  apn: Type.String(),
  user: Type.String(),
  pswd: Type.String(),
  auth: Type.Union([Type.Literal('none'), Type.Literal('pap'), Type.Literal('chap')]),
})

const SimRecord = Type.Object({
  /** ICCID, or IMSI where that cannot be read. */
  sim: Type.String(),
  imei: Type.String(),
  /** The router's previous settings, unless chosen for an earlier SIM. */
  before: Settings,
  /** Tried before those of the table. */
  first: Type.Optional(Settings),
  /** How many were tried in vain. */
  step: Type.Integer({ minimum: 0 }),
  /** A connection came up with them, or nothing is left to be tried. */
  settled: Type.Boolean(),
})
/** The SIM for which an APN was chosen. */
export type SimRecord = Static<typeof SimRecord>

/** State that survives a restart, in the protected store, because it may contain a password. */
export class ApnMemory {
  readonly #ctx: PluginContext
  #sim: SimRecord | undefined
  #written: ApnSettings | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async load(): Promise<void> {
    const { sim, written } = await this.#ctx.store.protected.entries()
    if (Value.Check(SimRecord, sim)) this.#sim = sim
    if (Value.Check(Settings, written)) this.#written = written
  }

  get sim(): SimRecord | undefined {
    return this.#sim
  }

  /** The last settings that were written to the router. */
  get written(): ApnSettings | undefined {
    return this.#written
  }

  async setSim(sim: SimRecord | undefined): Promise<void> {
    this.#sim = sim
    await this.#store({ sim })
  }

  async setWritten(written: ApnSettings): Promise<void> {
    this.#written = written
    await this.#store({ written })
  }

  async #store(values: Record<string, unknown>): Promise<void> {
    try {
      await this.#ctx.store.protected.batch(values)
    } catch (error) {
      this.#ctx.log.warn(
        { err: error },
        'the choice of the APN could not be stored: a restart makes it again (disk full?)',
      )
    }
  }
}
