import { Mutex } from 'async-mutex'
import { type Dispose, type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import { type Fleet, type FleetBroker, type FleetMessage, fleetBroker } from 'rtk-base/services'
import { isObject, parseObject, text, withoutSecrets } from './reading.js'

const answer_ms = 30_000
/** An answer that did not come in time may still come for so long. */
const owed_ms = 120_000
/** Requests that wait for an answer, of this instance. */
const mostWaiting = 2_000

/** Refusals of a station, by the status of its answer: as HTTP has it. */
const refusals: Readonly<Record<number, 'RTK_ERR_COMMAND_VALUE' | 'RTK_ERR_NOT_FOUND'>> = {
  400: 'RTK_ERR_COMMAND_VALUE',
  404: 'RTK_ERR_NOT_FOUND',
}

/** Errors of an answer that are kept. */
const mostErrors = 100

type Answer = Awaited<ReturnType<Fleet['change']>>

/** Answer of a station to a change, of this shape whatever the station sends. Undefined: the payload is no answer. */
export function answerOf(payload: Buffer): Answer | undefined {
  const { result, leftover, errors } = (withoutSecrets(parseObject(payload)) ?? {}) as Record<string, unknown>
  const said = text(result)
  if (said === undefined) return undefined
  const messages = (Array.isArray(errors) ? errors : [])
    .filter(isObject)
    .slice(0, mostErrors)
    .map(({ name, message }) => ({ name: text(name) ?? '', message: text(message) ?? '' }))
  return {
    result: said,
    leftover: isObject(leftover) ? leftover : {},
    ...(Array.isArray(errors) && { errors: messages }),
  }
}

const mostShown = 200

/** The record is kept for long, and an answer may contain passwords, as that of `get-router-qr` does. */
export const entryOfCommand = (shown: string, answer: string): string =>
  `${shown}: ${answer === '' ? 'sent' : 'answered'}`

/** The name of a command: `log` of `log=d`. */
function nameOf(text: string): string {
  if (!text.trimStart().startsWith('{')) return text.split('=', 1)[0]?.trim().slice(0, mostShown) ?? ''
  const [, name = 'an object'] = /"cmd_type"\s*:\s*"([\w-]{1,60})"/.exec(text) ?? []
  return name
}

/**
 * Changes and commands over MQTT. With MQTT 5, each names a topic for its answer. Without, a station answers changes on `change/resp`, in
 * order, so one change of a station waits for the one before; commands are not answered then.
 */
export class Requests {
  readonly #ctx: PluginContext
  /** Tells the answers for this instance apart from those for others. */
  readonly #instance = crypto.randomUUID().slice(0, 8)
  readonly #waiting = new Map<string, (message: FleetMessage) => void>()
  /** The ends of everything that waits, for the end of this plugin. */
  readonly #ends = new Set<() => void>()
  readonly #turns = new Map<string, Mutex>()
  /** Stations whose answer to a change did not come in time, and may still come on `change/resp` → ends the wait. */
  readonly #owed = new Map<string, Dispose>()
  #nextId = 1

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  get #broker(): FleetBroker {
    return this.#ctx.services.use(fleetBroker)
  }

  start(): void {
    this.#ctx.defer(() => {
      for (const end of this.#ends) end()
    })
    const answered = (message: FleetMessage) => {
      if (message.retained) return
      // Nothing in an answer says which change it belongs to, but they come in order.
      if (message.part === 'change/resp' && this.#settle(message.serial)) return
      this.#waiting.get(`${message.serial} ${message.part}`)?.(message)
    }
    this.#ctx.defer(this.#broker.subscribe('base/+/change/resp', answered))
    this.#ctx.defer(this.#broker.subscribe(`base/+/fleet/${this.#instance}/+`, answered))
  }

  async change(serial: string, values: Readonly<Record<string, unknown>>): Promise<Answer> {
    const turn = this.#turns.get(serial) ?? new Mutex()
    this.#turns.set(serial, turn)
    try {
      return await turn.runExclusive(async () => {
        const wasOwed = this.#owed.has(serial)
        const missed = () => {
          // One came, and was taken for the late one: it may have been the only one.
          if (!wasOwed || this.#owed.has(serial)) this.#owe(serial)
        }
        const { payload } = await this.#ask(serial, 'change/post', JSON.stringify(values), ['change/resp'], missed)
        const answer = answerOf(payload)
        if (!answer) throw unavailable(`the answer of ${serial} cannot be read`)
        return answer
      })
    } finally {
      if (!turn.isLocked()) this.#turns.delete(serial)
    }
  }

  #owe(serial: string): void {
    void this.#owed.get(serial)?.()
    const end = this.#ctx.timers.after(owed_ms, () => this.#owed.delete(serial))
    this.#owed.set(serial, end)
  }

  /** @returns whether an answer was owed */
  #settle(serial: string): boolean {
    void this.#owed.get(serial)?.()
    return this.#owed.delete(serial)
  }

  /** @returns `shown`: the command as a record may keep it. The station knows which values are secret; without its word, only the name */
  async command(serial: string, text: string): Promise<{ answer: string; shown: string }> {
    const name = nameOf(text)
    if (!this.#broker.answers) {
      this.#publish(serial, 'cmd', text)
      return { answer: '', shown: name }
    }
    const { payload, userProperties } = await this.#ask(serial, 'cmd', text, [])
    const answer = payload.toString('utf8').slice(0, 4_096)
    const status = Number(userProperties.status ?? 200)
    if (status >= 400) throw new RtkError(refusals[status] ?? 'RTK_ERR_UNAVAILABLE', `${serial}: ${answer.trim()}`)
    const { command } = userProperties
    return { answer, shown: (typeof command === 'string' && command.slice(0, mostShown)) || name }
  }

  #publish(serial: string, part: string, text: string, responseTopic?: string): void {
    const sent = this.#broker.publish(`base/${serial}/${part}`, text, responseTopic ? { responseTopic } : {})
    if (sent === 'offline') throw unavailable('the fleet has no connection to its broker: it is tried again')
    if (sent === 'full') throw unavailable('too much waits for the broker: try again in a minute')
  }

  /** @param also further parts of the topic on which an answer may come @param missed no answer came in time */
  #ask(
    serial: string,
    part: string,
    text: string,
    also: readonly string[],
    missed: () => void = () => {},
  ): Promise<FleetMessage> {
    if (this.#waiting.size >= mostWaiting) throw unavailable('too many requests wait for the answers of stations')
    const own = `fleet/${this.#instance}/${this.#nextId++}`
    const keys = [own, ...also].map((topic) => `${serial} ${topic}`)
    return new Promise((resolve, reject) => {
      const finish = () => {
        for (const key of keys) this.#waiting.delete(key)
        void late()
        this.#ends.delete(gone)
      }
      const late = this.#ctx.timers.after(answer_ms, () => {
        finish()
        missed()
        reject(unavailable(`${serial} did not answer in ${answer_ms / 1000} s: whether it did it is not known`))
      })
      const gone = () => {
        finish()
        reject(unavailable('the fleet stops'))
      }
      this.#ends.add(gone)
      for (const key of keys)
        this.#waiting.set(key, (message) => {
          finish()
          resolve(message)
        })
      try {
        this.#publish(serial, part, text, `base/${serial}/${own}`)
      } catch (error) {
        finish()
        reject(error)
      }
    })
  }
}
