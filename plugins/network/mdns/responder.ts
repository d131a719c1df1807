/**
 * Announces on one interface (RFC 6762). The states:
 *
 * | state       | event                                            | next        | also                                               |
 * |-------------|--------------------------------------------------|-------------|----------------------------------------------------|
 * | `probing`   | 3 questions, 250 ms apart, and nobody objects    | `announced` | announced twice, 1 s apart                         |
 * | `probing`   | somebody has one of the names                    | `probing`   | `conflict`: other names                            |
 * | `probing`   | somebody else probes for one, with greater data  | `probing`   | again from the beginning after 1 s                 |
 * | `announced` | a question for one of the names                  | `announced` | an answer, after 20–120 ms where others answer too |
 * | `announced` | another host announces other data for a name     | `probing`   | the first host keeps it                            |
 * | any         | `close`                                          | `closed`    | goodbye: lifetime 0                                |
 */
import { type Answer, AUTHORITATIVE_ANSWER, type DecodedPacket, decode, encode, type Question } from 'dns-packet'
import type { Dispose, RemoteInfo } from 'rtk-base/plugin'
import type { MdnsLink } from './link.js'
import { type Announcement, dataOf, isSame, type OwnRecord, sharedRecords, uniqueRecords } from './records.js'

const probes = 3
const probe_ms = 250
const announcement_ms = 1_000
const deferred_ms = 1_000
/** A record is not sent to everybody more often than this. */
const again_ms = 1_000
/** For a prober of its name, which must get the answer before its third probe (RFC 6762, section 6). */
const againToProbe_ms = 200
const shortest_ms = 20
const spread_ms = 100
/** The lifetime in an answer to a plain DNS client, which knows nothing of mDNS. */
const plainTtl_s = 10
/** Longer packets are none of mDNS (RFC 6762, section 17). */
export const most_bytes = 9_000
/** Per second; more is a flood and is not read. */
export const mostPackets = 200
/** Time that packets may take, per second: names that point to names that point to names are dear to read. */
const mostWork_ms = 50
/** The records of all kinds in a packet at most; a name of a few bytes may stand for a long one each time. */
const mostRecords = 256
const mostQuestions = 64

export interface ResponderEdges {
  /** The port of the group; another port means a plain DNS client. */
  readonly port: number
  monotonic(): number
  /** A clock that runs during code: the cost of a packet. */
  spent(): number
  after(ms: number, fn: () => void): Dispose
  random(): number
  /** A name is used by another device. */
  conflict(): void
  /** Whether it is a record of this station, on any interface. */
  isOwn(record: Answer): boolean
}

export class Responder {
  readonly #link: MdnsLink
  readonly #edges: ResponderEdges
  #state: 'probing' | 'announced' | 'closed' = 'probing'
  #announcement: Announcement
  #timer: Dispose = () => {}
  readonly #delayed = new Set<Dispose>()
  readonly #sentAt_ms = new Map<string, number>()
  #second = { from_ms: 0, packets: 0, work_ms: 0 }
  #malformed = 0

  constructor(link: MdnsLink, announcement: Announcement, edges: ResponderEdges) {
    this.#link = link
    this.#announcement = announcement
    this.#edges = edges
  }

  get state(): 'probing' | 'announced' | 'closed' {
    return this.#state
  }
  /** Packets that could not be read. */
  get malformed(): number {
    return this.#malformed
  }
  get records(): OwnRecord[] {
    return [...sharedRecords(this.#announcement), ...uniqueRecords(this.#announcement)]
  }

  start(): void {
    this.#later(this.#edges.random() * probe_ms, () => this.#probe(1))
  }

  /** Other names, addresses or texts: outdated records get a goodbye, the rest is probed again. */
  update(announcement: Announcement): void {
    const before = this.#state === 'announced' ? this.records : []
    this.#announcement = announcement
    const now = this.records
    this.#goodbye(before.filter((record) => !now.some((other) => isSame(record, other))))
    this.#state = 'probing'
    this.start()
  }

  async close(): Promise<void> {
    if (this.#state === 'announced') this.#goodbye(this.records)
    this.#state = 'closed'
    void this.#timer()
    for (const cancel of this.#delayed) void cancel()
    await this.#link.close()
  }

  received(bytes: Buffer, from: Pick<RemoteInfo, 'address' | 'port'>): void {
    if (this.#state === 'closed' || bytes.length > most_bytes || this.#isFlood()) return
    const began_ms = this.#edges.spent()
    try {
      this.#read(bytes, from)
    } finally {
      this.#second.work_ms += this.#edges.spent() - began_ms
    }
  }

  #read(bytes: Buffer, from: Pick<RemoteInfo, 'address' | 'port'>): void {
    if (recordsIn(bytes) > mostRecords) {
      this.#malformed += 1
      return
    }
    let packet: DecodedPacket
    try {
      packet = decode(bytes)
    } catch {
      this.#malformed += 1
      return
    }
    const isPlain = from.port !== this.#edges.port
    if (packet.type === 'response') {
      if (!isPlain) this.#heard([...(packet.answers ?? []), ...(packet.additionals ?? [])])
    } else if (this.#state === 'probing') this.#contest(packet.authorities ?? [])
    else this.#answer(packet, isPlain ? from : undefined)
  }

  #probe(count: number): void {
    const records = uniqueRecords(this.#announcement)
    const names = [...new Set(records.map(({ name }) => name))]
    const questions = names.map((name): Question => ({ name, type: 'ANY' as Question['type'] }))
    this.#send({ type: 'query', questions, authorities: records.map((record) => ({ ...record, flush: false })) })
    this.#later(probe_ms, () => (count < probes ? this.#probe(count + 1) : this.#announce(2)))
  }

  #announce(times: number): void {
    this.#state = 'announced'
    this.#multicast(this.records)
    if (times > 1) this.#later(announcement_ms, () => this.#announce(times - 1))
  }

  #goodbye(records: readonly OwnRecord[]): void {
    if (records.length > 0) this.#send({ type: 'response', answers: records.map((record) => ({ ...record, ttl: 0 })) })
  }

  /** Answers of others: conflicting data for a unique name. */
  #heard(answers: readonly Answer[]): void {
    const own = uniqueRecords(this.#announcement)
    const isForeign = (answer: Answer) =>
      (answer as Partial<OwnRecord>).ttl !== 0 &&
      own.some((record) => isRival(record, answer)) &&
      !own.some((record) => isSame(record, answer)) &&
      !this.#edges.isOwn(answer)
    if (!answers.some(isForeign)) return
    if (this.#state === 'probing') {
      this.#edges.conflict()
      return
    }
    // The other one defends its name while this one asks for it again, or is the newcomer and takes another.
    this.#state = 'probing'
    this.start()
  }

  /** Two stations that start at the same time: the one with the lesser data waits, and finds the other's answer. */
  #contest(theirs: readonly Answer[]): void {
    const own = uniqueRecords(this.#announcement)
    const rivals = theirs.filter((one) => own.some((record) => isRival(record, one)) && !this.#edges.isOwn(one))
    if (rivals.length === 0) return
    const greatest = (records: readonly Answer[]) =>
      records
        .filter((one) => rivals.some((rival) => isRival(rival, one)))
        .map((one) => `${one.type} ${dataOf(one)}`)
        .toSorted()
        .join()
    if (greatest(own) < greatest(rivals)) this.#later(deferred_ms, () => this.#probe(1))
  }

  #answer(
    { id, questions = [], answers: known = [], authorities = [] }: DecodedPacket,
    plain?: { address: string; port: number },
  ): void {
    const all = this.records
    const asked = all.filter((record) => questions.slice(0, mostQuestions).some((one) => isAsked(record, one)))
    const wanted = asked.filter(
      (record) => !known.some((one) => isSame(one, record) && ((one as Partial<OwnRecord>).ttl ?? 0) >= record.ttl / 2),
    )
    if (wanted.length === 0) return
    // A client that found the instance asks for these next.
    const unique = uniqueRecords(this.#announcement)
    const additionals = wanted.some(({ type }) => type === 'PTR' || type === 'SRV')
      ? unique.filter((record) => !wanted.includes(record))
      : []
    if (plain) {
      const short = (record: OwnRecord) => ({ ...record, ttl: plainTtl_s, flush: false })
      const packet = { answers: wanted.map(short), additionals: additionals.map(short) }
      this.#send({ type: 'response', id, questions: questions.slice(0, mostQuestions), ...packet }, plain)
      return
    }
    const isProbe = authorities.length > 0
    const isShared = wanted.some(({ type }) => type === 'PTR')
    const delay_ms = isShared ? shortest_ms + this.#edges.random() * spread_ms : 0
    const cancel = this.#edges.after(delay_ms, () => {
      this.#delayed.delete(cancel)
      if (this.#state === 'announced') this.#multicast(wanted, additionals, isProbe ? againToProbe_ms : again_ms)
    })
    this.#delayed.add(cancel)
  }

  /** Leaves out what everybody was sent just now. */
  #multicast(records: readonly OwnRecord[], additionals: readonly OwnRecord[] = [], least_ms = again_ms): void {
    const now_ms = this.#edges.monotonic()
    const key = (record: OwnRecord) => `${record.type} ${record.name} ${dataOf(record)}`
    const answers = records.filter((record) => now_ms - (this.#sentAt_ms.get(key(record)) ?? -again_ms) >= least_ms)
    if (answers.length === 0) return
    for (const [sent, at_ms] of this.#sentAt_ms) if (now_ms - at_ms >= again_ms) this.#sentAt_ms.delete(sent)
    for (const record of answers) this.#sentAt_ms.set(key(record), now_ms)
    this.#send({ type: 'response', answers, additionals: [...additionals] })
  }

  #send(packet: Parameters<typeof encode>[0], to?: { address: string; port: number }): void {
    const flags = packet.type === 'response' ? AUTHORITATIVE_ANSWER : 0
    this.#link.send(encode({ id: 0, flags, ...packet }), to)
  }

  #later(ms: number, fn: () => void): void {
    void this.#timer()
    this.#timer = this.#edges.after(ms, () => this.#state !== 'closed' && fn())
  }

  #isFlood(): boolean {
    const now_ms = this.#edges.monotonic()
    if (now_ms - this.#second.from_ms >= 1_000) this.#second = { from_ms: now_ms, packets: 0, work_ms: 0 }
    this.#second.packets += 1
    return this.#second.packets > mostPackets || this.#second.work_ms > mostWork_ms
  }
}

const header_bytes = 12

/** Record counts of the header: questions, answers, authorities, additionals. */
const recordsIn = (bytes: Buffer) =>
  bytes.length < header_bytes ? 0 : [4, 6, 8, 10].reduce((sum, at) => sum + bytes.readUInt16BE(at), 0)

const isRival = (a: Answer, b: Answer) => a.type === b.type && a.name.toLowerCase() === b.name.toLowerCase()

/** `IN`, with or without the wish for an answer to the asker alone, which dns-packet shows as an unknown class. */
const classes = ['IN', 'ANY', 'UNKNOWN_32769', 'UNKNOWN_33023']

function isAsked(record: OwnRecord, { name, type, class: klass = 'IN' }: Question): boolean {
  const isType = type === record.type || (type as string) === 'ANY'
  return isType && classes.includes(String(klass)) && name.toLowerCase() === record.name.toLowerCase()
}
