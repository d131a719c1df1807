/**
 * `npm test [-- NAME…]`: runs test files in a few processes, several at a time, and prints a page. A name is a file (`plugins/reference/raw`, `raw`,
 * `build/test/plugins/reference/raw.test.js`) or a folder. Exits with 1 if a test failed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Readable } from 'node:stream'
import type { Comment, FileReport } from './file-report.js'
import { type Group, groupsOf, testFiles } from './plan.js'
import { closingLine, failureText, groupLine, skipLines, slowest } from './report.js'

/** On the machine one file takes two hours, or what RTK_BASE_SOAK_MIN says. */
const machine_min = Number(process.env.RTK_BASE_SOAK_MIN ?? 120) + 60
/** A last resort: it decides nothing while a test runs. */
const fileLimit_ms = process.env.RTK_BASE_TEST === 'machine' ? machine_min * 60_000 : 900_000
/** Between the last result and the end of its process: servers close meanwhile. */
const endLimit_ms = 120_000
/** Of what a process printed beside its results. */
const printed_lines = 30

function chosen(files: readonly string[], names: readonly string[]): string[] {
  if (names.length === 0) return [...files]
  const unnamed: string[] = []
  const found = names.flatMap((name) => {
    const path = name.replace(/^(build\/)?test\//, '').replace(/\.test\.[jt]s$|\/$/, '')
    const found = files.filter((file) => `${file}/`.startsWith(`${path}/`))
    // By its name alone, as `soak`.
    if (found.length === 0) found.push(...files.filter((file) => `/${file}/`.includes(`/${path}/`)))
    if (found.length === 0) unnamed.push(name)
    return found
  })
  if (unnamed.length > 0) {
    console.error(`no test is named ${unnamed.join(', ')}: name a file or a folder below test/`)
    process.exit(2)
  }
  return found
}

const failed = (file: string, name: string, details: Record<string, unknown>, log: string[]): FileReport => ({
  file,
  ...{ passed: 0, failed: 1, skipped: 0, skips: [], duration_ms: 0, cpu_ms: 0 },
  failures: [{ name, details, log }],
})

/** Figures and progress, where somebody waits for these files. */
const showsComments = process.argv.length > 2 || process.env.RTK_BASE_TEST === 'machine'

/** They have process groups of their own, which a signal to this process does not reach. */
const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach(killGroup))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/** Runs the files in one process; after a crash the files that are left in another one. */
async function run(files: readonly string[], told: (report: FileReport) => void): Promise<void> {
  const left = [...files]
  while (left.length > 0) {
    const child = fork(`${import.meta.dirname}/files.js`, left, {
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, TAP_TIMEOUT: String(fileLimit_ms / 1000) },
      detached: true,
    })
    running.add(child)
    const printed = lastLines(child)
    let last = ''
    let timer = setTimeout(killGroup, fileLimit_ms + endLimit_ms, child)
    child.on('message', (report: FileReport | Comment) => {
      if ('comment' in report && showsComments) console.log(report.comment)
      // tap tells its time limits by the same way.
      if (!('file' in report)) return
      clearTimeout(timer)
      last = left.shift() ?? ''
      timer = setTimeout(killGroup, left.length > 0 ? fileLimit_ms + endLimit_ms : endLimit_ms, child)
      told(report)
    })
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.on('close', (...end) => resolve(end)),
    )
    clearTimeout(timer)
    running.delete(child)
    const [crashed] = left
    if (crashed !== undefined) {
      told(failed(crashed, 'its process ended before its last test', { code, signal }, printed()))
      left.shift()
    } else if (code !== 0) {
      told(failed(last, 'its process did not end by itself: something is left open', { code, signal }, printed()))
    }
  }
}

/** What the process printed last. */
function lastLines(child: ChildProcess): () => string[] {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    if (stream instanceof Readable)
      stream.on('data', (chunk: Buffer) => {
        text = (text + chunk).slice(-64_000)
      })
  }
  return () => text.trimEnd().split('\n').slice(-printed_lines)
}

/** It and the programs that it started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

const reports: FileReport[] = []

async function runGroup({ name, files }: Group): Promise<void> {
  const own: FileReport[] = []
  await run(files, (report) => {
    own.push(report)
    reports.push(report)
    for (const failure of report.failures) console.log(failureText(report.file, failure))
  })
  console.log(groupLine(name, own))
}

const cores = availableParallelism()

/**
 * Groups that compute and groups that wait, side by side: as many of each as there are processors. Where one kind is left, some more of
 * them: tests that compute also wait for files and sockets now and then.
 */
async function runAll(groups: readonly Group[]): Promise<void> {
  const kinds = [false, true].map((waits) => ({
    groups: groups.filter((group) => group.waits === waits),
    begun: new Set<Promise<void>>(),
    alone: waits ? 2 * cores : cores + 1,
  }))
  for (;;) {
    for (const [n, { groups, begun, alone }] of kinds.entries()) {
      const other = kinds[1 - n]
      const room = other && other.groups.length + other.begun.size > 0 ? cores : alone
      while (begun.size < room && groups.length > 0) {
        const end = runGroup(groups.shift() as Group).finally(() => begun.delete(end))
        begun.add(end)
      }
    }
    const begun = kinds.flatMap((kind) => [...kind.begun])
    if (begun.length === 0) return
    await Promise.race(begun)
  }
}

const started = performance.now()
await runAll(groupsOf(chosen(testFiles(), process.argv.slice(2))))
for (const line of skipLines(reports)) console.log(line)
if (reports.length > 20) console.log(['the slowest files:', ...slowest(reports, 10)].join('\n'))
writeFileSync('build/test-report.json', JSON.stringify(reports, null, 1))
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`)
console.log(closingLine(reports))
process.exitCode = reports.every(({ failed }) => failed === 0) ? 0 : 1
