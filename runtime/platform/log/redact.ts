/** Keeps secrets out of the log, at any depth of the logged objects. */

/** Names under which secrets travel: the whole name, or the last word of it (`wap-pswd`, `privateKey`). */
export const secretWords = [
  'pass',
  'passwd',
  'pwd',
  'pswd',
  'password',
  'passphrase',
  'psk',
  'puk',
  'token',
  'key',
  'secret',
  'authorization',
  'cookie',
]
const separated = new RegExp(`(^|[-_.])(${secretWords.join('|')})$`, 'i')
const camelCase = new RegExp(
  `[a-z0-9](${secretWords.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('|')})$`,
)
/** Whether a value of this name is a secret. */
export const isSecretName = (name: string) => separated.test(name) || camelCase.test(name)

/** In place of a secret. */
export const censor = '…'

/** A text with an address in it, without the login and the query of that: `https://…@host/image?…`. */
export const withoutUrlSecrets = (text: string) =>
  text.replace(/\/\/[^/@"\s]*@/g, `//${censor}@`).replace(/(:\/\/[^?"\s]*\?)[^"\s]+/g, `$1${censor}`)

/** Deeper than this nothing is logged at all. */
const deepest = 6

/** Returns the object itself if it holds no secret, else a copy without secrets. */
export function withoutSecrets<T extends object>(logged: T): T {
  return scrub(logged, 0) as T
}

function scrub(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || isOpaque(value)) return value
  if (depth > deepest) return censor
  let copy: Record<string, unknown> | unknown[] | undefined
  for (const [name, inner] of Object.entries(value)) {
    const clean = isSecretName(name) && inner !== undefined ? censor : scrub(inner, depth + 1)
    if (clean === inner) continue
    copy ??= Array.isArray(value) ? [...value] : { ...value }
    ;(copy as Record<string, unknown>)[name] = clean
  }
  return copy ?? value
}

/**
 * Errors have their own serializer, bytes and dates have no names, and requests and sockets are serialized by their
 * logger.
 */
function isOpaque(value: object): boolean {
  if (value instanceof Error || ArrayBuffer.isView(value)) return true
  return 'toJSON' in value || ('on' in value && typeof value.on === 'function')
}
