/**
 * Whether the tests of the code that decides can fail: one small change at a time, drawn by a seed, and the tests of its area have to notice
 * by an assertion. Half an hour: `npm run test:machine mutants`; RTK_BASE_SEED draws others, RTK_BASE_AREA takes some of the areas.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from 'rtk-base/simulation'
import t from 'tap'
import { filesBelow, packageRoot } from '../../runtime/platform/release.js'
import { machineOnly } from '../harness/sample.js'
import { type Area, areas } from './areas.js'
import { equivalents } from './equivalents.js'
import { type Mutation, mutationsOf } from './operators.js'
import { Workshop } from './workshop.js'

const seed = Number(process.env.RTK_BASE_SEED ?? 1)
const chosen = process.env.RTK_BASE_AREA?.split(',')
/** Of the mutations tried, noticed by an assertion. */
const wanted = { inEachArea: 0.85, inAll: 0.9 }

function sourcesOf({ code }: Area): string[] {
  const root = packageRoot()
  const files = code.flatMap((path) =>
    statSync(join(root, path)).isFile()
      ? [path]
      : [...filesBelow(join(root, path))].map((f) => f.slice(root.length + 1)),
  )
  return files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')).sort()
}

interface Drawn {
  readonly source: string
  readonly mutation: Mutation
}

/** Every source by turns, that a long one does not stand for its area; each operator of a source as likely as another. */
function draw(area: Area, workshop: Workshop, random: Random): Drawn[] {
  const pools = sourcesOf(area)
    .map((source) => ({ source, left: byOperator(mutationsOf(workshop.code(source))) }))
    .filter(({ left }) => left.size > 0)
  const take = <T>(list: T[]): T => list.splice(Math.floor(random.uniform() * list.length), 1)[0] as T
  const drawn: Drawn[] = []
  let round: typeof pools = []
  while (drawn.length < area.sample && (round.length > 0 || pools.some(({ left }) => left.size > 0))) {
    if (round.length === 0) round = pools.filter(({ left }) => left.size > 0)
    const { source, left } = take(round)
    const operator = [...left.keys()][Math.floor(random.uniform() * left.size)] as string
    const list = left.get(operator) as Mutation[]
    const mutation = take(list)
    if (list.length === 0) left.delete(operator)
    const { after } = workshop.describe(source, mutation)
    if (!equivalents.some((known) => known.source === source && after.includes(known.after))) {
      drawn.push({ source, mutation })
    }
  }
  return drawn
}

function byOperator(mutations: readonly Mutation[]): Map<string, Mutation[]> {
  const groups = new Map<string, Mutation[]>()
  for (const mutation of mutations) {
    const group = groups.get(mutation.operator)
    if (group) group.push(mutation)
    else groups.set(mutation.operator, [mutation])
  }
  return groups
}

t.test('areas and equivalents name files that exist', async (t) => {
  const named = [
    ...areas.flatMap(({ code, tests }) => [...code, ...tests.map((test) => `test/${test}.test.ts`)]),
    ...equivalents.map(({ source }) => source),
  ]
  t.same(
    named.filter((path) => !existsSync(join(packageRoot(), path))),
    [],
  )
})

t.test('the tests notice what a change of the code breaks', { skip: machineOnly, timeout: 0 }, async (t) => {
  using workshop = new Workshop()
  const table: { area: string; tried: number; noticed: number; hung: number }[] = []
  for (const area of areas.filter(({ name }) => !chosen || chosen.includes(name))) {
    await t.test(area.name, { timeout: 0 }, async (t) => {
      t.same(await workshop.measure(area.tests), [], 'tests that fail without a change')
      let noticed = 0
      let hung = 0
      const drawn = draw(area, workshop, new Random(seed))
      for (const { source, mutation } of drawn) {
        const { place, before, after } = workshop.describe(source, mutation)
        const verdict = await workshop.judge(source, mutation, area.tests)
        if (verdict === 'noticed') noticed++
        if (verdict === 'hung') hung++
        // Each is a line of its own, so that the lists of two commits can be compared.
        t.comment(`${area.name}: ${verdict}: ${place} ${mutation.operator}: ${before} → ${after}`)
      }
      table.push({ area: area.name, tried: drawn.length, noticed, hung })
      const share = area.wanted ?? wanted.inEachArea
      t.ok(noticed / drawn.length >= share, `${noticed} of ${drawn.length} noticed, ${hung} only hung`)
    })
  }
  const sum = (field: 'tried' | 'noticed' | 'hung') => table.reduce((total, row) => total + row[field], 0)
  for (const row of table) t.comment(`${row.area}: ${row.noticed}/${row.tried}`)
  t.ok(
    sum('noticed') / sum('tried') >= wanted.inAll,
    `${sum('noticed')} of ${sum('tried')} noticed, ${sum('hung')} only hung`,
  )
})
