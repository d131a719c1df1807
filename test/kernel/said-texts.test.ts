import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { TObject, TSchema } from 'typebox'
import { readTexts, textFiles } from '../../runtime/loader/texts.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { few } from '../harness/sample.js'
import { everyOffer, type Offer } from '../reference/station.js'
import { raisingInRuntime, type Sources, sourcesIn } from './said-errors.js'

/** Speaks for the runtime, which has no texts of its own. */
const ofRuntime = 'dashboard'
const longestLabel = 60

/** Choices, and the fields of a setting with several. */
function partsOf(schema: TSchema): string[] {
  const { anyOf = [], items, properties } = schema as { anyOf?: { const?: unknown }[]; items?: TSchema } & TObject
  if (items) return partsOf(items)
  if (properties) return Object.keys(properties)
  return anyOf.flatMap(({ const: choice }) => (typeof choice === 'string' ? [choice] : []))
}

/** Keys of settings and commands. */
const offered = (plugin: string, { parameters, actions }: Offer): string[] => [
  ...parameters
    .filter((one) => one.plugin === plugin)
    .flatMap(({ name, schema }) => [
      `setting.${name}`,
      ...((schema as { description?: string }).description ? [`setting.${name}.help`] : []),
      ...partsOf(schema).map((part) => `setting.${name}.${part}`),
    ]),
  ...actions
    .filter((one) => one.plugin === plugin)
    .flatMap(({ name, caution }) => [`command.${name}`, ...(caution ? [`command.${name}.caution`] : [])]),
]

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
const baseOf = (code: string) => code.replace(/-?\*$/, '')

type Texts = Readonly<Record<string, string>>

/** Keys without a text. */
function missing(texts: Texts, keys: readonly string[], { errors }: Sources): string[] {
  const found = keys.filter((key) => !(key in texts))
  for (const { code, hasAdvice } of errors.values()) {
    // Has the texts of the plugin that listens.
    if (code === 'listen-*') continue
    const base = baseOf(code)
    // One text for all names, or one for each.
    const own = Object.keys(texts)
      .map((key) => key.split('.'))
      .filter(([kind, name = '']) => kind === 'error' && (name === base || (base !== code && name.startsWith(base))))
    if (own.every(([, , part]) => part === 'advice')) found.push(`error.${code}`)
    if (hasAdvice && !own.some(([, , part]) => part === 'advice')) found.push(`error.${code}.advice`)
  }
  return found.map((key) => `${key} is missing`)
}

/** What is wrong with a text; '' for nothing. */
function flawOf(key: string, text: string, keys: readonly string[], { code: source, errors, ...all }: Sources): string {
  const [kind = '', name = '', ...more] = key.split('.')
  const names = placeholders(text)
  const has = (word: string) => new RegExp(`(^|\\W)${word}(\\W|$)`).test(source)
  const isSaid = (spoken: string): boolean =>
    all.texts.some((one) => one.test(spoken)) || (/[;:] /.test(spoken) && spoken.split(/[;:] /).every(isSaid))
  if (kind === 'said') {
    if (/\d/.test(key) || !isSaid(key.slice('said.'.length).replaceAll('#', '1'))) return 'is not said'
    return key.split('#').length === text.split('#').length ? '' : 'has other numbers'
  }
  if (kind === 'setting' || kind === 'command') {
    if (!keys.includes(key)) return 'is not used'
    if (names.length > 0) return 'has no values'
    return kind === 'setting' && more[0] !== 'help' && text.length > longestLabel ? 'is too long' : ''
  }
  const error = [...errors.values()].find(({ code }) =>
    code.endsWith('*') ? name === baseOf(code) || name.startsWith(code.slice(0, -1)) : name === code,
  )
  // The test of the verdict looks for each of them.
  const isReason = kind === 'reason' && name.split('-').every(has)
  if (!isReason && (kind !== 'error' || !error)) return 'is not used'
  const values = error?.values ?? all.names
  const unknown = names.find((one) => !values.has(one))
  if (unknown) return `has no value ${unknown}`
  const [which] = more[0] === 'advice' ? more.slice(1) : more
  return which === undefined || values.has(which) || has(which) ? '' : 'never applies'
}

const flaws = (texts: Texts, keys: readonly string[], sources: Sources): string[] => [
  ...missing(texts, keys, sources),
  ...Object.entries(texts)
    .map(([key, text]) => [key, flawOf(key, text, keys, sources)])
    .flatMap(([key, flaw]) => (flaw ? [`${key} ${flaw}`] : [])),
]

t.test('every shipped plugin has all of its texts in every language', async (t) => {
  const folder = join(packageRoot(), 'plugins')
  const offer = await everyOffer()
  const runtime = sourcesIn(join(packageRoot(), 'runtime'), raisingInRuntime)
  const refuse = (file: string, reason: string) => t.fail(`${file}: ${reason}`)
  const plugins = readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'index.ts')))
    .map((name) => {
      const given = textFiles(join(folder, name)).map(({ language, content }) => [language, content])
      return { name, files: readTexts(Object.fromEntries(given), refuse).files }
    })
  const languages = new Set(plugins.flatMap(({ files }) => [...files.keys()]))
  t.ok(languages.has('de'))
  const all: string[] = []
  for (const { name, files } of few(1, plugins)) {
    const own = sourcesIn(join(folder, name))
    const sources = name !== ofRuntime ? own : both(own, runtime)
    for (const language of languages) {
      const wrong = flaws(files.get(language) ?? {}, offered(name, offer), sources)
      all.push(...wrong.map((one) => `${name}/texts/${language}.json: ${one}`))
    }
  }
  t.same(all, [])
})

const both = (a: Sources, b: Sources): Sources => ({
  errors: new Map([...b.errors, ...a.errors]),
  names: new Set([...a.names, ...b.names]),
  texts: [...a.texts, ...b.texts],
  code: `${a.code}\n${b.code}`,
})

t.test('a flaw is found', async (t) => {
  const dir = t.testdir({
    'index.ts': `const code = 'lamp-lit'
      const values = { height_m: 3, ...(x && { by }) }
      errors.raise(code, { text: \`$\{x} is lit\`, advice: 'off', values })
      errors.raise(\`lamp-$\{name}-broken\`, { text: 'broken in 3 ways' })
      ctx.net.listen({ name: 'light', port })`,
  })
  const sources = sourcesIn(dir)
  const good = {
    'setting.lamp': 'Lampe',
    'error.lamp-lit': 'Die Lampe ist {height_m} m hoch an',
    'error.lamp-lit.by': '{by} machte die Lampe an',
    'error.lamp-lit.advice': 'Ausschalten',
    'error.lamp': 'Kaputt',
    'error.listen-light': 'Kein Port: {reason}',
    'error.listen-light.advice': 'Warten',
    'said.broken in # ways': 'auf # Arten kaputt',
  }
  t.same(flaws(good, ['setting.lamp'], sources), [])
  const one = (more: Record<string, string>) => flaws({ ...good, ...more }, ['setting.lamp'], sources)
  t.same(one({ 'setting.lamps': 'x' }), ['setting.lamps is not used'])
  t.same(one({ 'setting.lamp': 'x'.repeat(61) }), ['setting.lamp is too long'])
  t.same(one({ 'error.lamp-lit': '{depth_m}' }), ['error.lamp-lit has no value depth_m'])
  t.same(one({ 'error.lamp-lit.blue': 'x' }), ['error.lamp-lit.blue never applies'])
  t.same(one({ 'error.light': 'x' }), ['error.light is not used'])
  t.same(one({ 'said.broken in # ways': 'kaputt' }), ['said.broken in # ways has other numbers'])
  t.same(one({ 'said.whole': 'x' }), ['said.whole is not said'])
  t.same(flaws({ 'error.lamp': 'x' }, ['setting.lamp'], sources), [
    'setting.lamp is missing',
    'error.lamp-lit is missing',
    'error.lamp-lit.advice is missing',
    'error.listen-light is missing',
    'error.listen-light.advice is missing',
  ])
})
