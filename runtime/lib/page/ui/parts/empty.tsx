import type { ComponentChildren } from 'preact'

/** Line drawings on 140 × 100. */
const drawings = {
  map: 'M20 80l30-12l40 12l30-12V20L90 32L50 20L20 32zM50 20v48M90 32v48',
  rover:
    'M30 72a14 14 0 1 0 28 0a14 14 0 1 0-28 0M88 78a9 9 0 1 0 18 0a9 9 0 1 0-18 0M58 74h30M36 58V26h30l8 28h20a8 8 0 0 1 8 8v8M50 26v28',
  quiet: 'M70 18a30 30 0 0 0 0 60a30 30 0 0 0 0-60M56 49l10 10l20-20',
  output:
    'M62 50a8 8 0 1 0 16 0a8 8 0 1 0-16 0M48 70a28 28 0 0 1 0-40M92 30a28 28 0 0 1 0 40M36 82a46 46 0 0 1 0-64M104 18a46 46 0 0 1 0 64',
} as const

/** Placeholder where there is nothing yet: a drawing, and a sentence that says what would be here. */
export const Empty = ({ drawing, children }: { drawing: keyof typeof drawings; children: ComponentChildren }) => (
  <div class="empty">
    <svg viewBox="0 0 140 100" aria-hidden="true">
      <path d={drawings[drawing]} />
    </svg>
    <p>{children}</p>
  </div>
)
