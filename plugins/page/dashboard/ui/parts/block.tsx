import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'

/** A raw block of the document, for plugins without their own page. Units are in the names (`_m`, `_s`). */
export const BlockCard = ({ name, value }: { name: string; value: unknown }) => (
  <Card title={name}>
    <dl class="figures">
      {leaves(value).map(([path, text]) => (
        <div key={path}>
          <dt>{path}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  </Card>
)

/** Path and text of every value; lists are shown by their length and their entries. */
function leaves(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value !== 'object' || value === null) return [[path, value === '' || value === null ? '–' : String(value)]]
  const entries = Array.isArray(value)
    ? value.slice(0, 16).map((one, n) => [String(n + 1), one] as const)
    : Object.entries(value)
  if (entries.length === 0) return [[path, '–']]
  return entries.flatMap(([name, one]) => leaves(one, path === '' ? name : `${path} ${name}`))
}
