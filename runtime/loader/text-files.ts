/** A plugin's folder `texts`: one JSON file for each language, which goes into the bundle. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { largestTexts_bytes } from '../kernel/texts.js'

export interface TextFile {
  /** Absolute. */
  readonly file: string
  readonly language: string
  /** Cut behind the largest size: the station reports the file, and does not use it. */
  readonly content: string
}

/** Of the folder of a plugin's entry file; empty without the folder. */
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
