/** Conditions of other plugins for which the operator's settings hold RTCM back. */
import { isDeepStrictEqual } from 'node:util'
import type { PluginContext } from 'rtk-base/plugin'
import { neighbourCheck, reception, station } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Held } from './gate.js'

const stored = 'held'
const Answers = Type.Object({
  reception: Type.Union([Type.Literal(''), Type.Literal('antenna'), Type.Literal('spoofed')]),
  neighbours: Type.Boolean(),
})
type Answers = Static<typeof Answers>

/** Whether a plugin of the variant provides the service: it waits, starts, runs or has failed. */
export function isProvided({ services }: PluginContext, { id }: { readonly id: string }): boolean {
  return (
    services
      .find(station)
      ?.plugins()
      .some(({ provides }) => provides.includes(id)) === true
  )
}

/**
 * The newest answers of the plugins that know such a condition. An answer stands while its plugin is reloaded or has failed, also after a
 * restart in which its code cannot be loaded: so it is stored.
 */
export class HeldConditions {
  readonly #ctx: PluginContext
  #answers: Answers = { reception: '', neighbours: false }

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Reads the answers of the previous run; damaged ones hold nothing. */
  async read(): Promise<void> {
    const answers = await this.#ctx.store.get(stored).catch(() => undefined)
    if (Value.Check(Answers, answers)) this.#answers = answers
  }

  /** Asks the plugins that run, and stores what is new. */
  update(): Held {
    const { services } = this.#ctx
    const quality = services.find(reception)
    const check = services.find(neighbourCheck)
    const { reception: held, neighbours } = this.#answers
    this.#keep({
      reception: quality || !isProvided(this.#ctx, reception) ? (quality?.held ?? '') : held,
      neighbours: check || !isProvided(this.#ctx, neighbourCheck) ? check?.effect === 'holds' : neighbours,
    })
    return this.#answers.reception === '' && this.#answers.neighbours ? 'neighbours' : this.#answers.reception
  }

  #keep(answers: Answers): void {
    if (isDeepStrictEqual(answers, this.#answers)) return
    this.#answers = answers
    const isAnyHeld = answers.reception !== '' || answers.neighbours
    this.#ctx.store.set(stored, isAnyHeld ? answers : undefined).catch((error: Error) => {
      const text = 'why RTCM is held could not be stored: after a restart it is known once the plugins concerned run'
      this.#ctx.log.warn({ err: error }, text)
    })
  }
}
