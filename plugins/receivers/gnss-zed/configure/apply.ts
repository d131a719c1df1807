/** Brings the receiver to a plan: reads, writes to RAM what differs, reads back. */
import { type Edges, pause } from 'rtk-base/link'
import type { UbxDialog } from '../link/ubx-dialog.js'
import * as ubx from '../ubx/index.js'
import type { Step } from './plan.js'

export interface Applied {
  /** Keys that were written. */
  written: number
  /** Names of keys that the receiver rejects. */
  refused: string[]
  /** The refused keys that every known firmware should have. */
  unexpected: string[]
  /** The differences found, as `KEY was 0, not 1`. */
  differences: string[]
}

/** A base could not be configured; the message is for people. */
export class NotConfigured extends Error {}
/** The receiver does not answer; its configuration is unknown. */
export class NoAnswer extends NotConfigured {
  constructor() {
    super('the receiver does not answer')
  }
}

type Timers = Edges['timers']

/** The receiver's values of the keys of a step; `refused` are unknown keys. */
interface Held {
  values: Map<number, ubx.ConfigValue>
  refused: number[]
}

/** @throws NotConfigured if the receiver does not answer, refuses a required key, or holds another value afterwards */
export async function apply(dialog: UbxDialog, timers: Timers, steps: readonly Step[]): Promise<Applied> {
  const applied: Applied = { written: 0, refused: [], unexpected: [], differences: [] }
  const written: [Step, ubx.ConfigPair[]][] = []
  const known = await readAll(dialog, steps)
  const queue = [...steps]
  for (let step = queue.shift(); step; step = queue.shift()) {
    const held = heldOf(step, known) ?? (await readStep(dialog, step))
    const { done, refused } = await write(dialog, step, held)
    if (refused.length > 0) {
      if (step.required) throw new NotConfigured(`the receiver refuses ${refused.map(ubx.keyName).join(', ')}`)
      note(applied, step, refused)
      if (step.fallback) queue.unshift(step.fallback)
    }
    if (done.length === 0) continue
    applied.written += done.length
    applied.differences.push(...differences(done, held.values))
    written.push([step, done])
    if (step.settle_ms !== undefined) await pause(timers, step.settle_ms)
  }
  await readBack(dialog, written, applied)
  return applied
}

function differences(pairs: readonly ubx.ConfigPair[], before: ReadonlyMap<number, ubx.ConfigValue>): string[] {
  return pairs
    .filter(([key, value]) => before.get(key) !== value)
    .map(([key, value]) => `${ubx.keyName(key)} was ${before.get(key) ?? 'unknown'}, not ${value}`)
}

function note(applied: Applied, step: Step, keys: readonly number[]): void {
  const names = keys.map(ubx.keyName)
  applied.refused.push(...names)
  if (!step.mayLack) applied.unexpected.push(...names)
}

/** The values of all steps in as few questions as possible; undefined: one of the questions was refused. */
async function readAll(dialog: UbxDialog, steps: readonly Step[]): Promise<Map<number, ubx.ConfigValue> | undefined> {
  const keys = steps.flatMap(({ pairs }) => pairs.map(([key]) => key))
  const values = await dialog.values(keys, 'ram')
  if (values === undefined) throw noAnswer()
  return values === 'refused' ? undefined : values
}

function heldOf(step: Step, known: Map<number, ubx.ConfigValue> | undefined): Held | undefined {
  return known && step.pairs.every(([key]) => known.has(key)) ? { values: known, refused: [] } : undefined
}

/** The values of a step in one question. If it is refused, each key is asked for alone, to name the refused ones. */
async function readStep(dialog: UbxDialog, { pairs }: Step): Promise<Held> {
  const values = new Map<number, ubx.ConfigValue>()
  const refused: number[] = []
  const keys = pairs.map(([key]) => key)
  const together = await dialog.values(keys, 'ram')
  if (together === undefined) throw noAnswer()
  if (together !== 'refused') return { values: together, refused }
  for (const key of keys) {
    const alone = await dialog.values([key], 'ram')
    if (alone === undefined) throw noAnswer()
    if (alone === 'refused') refused.push(key)
    else values.set(key, alone.get(key) ?? 0)
  }
  return { values, refused }
}

async function write(dialog: UbxDialog, step: Step, { values, refused }: Held) {
  const takes = step.pairs.filter(([key]) => !refused.includes(key))
  const differs = takes.filter(([key, value]) => values.get(key) !== value)
  const nothing: { done: ubx.ConfigPair[]; refused: number[] } = { done: [], refused }
  // A required step is all or nothing: a partial one makes no base.
  if (differs.length === 0 || (step.required && refused.length > 0)) return nothing
  const pairs = step.whole ? takes : differs
  const answer = await dialog.set(pairs, ubx.layerBit.ram)
  if (answer === undefined) throw noAnswer()
  if (answer) return { done: [...pairs], refused }
  if (pairs.length === 1 || step.whole) return { done: [], refused: [...refused, ...pairs.map(([key]) => key)] }
  return writeAlone(dialog, pairs, refused)
}

/** A message was rejected: writes each key alone, so that only the culprit is missing. */
async function writeAlone(dialog: UbxDialog, pairs: readonly ubx.ConfigPair[], refused: readonly number[]) {
  const result = { done: [] as ubx.ConfigPair[], refused: [...refused] }
  for (const pair of pairs) {
    const answer = await dialog.set([pair], ubx.layerBit.ram)
    if (answer === undefined) throw noAnswer()
    if (answer) result.done.push(pair)
    else result.refused.push(pair[0])
  }
  return result
}

/** An ACK only confirms that the message was understood; reading the value proves it. */
async function readBack(
  dialog: UbxDialog,
  written: readonly [Step, ubx.ConfigPair[]][],
  applied: Applied,
): Promise<void> {
  const keys = written.flatMap(([, pairs]) => pairs.map(([key]) => key))
  if (keys.length === 0) return
  const values = await dialog.values(keys, 'ram')
  if (values === undefined || values === 'refused') throw noAnswer()
  for (const [step, pairs] of written) {
    const wrong = pairs.filter(([key, value]) => values.get(key) !== value)
    if (wrong.length === 0) continue
    if (step.required) {
      const list = wrong.map(([key, value]) => `${ubx.keyName(key)} is ${values.get(key) ?? 'unknown'}, not ${value}`)
      throw new NotConfigured(`the receiver does not hold what was written: ${list.join('; ')}`)
    }
    applied.written -= wrong.length
    const names = wrong.map(([key]) => key)
    note(applied, step, names)
  }
}

const noAnswer = () => new NoAnswer()
