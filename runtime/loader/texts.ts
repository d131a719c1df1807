/**
 * A plugin's texts: English ones of its errors, and in other languages all that a page shows. Files that go into its bundle, checked
 * when the plugin is set up, merged when a page asks.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
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

// ── into the bundle ───────────────────────────────────────────────────────────────────────────────────────────────

export interface TextFile {
  /** Absolute. */
  readonly file: string
  readonly language: string
  /** Cut behind the largest size: the station reports the file, and does not use it. */
  readonly content: string
}

/** The texts in the folder of a plugin's entry file; empty without the folder. */
export function textFiles(folder: string): TextFile[] {
  try {
    return readdirSync(join(folder, 'texts'))
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => {
        const file = join(folder, 'texts', name)
        const content = readFileSync(file)
          .subarray(0, largestTexts_bytes + 1)
          .toString('utf8')
        return { file, language: basename(name, '.json'), content }
      })
  } catch {
    return []
  }
}

/** Code at the end of a bundle that gives the texts to its definition; '' without texts. A bad file is no reason not to load. */
export function withTexts(texts: readonly TextFile[]): string {
  if (texts.length === 0) return ''
  const table = ascii(
    JSON.stringify(Object.fromEntries(texts.map(({ language, content }) => [language, compact(content)]))),
  )
  return `(d=>{try{d.texts??=${table}}catch{}})(module.exports.default??module.exports);`
}

/** One character beyond Latin-1 would double the memory that V8 keeps the whole source in. */
const ascii = (json: string) =>
  json.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

function compact(content: string): string {
  try {
    return JSON.stringify(JSON.parse(content))
  } catch {
    return content
  }
}
