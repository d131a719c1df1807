/** Labels as a person enters them, in one text. Pure. */

/** Lines `name=value`. Undefined: a line is none. */
export function linesOf(text: string): Record<string, string> | undefined {
  const found: Record<string, string> = {}
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const at = line.indexOf('=')
    if (at < 1) return undefined
    found[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return found
}

export const textOfLines = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
