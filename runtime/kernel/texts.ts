/** A plugin's texts in languages other than English: checked when the plugin is set up, merged when a page asks. */
import { createHash } from 'node:crypto'
import { messageOf } from '../errors.js'

/** A language tag such as `de` or `pt-br`: the name of the file. */
export const languageRule = /^[a-z]{2,3}(-[a-z0-9]{2,8})?$/
export const largestTexts_bytes = 64 << 10

export interface OwnTexts {
  /** Language → key → text. */
  readonly files: ReadonlyMap<string, Readonly<Record<string, string>>>
  /** Changes with the content. */
  readonly digest: string
}

/** @throws Error with the reason */
function parsed(language: string, content: unknown): Readonly<Record<string, string>> {
  if (!languageRule.test(language)) throw new Error('its name is not a language such as de')
  if (typeof content !== 'string') throw new Error('it is not a text')
  if (Buffer.byteLength(content) > largestTexts_bytes)
    throw new Error(`it is larger than ${largestTexts_bytes >> 10} KiB`)
  const found: unknown = JSON.parse(content)
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw new Error('it is not an object')
  for (const [key, text] of Object.entries(found))
    if (typeof text !== 'string') throw new Error(`${key.slice(0, 60)} is not a text`)
  return found as Readonly<Record<string, string>>
}

/**
 * @param given language → content of the JSON file, of a definition: anything, as plugins are not type-checked when they are loaded
 * @param refuse is told of a file that is not used
 */
export function readTexts(given: unknown, refuse: (file: string, reason: string) => void): OwnTexts {
  const files = new Map<string, Readonly<Record<string, string>>>()
  const hash = createHash('sha256')
  for (const [language, content] of Object.entries(typeof given === 'object' && given !== null ? given : {})) {
    try {
      files.set(language, parsed(language, content))
      hash.update(`${language}\0${content}\0`)
    } catch (error) {
      refuse(`texts/${language}.json`, messageOf(error))
    }
  }
  return { files, digest: files.size === 0 ? '' : hash.digest('hex').slice(0, 16) }
}

/** One table of all texts of a language. A plugin does not replace a text of another plugin: the first one counts. */
export function mergeTexts(all: Iterable<OwnTexts>, language: string): Record<string, string> {
  const merged: Record<string, string> = Object.create(null)
  for (const { files } of all) for (const [key, text] of Object.entries(files.get(language) ?? {})) merged[key] ??= text
  return merged
}
