/** Translates the station's English sentences. Pure. */
const numbers = /\d+(?:\.\d+)?/g

/** The sentence of a language for one of the station; numbers stand as `#` in both. Undefined where the language has none. */
export function sentenceIn(sentences: Readonly<Record<string, string>>, spoken: string): string | undefined {
  const found = sentences[spoken.replaceAll(numbers, '#')]
  const values = spoken.match(numbers) ?? []
  return found?.replaceAll('#', () => values.shift() ?? '#')
}
