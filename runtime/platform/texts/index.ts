/** Texts of the runtime's own errors, as `texts/LANGUAGE.json` has those of a plugin. */
import { german } from './de.js'
import { english } from './en.js'

export { english } from './en.js'

/** By language. */
export const runtimeTexts: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  ['en', english],
  ['de', german],
])
