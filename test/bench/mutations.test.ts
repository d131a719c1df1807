/** Each part of the bench sees the fault that is written for it (mutations.ts): `npm run test:machine bench-mutations`, ten minutes. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { machineOnly } from '../harness/sample.js'
import { TreeCopy } from '../mutants/tree-copy.js'
import { benchMutations } from './mutations.js'
import { parts } from './parts.js'

const root = packageRoot()
const chosen = process.env.RTK_BASE_BENCH_PARTS?.split(',')
const pieces = (text: string, part: string) => text.split(part).length - 1

t.test('there is a fault for each part, and its place is still there', (t) => {
  t.same(new Set(benchMutations.map(({ part }) => part)), new Set(Object.keys(parts)))
  for (const { part, file, before } of benchMutations) {
    t.equal(pieces(readFileSync(join(root, file), 'utf8'), before), 1, `${part}: ${file}`)
  }
  t.end()
})

t.test('--smoke sees it', { skip: machineOnly, timeout: 0 }, async (t) => {
  using copy = new TreeCopy()
  /** As a person calls it, on what is changed now. */
  const smoke = (part: string) =>
    spawnSync(
      process.execPath,
      [join(copy.root, 'runtime', 'tools', 'build', 'bootstrap.mjs'), '--bench', '--smoke', part],
      {
        encoding: 'utf8',
        env: copy.env,
      },
    )
  for (const { part, file, before, after } of benchMutations.filter((one) => !chosen || chosen.includes(one.part))) {
    const mutated = copy.text(file).replace(before, () => after)
    const { status, stdout } = await copy.changed([file], mutated, () => smoke(part))
    const [, faults = ''] = stdout.split('\nFaults:\n')
    t.comment(`${part}: ${faults.split('\n')[0]}`)
    t.equal(status, 1, `${part}: ${stdout.slice(-1_000)}`)
    t.match(faults, new RegExp(`^${part}: `), part)
  }
})
