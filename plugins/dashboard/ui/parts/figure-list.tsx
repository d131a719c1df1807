import type { ComponentChildren } from 'preact'

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
