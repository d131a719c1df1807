/** From words to commands: lists, pipelines, groups and redirections, as far as clients use them in `sh -c`. */
import type { Token } from './lexer.js'

export interface Redirection {
  stream: 'stdin' | 'stdout' | 'stderr' | 'both'
  append: boolean
  file: string
}
export interface Command {
  words: string[]
  /** In place of words: a group. */
  group?: Step[]
  /** The group is `( … )`: `exit` ends it alone. */
  subshell: boolean
  redirections: Redirection[]
  /** `2>&1` */
  merged: boolean
}
export interface Step {
  pipeline: Command[]
  /** When it runs, by how the step before ended. */
  when: 'always' | 'success' | 'failure'
  background: boolean
}

const redirections: Record<string, Omit<Redirection, 'file'>> = {
  '>': { stream: 'stdout', append: false },
  '>>': { stream: 'stdout', append: true },
  '2>': { stream: 'stderr', append: false },
  '2>>': { stream: 'stderr', append: true },
  '&>': { stream: 'both', append: false },
  '<': { stream: 'stdin', append: false },
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  list(end?: string): Step[] {
    const steps: Step[] = []
    let when: Step['when'] = 'always'
    for (;;) {
      while (this.#take(';') || this.#take('\n'));
      if (this.#at >= this.#tokens.length || this.#peek(end)) break
      const step: Step = { pipeline: this.#pipeline(), when, background: false }
      steps.push(step)
      when = 'always'
      if (this.#take('&&')) when = 'success'
      else if (this.#take('||')) when = 'failure'
      else if (this.#take('&')) step.background = true
      else if (this.#at < this.#tokens.length && !this.#peek(';') && !this.#peek('\n') && !this.#peek(end)) {
        throw new Error(`syntax error: unexpected "${this.#tokens[this.#at]?.text}"`)
      }
    }
    if (end !== undefined && !this.#take(end)) throw new Error(`syntax error: expecting "${end}"`)
    return steps
  }

  #pipeline(): Command[] {
    const commands = [this.#command()]
    while (this.#take('|')) commands.push(this.#command())
    return commands
  }

  #command(): Command {
    const command: Command = { words: [], subshell: false, redirections: [], merged: false }
    if (this.#take('(')) {
      command.group = this.list(')')
      command.subshell = true
    } else if (this.#take('{')) command.group = this.list('}')
    for (let token = this.#tokens[this.#at]; token !== undefined; token = this.#tokens[this.#at]) {
      if (token.kind === 'word') {
        command.words.push(token.text)
        this.#at++
      } else if (Object.hasOwn(redirections, token.text)) {
        const file = this.#tokens[this.#at + 1]
        if (file?.kind !== 'word') throw new Error('syntax error: redirection without a file')
        command.redirections.push({ ...(redirections[token.text] as Omit<Redirection, 'file'>), file: file.text })
        this.#at += 2
      } else if (token.text === '2>&1') {
        command.merged = true
        this.#at++
      } else if (token.text === '1>&2' || token.text === '>&2') this.#at++
      else break
    }
    if (command.words.length === 0 && command.group === undefined) throw new Error('syntax error: a command is missing')
    return command
  }

  #peek(text: string | undefined): boolean {
    const token = this.#tokens[this.#at]
    return token?.kind === 'operator' && token.text === text
  }
  #take(text: string): boolean {
    const found = this.#peek(text)
    if (found) this.#at++
    return found
  }
}

export const parse = (tokens: readonly Token[]): Step[] => new Parser(tokens).list()
