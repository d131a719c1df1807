/** Translates the station's English sentences, such as the reason in an error. Pure. */
const numbers = /\d+(?:\.\d+)?/g

/**
 * @param texts of the plugins: `said.SENTENCE` with `#` for every number
 * @param spoken one sentence, or several with `; ` between them
 * @param number in the notation of the reader
 * @returns undefined where the language lacks one of them
 */
export function sentenceIn(
  texts: Readonly<Record<string, string>>,
  spoken: string,
  number: (english: string) => string,
): string | undefined {
  const found = texts[`said.${spoken.replaceAll(numbers, '#')}`]
  const values = spoken.match(numbers) ?? []
  if (found !== undefined) return found.replaceAll('#', () => number(values.shift() ?? '#'))
  const parts = spoken.split('; ')
  if (parts.length === 1) return undefined
  const all = parts.map((part) => sentenceIn(texts, part, number))
  return all.includes(undefined) ? undefined : all.join('; ')
}
