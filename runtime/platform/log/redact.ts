/** Keeps secrets out of the log, at any depth of the logged objects. */
import { isIPv6 } from 'node:net'

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

/**
 * A command as people may see it in a record: `ntrip-user=bob:…`. Of its argument everything behind the first colon is hidden where that
 * may be a login, and all of it where the name says so.
 */
export function shownCommand(text: string): string {
  const [, name = text, value] = /^([^={]+)=(.*)$/s.exec(text.trim()) ?? []
  if (value === undefined) {
    const parsed = parsedObject(text)
    return parsed ? withoutLogin(JSON.stringify(withoutSecrets(parsed))) : text
  }
  if (isSecretName(name)) return `${name}=${censor}`
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return withoutLogin(text)
  const login = /^(\S+=)?[^\s:=]+:(?=.)/.exec(value)?.[0]
  return login === undefined || isColonPlain(value) ? text : `${name}=${login}${censor}`
}

const withoutLogin = (text: string) => text.replace(/\/\/[^/@"]*@/g, `//${censor}@`)

/** A time of the day, an IPv6 address, and an IPv4 address with its port have colons, and are no login. A login may begin with digits. */
const isColonPlain = (value: string) =>
  /^\d\d?:\d\d(:\d\d)?$/.test(value) || isIPv6(value) || /^(\d{1,3}\.){3}\d{1,3}:\d{1,5}$/.test(value)

function parsedObject(text: string): object | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    return undefined
  }
}

/** Deeper than this nothing is logged at all. */
const deepest = 6

/** The same object if it holds no secret, else a copy without secrets. */
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
