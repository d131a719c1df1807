/** Changes one module at a time in a copy of the project, and runs the tests of its area there. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { basename, join } from 'node:path'
import { type Mutation, mutate } from './operators.js'
import { TreeCopy } from './tree-copy.js'

/** `hung`: only a time limit ended a test. `unnoticed`: every test passed. */
export type Verdict = 'noticed' | 'hung' | 'unnoticed'

/** Of the limit of a test file: so many times what it takes on unchanged code, as the machine has other work. */
const patience = 3
const least_ms = 15_000
/** Of a test file with all that the gate runs: nobody measures how long it takes. */
const gate_ms = 600_000

export class Workshop implements Disposable {
  readonly #copy = new TreeCopy()
  readonly #took_ms = new Map<string, number>()

  /** The transpiled form of a source. */
  code(source: string): string {
    return this.#copy.text(built(source))
  }

  [Symbol.dispose](): void {
    this.#copy[Symbol.dispose]()
  }

  /** `file:line` of the source, and the line before and after the change. */
  describe(source: string, mutation: Mutation): { place: string; before: string; after: string } {
    const code = this.code(source)
    const map = new SourceMap(JSON.parse(this.#copy.text(`${built(source)}.map`)) as SourceMapPayload)
    const before = code.slice(0, mutation.start).split('\n')
    const origin = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0)
    const line = 'originalLine' in origin ? origin.originalLine + 1 : 0
    const from = code.lastIndexOf('\n', mutation.start - 1) + 1
    const to = code.indexOf('\n', mutation.end)
    const text = (whole: string, end: number) => whole.slice(from, end).trim().replace(/\s+/g, ' ')
    const grown = mutation.text.length - (mutation.end - mutation.start)
    return { place: `${source}:${line}`, before: text(code, to), after: text(mutate(code, mutation), to + grown) }
  }

  /** Runs the tests on unchanged code; @returns those that fail, which could not judge. */
  async measure(tests: readonly string[]): Promise<string[]> {
    const failed: string[] = []
    for (const test of tests) {
      if (this.#took_ms.has(test)) continue
      const started = performance.now()
      if ((await this.#run(test, 600_000)) !== 'unnoticed') failed.push(test)
      this.#took_ms.set(test, performance.now() - started)
    }
    return failed
  }

  /** Runs the tests, the quickest first, on changed code until one notices; those that `npm test` leaves out come last. */
  async judge(source: string, mutation: Mutation, tests: readonly string[]): Promise<Verdict> {
    return this.#copy.changed(formsOf(source), mutate(this.code(source), mutation), async () => {
      let hung = false
      const took_ms = (test: string) => this.#took_ms.get(test) ?? 0
      const sorted = [...tests].sort((a, b) => took_ms(a) - took_ms(b))
      for (const test of sorted) {
        const verdict = await this.#run(test, Math.max(least_ms, patience * took_ms(test)))
        if (verdict === 'noticed') return verdict
        hung ||= verdict === 'hung'
      }
      for (const test of sorted.filter((test) => this.#hasMoreInGate(test))) {
        const verdict = await this.#run(test, gate_ms, { CI: 'true' })
        if (verdict === 'noticed') return verdict
      }
      return hung ? 'hung' : 'unnoticed'
    })
  }

  #hasMoreInGate(test: string): boolean {
    return /\b(gateOnly|few|sample)\b/.test(this.#copy.text(join('build', 'test', `${test}.test.js`)))
  }

  /** A failure with a reason is noticing; the end of a time limit is not, whether the test's own or this one. */
  #run(test: string, limit_ms: number, more: NodeJS.ProcessEnv = {}): Promise<Verdict> {
    const env: NodeJS.ProcessEnv = {
      ...this.#copy.env,
      TAP: '1',
      TAP_TIMEOUT: String(Math.ceil(limit_ms / 1000)),
      ...more,
    }
    delete env.RTK_BASE_TEST
    // What waits for so long waits in vain: unchanged code is through by then. That fails with a reason before the time is over.
    env.RTK_BASE_WAIT_MS = String((limit_ms * 2) / 3)
    const file = join('build', 'test', `${test}.test.js`)
    const child = spawn(process.execPath, [file], {
      cwd: this.#copy.root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new Promise((done) => {
      let text = ''
      let verdict: Verdict | undefined
      const end = (found: Verdict) => {
        verdict ??= found
        if (child.pid !== undefined) killGroup(child.pid)
      }
      const timer = setTimeout(end, limit_ms, 'hung' as const)
      const read = (chunk: Buffer) => {
        text += chunk
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          if (/^\s*not ok/.test(line) && !/# (TODO|SKIP)/.test(line))
            end(/timeout!|timed out/.test(line) ? 'hung' : 'noticed')
        }
      }
      child.stdout.on('data', read)
      child.on('close', (code) => {
        clearTimeout(timer)
        // Without a line of its own a process that ends wrongly threw before the first test.
        done(verdict ?? (code === 0 ? 'unnoticed' : 'noticed'))
      })
      child.on('error', () => end('hung'))
    }).finally(() =>
      rmSync(join(this.#copy.root, '.tap', basename(test)), { recursive: true, force: true }),
    ) as Promise<Verdict>
  }
}

/** Where the build has the transpiled form of a source. */
const built = (source: string): string => join('build', source.replace(/\.ts$/, '.js'))

/** What a test imports is the transpiled form; a station that it starts bundles a shipped plugin from its source. */
const formsOf = (source: string): string[] => [built(source), ...(source.startsWith('plugins/') ? [source] : [])]

/** The test and the services that it started. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
