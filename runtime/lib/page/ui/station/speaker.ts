/** Speaks for the plugins in another language than English. Loaded with that language. Pure. */
import type { Values } from './document.js'

export interface Speaker {
  /** A sentence of the station, or several with `; ` between them; unchanged where the language lacks one of them. */
  say(spoken: string): string
  /**
   * The text of a key with `{name}` replaced by values. `KEY.CASE` comes before `KEY`: a case is a value, or the name of a value that
   * there is. Undefined without a text, or without a value that it needs.
   */
  find(key: string, values: Values): string | undefined
}

/** With its sign, which a range (`1-5`) and a name (`ZED-F9P`) have not. */
const numbers = /(?:(?<= )[-+])?\d+(?:\.\d+)?/g
const names = /\{(\w+)\}/g
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
  const find = (key: string, values: Values): string | undefined => {
    const cases = Object.entries(values).flatMap(([name, value]) =>
      value === false || value === '' ? [] : [`${key}.${value}`, `${key}.${name}`],
    )
    const found = texts[cases.find((one) => one in texts) ?? key]
    const isComplete = [...(found ?? '').matchAll(names)].every(([, name = '']) => name in values)
    return isComplete ? found?.replaceAll(names, (_, name: string) => shown(values[name] ?? '')) : undefined
  }
  return { say, find }
}
