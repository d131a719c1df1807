/**
 * `npm run test:repeat -- [--times N] [--load N] [--nice N] [--to FILE]`: the whole `npm test` again and again, beside processes that keep
 * processors busy, or at a low priority. Appends a line for each run to FILE (`test-runs.tsv`), so that runs may spread over days.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync } from 'node:fs'
import { loadavg, setPriority } from 'node:os'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '1' },
    load: { type: 'string', default: '0' },
    nice: { type: 'string', default: '0' },
    to: { type: 'string', default: 'test-runs.tsv' },
  },
})
const [times, load, nice] = [values.times, values.load, values.nice].map(Number) as [number, number, number]
/** Should this program be killed, they end by themselves. */
const busy =
  'const parent = process.ppid; for (;;) for (let i = 0; i < 1e9; i++) if (i === 0 && process.ppid !== parent) process.exit()'

function startLoad(): () => void {
  const children: ChildProcess[] = Array.from({ length: load }, () => spawn(process.execPath, ['-e', busy]))
  return () => {
    for (const child of children) child.kill('SIGKILL')
  }
}

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const commit = () => `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '-uno') ? '+' : ''}`

if (!existsSync(values.to)) {
  const columns = ['date', 'commit', 'load', 'nice', 'average', 'seconds', 'passed', 'failed', 'skipped', 'failures']
  appendFileSync(values.to, `${columns.join('\t')}\n`)
}
let red = 0
for (let n = 0; n < times; n++) {
  const endLoad = startLoad()
  process.once('exit', endLoad)
  const started = performance.now()
  const child = spawn('npm', ['test'], { stdio: ['ignore', 'pipe', 'inherit'] })
  if (child.pid !== undefined && nice !== 0) setPriority(child.pid, nice)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  endLoad()
  process.off('exit', endLoad)
  const seconds = Math.round((performance.now() - started) / 1000)
  const counts = /(\d+) passed, (\d+) failed, (\d+) skipped\s*$/.exec(output)?.slice(1) ?? ['', '', '']
  const failures = [...output.matchAll(/^FAILED (.*)$/gm)].map(([, what]) => what)
  if (code !== 0) {
    red += 1
    if (failures.length === 0) failures.push(`ended with ${code}`)
    console.log(output)
  }
  // Of the last five minutes, the tests' own included: other work may have been a load, too.
  const average = (loadavg()[1] as number).toFixed(1)
  const row = [new Date().toISOString(), commit(), load, nice, average, seconds, ...counts, failures.join(' | ')]
  appendFileSync(values.to, `${row.join('\t')}\n`)
  console.log(row.join('\t'))
}
console.log(`${times - red} green, ${red} red`)
process.exitCode = red === 0 ? 0 : 1
