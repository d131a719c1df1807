/** How a mountpoint is found by what a client asks for. */

/**
 * By its exact name, or in other letters, as people type what they read: two that differ in nothing else are told apart.
 * @returns the one of `names` that is meant
 */
export function spelledLike(names: Iterable<string>, asked: string): string | undefined {
  let like: string | undefined
  for (const name of names) {
    if (name === asked) return name
    if (like === undefined && name.toLowerCase() === asked.toLowerCase()) like = name
  }
  return like
}
