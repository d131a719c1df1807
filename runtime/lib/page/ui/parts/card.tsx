import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** A box with a heading; `isPage`: the heading of the page above it says the same, so it is only read aloud. */
export function Card(props: { title: string; children: ComponentChildren; level?: 2 | 3; isPage?: boolean }) {
  const { children, isPage, level = 2, title } = props
  const id = useId()
  const Heading = `h${level}` as 'h2'
  return (
    <section class="card" aria-labelledby={id}>
      <Heading id={id} tabIndex={-1} class={isPage ? 'hidden' : ''}>
        {title}
      </Heading>
      {children}
    </section>
  )
}

/** The outcome of a form. */
export function Outcome({ isTrouble, text }: { isTrouble: boolean; text: string }) {
  return (
    <p class={isTrouble ? 'trouble' : ''} role="status">
      {isTrouble || text === '' ? text : <Tone tone="good">{text}</Tone>}
    </p>
  )
}

/** Names and values beside each other. Those without a value are left out. */
export function FigureList({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="figures">
      {rows
        .filter(([, value]) => value !== '' && value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export type ToneName = 'good' | 'warning' | 'waiting' | 'broken' | 'idle'
const marks: Readonly<Record<ToneName, string>> = { good: '✓', warning: '!', waiting: '…', broken: '✕', idle: '–' }

/** A state: by mark, colour and words. */
export function Tone({ tone, children }: { tone: ToneName; children: ComponentChildren }) {
  return (
    <span class={`tone tone-${tone}`}>
      <span aria-hidden="true">{marks[tone]}</span> {children}
    </span>
  )
}
