import { signal } from '@preact/signals'

const stored = 'rtk-base-theme'
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
export const theme = signal<Theme>('system')
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

function show(): void {
  const ofSystem = systemIsDark.matches ? 'dark' : 'light'
  document.documentElement.dataset.theme = theme.value === 'system' ? ofSystem : theme.value
}

export function setTheme(wanted: Theme): void {
  theme.value = wanted
  show()
  try {
    localStorage.setItem(stored, wanted)
  } catch {}
}

/** The theme that this browser chose last; that of its system, followed when it changes, when it chose none. */
export function chooseTheme(): void {
  try {
    const wanted = localStorage.getItem(stored)
    if (themes.includes(wanted as Theme)) theme.value = wanted as Theme
  } catch {}
  show()
  systemIsDark.addEventListener('change', show)
}
