/** The texts of this page. */
import { type Fill, setTexts, textOf } from '../../../../../runtime/lib/page/ui/i18n.js'
import { en, type TextKey } from './en.js'

export { chooseLanguage } from '../../../../../runtime/lib/page/ui/i18n.js'
export type { TextKey } from './en.js'
export const t: (key: TextKey, values?: Fill) => string = textOf

setTexts(en, async () => (await import('./de.js')).de)
