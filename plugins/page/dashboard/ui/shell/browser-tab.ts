/** Title and icon of the browser's tab: the verdict of a station that nobody looks at. */
import { t } from '../i18n/index.js'
import type { Mood } from '../model/verdict.js'

const colours: Readonly<Record<Mood, string>> = {
  fit: '#00875a',
  coarse: '#c98500',
  degraded: '#c98500',
  unfit: '#d32f2f',
  waiting: '#2f7fd0',
  unknown: '#7a8792',
}
const antenna = 'M6 14a10 6 0 0 1 20 0zM16 14v5M11 28l5-9l5 9M13 24.5h6'

export function showInTab(mood: Mood, name: string): void {
  document.title = `${t(`verdict.${mood}`)} · ${name}`
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${colours[mood]}"/><path d="${antenna}" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (link) link.href = `data:image/svg+xml,${encodeURIComponent(drawing)}`
}
