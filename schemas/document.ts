/** Top-level names of the information document, in the order of the specification. */
export const documentOrder = ['esp', 'gnss', 'base', 'eth', 'wap', 'sta', 'udp', 'mqtt', 'router', 'modem'] as const

/** The value at a path such as `gnss.state.status` of the information document, or any other; undefined where there is none. */
export const valueAt = (document: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (part, name) => (typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[name] : undefined),
      document,
    )
