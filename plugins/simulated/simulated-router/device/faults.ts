/** Injected faults. A pattern is a part of `object.method` or of `METHOD /path`; `''` matches every call. */

export const damages = {
  json: 'the JSON text ends too early',
  html: 'an HTML page instead',
  empty: 'nothing at all',
  cut: 'the connection ends in the middle of the answer',
  reset: 'the connection ends before an answer',
  huge: 'eight megabytes of it',
  deep: 'arrays in arrays, 20,000 deep',
  binary: 'random bytes, no UTF-8',
  wrong: 'values of other types: text for objects, objects for text, null',
  strings: 'numbers and bools as text',
  id: 'the answer of another request (wrong id)',
} as const
export type Damage = keyof typeof damages

interface Limited {
  /** Answers that are still to be spoiled. */
  left: number
  pattern: string
}
const fits = (pattern: string, call: string) => call.toLowerCase().includes(pattern.toLowerCase())

export type Failure = { status: number } | { errno: number; error: string }

export class Faults {
  #damage: (Limited & { damage: Damage }) | undefined
  #http: (Limited & { status: number }) | undefined
  #slow: { delay_ms: number; pattern: string } | undefined
  readonly #failures = new Map<string, Failure>()
  readonly #missing = new Set<string>()
  readonly #denied = new Set<string>()
  /** The REST login demands a new password first. */
  firstLogin = false

  damage(damage: Damage | undefined, left: number, pattern: string): void {
    this.#damage = damage && { damage, left, pattern }
  }
  http(status: number | undefined, left: number, pattern: string): void {
    this.#http = status === undefined ? undefined : { status, left, pattern }
  }
  slow(delay_ms: number, pattern: string): void {
    this.#slow = delay_ms > 0 ? { delay_ms, pattern } : undefined
  }
  /** A call that the router accepts and then fails. */
  fail(call: string, failure: Failure | undefined): void {
    if (failure === undefined) this.#failures.delete(call)
    else this.#failures.set(call, failure)
  }
  /** An object that is not there (-32000), or that is back. */
  missing(object: string, on: boolean): void {
    if (on) this.#missing.add(object)
    else this.#missing.delete(object)
  }
  /** An object or `object.method` that the login has no right to (-32002). */
  deny(name: string, on: boolean): void {
    if (on) this.#denied.add(name)
    else this.#denied.delete(name)
  }
  clear(): void {
    this.#damage = undefined
    this.#http = undefined
    this.#slow = undefined
    this.#failures.clear()
    this.#missing.clear()
    this.#denied.clear()
    this.firstLogin = false
  }

  takeDamage(call: string): Damage | undefined {
    return this.#take(this.#damage, call)?.damage
  }
  takeHttp(call: string): number | undefined {
    return this.#take(this.#http, call)?.status
  }
  delay_ms(call: string): number {
    return this.#slow !== undefined && fits(this.#slow.pattern, call) ? this.#slow.delay_ms : 0
  }
  failure(call: string): Failure | undefined {
    return this.#failures.get(call)
  }
  isMissing(object: string): boolean {
    return this.#missing.has(object)
  }
  isDenied(object: string, method: string): boolean {
    return this.#denied.has(object) || this.#denied.has(`${object}.${method}`)
  }

  describe(): string[] {
    const of = (pattern: string) => (pattern === '' ? '' : ` of ${pattern}`)
    const times = (left: number) => (Number.isFinite(left) ? ` ×${left}` : '')
    return [
      this.#damage && this.#damage.left > 0
        ? `garbage ${this.#damage.damage}${times(this.#damage.left)}${of(this.#damage.pattern)}`
        : '',
      this.#http && this.#http.left > 0
        ? `http ${this.#http.status}${times(this.#http.left)}${of(this.#http.pattern)}`
        : '',
      this.#slow ? `slow ${this.#slow.delay_ms / 1000} s${of(this.#slow.pattern)}` : '',
      ...[...this.#failures.keys()].map((call) => `fail ${call}`),
      ...[...this.#missing].map((object) => `missing ${object}`),
      ...[...this.#denied].map((name) => `deny ${name}`),
      this.firstLogin ? 'first-login' : '',
    ].filter((text) => text !== '')
  }

  #take<T extends Limited>(fault: T | undefined, call: string): T | undefined {
    if (fault === undefined || fault.left <= 0 || !fits(fault.pattern, call)) return undefined
    fault.left--
    return fault
  }
}
