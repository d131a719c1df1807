/** Speaks for the plugins in another language than English. Loaded with that language. */
import { sentenceIn } from '../model/sentences.js'
import type { Values } from '../station/document.js'
import { locale, notation } from './index.js'
import type { Speaker } from './plugins.js'

export function speakerOf(texts: Readonly<Record<string, string>>): Speaker {
  const say = (spoken: string): string => sentenceIn(texts, spoken, notation) ?? spoken
  const shown = (value: string | number | boolean): string =>
    typeof value === 'number' ? value.toLocaleString(locale(), { maximumFractionDigits: 3 }) : say(String(value))
  const find = (key: string, values: Values): string | undefined => {
    const cases = Object.entries(values).flatMap(([name, value]) =>
      value === false || value === '' ? [] : [`${key}.${value}`, `${key}.${name}`],
    )
    const found = texts[cases.find((one) => one in texts) ?? key]
    const isComplete = [...(found ?? '').matchAll(/\{(\w+)\}/g)].every(([, name = '']) => name in values)
    return isComplete ? found?.replaceAll(/\{(\w+)\}/g, (_, name: string) => shown(values[name] ?? '')) : undefined
  }
  return { say, find }
}
