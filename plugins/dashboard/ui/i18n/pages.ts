/** Texts for pages and parts that are loaded later: with the first of them come the English texts that they need. */
import { enPages } from './en-pages.js'
import { addEnglish, type TextKey, type TextValues, textOf } from './index.js'

export * from './index.js'

addEnglish(enPages)

export const t: (key: TextKey, values?: TextValues) => string = textOf
