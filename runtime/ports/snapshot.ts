/**
 * One generation of the store as a file: a line of format, a line with the number of the generation, a line with the
 * SHA-256 of everything else, and the state as JSON, one entry a line. Generation n lies in the file of slot n mod 2, so
 * that each one replaces the one before the last.
 */
import { createHash } from 'node:crypto'

/** Namespace → key → JSON text. */
export type Contents = Map<string, Map<string, string>>

/** What happened to the settings, for `base.state.errors`. */
export interface StoreTrouble {
  code: string
  text: string
}

export interface Snapshot {
  readonly number: number
  readonly contents: Contents
  /** Reports that stay until a setting is changed, so that a restart does not end them. */
  readonly reports: readonly StoreTrouble[]
  /** The other generation holds a secret that this one replaced: it is overwritten next. */
  readonly settle: boolean
}

export type Slot = 0 | 1
export const slotOf = (number: number) => (number % 2) as Slot
export const slotFile = (slot: Slot) => `snapshot-${slot}`

const format = 'rtk-base store 1'
const heading = /^rtk-base store 1\nnumber ([1-9]\d{0,14})\nsha256 ([0-9a-f]{64})\n/
/** Longer than any heading. */
const headingLimit_bytes = 128

function digestOf(number: number | string, body: string | Uint8Array): string {
  return createHash('sha256').update(`${format}\nnumber ${number}\n`).update(body).digest('hex')
}

export const entryLine = (namespace: string, key: string, json: string): string =>
  `[${JSON.stringify(namespace)},${JSON.stringify(key)},${json}]`

export function encodeSnapshot({ number, contents, reports, settle }: Snapshot): string {
  const lines: string[] = []
  for (const [namespace, entries] of contents)
    for (const [key, json] of entries) lines.push(entryLine(namespace, key, json))
  const body = `{"settle":${settle},"reports":${JSON.stringify(reports)},"entries":[\n${lines.join(',\n')}\n]}\n`
  return `${format}\nnumber ${number}\nsha256 ${digestOf(number, body)}\n${body}`
}

interface Body {
  settle: boolean
  reports: StoreTrouble[]
  entries: [namespace: string, key: string, value: unknown][]
}

/** Undefined unless every single bit is as it was written. */
export function decodeSnapshot(bytes: Uint8Array): Snapshot | undefined {
  const [head, number = '', sha256] = heading.exec(Buffer.from(bytes.subarray(0, headingLimit_bytes)).toString()) ?? [
    '',
  ]
  const body = bytes.subarray(head.length)
  if (head === '' || digestOf(number, body) !== sha256) return undefined
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

/** What a slot holds: the bytes of a file, nothing, or something that cannot be read. */
export type SlotContent = Uint8Array | 'absent' | 'unreadable'

export interface Recovery {
  /** The state to start with; number 0 when there is none. */
  readonly snapshot: Snapshot
  /** What may be lost; undefined when this certainly is the newest state. */
  readonly loss: 'newest' | 'everything' | undefined
  /** For people: the file that is not as it should be, and what is wrong with it. */
  readonly finding: string
}

/**
 * Chooses the newest valid generation. Two whole generations have successive numbers, and from the second one on there
 * are always two (the first two are empty). So whatever is missing here once was there, and may have been the newest.
 */
export function recover(slots: readonly [SlotContent, SlotContent]): Recovery {
  const read = slots.map((content, slot) => {
    if (typeof content === 'string') return content === 'absent' ? 'is missing' : 'cannot be read'
    const snapshot = decodeSnapshot(content)
    if (!snapshot) return 'is damaged'
    return slotOf(snapshot.number) === slot ? snapshot : 'is a copy of the other one'
  })
  const valid = read.filter((one): one is Snapshot => typeof one !== 'string')
  const [newest, older] = valid.sort((one, other) => other.number - one.number)
  const findings = read.flatMap((one, slot) => (typeof one === 'string' ? [`${slotFile(slot as Slot)} ${one}`] : []))
  const finding = findings.join(', ')
  if (!newest) {
    const snapshot: Snapshot = { number: 0, contents: new Map(), reports: [], settle: false }
    const fresh = slots.every((content) => content === 'absent')
    return { snapshot, loss: fresh ? undefined : 'everything', finding }
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
