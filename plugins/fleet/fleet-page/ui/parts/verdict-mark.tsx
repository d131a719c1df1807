import type { VerdictName } from '../fleet/api.js'

/** Told apart by shape, not by colour alone: 24 × 24. */
const shapes: Readonly<Record<VerdictName, string>> = {
  fit: 'M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0z',
  degraded: 'M12 2.5L22 21H2z',
  unfit: 'M4 4h16v16H4z',
  unknown: 'M12 2l10 10l-10 10L2 12z',
}
const signs: Readonly<Record<VerdictName, string>> = {
  fit: 'M8 12.5l3 3l5-6',
  degraded: 'M12 10v5M12 18v.01',
  unfit: 'M8.5 8.5l7 7M15.5 8.5l-7 7',
  unknown: 'M10 10.3a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4M12 16v.01',
}

/** Decoration: the text beside it says the same. */
export const VerdictMark = ({ verdict, isOffline = false }: { verdict: VerdictName; isOffline?: boolean }) => (
  <svg class={`sign sign-${isOffline ? 'offline' : verdict}`} viewBox="0 0 24 24" aria-hidden="true">
    <path class="sign-shape" d={shapes[verdict]} />
    <path class="sign-line" d={signs[verdict]} />
  </svg>
)
