/** Sentences of a station in the language of the reader. */
import { signal } from '@preact/signals'
import { locale } from './i18n.js'
import type { Speaker } from './station/speaker.js'

/** Undefined in English. */
export const speaker = signal<Speaker | undefined>(undefined)

/** A sentence of the station with a capital. */
export function said(spoken: string): string {
  const text = speaker.value?.say(spoken) ?? spoken
  return text.charAt(0).toLocaleUpperCase(locale()) + text.slice(1)
}

/** As `said`, with a full stop. */
export const sentence = (spoken: string): string => said(spoken).replace(/([^.!?…])$/, '$1.')
