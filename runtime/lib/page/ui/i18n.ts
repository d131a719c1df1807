/** Texts in the language of the reader. German is loaded when it is wanted. */
import { signal } from '@preact/signals'
import { type SharedKey, shared } from './texts/en.js'

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages
/** Texts by key. */
export type Texts = Readonly<Record<string, string>>

const stored = 'rtk-base-language'
export const language = signal<Language>('en')
let english: Texts = shared
let german = async (): Promise<Texts> => ({})
const texts = signal<Texts>(english)

/** The texts of a page, beside those of the parts. @param loadGerman is called when a reader wants it */
export function setTexts(own: Texts, loadGerman: () => Promise<Texts>): void {
  german = loadGerman
  addEnglish(own)
}

/** Further English texts: those of the pages come with the first of them. */
export function addEnglish(more: Texts): void {
  english = { ...english, ...more }
  if (language.value === 'en') texts.value = english
}

/** The reader's own notation of numbers and times, where it is one of that language: `en-GB` of `en`. */
export const locale = (): string => navigator.languages.find((one) => one.startsWith(language.value)) ?? language.value

/** Without a choice of the reader. */
export async function showLanguage(wanted: Language): Promise<void> {
  if (wanted === 'de') {
    const [own, parts] = await Promise.all([german(), import('./texts/de.js')])
    texts.value = { ...parts.shared, ...own }
  } else texts.value = english
  language.value = wanted
}

export async function setLanguage(wanted: Language): Promise<void> {
  await showLanguage(wanted)
  document.documentElement.lang = wanted
  try {
    localStorage.setItem(stored, wanted)
  } catch {}
}

export async function chooseLanguage(): Promise<void> {
  let wanted: string | null = null
  try {
    wanted = localStorage.getItem(stored)
  } catch {}
  wanted ??= navigator.language.slice(0, 2)
  if (wanted in languages) await setLanguage(wanted as Language)
}

/** Numbers of a text, such as `±2.4 m`, in the reader's notation. */
export const notation = (english: string): string =>
  english.replaceAll(/(\d)\.(?=\d)/g, (_, digit: string) => digit + (0.5).toLocaleString(locale()).charAt(1))

export type Fill = Readonly<Record<string, string | number>>

/** Every text of the language, for a search. */
export const allTexts = (): Texts => texts.value

/** The text of any key; a page has a function of its own that knows its keys. @param values for `{name}` in the text */
export function textOf(key: string, values: Fill = {}): string {
  return (texts.value[key] ?? key).replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name] ?? whole
    return typeof value === 'number' ? notation(`${value}`) : value
  })
}

export const t: (key: SharedKey, values?: Fill) => string = textOf

/** The text of a value such as a state; the value itself where no language knows it. */
export function word(prefix: string, value: string): string {
  const key = `${prefix}.${value}`
  return key in texts.value ? textOf(key) : value
}

/** A number with its unit, in the reader's notation. */
export function figure(value: number | undefined, digits: number, unit = ''): string {
  if (value === undefined) return '–'
  const text = new Intl.NumberFormat(locale(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value)
  return unit ? `${text} ${unit}` : text
}

/** Seconds as a person says them: `12 s`, `5 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds))
  if (s < 60) return `${s} s`
  if (s < 3_600) return `${Math.floor(s / 60)} min`
  if (s < 86_400) return `${Math.floor(s / 3_600)} h ${Math.floor((s % 3_600) / 60)} min`
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3_600)} h`
}

/** A sentence with times such as `12:34 UTC`, which the station says of the last day, in the reader's time. */
export const localTimes = (text: string): string =>
  text.replace(/\b([01]\d|2[0-3]):([0-5]\d) UTC\b/g, (_whole, h: string, min: string) => {
    const time = new Date()
    time.setUTCHours(Number(h), Number(min))
    return timeOfDay(time.getTime())
  })

/** UTC milliseconds as local time of the day. @param isBrief within a few minutes only seconds tell two times apart */
export const timeOfDay = (utc_ms: number, isBrief = false): string =>
  new Intl.DateTimeFormat(locale(), {
    hour: 'numeric',
    minute: '2-digit',
    ...(isBrief && { second: '2-digit' }),
  }).format(utc_ms)

/** UTC seconds as local date and time; `–` for 0. */
export function moment(utc_s: number): string {
  if (utc_s === 0) return '–'
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(utc_s * 1_000)
}

export const ago = (seconds: number) => (seconds < 1 ? t('links.now') : t('links.ago', { time: duration(seconds) }))
