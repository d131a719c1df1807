import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { TObject, TSchema } from 'typebox'
import { readTexts, textFiles } from '../../runtime/loader/texts.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { runtimeTexts } from '../../runtime/platform/texts/index.js'
import { pluginFolders } from '../harness/shipped.js'
import { everyOffer, type Offer } from '../reference/station.js'
import { raisingInRuntime, type Sources, sourcesIn } from './said-errors.js'

const runtimeEnglish = runtimeTexts.get('en') ?? {}
const longestLabel = 60

/** Choices (an empty one needs no name), and the fields of a setting with several. */
function partsOf(schema: TSchema): string[] {
  const { anyOf = [], items, properties } = schema as { anyOf?: { const?: unknown }[]; items?: TSchema } & TObject
  if (items) return partsOf(items)
  if (properties) return Object.keys(properties)
  return anyOf.flatMap(({ const: choice }) => (typeof choice === 'string' && choice !== '' ? [choice] : []))
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

/** The libraries that a plugin imports say sentences, give values and listen on its behalf. */
function withLibraries(own: Sources): Sources {
  const imported = new Set(
    [...own.code.matchAll(/from 'rtk-base\/(\w+)'/g)].flatMap(([, name = '']) => libraries[name] ?? []),
  )
  const all = [own, ...[...imported].map(libraryIn)]
  return {
    errors: new Map([...all.flatMap(({ errors }) => [...errors].filter(([code]) => ofListener(code))), ...own.errors]),
    names: new Set(all.flatMap(({ names }) => [...names])),
    texts: all.flatMap(({ texts }) => texts),
    code: all.map(({ code }) => code).join('\n'),
  }
}
const libraries: Readonly<Record<string, string>> = {
  ...Object.fromEntries(readdirSync(join(packageRoot(), 'runtime/lib')).map((name) => [name, `lib/${name}`])),
  files: 'platform/files',
}
const read = new Map<string, Sources>()
function libraryIn(folder: string): Sources {
  const known = read.get(folder) ?? sourcesIn(join(packageRoot(), 'runtime', folder))
  read.set(folder, known)
  return known
}

/** Put together of parts that are no sentences. */
const isLength = (key: string) => /^said\.((at least|about|more than) )?# (± # )?c?m$/.test(key)
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
const baseOf = (code: string) => code.replace(/-?\*$/, '')

type Texts = Readonly<Record<string, string>>
/** A listener without a text of its own has that of all. */
const ofListener = (name: string) => name.startsWith('listen-')
const errorKeys = (texts: Texts) => Object.keys(texts).filter((key) => key.startsWith('error.'))
/** English ones, which other languages have, too. */
const codedKeys = (texts: Texts) => Object.keys(texts).filter((key) => /^(error|gate)\./.test(key))

/** Keys without a text. @param english the errors' texts in English; undefined: these are they */
function missing(texts: Texts, keys: readonly string[], { errors }: Sources, english?: Texts): string[] {
  const found = keys.filter((key) => !(key in texts))
  for (const { code } of errors.values()) {
    if (ofListener(code) || (`error.${code}` in runtimeEnglish && texts !== runtimeEnglish)) continue
    const base = baseOf(code)
    // One text for all names, or one for each.
    const own = errorKeys(texts)
      .map((key) => key.split('.'))
      .filter(([, name = '']) => name === base || (base !== code && name.startsWith(base)))
    if (own.every(([, , part]) => part === 'advice')) found.push(`error.${code}`)
  }
  // A case by a value that is not sent is of English alone.
  const also = codedKeys(english ?? {}).filter((key) => !key.includes('._') && !(key in texts))
  return [...new Set([...found, ...also])].map((key) => `${key} is missing`)
}

/** What is wrong with a text; '' for nothing. */
function flawOf(
  key: string,
  text: string,
  keys: readonly string[],
  { code: source, errors, ...all }: Sources,
  english?: Texts,
): string {
  const [kind = '', name = '', ...more] = key.split('.')
  const names = placeholders(text)
  const has = (word: string) => new RegExp(`(^|\\W)${word}(\\W|$)`).test(source)
  const isSaid = (spoken: string): boolean =>
    all.texts.some((one) => one.test(spoken)) || (/[;:] /.test(spoken) && spoken.split(/[;:] /).every(isSaid))
  if (kind === 'said') {
    if (/\d/.test(key) || (!isLength(key) && !isSaid(key.slice('said.'.length).replaceAll('#', '1'))))
      return 'is not said'
    return key.split('#').length === text.split('#').length ? '' : 'has other numbers'
  }
  if (kind === 'setting' || kind === 'command') {
    if (!keys.includes(key)) return 'is not used'
    if (names.length > 0) return 'has no values'
    return kind === 'setting' && more[0] !== 'help' && text.length > longestLabel ? 'is too long' : ''
  }
  const ofMany = ({ code }: { code: string }) =>
    code.endsWith('*') && (name === baseOf(code) || name.startsWith(code.slice(0, -1)))
  const error = errors.get(name) ?? [...errors.values()].find(ofMany)
  // A remedy may be part of the English text.
  const isOwn = english && error && more[0] !== 'advice' && !ofListener(name)
  if (isOwn && !(key in english)) return 'has no English text'
  // The test of the verdict looks for each of them.
  const isReason = (kind === 'reason' || kind === 'gate') && name.split('-').every(has)
  if (!isReason && (kind !== 'error' || !error)) return 'is not used'
  const values = error?.values ?? all.names
  const unknown = names.find((one) => !values.has(one) || (english && one.startsWith('_')))
  if (unknown) return `has no value ${unknown}`
  const [which] = more[0] === 'advice' ? more.slice(1) : more
  return which === undefined || values.has(which) || has(which) ? '' : 'never applies'
}

const flaws = (texts: Texts, keys: readonly string[], sources: Sources, english?: Texts): string[] => [
  ...missing(texts, keys, sources, english),
  ...Object.entries(texts)
    .map(([key, text]) => [key, flawOf(key, text, keys, sources, english)])
    .flatMap(([key, flaw]) => (flaw ? [`${key} ${flaw}`] : [])),
]

t.test('every shipped plugin has all of its texts in every language', async (t) => {
  const offer = await everyOffer()
  const refuse = (file: string, reason: string) => t.fail(`${file}: ${reason}`)
  const plugins = [...pluginFolders()].map(([name, folder]) => {
    const given = textFiles(folder).map(({ language, content }) => [language, content])
    return { name, folder, files: readTexts(Object.fromEntries(given), refuse).files }
  })
  const languages = new Set(plugins.flatMap(({ files }) => [...files.keys()]))
  t.ok(languages.has('en') && languages.has('de'))
  const all: string[] = []
  for (const { name, folder, files } of plugins) {
    const sources = withLibraries(sourcesIn(folder))
    const english = files.get('en') ?? {}
    for (const language of languages) {
      const wrong =
        language === 'en'
          ? flaws(english, [], sources)
          : flaws(files.get(language) ?? {}, offered(name, offer), sources, english)
      all.push(...wrong.map((one) => `${name}/texts/${language}.json: ${one}`))
    }
  }
  t.same(all, [])
})

t.test('the runtime has the texts of its errors', async (t) => {
  const sources = sourcesIn(join(packageRoot(), 'runtime'), raisingInRuntime)
  t.same(flaws(runtimeEnglish, [], sources), [])
  t.same(flaws(runtimeTexts.get('de') ?? {}, [], sources, runtimeEnglish), [])
})

t.test('a flaw is found', async (t) => {
  const dir = t.testdir({
    'index.ts': `const code = 'lamp-lit'
      const values = { height_m: 3, ...(x && { by }) }
      errors.while(code, values)
      errors.while(\`lamp-$\{name}-broken\`, isBroken)
      errors.while('lamp-out', isOut ? { reason, _how: how, _cold: true } : undefined)
      log.info('broken in 3 ways')
      ctx.net.listen({ name: 'light', port })`,
  })
  const sources = sourcesIn(dir)
  const english = {
    'error.lamp-lit': 'lit at {height_m} m',
    'error.lamp-lit.by': 'lit by {by}',
    'error.lamp-lit.advice': 'switch it off',
    'error.lamp': 'broken',
    'error.lamp-out': 'out: {reason}',
    'error.lamp-out.advice': '{_how}',
    'error.lamp-out._cold': 'cold',
  }
  t.same(flaws(english, [], sources), [])
  t.same(flaws({ 'error.lamp': 'x' }, [], sources), ['error.lamp-lit is missing', 'error.lamp-out is missing'])
  t.same(flaws({ ...english, 'error.lamp-out.x': '{y}' }, [], sources), ['error.lamp-out.x has no value y'])
  const good = {
    'setting.lamp': 'Lampe',
    'error.lamp-lit': 'Die Lampe ist {height_m} m hoch an',
    'error.lamp-lit.by': '{by} machte die Lampe an',
    'error.lamp-lit.advice': 'Ausschalten',
    'error.lamp': 'Kaputt',
    'error.lamp-out': 'Aus: {reason}',
    'error.lamp-out.advice': 'Einschalten',
    'error.listen-light': 'Kein Port: {reason}',
    'said.broken in # ways': 'auf # Arten kaputt',
  }
  const one = (more: Record<string, string>) => flaws({ ...good, ...more }, ['setting.lamp'], sources, english)
  t.same(one({}), [])
  t.same(one({ 'setting.lamps': 'x' }), ['setting.lamps is not used'])
  t.same(one({ 'setting.lamp': 'x'.repeat(61) }), ['setting.lamp is too long'])
  t.same(one({ 'error.lamp-lit': '{depth_m}' }), ['error.lamp-lit has no value depth_m'])
  t.same(one({ 'error.lamp-lit.advice.blue': 'x' }), ['error.lamp-lit.advice.blue never applies'])
  t.same(one({ 'error.light': 'x' }), ['error.light is not used'])
  t.same(one({ 'error.lamp-out': '{_how}' }), ['error.lamp-out has no value _how'])
  t.same(one({ 'error.lamp-out.reason': 'x' }), ['error.lamp-out.reason has no English text'])
  t.same(one({ 'said.broken in # ways': 'kaputt' }), ['said.broken in # ways has other numbers'])
  t.same(one({ 'said.whole': 'x' }), ['said.whole is not said'])
  const some = { 'error.lamp': 'x', 'error.lamp-lit': 'x', 'error.lamp-lit.by': 'x' }
  t.same(flaws(some, ['setting.lamp'], sources, english), [
    'setting.lamp is missing',
    'error.lamp-out is missing',
    'error.lamp-lit.advice is missing',
    'error.lamp-out.advice is missing',
  ])
})
