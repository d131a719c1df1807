/** The drawing of the runtime in its documentation, held against the imports; and that the core knows no product. */
import { readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import t from 'tap'
import { readCatalogue } from '../../runtime/loader/catalogue.js'
import { filesBelow, packageRoot } from '../../runtime/platform/release.js'

const root = packageRoot()

/** The place of each part in the drawing: its row, and its side. */
function drawing(): Map<string, { row: number; side: 'left' | 'middle' | 'right' }> {
  const page = readFileSync(join(root, 'runtime', 'docs', 'runtime.md'), 'utf8')
  const [, drawn = ''] = /each part only parts below it[\s\S]*?```\n([\s\S]*?)```/.exec(page) ?? []
  const lines = drawn.split('\n')
  const middle = lines.findIndex((line) => line.includes('plugin.ts'))
  const parts = lines.flatMap((line, row) =>
    [...line.matchAll(/[\w.-]+/g)].map(
      ({ 0: name, index }) => [name, { row, side: row >= middle ? 'middle' : index < 20 ? 'left' : 'right' }] as const,
    ),
  )
  return new Map(parts)
}

/** `runtime/gateway/net/door.ts` → `gateway`. */
function partOf(file: string): string {
  const [top, name = '', more] = file.split('/')
  return top !== 'runtime' ? (top as string) : more === undefined ? name.replace(/\.d\.ts$/, '.ts') : name
}

/** The files of our own that each source file imports, also for their types. */
function* imports(): Generator<{ from: string; to: string }> {
  for (const folder of ['runtime', 'schemas', 'plugins'])
    for (const path of filesBelow(join(root, folder))) {
      if (!/\.tsx?$/.test(path)) continue
      const from = relative(root, path)
      for (const [, , to] of readFileSync(path, 'utf8').matchAll(/^(import|export)\b[^'"`]*?\bfrom '(\.[^']*)'/gm))
        yield { from, to: posix.join(posix.dirname(from), to as string) }
    }
}

t.test('every import goes down in the drawing', async (t) => {
  const drawn = drawing()
  let seen = 0
  const against: string[] = []
  for (const { from, to } of imports()) {
    // Types of the public package, and the panel of a page: they are declared for browsers.
    if (/^runtime\/(client|panel)\.d\.ts$|\/ui\//.test(from)) continue
    const [above, below] = [partOf(from), partOf(to.replace(/\.js$/, '.ts'))]
    if (above === below) continue
    seen++
    const [one, other] = [drawn.get(above), drawn.get(below)]
    const goesDown = one && other && one.row < other.row && !(one.side === 'left' && other.side === 'right')
    if (!goesDown) against.push(`${from} → ${to}`)
  }
  t.same(against, [])
  t.ok(seen > 500, 'imports were found')
})

/** Words that a command of a plugin shares with everybody: systemd reboots, and an image has a factory slot. */
const common = new Set(['factory', 'help', 'log', 'reboot', 'record', 'report'])

t.test('the core names no plugin, no command and no error code of one', async (t) => {
  const catalogue = readCatalogue()
  const names = new Set(Object.keys(catalogue).filter((name) => name.includes('-')))
  const commands = new Set(Object.values(catalogue).flatMap((entry) => entry.commands))
  t.ok(names.size > 25 && commands.size > 20, 'the shipped plugins are known')
  const codes = new Set(Object.values(catalogue).flatMap((entry) => entry.errors.map(({ code }) => code)))
  t.ok(codes.size > 10, 'and their error codes')
  const found: string[] = []
  for (const part of ['kernel', 'gateway', 'platform', 'loader', 'tools'])
    for (const path of filesBelow(join(root, 'runtime', part))) {
      if (!path.endsWith('.ts')) continue
      for (const [, , text = ''] of readFileSync(path, 'utf8').matchAll(/(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g)) {
        const isNamed = text.split(/[^\w-]+/).some((word) => names.has(word) || codes.has(word))
        if (isNamed || (commands.has(text) && !common.has(text))) found.push(`${relative(root, path)}: ${text}`)
      }
    }
  t.strictSame(found, [])
})
