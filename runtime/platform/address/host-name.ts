/** Syntax of a host. Without TypeBox: pages judge their fields by it, too. */

/** Letters of any script (RFC 5890): such names are stored and shown as they were typed, and used as `asciiHost`. */
const letter = '\\p{L}\\p{M}0-9'
const label = `[${letter}]([${letter}_-]{0,61}[${letter}])?`
/** The last part of a name is no number: `10.0.0` and `300.1.1.1` are no addresses and no names. */
const name = `(?!([^.]*\\.)*\\d+\\.?$)${label}(\\.${label}){0,63}\\.?`
const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const v4 = `${octet}(\\.${octet}){3}`
const group = '[0-9A-Fa-f]{1,4}'
const upTo = (most: number) => Array.from({ length: most }, (_, at) => at + 1)
/** RFC 4291, section 2.2. */
const v6 = [
  `(${group}:){7}${group}`,
  `(${group}:){1,7}:`,
  ...upTo(6).map((after) => `(${group}:){1,${7 - after}}(:${group}){1,${after}}`),
  `:((:${group}){1,7}|:)`,
  `(${group}:){6}${v4}`,
  `::(${group}:){0,5}${v4}`,
  ...upTo(5).map((before) => `(${group}:){1,${before}}:(${group}:){0,${5 - before}}${v4}`),
].join('|')
const host = `${v4}|${v6}|${name}`

/** For the flag `u`, which JSON Schema has. */
export const hostPattern = `^(${host})$`
export const optionalHostPattern = `^(${host})?$`

const patterns: readonly unknown[] = [hostPattern, optionalHostPattern]
/** Whether a schema is that of a host, whatever its description. */
export const isHostSchema = (schema: { readonly pattern?: unknown }): boolean => patterns.includes(schema.pattern)

/** A host as it is meant: without the blanks around it that a pasted text has, and without the brackets of an IPv6 address. */
export function hostOf(entered: string): string {
  const text = entered.replaceAll(/^[\s\u200b\ufeff]+|[\s\u200b\ufeff]+$/g, '')
  return /^\[([0-9A-Fa-f:.]+)\]$/.exec(text)?.[1] ?? text
}

/**
 * A host as name servers, TLS and other peers know it: an international name in ASCII (RFC 5891). The parser of URLs does it as
 * `domainToASCII` of `node:url` does, and pages have it, too.
 */
export function asciiHost(host: string): string {
  const url = `http://${host}`
  return /[^!-~]/.test(host) && URL.canParse(url) ? new URL(url).hostname : host
}
