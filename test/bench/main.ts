/**
 * `npm run bench [PART…]`: measures the budgets of the design, each beside a peer in the same run where there is one. Prints a table;
 * exits with 1 when a budget is missed. With `--smoke` the same code on a small scale: exits with 1 at a crash, a loss, a warning or an
 * absurd figure. With `--against REF` both commits in turns. With `--part N/M` a share of a part that takes hours.
 */

import { parseArgs } from 'node:util'
import { compare } from './against.js'
import { hostShare } from './host.js'
import { conditions, writePage } from './page.js'
import { shareOf } from './part.js'
import { parts } from './parts.js'
import { endParts, type Outcome, runPart } from './run-part.js'
import { smoke } from './smoke.js'
import { row } from './table.js'

const longParts = Object.keys(parts).filter((name) => parts[name]?.isLong)
const usage = `npm run bench [-- --smoke | --against REF | --part N/M | --page] [PART…]
  --smoke        every part on a small scale, in seconds: exit 1 at a crash, a loss, a warning or an absurd figure
  --against REF  this commit and that one in turns; with --smoke on a small scale
  --part N/M     the N-th of M shares of a long part, e.g. moves --part 2/8
  --page         also writes the figures into runtime/docs/performance.md
  parts: ${Object.keys(parts).join(', ')}
  (in full only when named: ${longParts.join(', ')})`

function failUsage(text: string): never {
  console.error(text)
  process.exit(2)
}

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        smoke: { type: 'boolean', default: false },
        against: { type: 'string' },
        part: { type: 'string' },
        page: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return failUsage(`${(error as Error).message}\n${usage}`)
  }
}

const { values, positionals } = options()
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const unknown = positionals.find((name) => !(name in parts))
if (unknown !== undefined) failUsage(`there is no part ${unknown}\n${usage}`)
const share = values.part === undefined ? undefined : shareOf(values.part)
if (values.part !== undefined) {
  if (!share) failUsage(`--part ${values.part}: for the second of eight shares write 2/8\n${usage}`)
  if (values.smoke || values.against || values.page) failUsage(`--part measures a share in full, and no page\n${usage}`)
  const named = await Promise.all(positionals.map(async (name) => ({ name, part: await parts[name]?.load() })))
  const whole = named.find(({ part }) => !part?.isDivisible)?.name ?? (named.length === 0 ? '' : undefined)
  if (whole !== undefined)
    failUsage(`--part needs a part that is divisible, e.g. moves; ${whole || 'none'} is not\n${usage}`)
}
const isNamed = positionals.length > 0
const wanted = Object.keys(parts).filter((name) =>
  isNamed ? positionals.includes(name) : values.smoke || !parts[name]?.isLong,
)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endParts()
    process.exit(1)
  })
}

/** Each part in full, one after the other. */
async function measure(): Promise<boolean> {
  const under = conditions()
  const outcomes = new Map<string, Outcome>()
  let missed = 0
  for (const name of wanted) {
    console.log(`\n${name}`)
    const host = hostShare()
    const outcome = await runPart(name, { size: 'full', share, progress: (text) => console.error(`  ${text}`) })
    outcomes.set(name, outcome)
    if (outcome.skipped !== undefined) console.log(`  skipped: ${outcome.skipped}`)
    for (const reason of outcome.leftOut) console.log(`  left out: ${reason}`)
    for (const fault of outcome.faults) console.log(`  ${fault}`)
    for (const measurement of [...outcome.measurements, host()]) console.log(row(measurement))
    missed += outcome.faults.length + outcome.measurements.filter(({ ok }) => ok === false).length
  }
  console.log(missed > 0 ? `\n${missed} budgets missed` : '\nall budgets met')
  if (values.page) writePage(outcomes, under)
  return missed === 0
}

const isGood = values.against
  ? await compare(values.against, wanted, values.smoke ? 'smoke' : 'full')
  : values.smoke
    ? await smoke(wanted)
    : await measure()
process.exit(isGood ? 0 : 1)
