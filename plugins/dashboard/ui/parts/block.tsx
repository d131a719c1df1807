import { Card } from './card.js'

/** A raw block of the document, for plugins without their own page. Units are in the names (`_m`, `_s`). */
export function BlockCard(props: {
  name: string
  value: unknown
  /** Formats a value of a block without units in its names; undefined: raw. */
  read?: (path: string, value: unknown) => string | undefined
}) {
  const { name, read = () => undefined, value } = props
  return (
    <Card title={name}>
      <dl class="figures">
        {leaves(value, read).map(([path, text]) => (
          <div key={path}>
            <dt>{path}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

/** Path and text of every value; lists are shown by their length and their entries. */
function leaves(
  value: unknown,
  read: (path: string, value: unknown) => string | undefined,
  path = '',
): [path: string, text: string][] {
  if (typeof value !== 'object' || value === null)
    return [[path, value === '' || value === null ? '–' : (read(path, value) ?? String(value))]]
  const entries = Array.isArray(value)
    ? value.slice(0, 16).map((one, n) => [String(n + 1), one] as const)
    : Object.entries(value)
  if (entries.length === 0) return [[path, '–']]
  return entries.flatMap(([name, one]) => leaves(one, read, path === '' ? name : `${path} ${name}`))
}
