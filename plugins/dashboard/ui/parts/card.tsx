import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** A box with a heading. */
export function Card({ title, children, level = 2 }: { title: string; children: ComponentChildren; level?: 2 | 3 }) {
  const id = useId()
  const Heading = `h${level}` as 'h2'
  return (
    <section class="card" aria-labelledby={id}>
      <Heading id={id}>{title}</Heading>
      {children}
    </section>
  )
}
