import type { ComponentChildren } from 'preact'

export type ToneName = 'good' | 'warning' | 'broken' | 'idle'
const marks: Readonly<Record<ToneName, string>> = { good: '✓', warning: '!', broken: '✕', idle: '–' }

/** A state: by mark, colour and words. */
export function Tone({ tone, children }: { tone: ToneName; children: ComponentChildren }) {
  return (
    <span class={`tone tone-${tone}`}>
      <span aria-hidden="true">{marks[tone]}</span> {children}
    </span>
  )
}
