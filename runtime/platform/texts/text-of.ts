/** Which text says something, for the document and for the pages. Pure. */
export type Texts = Readonly<Record<string, string>>
export type Values = Readonly<Record<string, string | number | boolean>>

const names = /\{(\w+)\}/g

/**
 * The text of a key with `{name}` replaced by values. `KEY.CASE` comes before `KEY`: a case is a value, or the name of a value that
 * there is. A value that the text shows selects none: the name of a network is somebody else's, and must not choose what a person
 * reads. A value that is a text itself has its key in `NAME_code`; an English `NAME` beside it is shown where that key has no text.
 * Undefined without a text, or without a value that it needs.
 */
export function textOf(
  texts: Texts,
  key: string,
  values: Values,
  shown: (value: Values[string]) => string,
): string | undefined {
  const plain = texts[key.replace(/\.advice$/, '')] ?? ''
  const cases = Object.entries(values).flatMap(([name, value]) => {
    if (value === false || value === '') return []
    return plain.includes(`{${name}}`) ? [`${key}.${name}`] : [`${key}.${value}`, `${key}.${name}`]
  })
  const found = texts[cases.find((one) => one in texts) ?? key]
  const shownValue = (name: string): string | undefined => {
    const { [`${name}_code`]: inner, ...others } = values
    const text = inner === undefined ? undefined : textOf(texts, String(inner), others, shown)
    return text ?? (Object.hasOwn(values, name) ? shown(values[name] ?? '') : undefined)
  }
  let isComplete = true
  const filled = found?.replaceAll(names, (_, name: string) => {
    const value = shownValue(name)
    isComplete &&= value !== undefined
    return value ?? ''
  })
  return isComplete ? filled : undefined
}

/** Codes whose text an error has, the first that has one: a name at the end of a code may have a text, else all names share one. */
export const codesWithText = (code: string, { plugin = '' }: Values): string[] => [
  ...new Set([code, plugin === '' ? code : code.replace(`-${plugin}`, ''), code.replace(/^listen-.*/, 'listen')]),
]
