/** Texts of the plugins in the language of the reader, by key and values. Without one, the plugin's English is shown. */
import { signal } from '@preact/signals'
import type { Command, Parameter } from '../station/api.js'
import type { StationError, Values, Verdict } from '../station/document.js'
import { locale, said, sentence } from './index.js'

/** From the station: empty in English. */
export const pluginTexts = signal<Readonly<Record<string, string>>>({})

const shown = (value: string | number | boolean): string =>
  typeof value === 'number' ? value.toLocaleString(locale(), { maximumFractionDigits: 2 }) : said(String(value), false)

/**
 * The text of a key with `{name}` replaced by values. `KEY.CASE` comes before `KEY` if a value is that case, or the name of a value
 * that is true. Undefined without a text, or without a value that it needs.
 */
export function textFor(key: string, values: Values = {}): string | undefined {
  const texts = pluginTexts.value
  const cases = Object.entries(values).map(([name, value]) => `${key}.${value === true ? name : value}`)
  const found = texts[cases.find((one) => one in texts) ?? key]
  const isComplete = [...(found ?? '').matchAll(/\{(\w+)\}/g)].every(([, name = '']) => name in values)
  return isComplete ? found?.replaceAll(/\{(\w+)\}/g, (_, name: string) => shown(values[name] ?? '')) : undefined
}

const verdictText = (verdict: Verdict, part: 'why' | 'advice') => {
  const { why_code = '', values } = verdict
  const end = part === 'why' ? '' : '.advice'
  const found = textFor(`reason.${why_code}${end}`, values) ?? textFor(`error.${why_code}${end}`, values)
  return sentence(found ?? verdict[part])
}
/** What is wrong, or that nothing is. */
export const whyText = (verdict: Verdict): string => verdictText(verdict, 'why')
/** What to do about it; '' for nothing. */
export const adviceText = (verdict: Verdict): string => (verdict.advice ? verdictText(verdict, 'advice') : '')

export function errorText({ code, text, values }: StationError): string {
  const found = textFor(`error.${code}`, values)
  if (found === undefined) return sentence(text)
  return [found, textFor(`error.${code}.advice`, values) ?? ''].filter(Boolean).map(sentence).join(' ')
}

export const labelOf = ({ name, title }: Pick<Parameter, 'name' | 'title'>): string =>
  textFor(`setting.${name}`) ?? title
/** What a setting is for; '' if its label says it. */
export const helpOf = ({ name, schema }: Pick<Parameter, 'name' | 'schema'>): string =>
  textFor(`setting.${name}.help`) ?? schema.description ?? ''
/** @param part a field of a setting that has several */
export const partOf = (name: string, part: string, english: string): string =>
  textFor(`setting.${name}.${part}`) ?? english

export const commandText = ({ name, help }: Command): string => textFor(`command.${name}`) ?? help
export const cautionText = ({ name, caution = '' }: Command): string =>
  (caution && textFor(`command.${name}.caution`)) || caution
