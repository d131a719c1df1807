/** Questions to the receiver in UBX, and their answers. */
import type { Dialog, Matcher } from 'rtk-base/link'
import * as ubx from '../ubx/index.js'

/** A UBX message of the receiver. */
export interface UbxMessage {
  cls: number
  id: number
  payload: Uint8Array
}

/** The answer to a question for values: `refused` when one of the keys is unknown, or the layer is empty. */
export type Values = Map<number, ubx.ConfigValue> | 'refused' | undefined

/** How long an answer may take. */
export const answer_ms = 1000
/** Configuration is read and written up to this often before it counts as not answered: an ACK may be lost. */
const configTries = 3

export class UbxDialog {
  readonly #dialog: Dialog<UbxMessage>

  constructor(dialog: Dialog<UbxMessage>) {
    this.#dialog = dialog
  }

  /** The payload of a polled message. */
  poll(layout: { cls: number; id: number }, tries = 1): Promise<Uint8Array | undefined> {
    const match: Matcher<UbxMessage, Uint8Array> = ({ cls, id, payload }) =>
      cls === layout.cls && id === layout.id && payload.length > 0 ? payload : undefined
    return this.#dialog.ask(ubx.ubxFrame(layout.cls, layout.id), match, tries)
  }

  /** The values of keys in a layer. Asks for further pages where one answer is not enough, and in parts where one question is not. */
  async values(keys: readonly number[], layer: ubx.LayerName): Promise<Values> {
    const values = new Map<number, ubx.ConfigValue>()
    for (let at = 0; at < keys.length; at += ubx.maxPairs) {
      const part = await this.#pages(keys.slice(at, at + ubx.maxPairs), layer)
      if (part === undefined || part === 'refused') return part
      for (const [key, value] of part) values.set(key, value)
    }
    return values
  }

  async #pages(keys: readonly number[], layer: ubx.LayerName): Promise<Values> {
    const values = new Map<number, ubx.ConfigValue>()
    for (let position = 0; ; position += ubx.maxPairs) {
      const answer = answerTo(keys, position)
      const page = await this.#dialog.ask(ubx.valgetPoll(keys, layer, position), answer, configTries)
      if (page === undefined) return undefined
      // Beyond the last page it refuses.
      if (page === 'refused') return position === 0 ? 'refused' : values
      for (const [key, value] of page) values.set(key, value)
      if (page.size < ubx.maxPairs) return values
    }
  }

  /**
   * Writes keys as one change; more than 64 go as a transaction. True when acknowledged, false when refused (nothing is
   * applied then), undefined when not answered.
   */
  async set(pairs: readonly ubx.ConfigPair[], layers: number): Promise<boolean | undefined> {
    if (pairs.length <= ubx.maxPairs) return this.#command(ubx.valset(pairs, layers), ubx.CFG.valset, configTries)
    let done: boolean | undefined
    // A lost ACK in the middle leaves open whether that part counts, so the whole is written again.
    for (let left = configTries; left > 0 && done === undefined; left--) {
      for (const [i, part] of parts(pairs).entries()) {
        const last = (i + 1) * ubx.maxPairs >= pairs.length
        done = await this.#command(ubx.valset(part, layers, i === 0 ? 1 : last ? 3 : 2), ubx.CFG.valset, 1)
        if (done !== true) break
      }
    }
    return done
  }

  delete(keys: readonly number[], layers: number): Promise<boolean | undefined> {
    return this.#command(ubx.valdel(keys, layers), ubx.CFG.valdel, configTries)
  }

  #command(request: Uint8Array, msgId: number, tries: number): Promise<boolean | undefined> {
    return this.#dialog.ask(request, (message) => acknowledged(message, msgId), tries)
  }
}

const parts = (pairs: readonly ubx.ConfigPair[]): (readonly ubx.ConfigPair[])[] =>
  Array.from({ length: Math.ceil(pairs.length / ubx.maxPairs) }, (_, i) =>
    pairs.slice(i * ubx.maxPairs, (i + 1) * ubx.maxPairs),
  )

/** Matches the VALGET answer to this very question: a late one to an earlier question holds other keys. */
function answerTo(
  keys: readonly number[],
  position: number,
): Matcher<UbxMessage, Map<number, ubx.ConfigValue> | 'refused'> {
  return (message) => {
    const { cls, id, payload } = message
    if (cls !== ubx.CFG.cls || id !== ubx.CFG.valget) {
      return acknowledged(message, ubx.CFG.valget) === false ? 'refused' : undefined
    }
    const answer = ubx.decodeValget(payload)
    if (answer?.position !== position) return undefined
    const asked = [...answer.values.keys()].every((key) => keys.some((pattern) => ubx.matchesKey(pattern, key)))
    return asked ? answer.values : undefined
  }
}

/** True for ACK, false for NAK of that configuration message, undefined for anything else. */
function acknowledged({ cls, id, payload }: UbxMessage, msgId: number): boolean | undefined {
  if (cls !== ubx.ackAck.cls) return undefined
  const ack = ubx.decode(ubx.ackAck, payload)
  return ack?.clsId === ubx.CFG.cls && ack.msgId === msgId ? id === ubx.ackAck.id : undefined
}
