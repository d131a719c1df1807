/** The texts of this page, and how numbers and times are written. */
import { addEnglish, type Fill, setTexts, textOf } from '../../../../../runtime/lib/page/ui/i18n.js'
import { en, type TextKey } from './en.js'

export * from '../../../../../runtime/lib/page/ui/i18n.js'
export type { TextKey } from './en.js'
export const t: (key: TextKey, values?: Fill) => string = textOf

setTexts(en, async () => (await import('./de.js')).de)

/** Before a page is shown that is loaded on demand. */
export async function loadPageTexts(): Promise<void> {
  addEnglish((await import('./en-pages.js')).pages)
}
