import { signal } from '@preact/signals'

const stored = 'rtk-base-theme'
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
export const theme = signal<Theme>('system')

export function setTheme(wanted: Theme): void {
  theme.value = wanted
  if (wanted === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = wanted
  try {
    localStorage.setItem(stored, wanted)
  } catch {}
}

export function chooseTheme(): void {
  try {
    const wanted = localStorage.getItem(stored)
    if (themes.includes(wanted as Theme)) setTheme(wanted as Theme)
  } catch {}
}
