/**
 * Runs the test files named by its arguments, one after the other, in this process: a start of Node, of tap and of the harness costs half a
 * second, and code that is warm runs faster. Each file sees a `t` of its own. Tells the parent the result of each.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { forgetLines, lastLines } from '../harness/last-log.js'
import { type Comment, type Failure, type FileReport, testKey } from './file-report.js'

const globals = globalThis as unknown as Record<symbol, unknown>
/** Away from the arguments: tap names the folders of fixtures after those. */
const files = process.argv.splice(2)

let current: Test | undefined
const ofCurrent: ProxyHandler<object> = {
  get: (_, name) => {
    const member: unknown = current && Reflect.get(current, name)
    return typeof member === 'function' ? member.bind(current) : member
  },
  set: (_, name, value) => current !== undefined && Reflect.set(current, name, value),
}
// Before tap is loaded, which takes it as its default export.
globals[testKey] = new Proxy({}, ofCurrent)
const { t: root } = await import('tap')

// Its results are told as messages: nobody reads the text.
root.pipe(new Writable({ write: (_chunk, _encoding, done) => done() }))
root.setTimeout(0)

const tick_ms = 10

/** Of this process and of its children that have ended, ms: utime, stime, cutime, cstime of proc(5). Elsewhere without the children. */
function processorTime(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  return tick_ms * fields.reduce((sum, field) => sum + Number(field), 0)
}

async function run(file: string): Promise<FileReport> {
  forgetLines()
  const failures: Failure[] = []
  const skips: string[] = []
  const started = performance.now()
  const before = processorTime()
  const environment = { ...process.env }
  const folder = process.cwd()
  let test: Test = root
  await root.test(file, { timeout: Number(process.env.TAP_TIMEOUT ?? 900) * 1000 }, async (t) => {
    test = t
    current = t
    tellComments(t.parser)
    t.parser.on('result', ({ ok, todo, skip, fullname, diag }) => {
      const name = fullname.slice(`${file} > `.length)
      if (skip) skips.push(`${name}: ${skip}`)
      else if (!ok && !todo) failures.push({ name, details: diag ?? {}, log: lastLines() })
    })
    await import(pathToFileURL(join('build', 'test', `${file}.test.js`)).href)
  })
  const { pass, fail, skip, todo, total } = test.counts
  if (total === 0) failures.push({ name: 'has a test', details: {}, log: [] })
  const names = Object.keys({ ...environment, ...process.env })
  const changed = names.filter((name) => environment[name] !== process.env[name])
  if (process.cwd() !== folder) changed.push('the working directory')
  if (changed.length > 0) failures.push({ name: 'leaves the process as it was', details: { changed }, log: [] })
  return {
    file,
    passed: pass,
    failed: Math.max(fail, failures.length),
    skipped: skip + todo,
    failures,
    skips,
    duration_ms: performance.now() - started,
    cpu_ms: processorTime() - before,
  }
}

/** What tests say, at once: some take an hour. */
function tellComments(parser: Test['parser']): void {
  parser.on('comment', (line: string) => {
    if (!/^# (Subtest|time=)/.test(line)) process.send?.({ comment: line.trimEnd() } satisfies Comment)
  })
  parser.on('child', tellComments)
}

for (const file of files) process.send?.(await run(file))
process.disconnect()
