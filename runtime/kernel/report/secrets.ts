/** Values that no report may contain: everything protected, every secret setting, every field named like a password. */
import { isSecretName } from '../../platform/log/redact.js'

/** Shorter ones would be found in the middle of words; where they stand as values they are left out by their names. */
const shortest = 4
export const hidden = '…'

/**
 * Protected values that stand everywhere and tell nothing, such as `none`, `admin` and `0.2.0`: with them the report would lose its
 * versions and states. A value that goes by the name of a secret is hidden whatever it is.
 */
const isCommon = (text: string) => /^[a-z-]{1,7}$/.test(text) || /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(text)

/** Collects secrets by value, so that they are found in any text. */
export class Secrets {
  readonly #values = new Set<string>()

  /** Every text of protected entries, but common words that do not go by the name of a secret. */
  addProtected(entries: Record<string, unknown>): void {
    this.addNamed(entries)
    for (const text of textsIn(entries, () => true)) if (!isCommon(text)) this.#add(text)
  }

  /** The texts in it that go by the name of a secret, and the passwords of its addresses. */
  addNamed(value: unknown): void {
    for (const text of textsIn(value, isSecretName)) this.#add(text)
    for (const text of textsIn(value, () => true)) this.#add(/:\/\/[^:@/]*:(.+)@/.exec(text)?.[1] ?? '')
  }

  /** A secret setting: of named fields only the secret ones, else all of it, plus the password of a `user:`. */
  addSetting(value: unknown): void {
    this.addNamed(value)
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one !== 'string') continue
      this.#add(one)
      this.#add(one.slice(one.indexOf(':') + 1))
    }
  }

  /** The text without any secret, also in its JSON and URL forms. */
  hide(text: string): string {
    let clean = text
    // The longest first: one may be a part of another.
    for (const value of [...this.#values].sort((a, b) => b.length - a.length)) {
      for (const form of new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]))
        if (clean.includes(form)) clean = clean.replaceAll(form, hidden)
    }
    return clean
  }

  #add(value: string): void {
    if (value.length >= shortest) this.#values.add(value)
  }
}

/** @param wanted whether what goes by this name counts, with everything below it */
function* textsIn(value: unknown, wanted: (name: string) => boolean, name = '', taken = false): Generator<string> {
  const counts = taken || wanted(name)
  if (typeof value === 'string') {
    if (counts) yield value
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      yield* textsIn(inner, wanted, Array.isArray(value) ? name : key, counts)
  }
}
