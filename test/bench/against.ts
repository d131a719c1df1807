/** `--against REF`: this tree and another commit in turns, within the same minutes, both driven by the bench of this tree. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'
import { hostShare } from './host.js'
import { quantile } from './measurement.js'
import { parts } from './parts.js'
import { runPart, type SizeName } from './run-part.js'
import { number } from './table.js'
import { entryOf } from './tree.js'

const rounds = { full: 4, smoke: 3 } as const
/** Percent; when the host of a virtual machine takes more, the figures mean nothing. */
const mostStolen = 5
/** So often a part is measured again then. */
const tries = 3

/** A figure of one part, by rounds. */
interface Compared {
  readonly name: string
  readonly unit: string
  readonly here: readonly number[]
  readonly there: readonly number[]
}

interface Comparison {
  readonly part: string
  /** Why there are no figures. */
  readonly reason?: string
  readonly stolen: number
  readonly figures: readonly Compared[]
  readonly faults: readonly string[]
}

const root = packageRoot()
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

/** A checkout of the commit beside other temporary files, installed and built once. @returns its root */
function treeOf(commit: string): string {
  const folder = join(tmpdir(), 'rtk-base-against', commit)
  if (!existsSync(join(folder, 'package.json'))) {
    mkdirSync(dirname(folder), { recursive: true })
    // What was removed by hand is still known.
    git('worktree', 'prune')
    git('worktree', 'add', '--quiet', '--detach', folder, commit)
  }
  const lock = (of: string) => readFileSync(join(of, 'package-lock.json'), 'utf8')
  const modules = join(folder, 'node_modules')
  if (!existsSync(modules) && lock(folder) === lock(root)) {
    const copy = (flags: string) => execFileSync('cp', [flags, join(root, 'node_modules'), modules])
    try {
      copy('-al')
    } catch {
      // On another file system there are no hard links.
      copy('-a')
    }
  }
  // It installs what is missing, and builds what is newer.
  execFileSync(process.execPath, [entryOf(folder), '--help'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  return folder
}

/** One part in turns: here, there, here, there … */
async function inTurns(part: string, tree: string, size: SizeName): Promise<Comparison> {
  const figures = new Map<string, { unit: string; here: number[]; there: number[] }>()
  const faults: string[] = []
  const host = hostShare()
  for (let round = 0; round < rounds[size]; round++) {
    for (const side of ['here', 'there'] as const) {
      const outcome = await runPart(part, { size, ...(side === 'there' && { tree }) })
      if (outcome.skipped !== undefined) return { part, reason: outcome.skipped, stolen: 0, figures: [], faults }
      faults.push(...outcome.faults.map((fault) => `${part}, ${side}: ${fault}`))
      for (const { name, unit, value } of outcome.measurements) {
        const of = figures.get(name) ?? { unit, here: [], there: [] }
        of[side].push(value)
        figures.set(name, of)
      }
    }
  }
  const compared = [...figures].map(([name, values]): Compared => ({ name, ...values }))
  return { part, stolen: host().value, figures: compared, faults }
}

async function compared(part: string, tree: string, size: SizeName): Promise<Comparison> {
  const reason = (await parts[part]?.load())?.notComparable
  if (reason !== undefined) return { part, reason, stolen: 0, figures: [], faults: [] }
  let last: Comparison
  let attempt = 0
  do {
    attempt++
    last = await inTurns(part, tree, size)
    console.error(`${part}: the host of this machine took ${number(last.stolen)} % of the processor time`)
  } while (last.stolen > mostStolen && attempt < tries)
  return last
}

/** Of each round: here beside there. */
export function ratios({ here, there }: Pick<Compared, 'here' | 'there'>): number[] {
  return here.flatMap((value, n) => {
    const other = there[n]
    if (other === undefined) return []
    return value === other ? [1] : [value / other]
  })
}

function line(figure: Compared): string {
  const all = ratios(figure)
  const isKnown = all.length > 0 && all.every(Number.isFinite)
  const spread = isKnown ? `${number(Math.min(...all))} - ${number(Math.max(...all))}` : ''
  const columns = [
    figure.name.padEnd(68),
    number(quantile(figure.here, 0.5)).padStart(10),
    number(quantile(figure.there, 0.5)).padStart(10),
    figure.unit.padEnd(7),
    (isKnown ? number(quantile(all, 0.5)) : '').padStart(6),
    spread.padStart(14),
  ]
  return `  ${columns.join(' ')}`.trimEnd()
}

function table(comparisons: readonly Comparison[], size: SizeName): string {
  const head = ['median of the rounds'.padEnd(68), 'here'.padStart(10), 'there'.padStart(10), ''.padEnd(7)]
  const lines = [`  ${[...head, 'ratio'.padStart(6), 'of the rounds'.padStart(14)].join(' ')}`]
  for (const { part, reason, stolen, figures } of comparisons) {
    if (reason !== undefined) {
      lines.push(`${part}: not comparable: ${reason}`)
      continue
    }
    lines.push(`${part}: ${rounds[size]} rounds, the host took ${number(stolen)} %`)
    if (stolen > mostStolen) lines.push('  The host of this machine took too much: these figures mean nothing.')
    lines.push(...figures.map(line))
  }
  return lines.join('\n')
}

/** @returns whether there was no fault */
export async function compare(ref: string, wanted: readonly string[], size: SizeName): Promise<boolean> {
  const commit = git('rev-parse', '--verify', `${ref}^{commit}`)
  const isChanged = git('status', '--porcelain') !== ''
  console.error(`preparing ${commit} …`)
  const tree = treeOf(commit)
  const load = loadavg()[0] ?? 0
  const comparisons: Comparison[] = []
  for (const part of wanted) comparisons.push(await compared(part, tree, size))
  const here = `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`
  console.log(
    `\nhere: ${here}; there: ${git('rev-parse', '--short', commit)}${size === 'smoke' ? '; small sizes' : ''}`,
  )
  console.log(`load of this machine when it began: ${number(load)}, on ${cpus().length} processors`)
  console.log(table(comparisons, size))
  const faults = comparisons.flatMap((comparison) => comparison.faults)
  for (const fault of faults) console.log(fault)
  return faults.length === 0
}
