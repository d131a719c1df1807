/** Names that a mistyped name probably means. Pure: the page uses it too. */
import { distance } from 'fastest-levenshtein'

/** Up to three names that were probably meant, the nearest first. */
export function nearest(name: string, names: Iterable<string>): string[] {
  return [...names]
    .map((known) => ({ known, steps: known.startsWith(name) && name.length > 2 ? 1 : distance(name, known) }))
    .filter(({ known, steps }) => steps <= mostSteps(name, known))
    .sort((a, b) => a.steps - b.steps)
    .slice(0, 3)
    .map(({ known }) => known)
}

/** More than half of a short name is not a typo: `port` is not `host`. Two letters that changed places are. */
function mostSteps(name: string, known: string): number {
  const letters = (word: string) => [...word].sort().join('')
  if (known.length <= 4 && letters(name) !== letters(known)) return 1
  return Math.max(2, known.length / 3)
}

/** For a message about a name that is not known: ` (did you mean "x"?)`, '' when none is near. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const [like] = nearest(name, names)
  return like === undefined ? '' : ` (did you mean "${like}"?)`
}
