import { isObject } from '../operations/parse.js'

const secretName = /^(password|passw|pswd|key|token)$/i
/** Shorter ones are part of every other text. */
const shortest = 3
const most = 64

/** Secrets sent to a router: some routers repeat them in error messages. */
export class Secrets {
  readonly #known = new Set<string>()

  /** A password or a session. */
  add(secret: string): void {
    if (secret.length < shortest || secret === '0'.repeat(secret.length)) return
    this.#known.add(secret)
    const [oldest] = this.#known
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest)
  }

  /** The passwords among the arguments of a call. */
  addFrom(args: unknown): void {
    if (!isObject(args)) return
    for (const [name, value] of Object.entries(args)) {
      if (typeof value === 'string' && secretName.test(name)) this.add(value)
      else this.addFrom(value)
    }
  }

  /** The text without them. */
  hide(text: unknown): unknown {
    if (typeof text !== 'string') return text
    // The longest one first: it may have another one in it.
    const longestFirst = [...this.#known].sort((a, b) => b.length - a.length)
    return longestFirst.reduce((left, secret) => left.replaceAll(secret, '…'), text)
  }
}
