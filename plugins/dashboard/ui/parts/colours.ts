/** Colours of the theme for a canvas, which knows no custom properties. */
import { useEffect, useState } from 'preact/hooks'
import { theme } from '../theme.js'

export const colourOf = (property: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(property).trim() || '#777'

/** Changes whenever the colours do. */
export function useScheme(): string {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const look = () => setDark(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return `${theme.value} ${isDark}`
}
