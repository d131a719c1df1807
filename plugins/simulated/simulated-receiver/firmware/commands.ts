/** The answers of the simulated receiver in UBX: to configuration, polls, resets. */
import { cfg, readDelete, readGet, readReset, readSet, writeValues } from '../ubx/config.js'
import { messages } from '../ubx/messages.js'
import { write } from '../ubx/wire.js'
import type { ConfigStore } from './config-store.js'

export type ResetKind = 'restart' | 'gnss-restart' | 'gnss-stop' | 'gnss-start'

/** The parts of the receiver that commands use. */
export interface CommandTarget {
  readonly config: ConfigStore
  reply(frame: Uint8Array): void
  /** Whether this ACK or NAK gets lost. */
  loseAck(): boolean
  /** The changed RAM keys. */
  configChanged(keys: ReadonlySet<number>): void
  /** @param cold the position and the orbits are forgotten too */
  reset(kind: ResetKind, cold: boolean): void
  /** The answer to any other poll; undefined when this firmware has none. */
  poll(cls: number, id: number): Uint8Array | undefined
}

/** Carries out one message of class CFG, or a poll. Anything unknown is answered with NAK, as the real one does for CFG. */
export function runCommand(target: CommandTarget, cls: number, id: number, payload: Uint8Array): void {
  if (cls === cfg.cls) {
    configure(target, id, payload)
    return
  }
  if (payload.length > 0) return
  const answer = target.poll(cls, id)
  if (answer) target.reply(answer)
}

function configure(target: CommandTarget, id: number, payload: Uint8Array): void {
  switch (id) {
    case cfg.valset: {
      const message = readSet(payload)
      const changed = message && target.config.set(message)
      // The answer goes out before the change takes effect: a new baud rate comes after it.
      acknowledge(target, id, changed !== undefined)
      if (changed && changed.size > 0) target.configChanged(changed)
      return
    }
    case cfg.valget: {
      const question = readGet(payload)
      const pairs = question && target.config.read(question)
      if (question && pairs) target.reply(writeValues(pairs, question.layer, question.position))
      acknowledge(target, id, pairs !== undefined)
      return
    }
    case cfg.valdel: {
      const message = readDelete(payload)
      acknowledge(target, id, message !== undefined && target.config.delete(message))
      return
    }
    case cfg.rst: {
      const reset = readReset(payload)
      const kind = reset && resetKinds[reset.mode]
      // A reset is not acknowledged.
      if (reset && kind) target.reset(kind, reset.isCold)
      return
    }
    default:
      acknowledge(target, id, false)
  }
}

const resetKinds: Readonly<Record<number, ResetKind>> = {
  0: 'restart',
  1: 'restart',
  2: 'gnss-restart',
  4: 'restart',
  8: 'gnss-stop',
  9: 'gnss-start',
}

function acknowledge(target: CommandTarget, msgID: number, ok: boolean): void {
  if (target.loseAck()) return
  target.reply(write(messages[ok ? 'ACK-ACK' : 'ACK-NAK'], { clsID: cfg.cls, msgID }))
}
