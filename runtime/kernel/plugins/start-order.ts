/** A plugin as the graph sees it. */
export interface GraphNode {
  readonly name: string
  readonly needs: readonly string[]
  readonly provides: readonly string[]
}

export interface StartOrder<N extends GraphNode> {
  /** Providers before their dependents; otherwise in the given order. */
  order: N[]
  /** Nodes with needs that no node here provides, and the missing services. */
  waiting: Map<string, string[]>
  /** Nodes that need each other in a circle, as a readable path. */
  cycles: Map<string, string>
}

/**
 * Orders plugins by `needs` and `provides`. `given` are services that the runtime itself provides.
 * A plugin that needs a waiting one waits as well.
 */
export function startOrder<N extends GraphNode>(nodes: readonly N[], given: ReadonlySet<string>): StartOrder<N> {
  const provider = new Map<string, N>()
  for (const node of nodes) for (const id of node.provides) if (!provider.has(id)) provider.set(id, node)
  const waiting = new Map<string, string[]>()
  const cycles = new Map<string, string>()
  const order: N[] = []
  const done = new Set<N>()
  const path: N[] = []

  const visit = (node: N): boolean => {
    if (done.has(node)) return !waiting.has(node.name) && !cycles.has(node.name)
    const start = path.indexOf(node)
    if (start >= 0) {
      const circle = path.slice(start)
      const text = [...circle, node].map((member) => member.name).join(' → ')
      for (const member of circle) cycles.set(member.name, text)
      return false
    }
    path.push(node)
    const missing: string[] = []
    for (const id of node.needs) {
      if (given.has(id)) continue
      const needed = provider.get(id)
      if (!needed || !visit(needed)) missing.push(id)
    }
    path.pop()
    done.add(node)
    if (cycles.has(node.name)) return false
    if (missing.length > 0) {
      waiting.set(node.name, missing)
      return false
    }
    order.push(node)
    return true
  }
  for (const node of nodes) visit(node)
  return { order, waiting, cycles }
}

/** Every plugin that needs, directly or through others, one of `services`. */
export function dependents<N extends GraphNode>(nodes: readonly N[], services: Iterable<string>): Set<N> {
  const gone = new Set(services)
  const found = new Set<N>()
  for (let grown = true; grown; ) {
    grown = false
    for (const node of nodes) {
      if (found.has(node) || !node.needs.some((id) => gone.has(id))) continue
      found.add(node)
      for (const id of node.provides) gone.add(id)
      grown = true
    }
  }
  return found
}
