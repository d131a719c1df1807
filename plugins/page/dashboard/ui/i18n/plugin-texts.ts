/** Texts of the plugins in the language of the reader, by key and values. Without one, the plugin's English is shown. */

import { said, sentence, speaker } from '../../../../../runtime/lib/page/ui/spoken.js'
import type { StationError, Values, Verdict } from '../../../../../runtime/lib/page/ui/station/document.js'
import { codesWithText } from '../../../../../runtime/platform/texts/text-of.js'
import { isMoved } from '../model/moved.js'
import type { Parameter, StationAction } from '../station/api.js'
import { t } from './index.js'

export { said, sentence, speaker } from '../../../../../runtime/lib/page/ui/spoken.js'

const textFor = (key: string, values: Values = {}) => speaker.value?.find(key, values)

const errorPart = (code: string, values: Values = {}, end = ''): string | undefined =>
  codesWithText(code, values)
    .map((one) => textFor(`error.${one}${end}`, values))
    .find((text) => text !== undefined)

function verdictText(verdict: Verdict, part: 'why' | 'advice'): string {
  const { why_code = '', values } = verdict
  const end = part === 'why' ? '' : '.advice'
  return sentence(textFor(`reason.${why_code}${end}`, values) ?? errorPart(why_code, values, end) ?? verdict[part])
}
/** Reason of the verdict, or that nothing is wrong. */
export const whyText = (verdict: Verdict): string => verdictText(verdict, 'why')
/** Advice of the verdict; '' for none, and where buttons do it. */
export const adviceText = (verdict: Verdict): string =>
  isMoved(verdict.code) || isMoved(verdict.why_code) ? '' : verdictText(verdict, 'advice')

export function errorText({ code, text, values }: StationError): string {
  const found = errorPart(code, values)
  if (found === undefined) return sentence(text)
  return [found, errorPart(code, values, '.advice') ?? ''].filter(Boolean).map(sentence).join(' ')
}

/** @param values with the key of the reason */
export const reasonText = (english: string, values: Values = {}): string =>
  said(textFor(String(values.reason_code), values) ?? english)

/** A move without its advice, which buttons give. */
export const movedText = ({ code, values }: StationError, verdict: Verdict | undefined): string =>
  sentence(errorPart(code, values) ?? (verdict?.why_code === code ? verdict.why : t('moved.error')))

export const labelOf = ({ name, title }: Pick<Parameter, 'name' | 'title'>): string =>
  textFor(`setting.${name}`) ?? title
/** Help of a setting; '' if its label says it. */
export const helpOf = ({ name, schema }: Pick<Parameter, 'name' | 'schema'>): string =>
  textFor(`setting.${name}.help`) ?? schema.description ?? ''
/** @param part a field of a setting that has several */
export const partOf = (name: string, part: string, english: string): string =>
  textFor(`setting.${name}.${part}`) ?? english

export const actionText = ({ name, summary }: StationAction): string => textFor(`command.${name}`) ?? summary
export const cautionText = ({ name, caution = '' }: StationAction): string =>
  (caution && textFor(`command.${name}.caution`)) || caution
