/**
 * One generation of the store as a file: a line with the layout, a line with the generation number, a line with the
 * SHA-256 of the rest. Then the state as JSON, one entry a line. Generation n is in the file of slot n mod 2, so that
 * each generation replaces the one before the last. Every later layout keeps the first three lines, so that an older
 * version can tell it from damage.
 */
import { createHash } from 'node:crypto'
import { RtkError } from '../../errors.js'

/** Namespace → key → JSON text. */
export type Contents = Map<string, Map<string, string>>

/** Damage to the settings, for `base.state.errors`. */
export interface StoreTrouble {
  code: string
  text: string
  /** Remedy for a person. */
  advice?: string
}

export interface Snapshot {
  readonly number: number
  readonly contents: Contents
  /** Reports that stay until a setting is changed, so that a restart does not end them. */
  readonly reports: readonly StoreTrouble[]
  /** The other generation contains a secret that was replaced in this one: it is overwritten next. */
  readonly settle: boolean
}

export type Slot = 0 | 1
export const slotOf = (number: number) => (number % 2) as Slot
export const slotFile = (slot: Slot) => `snapshot-${slot}`

const layout = 1
const heading = /^rtk-base store ([1-9]\d{0,3})\nnumber ([1-9]\d{0,14})\nsha256 ([0-9a-f]{64})\n/
/** Longer than any heading. */
const headingLimit_bytes = 128

const top = (number: number | string, of: number | string = layout) => `rtk-base store ${of}\nnumber ${number}\n`

const digestOf = (head: string, body: string | Uint8Array): string =>
  createHash('sha256').update(head).update(body).digest('hex')

export const entryLine = (namespace: string, key: string, json: string): string =>
  `[${JSON.stringify(namespace)},${JSON.stringify(key)},${json}]`

export function encodeSnapshot({ number, contents, reports, settle }: Snapshot): string {
  const lines: string[] = []
  for (const [namespace, entries] of contents)
    for (const [key, json] of entries) lines.push(entryLine(namespace, key, json))
  const body = `{"settle":${settle},"reports":${JSON.stringify(reports)},"entries":[\n${lines.join(',\n')}\n]}\n`
  return `${top(number)}sha256 ${digestOf(top(number), body)}\n${body}`
}

interface Body {
  settle: boolean
  reports: StoreTrouble[]
  entries: [namespace: string, key: string, value: unknown][]
}

/** Undefined if any bit is damaged; `'newer'` if it is intact but written by a version with another layout. */
export function decodeSnapshot(bytes: Uint8Array): Snapshot | 'newer' | undefined {
  const found = heading.exec(Buffer.from(bytes.subarray(0, headingLimit_bytes)).toString())
  if (!found) return undefined
  const [head, writtenIn = '', number = '', sha256] = found
  const body = bytes.subarray(head.length)
  if (digestOf(top(number, writtenIn), body) !== sha256) return undefined
  if (Number(writtenIn) !== layout) return 'newer'
  try {
    const { settle, reports, entries } = JSON.parse(Buffer.from(body).toString()) as Body
    const contents: Contents = new Map()
    for (const [namespace, key, value] of entries) setText(contents, namespace, key, JSON.stringify(value))
    return { number: Number(number), contents, reports, settle }
  } catch {
    return undefined
  }
}

export function setText(contents: Contents, namespace: string, key: string, json: string | undefined): void {
  const entries = contents.get(namespace) ?? new Map<string, string>()
  if (json === undefined) entries.delete(key)
  else entries.set(key, json)
  if (entries.size > 0) contents.set(namespace, entries)
  else contents.delete(namespace)
}

export const copyOf = (contents: Contents): Contents =>
  new Map([...contents].map(([namespace, entries]) => [namespace, new Map(entries)]))

/** The content of a slot: the bytes of a file, nothing, or something unreadable. */
export type SlotContent = Uint8Array | 'absent' | 'unreadable'

export interface Recovery {
  /** The state to start with; number 0 when there is none. */
  readonly snapshot: Snapshot
  /**
   * Data that may be lost; undefined if this is certainly the newest state. `'newer'`: the state of a newer version is
   * not read.
   */
  readonly loss: 'newest' | 'everything' | 'newer' | undefined
  /** For people: the damaged file, and its defect. */
  readonly finding: string
}

const newer = 'is of a newer version'
const nothing: Snapshot = { number: 0, contents: new Map(), reports: [], settle: false }

/**
 * Chooses the newest valid generation. Two whole generations have successive numbers, and from the second one on there
 * are always two (the first two are empty). So a missing generation once existed, and may have been the newest.
 * @param before the copy from before an update: used where a newer version has left nothing that can be read
 */
export function recover(slots: readonly [SlotContent, SlotContent], before: SlotContent = 'absent'): Recovery {
  const read = slots.map((content, slot) => {
    if (typeof content === 'string') return content === 'absent' ? 'is missing' : 'cannot be read'
    const snapshot = decodeSnapshot(content)
    if (!snapshot) return 'is damaged'
    if (snapshot === 'newer') return newer
    return slotOf(snapshot.number) === slot ? snapshot : 'is a copy of the other one'
  })
  const valid = read.filter((one): one is Snapshot => typeof one !== 'string')
  const [newest, older] = valid.sort((one, other) => other.number - one.number)
  const findings = read.flatMap((one, slot) => (typeof one === 'string' ? [`${slotFile(slot as Slot)} ${one}`] : []))
  const finding = findings.join(', ')
  if (read.includes(newer)) {
    const copy = typeof before === 'string' ? undefined : decodeSnapshot(before)
    const snapshot = newest ?? (typeof copy === 'object' ? copy : nothing)
    return { snapshot, loss: 'newer', finding }
  }
  if (!newest) {
    const fresh = slots.every((content) => content === 'absent')
    return { snapshot: nothing, loss: fresh ? undefined : 'everything', finding }
  }
  if (older) {
    const successive = older.number === newest.number - 1
    const stale = `${slotFile(slotOf(older.number))} is of an earlier time`
    return { snapshot: newest, loss: successive ? undefined : 'newest', finding: successive ? '' : stale }
  }
  // The power was cut between the first generation and the second one; both are empty.
  const founding = newest.number === 1 && slots[0] === 'absent'
  return { snapshot: newest, loss: founding ? undefined : 'newest', finding }
}

/** A station keeps less than 1 MiB; a start can read far more than this. */
const largestContents_bytes = 8 << 20

function sizeOf(entries: ReadonlyMap<string, string>, namespace: string): number {
  let size = 0
  for (const [key, json] of entries) size += Buffer.byteLength(entryLine(namespace, key, json)) + 2
  return size
}

/** Why `after` is not stored: it is too large, and not smaller than `before`. */
export function tooLarge(before: Contents, after: Contents): RtkError | undefined {
  const sizes = [...after].map(([namespace, entries]) => ({ namespace, size: sizeOf(entries, namespace) }))
  const total = sizes.reduce((sum, { size }) => sum + size, 0)
  if (total <= largestContents_bytes) return undefined
  if (total < [...before].reduce((sum, [namespace, entries]) => sum + sizeOf(entries, namespace), 0)) return undefined
  const largest = sizes.reduce((most, one) => (one.size > most.size ? one : most))
  const text = `the store would have ${total} bytes, at most ${largestContents_bytes} are kept: nothing was changed`
  return new RtkError(
    'RTK_ERR_STORE_WRITE',
    `${text}; the largest namespace is ${largest.namespace} (${largest.size} bytes)`,
  )
}
