import type { Logger } from 'pino'
import { everything, type MaskAssignment, selectionOf } from '../../schemas/mask.js'
import type { SyncHookPoint } from '../kernel/hook-point.js'
import type { BlockRecord, InfoPart } from '../kernel/instance/registrations.js'
import type { Tables } from '../kernel/tables.js'
import type { InfoSelection } from '../plugin.js'
import type { Clock } from '../ports/clock.js'

const textLife_ms = 100
const keptTexts = 16
/** A fault that occurs in every build is logged once in this time. */
const sameFault_ms = 60_000

type Json = Record<string, unknown>

export interface InfoDeps {
  clock: Clock
  log: Logger
  tables(): Tables
  onInfoBuild: SyncHookPoint<[Json, InfoSelection]>
  assignment: MaskAssignment
  /** Top-level names in the order in which the document shows them; others follow. */
  order: readonly string[]
}

/**
 * What a block gave, as JSON through and through: one that cannot be serialised costs itself, not the document, and
 * whoever edits the document does not reach into its owner's objects.
 */
function plain(value: unknown): unknown {
  if (value instanceof Promise) {
    value.catch(() => {})
    throw new Error('it is asynchronous; a block is built at once')
  }
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/** Own fields only: every object inherits a `constructor`. */
const fieldOf = (object: Json, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The information document: one builder for every surface. A part that throws, or is no JSON, is missing from the answer
 * and reported as its owner's fault; the rest is always built.
 */
export class InfoRegistry {
  readonly #deps: InfoDeps
  readonly #texts = new Map<number, { text: string; until_ms: number }>()
  readonly #conflicts = new WeakSet<BlockRecord>()
  #toldAt_ms = Number.NEGATIVE_INFINITY

  constructor(deps: InfoDeps) {
    this.#deps = deps
  }

  /** Drops the reused texts: something changed that a reader must see at once. */
  invalidate(): void {
    this.#texts.clear()
  }

  document(mask = everything): Json {
    const selection = selectionOf(mask, this.#deps.assignment)
    const document = this.#build(selection)
    this.#deps.onInfoBuild.call(document, selection)
    return document
  }

  #build(selection: InfoSelection): Json {
    const document: Json = {}
    for (const name of this.#deps.order) document[name] = undefined
    for (const block of this.#deps.tables().blocks) {
      if (!block.owner.live) continue
      for (const part of block.parts) {
        if (!selection[part.class] || !(part.detail ? selection.all : selection.basic)) continue
        this.#add(document, block, part)
      }
    }
    for (const name of this.#deps.order) if (document[name] === undefined) delete document[name]
    return document
  }

  /** The document as text, reused for up to 100 ms unless something changed. */
  text(mask = everything): string {
    const now_ms = this.#deps.clock.monotonic()
    const kept = this.#texts.get(mask)
    if (kept && now_ms < kept.until_ms) return kept.text
    const text = this.#serialise(mask)
    if (this.#texts.size >= keptTexts) this.#texts.clear()
    this.#texts.set(mask, { text, until_ms: now_ms + textLife_ms })
    return text
  }

  #serialise(mask: number): string {
    try {
      return JSON.stringify(this.document(mask))
    } catch (error) {
      // Blocks are plain JSON, so a tap did it. Which one is not known any more.
      const now_ms = this.#deps.clock.monotonic()
      if (now_ms - this.#toldAt_ms >= sameFault_ms) {
        this.#toldAt_ms = now_ms
        this.#deps.log.error(
          { err: error },
          'a tap on onInfoBuild left what is no JSON: the document goes without taps',
        )
      }
      return JSON.stringify(this.#build(selectionOf(mask, this.#deps.assignment)))
    }
  }

  #add(document: Json, block: BlockRecord, part: InfoPart): void {
    try {
      let value = block.cache.get(part)
      if (value === undefined) {
        value = plain(block.owner.run(part.build))
        if (part.class === 'static') block.cache.set(part, value)
      }
      // What is kept is changed neither by those who nest under it nor by those who edit the document.
      if (part.class === 'static') value = structuredClone(value)
      if (value === undefined) return
      this.#mergeAt(document, block, value)
    } catch (error) {
      block.owner.failed(error, `block ${block.path}`)
    }
  }

  #mergeAt(document: Json, block: BlockRecord, value: unknown): void {
    const path = block.path.split('.')
    const last = path.pop() as string
    let parent = document
    for (const name of path) {
      const next = fieldOf(parent, name) ?? {}
      if (!isObject(next)) {
        this.#conflict(name, block)
        return
      }
      parent[name] = next
      parent = next
    }
    this.#merge(parent, last, value, block)
  }

  /** Objects are merged field by field; a field that is there already stays and its second owner is named, once. */
  #merge(parent: Json, name: string, value: unknown, block: BlockRecord): void {
    // Inherited by every object, and no field of the document.
    if (name === '__proto__') return
    const there = fieldOf(parent, name)
    if (there === undefined) {
      parent[name] = isObject(value) ? {} : value
      if (!isObject(value)) return
    } else if (!isObject(there) || !isObject(value)) {
      this.#conflict(name, block)
      return
    }
    const target = parent[name] as Json
    for (const [field, fieldValue] of Object.entries(value as Json)) {
      if (fieldValue !== undefined) this.#merge(target, field, fieldValue, block)
    }
  }

  #conflict(name: string, block: BlockRecord): void {
    if (this.#conflicts.has(block)) return
    this.#conflicts.add(block)
    block.owner.failed(new Error(`field ${name} has another owner already`), `block ${block.path}`)
  }
}
