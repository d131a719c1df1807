/** The text form of a configuration: `config TYPE ['NAME']`, `option NAME 'VALUE'`, `list NAME 'VALUE'`. */

export type UciValue = string | string[]

export interface Section {
  type: string
  /** Anonymous sections have a generated one, e.g. `cfg01ab34`. */
  name: string
  anonymous: boolean
  options: Map<string, UciValue>
}

/** How uci names an anonymous section: its place, and a digest of its type. */
export function anonymousName(index: number, type: string): string {
  const digest = [...type].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) & 0xffff, 7)
  return `cfg${(index + 1).toString(16).padStart(2, '0')}${digest.toString(16).padStart(4, '0')}`
}

const word = /'([^']*)'|(\S+)/g

export function parseUci(text: string): Section[] {
  const sections: Section[] = []
  for (const line of text.split('\n')) {
    const [keyword, first = '', second = ''] = [...line.matchAll(word)].map(([, quoted, bare]) => quoted ?? bare)
    const current = sections.at(-1)
    if (keyword === 'config') {
      const anonymous = second === ''
      const name = anonymous ? anonymousName(sections.length, first) : second
      sections.push({ type: first, name, anonymous, options: new Map() })
    } else if (keyword === 'option') current?.options.set(first, second)
    else if (keyword === 'list') {
      const before = current?.options.get(first)
      current?.options.set(first, Array.isArray(before) ? [...before, second] : [second])
    }
  }
  return sections
}
