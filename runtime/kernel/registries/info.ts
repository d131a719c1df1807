import type { Logger } from 'pino'
import { everything, type MaskAssignment, selectionOf } from '../../../schemas/document.js'
import { forViewer } from '../../platform/for-viewer.js'
import { guard } from '../../platform/guard/guard.js'
import { LogLimit } from '../../platform/log/log-limit.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { InfoSelection, LoginRole } from '../../plugin.js'
import type { SyncHookPoint } from '../hook-point.js'
import type { BlockRecord, InfoPart } from '../instance/registrations.js'
import type { Tables } from '../tables.js'

const textLife_ms = 100
const keptTexts = 16
/** Limits reports about paths with ever-changing names. */
const mostGaps = 64

type Json = Record<string, unknown>

export interface InfoDeps {
  clock: Clock
  log: Logger
  tables(): Tables
  onInfoBuild: SyncHookPoint<[Json, InfoSelection]>
  assignment: MaskAssignment
  /** Top-level names in the order of the document; others follow. */
  order: readonly string[]
}

/**
 * A block's value as pure JSON: a value that cannot be serialised is left out without harming the document, and edits
 * to the document do not reach its owner's objects.
 */
function plain(value: unknown, gap: (gap: JsonGap) => void): unknown {
  if (value instanceof Promise) {
    value.catch(() => {})
    throw new Error('it is asynchronous; a block is built synchronously')
  }
  const text = JSON.stringify(value)
  for (const found of jsonGaps(value, text)) gap(found)
  return text === undefined ? undefined : JSON.parse(text)
}

/** Own fields only: every object inherits a `constructor`. */
const fieldOf = (object: Json, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The status document: one builder for every surface. A part that throws or is not JSON is missing from the answer
 * and reported as its owner's fault; the rest is always built.
 */
export class InfoRegistry {
  readonly #deps: InfoDeps
  readonly #texts = new Map<number, { text: string; blanked?: string; until_ms: number }>()
  readonly #conflicts = new WeakSet<BlockRecord>()
  /** Paths that were reported. */
  readonly #gaps = new WeakMap<BlockRecord, Set<string>>()
  readonly #logLimit: LogLimit

  constructor(deps: InfoDeps) {
    this.#deps = deps
    this.#logLimit = new LogLimit(deps.clock)
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
    for (const fallback of [false, true]) {
      for (const block of this.#deps.tables().blocks) {
        if (!block.owner.live) continue
        for (const part of block.parts) {
          if (part.fallback !== fallback || !selection[part.class]) continue
          if (part.detail ? selection.all : selection.basic) this.#add(document, block, part)
        }
      }
    }
    for (const name of this.#deps.order) if (document[name] === undefined) delete document[name]
    return document
  }

  /** The document as text, reused for up to 100 ms unless something changed. @param reader a viewer gets it as of `forViewer` */
  text(mask = everything, reader: LoginRole = 'operator'): string {
    const now_ms = this.#deps.clock.monotonic()
    let kept = this.#texts.get(mask)
    if (!kept || now_ms >= kept.until_ms) {
      kept = { text: this.#serialise(mask), until_ms: now_ms + textLife_ms }
      if (this.#texts.size >= keptTexts) this.#texts.clear()
      this.#texts.set(mask, kept)
    }
    if (reader === 'operator') return kept.text
    kept.blanked ??= JSON.stringify(forViewer(JSON.parse(kept.text)))
    return kept.blanked
  }

  #serialise(mask: number): string {
    try {
      return JSON.stringify(this.document(mask))
    } catch (error) {
      // Blocks are plain JSON, so a tap did it. Which one is not known any more.
      if (this.#logLimit.admit('tap') !== undefined) {
        this.#deps.log.error(
          { err: error },
          'a tap on onInfoBuild left something that is not JSON: the document is sent without the edits of taps',
        )
      }
      return JSON.stringify(this.#build(selectionOf(mask, this.#deps.assignment)))
    }
  }

  #add(document: Json, block: BlockRecord, part: InfoPart): void {
    guard(block.owner, `block ${block.path}`, () => {
      let value = block.cache.get(part)
      if (value === undefined) {
        value = plain(part.build(), (gap) => this.#gap(block, gap))
        if (part.class === 'static') block.cache.set(part, value)
      }
      // Neither nested blocks nor edits to the document change the stored value.
      if (part.class === 'static') value = structuredClone(value)
      if (value !== undefined) this.#mergeAt(document, block, part, value)
    })()
  }

  /** A value that is null only because JSON has nothing else for it is a slip of the plugin: reported once per path. */
  #gap(block: BlockRecord, { path, found }: JsonGap): void {
    const known = this.#gaps.get(block) ?? new Set()
    if (known.has(path) || known.size >= mostGaps) return
    this.#gaps.set(block, known.add(path))
    const plugin = block.owner.name
    const field = path ? `field ${path}` : 'the value'
    const text = `block ${block.path} of plugin ${plugin}: ${field} is ${found.slice(0, 60)}, which JSON cannot express; the document shows null`
    this.#deps.log.warn({ plugin, block: block.path, path }, text)
  }

  #mergeAt(document: Json, block: BlockRecord, part: InfoPart, value: unknown): void {
    const path = block.path.split('.')
    const last = path.pop() as string
    let parent = document
    for (const name of path) {
      const next = fieldOf(parent, name) ?? {}
      if (!isObject(next)) {
        this.#conflict(name, block, part)
        return
      }
      parent[name] = next
      parent = next
    }
    this.#merge(parent, last, value, block, part)
  }

  /** Objects are merged field by field. A field that is there already stays, and its second owner is reported once. */
  #merge(parent: Json, name: string, value: unknown, block: BlockRecord, part: InfoPart): void {
    // Inherited by every object, and no field of the document.
    if (name === '__proto__') return
    const there = fieldOf(parent, name)
    if (there === undefined) {
      parent[name] = isObject(value) ? {} : value
      if (!isObject(value)) return
    } else if (!isObject(there) || !isObject(value)) {
      this.#conflict(name, block, part)
      return
    }
    const target = parent[name] as Json
    for (const [field, fieldValue] of Object.entries(value as Json)) {
      if (fieldValue !== undefined) this.#merge(target, field, fieldValue, block, part)
    }
  }

  #conflict(name: string, block: BlockRecord, part: InfoPart): void {
    // A fallback field yields.
    if (part.fallback || this.#conflicts.has(block)) return
    this.#conflicts.add(block)
    block.owner.failed(new Error(`field ${name} has another owner already`), `block ${block.path}`)
  }
}

/** A value that JSON does not have, and that is written as null. */
interface JsonGap {
  /** Names with dots between them, `[]` for any element of a list; '' is the value itself. */
  readonly path: string
  /** E.g. `NaN`. */
  readonly found: string
}

/** A field that is undefined is left out, which is how a block leaves out a field. In a list it leaves a hole. */
const isGap = (value: unknown, inList: boolean): boolean =>
  typeof value === 'number' ? !Number.isFinite(value) : inList && /^(undefined|function|symbol)$/.test(typeof value)

/** Non-null values that `JSON.stringify` wrote as null in this text: numbers that are not finite, holes of lists. */
function jsonGaps(value: unknown, text: string | undefined): JsonGap[] {
  // Nearly every text ends here: the look at each field costs more than the text did.
  if (!text?.includes('null')) return []
  const paths = new Map<unknown, string>()
  const gaps = new Map<string, JsonGap>()
  JSON.stringify(value, function (this: unknown, key: string, field: unknown) {
    const parent = paths.get(this)
    const inList = Array.isArray(this)
    const name = inList ? '[]' : parent ? `.${key}` : key
    const path = parent === undefined ? '' : `${parent}${name}`
    if (typeof field === 'object') paths.set(field, path)
    else if (isGap(field, inList)) gaps.set(path, { path, found: String(field) })
    return field
  })
  return [...gaps.values()]
}
