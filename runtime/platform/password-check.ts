/** Passwords of people and rovers: stored as scrypt hashes, and derived one at a time, because a check takes a core for a while on purpose. */
import { createHash, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { FairQueue, type QueueLimits } from './fair-share/fair-queue.js'

/** Parameters of scrypt (RFC 7914); the memory of a derivation is 128 N r bytes. */
export interface ScryptCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  cost: ScryptCost,
) => Promise<Buffer>

const hash_bytes = 32
/** Passwords that were right and are not derived again. */
const mostKnown = 512

export class PasswordCheck {
  readonly #cost: ScryptCost
  readonly #queue: FairQueue
  readonly #secret = randomBytes(32)
  /** Keyed digests of passwords that were right, by the stored hash. */
  readonly #known = new Map<string, Buffer>()

  constructor(cost: ScryptCost, limits: QueueLimits) {
    this.#cost = cost
    this.#queue = new FairQueue(limits)
  }

  /** Checks that wait or are under way. */
  get waiting(): number {
    return this.#queue.pieces
  }

  /** @returns `SALT.HASH` in base64url, for the store */
  async hash(password: string, salt = randomBytes(16)): Promise<string> {
    const hash = await derive(password, salt, hash_bytes, this.#cost)
    return `${salt.toString('base64url')}.${hash.toString('base64url')}`
  }

  /** Whether this password was right for this hash before: that costs nothing. */
  knows(password: string, stored: string): boolean {
    const known = this.#known.get(stored)
    return known !== undefined && timingSafeEqual(known, this.#keyOf(password))
  }

  /** Derives the password, in a turn. A damaged hash matches none. */
  async matches(password: string, stored: string): Promise<boolean> {
    const [salt = ''] = stored.split('.')
    // Digests have one length, whatever is stored.
    const [given, right] = [await this.hash(password, Buffer.from(salt, 'base64url')), stored].map((text) =>
      createHash('sha256').update(text).digest(),
    ) as [Buffer, Buffer]
    if (!timingSafeEqual(given, right)) return false
    this.#known.delete(stored)
    this.#known.set(stored, this.#keyOf(password))
    const [oldest] = this.#known.keys()
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest)
    return true
  }

  /** Runs `work` when nothing else is derived; the network that had the least time lately is next. @returns undefined: too many wait */
  async inTurn<T>(address: string, work: () => Promise<T>): Promise<{ result: T } | undefined> {
    let begin: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const end = this.#queue.take(address, begin)
    if (end === undefined) return undefined
    try {
      await begun
      return { result: await work() }
    } finally {
      end()
    }
  }

  #keyOf(password: string): Buffer {
    return createHmac('sha256', this.#secret).update(password).digest()
  }
}
