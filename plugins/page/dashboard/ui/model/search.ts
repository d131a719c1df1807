/** Search over pages and settings. Pure. */
export interface SearchEntry {
  readonly title: string
  /** Other words of people for the entry, in the language of the page; for a setting its key and description. */
  readonly words: string
  /** Labels, units and help of the page or the setting: found last. */
  readonly text: string
  readonly kind: 'page' | 'setting'
  /** Place in the address. */
  readonly to: string
}

const most = 12
const plain = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')

/** Beginnings of the keys of the texts that a page shows, besides those of its name. */
const moreTexts: Readonly<Record<string, readonly string[]>> = {
  status: ['chain', 'day'],
  timeline: ['cause', 'day'],
  errors: ['moved'],
  positions: ['saved', 'ppp', 'raw', 'antennas', 'neighbours', 'map'],
  survey: ['source'],
  links: ['casters', 'outputs'],
  rovers: ['logins', 'tiles'],
  rtcm: ['output'],
  network: ['net', 'eth', 'wap', 'router', 'modem', 'wifi', 'address'],
  access: ['password'],
  update: ['newer'],
  settings: ['settingsFile', 'section'],
}

/** Labels, units and help of a page. @param texts of the language, by key */
export function pageText(path: string, texts: Readonly<Record<string, string>>): string {
  const begins = [path, ...(moreTexts[path] ?? [])]
  return Object.entries(texts)
    .flatMap(([key, text]) => (begins.includes(key.split('.', 1)[0] ?? '') ? [text] : []))
    .join(' ')
}

/**
 * All words must occur. A title that begins with the first one comes first, then titles, then other names, each pages before settings;
 * then what has them in its texts.
 * @param synonyms words that mean the same, in groups: `disk storage; limit maximum`
 */
export function findIn(entries: readonly SearchEntry[], sought: string, synonyms = ''): readonly SearchEntry[] {
  const groups = plain(synonyms)
    .split(';')
    .map((group) => group.split(/\s+/).filter(Boolean))
  const words = plain(sought)
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => [word, ...groups.filter((group) => group.includes(word)).flat()])
  const [first] = words
  if (!first) return []
  const hasAll = (text: string) => words.every((one) => one.some((word) => text.includes(word)))
  const rank = ({ kind, title, words: names, text }: SearchEntry): number | undefined => {
    const head = plain(title)
    if (!hasAll(plain(`${title} ${names} ${text}`))) return undefined
    if (!hasAll(plain(`${title} ${names}`))) return kind === 'setting' ? 6 : 7
    const place = head.startsWith(first[0] as string) ? 0 : hasAll(head) ? 1 : 2
    return place + (kind === 'page' ? 0 : 3)
  }
  return entries
    .flatMap((entry) => {
      const own = rank(entry)
      return own === undefined ? [] : [{ entry, own }]
    })
    .sort((a, b) => a.own - b.own)
    .slice(0, most)
    .map(({ entry }) => entry)
}
