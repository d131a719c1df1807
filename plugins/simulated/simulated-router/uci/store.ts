/**
 * The configuration of the router: the committed values, and the sessions' uncommitted changes. A session sees its
 * own changes alone; they are lost with it.
 */

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

export type Config = Section[]

/** One pending change. */
export type Delta =
  | { kind: 'add'; section: string; type: string; anonymous: boolean }
  | { kind: 'set'; section: string; option: string; value: UciValue }
  | { kind: 'remove'; section: string; option?: string }
  | { kind: 'rename'; section: string; name: string; option?: string }

/** Per configuration, in order. It belongs to a session. */
export type Pending = Map<string, Delta[]>

/** The section by its name, or as `@TYPE[N]`; negative numbers count from the end. */
export function findSection(config: Config, name: string): Section | undefined {
  const [, type, place] = /^@([\w-]+)\[(-?\d+)\]$/.exec(name) ?? []
  if (type === undefined) return config.find((section) => section.name === name)
  return config.filter((section) => section.type === type).at(Number(place))
}

const copyOf = (config: Config): Config => config.map((section) => ({ ...section, options: new Map(section.options) }))

function play(config: Config, deltas: readonly Delta[]): Config {
  const result = copyOf(config)
  for (const delta of deltas) {
    if (delta.kind === 'add') {
      result.push({ type: delta.type, name: delta.section, anonymous: delta.anonymous, options: new Map() })
      continue
    }
    const at = result.findIndex(({ name }) => name === delta.section)
    const section = result[at]
    if (section === undefined) continue
    if (delta.kind === 'set') section.options.set(delta.option, delta.value)
    else if (delta.kind === 'remove') {
      if (delta.option === undefined) result.splice(at, 1)
      else section.options.delete(delta.option)
    } else if (delta.option === undefined) Object.assign(section, { name: delta.name, anonymous: false })
    else {
      const value = section.options.get(delta.option)
      section.options.delete(delta.option)
      if (value !== undefined) section.options.set(delta.name, value)
    }
  }
  return result
}

export class UciStore {
  #defaults: () => Record<string, string>
  #configs = new Map<string, Config>()
  /** Called after a commit that changed something, with the configuration's name. */
  onCommit: (config: string) => void = () => {}

  constructor(defaults: () => Record<string, string>) {
    this.#defaults = defaults
    this.reset()
  }

  /** As from the factory. */
  reset(): void {
    this.#configs = new Map(Object.entries(this.#defaults()).map(([name, text]) => [name, parseUci(text)]))
  }

  get names(): string[] {
    return [...this.#configs.keys()]
  }

  /** As a session with these pending changes sees it. */
  view(name: string, pending?: Pending): Config | undefined {
    const config = this.#configs.get(name)
    const deltas = pending?.get(name)
    return config && deltas ? play(config, deltas) : config
  }

  /** A committed value as text; `''` when there is none. */
  text(config: string, section: string, option: string): string {
    const value = findSection(this.#configs.get(config) ?? [], section)?.options.get(option)
    return (Array.isArray(value) ? value[0] : value) ?? ''
  }

  change(name: string, pending: Pending, ...deltas: Delta[]): void {
    const before = pending.get(name) ?? []
    pending.set(name, [...before, ...deltas])
  }

  /** The name that an added anonymous section gets. */
  freeName(name: string, type: string, pending?: Pending): string {
    const config = this.view(name, pending) ?? []
    let index = config.length
    while (config.some((section) => section.name === anonymousName(index, type))) index++
    return anonymousName(index, type)
  }

  commit(name: string, pending: Pending): void {
    const deltas = pending.get(name)
    pending.delete(name)
    const config = this.#configs.get(name)
    if (config === undefined || deltas === undefined) return
    this.#configs.set(name, play(config, deltas))
    this.onCommit(name)
  }

  /** Someone else writes and commits a value. */
  write(config: string, section: string, option: string, value: UciValue): boolean {
    const found = findSection(this.#configs.get(config) ?? [], section)
    if (found === undefined) return false
    this.commit(config, new Map([[config, [{ kind: 'set', section: found.name, option, value }]]]))
    return true
  }
}
