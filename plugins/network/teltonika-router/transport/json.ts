/** JSON of a router, which may be damaged, or meant to do harm. */

/** No answer of a router is deeper, or has more values: reading one would keep the station from everything else for too long. */
const deepest = 64
const mostValues = 50_000

const quotes = 0x22
const backslash = 0x5c
const comma = 0x2c
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])

/** Undefined when it is not JSON, or too much of it. */
export function parsedJson(text: string): unknown {
  if (isTooMuch(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Told by the punctuation outside of strings, before anything is made of it. */
function isTooMuch(text: string): boolean {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign === quotes) at = endOfString(text, at)
    else if (sign === comma) values++
    else if (opening.has(sign)) {
      depth++
      values++
    } else if (closing.has(sign)) depth--
    if (depth > deepest || values > mostValues) return true
  }
  return false
}

/** The index of the quotation mark that ends a string; the end of the text when there is none. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}
