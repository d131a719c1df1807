/** Texts in the language of the reader. German is loaded when it is wanted. */
import { signal } from '@preact/signals'
import { en, type TextKey } from './en.js'

export type { TextKey } from './en.js'
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

const stored = 'rtk-base-language'
export const language = signal<Language>('en')
/** Those of the pages come with the first of them. */
let english: Readonly<Record<string, string>> = en
const texts = signal(english)

/** The reader's own notation of numbers and times, where it is one of that language: `en-GB` of `en`. */
export const locale = (): string => navigator.languages.find((one) => one.startsWith(language.value)) ?? language.value

export async function setLanguage(wanted: Language): Promise<void> {
  texts.value = wanted === 'de' ? (await import('./de.js')).de : english
  language.value = wanted
  document.documentElement.lang = wanted
  try {
    localStorage.setItem(stored, wanted)
  } catch {}
}

/** Before a page is shown that is loaded on demand. */
export async function loadPageTexts(): Promise<void> {
  const { pages } = await import('./en-pages.js')
  english = { ...en, ...pages }
  if (language.value === 'en') texts.value = english
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

/** @param values for `{name}` in the text */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return (texts.value[key] ?? key).replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name] ?? whole
    return typeof value === 'number' ? notation(`${value}`) : value
  })
}

/** The text of a value such as a state; the value itself where no language knows it. */
export function word(prefix: string, value: string): string {
  const key = `${prefix}.${value}`
  return key in texts.value ? t(key as TextKey) : value
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
    return new Intl.DateTimeFormat(locale(), { hour: 'numeric', minute: '2-digit' }).format(time)
  })

/** UTC seconds as local date and time; `–` for 0. */
export function moment(utc_s: number): string {
  if (utc_s === 0) return '–'
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(utc_s * 1_000)
}

export const ago = (seconds: number) => (seconds < 1 ? t('links.now') : t('links.ago', { time: duration(seconds) }))
