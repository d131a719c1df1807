/** The words and operators of a shell line, with quotes and the positional parameters resolved. */

export type Token = { kind: 'word'; text: string } | { kind: 'operator'; text: string }

/** Longest first. */
const operators = [
  '2>&1',
  '2>>',
  '2>',
  '1>&2',
  '&>',
  '>&2',
  '&&',
  '||',
  '>>',
  '>',
  '<',
  ';',
  '&',
  '|',
  '(',
  ')',
  '{',
  '}',
  '\n',
]

/** @throws what the simulated shell does not know: substitutions */
export function lex(line: string, parameters: readonly string[]): Token[] {
  const tokens: Token[] = []
  let word: string | undefined
  let at = 0
  const endWord = () => {
    if (word !== undefined) tokens.push({ kind: 'word', text: word })
    word = undefined
  }
  const add = (text: string) => {
    word = (word ?? '') + text
  }
  const variable = () => {
    const [all, name] = /^\$\{?(\d|@|\*|#|\?|!|\$)\}?/.exec(line.slice(at)) ?? []
    if (all === undefined || name === undefined) throw new Error(`syntax not simulated: ${line.slice(at, at + 20)}`)
    at += all.length
    if (name === '@' || name === '*') add(parameters.slice(1).join(' '))
    else if (name === '#') add(String(Math.max(0, parameters.length - 1)))
    else if (/\d/.test(name)) add(parameters[Number(name)] ?? '')
    else add('0')
  }
  const doubleQuoted = () => {
    add('')
    for (at++; line[at] !== '"'; ) {
      const char = line[at]
      if (char === undefined) throw new Error('unterminated quoted string')
      if (char === '`') throw new Error('syntax not simulated: `')
      if (char === '$') variable()
      else if (char === '\\' && '\\"$`'.includes(line[at + 1] ?? ' ')) {
        add(line[at + 1] ?? '')
        at += 2
      } else {
        add(char)
        at++
      }
    }
    at++
  }
  while (at < line.length) {
    const char = line[at] ?? ''
    if (char === ' ' || char === '\t') {
      endWord()
      at++
    } else if (char === "'") {
      const end = line.indexOf("'", at + 1)
      if (end < 0) throw new Error('unterminated quoted string')
      add(line.slice(at + 1, end))
      at = end + 1
    } else if (char === '"') doubleQuoted()
    else if (char === '\\') {
      add(line[at + 1] ?? '')
      at += 2
    } else if (char === '$') variable()
    else if (char === '`') throw new Error('syntax not simulated: `')
    else {
      const operator = operators.find((one) => line.startsWith(one, at))
      // `{` and `}` are words of their own, `2>` begins one.
      const free = operator !== undefined && (word === undefined || !/^[{}12]/.test(operator))
      if (free && !(/^[{}]$/.test(operator) && !/[\s;]|^$/.test(line[at + 1] ?? ''))) {
        endWord()
        tokens.push({ kind: 'operator', text: operator })
        at += operator.length
      } else {
        add(char)
        at++
      }
    }
  }
  endWord()
  return tokens
}
