type Node = Record<string, unknown>

/** A copy of plain JSON with `change` made to each object in it, the inner ones first. */
export function rewritten<T>(json: T, change: (node: Node) => unknown): T {
  if (Array.isArray(json)) return json.map((item) => rewritten(item, change)) as T
  if (typeof json !== 'object' || json === null) return json
  return change(Object.fromEntries(Object.entries(json).map(([name, value]) => [name, rewritten(value, change)]))) as T
}
