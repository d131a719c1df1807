/** Search over pages and settings. Pure. */
export interface SearchEntry {
  readonly title: string
  /** What else people call it, in the language of the page; for a setting its key and description. */
  readonly words: string
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

/** All words must occur; a title that begins with the first one comes first, then titles, then pages. */
export function findIn(entries: readonly SearchEntry[], sought: string): readonly SearchEntry[] {
  const words = plain(sought).split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const rank = ({ title, kind }: SearchEntry) => {
    const head = plain(title)
    return (
      (head.startsWith(words[0] as string) ? 0 : words.every((word) => head.includes(word)) ? 1 : 2) +
      (kind === 'page' ? 0 : 3)
    )
  }
  return entries
    .filter(({ title, words: more }) => {
      const text = plain(`${title} ${more}`)
      return words.every((word) => text.includes(word))
    })
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, most)
}
