/** Speaks for the plugins in another language than English. Loaded with that language. Pure. */
import { textOf } from '../../../../platform/texts/text-of.js'
import type { Values } from './document.js'

export interface Speaker {
  /** A sentence of the station, or several with `; ` between them; unchanged where the language lacks one of them. */
  say(spoken: string): string
  /** `textOf` with numbers and sentences as the reader has them. */
  find(key: string, values: Values): string | undefined
}

/** With its sign, which a range (`1-5`) and a name (`ZED-F9P`) have not. */
const numbers = /(?:(?<= )[-+])?\d+(?:\.\d+)?/g
/** A millimetre is shown only of what is small. */
const rounded = (value: number) => String(Number(value.toFixed(Math.abs(value) < 1 ? 3 : 2)))

/**
 * @param texts key → text; `said.SENTENCE` has `#` for each number
 * @param notation a number in the notation of the reader
 */
export function speakerOf(texts: Readonly<Record<string, string>>, notation: (english: string) => string): Speaker {
  const translated = (spoken: string): string | undefined => {
    const found = texts[`said.${spoken.replaceAll(numbers, '#')}`]
    const values = spoken.match(numbers) ?? []
    if (found !== undefined) return found.replaceAll('#', () => notation(values.shift() ?? '#'))
    const parts = spoken.split('; ')
    const all = parts.length > 1 ? parts.map(translated) : [undefined]
    return all.includes(undefined) ? undefined : all.join('; ')
  }
  const say = (spoken: string): string => translated(spoken) ?? spoken
  const shown = (value: string | number | boolean): string =>
    typeof value === 'number' ? notation(rounded(value)) : say(String(value))
  return { say, find: (key, values) => textOf(texts, key, values, shown) }
}
