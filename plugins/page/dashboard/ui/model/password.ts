/** Passwords that the page suggests. */

/** Letters and digits that are not mixed up when read aloud. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Twelve characters in groups of four: 60 bits. */
export function newPassword(): string {
  // 256 is a multiple of 32: every letter is as likely.
  const letters = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => alphabet[byte % alphabet.length])
  return [letters.slice(0, 4), letters.slice(4, 8), letters.slice(8)].map((part) => part.join('')).join('-')
}
