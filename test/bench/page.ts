/** The page of figures: `npm run bench -- --page [PART…]` writes it, nobody else. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'
import type { Measurement } from './measurement.js'
import { parts } from './parts.js'
import type { Outcome } from './run-part.js'
import { number, verdict } from './table.js'

/** What the figures were measured with. */
export interface Conditions {
  /** Short; with a remark when the tree has changes. */
  readonly commit: string
  readonly date: string
  readonly machine: string
  readonly processors: number
  readonly node: string
  /** Of other programs, at the start: the mean number of processes that wanted a processor. */
  readonly load: number
}

export function conditions(): Conditions {
  const root = packageRoot()
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain') !== ''
  const all = cpus()
  return {
    commit: `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`,
    date: new Date().toISOString().slice(0, 10),
    machine: all[0]?.model ?? 'unknown',
    processors: all.length,
    node: process.version,
    load: loadavg()[0] ?? 0,
  }
}

/** Of each core. */
const mostLoad = 0.2

const cell = (text: string) => text.replaceAll('|', '\\|')

function row(measurement: Measurement): string {
  const { name, value, unit, budget = '' } = measurement
  const judgement = verdict(measurement)
  const shown = judgement === 'MISSED' ? '**missed**' : judgement
  return `| ${[cell(name), `${number(value)} ${unit}`.trim(), cell(budget), shown].join(' | ')} |`
}

function section([name, { skipped, leftOut, faults, measurements }]: [string, Outcome]): string {
  if (skipped !== undefined) return `## ${name}\n\nNot measured: ${skipped}.\n`
  const table = ['| figure | measured | budget | |', '|---|---|---|---|', ...measurements.map(row)]
  const remarks = leftOut.map((reason) => `Left out: ${reason}.`)
  return [`## ${name}`, ...remarks, ...faults.map((fault) => `**Fault:** ${fault}`), table.join('\n')]
    .join('\n\n')
    .concat('\n')
}

export function pageOf(
  outcomes: ReadonlyMap<string, Outcome>,
  { commit, date, machine, processors, node, load }: Conditions,
): string {
  const missing = Object.keys(parts).filter((name) => !outcomes.has(name))
  const judged = [...outcomes.values()].flatMap(({ measurements }) => measurements).filter(({ ok }) => ok !== undefined)
  const missed = judged.filter(({ ok }) => ok === false)
  const left = missing.length > 0 ? `\nNot in this run: ${missing.map((name) => `\`${name}\``).join(', ')}.\n` : ''
  const busy =
    load > mostLoad * processors
      ? `\nThe machine had other work meanwhile: times by the clock are longer than on one that is alone. Shares of a core, memory and losses are not affected much.\n`
      : ''
  return `# Performance

\`npm run bench -- --page [PART…]\` measures these figures and writes this page. Figures without a budget are there for comparison.

| | |
|---|---|
| commit | ${commit} |
| date | ${date} |
| machine | ${cell(machine)}, ${processors} cores |
| Node | ${node} |
| load of other programs when the run began | ${number(load)} |
| budgets met | ${judged.length - missed.length} of ${judged.length} |
${busy}${left}
${[...outcomes].map(section).join('\n')}`
}

export function writePage(outcomes: ReadonlyMap<string, Outcome>, under: Conditions): void {
  const file = join(packageRoot(), 'runtime', 'docs', 'performance.md')
  writeFileSync(file, pageOf(outcomes, under))
  console.log(`written: ${file}`)
}
