import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { largestTexts_bytes, mergeTexts, readTexts, textFiles, withTexts } from '../../runtime/loader/texts.js'
import { textOf, type Values } from '../../runtime/platform/texts/text-of.js'

t.test('a bad file of texts is refused with its reason, the others are used', (t) => {
  const refused: string[] = []
  const refuse = (file: string, reason: string) => refused.push(`${file}: ${reason}`)
  const given = {
    de: '{"setting.lamp":"Lampe"}',
    fr: '{',
    it: '["Lampada"]',
    es: '{"setting.lamp":1}',
    nl: JSON.stringify({ a: 'x'.repeat(largestTexts_bytes) }),
    '../de': '{}',
  }
  const own = readTexts(given, refuse)
  t.strictSame([...own.files.keys()], ['de'])
  t.equal(refused.length, 5)
  t.match(refused[0], /^texts\/fr\.json: /)
  t.match(refused[1], 'texts/it.json: it is not an object')
  t.match(refused[2], 'texts/es.json: setting.lamp is not a text')
  t.match(refused[3], 'texts/nl.json: it is larger than 64 KiB')
  t.match(refused[4], 'its name is not a language such as de')
  for (const none of [undefined, null, 'de', 3]) t.equal(readTexts(none, refuse).digest, '')
  t.end()
})

const used = (file: string, reason: string) => t.fail(`${file}: ${reason}`)

t.test('a plugin does not replace a text of another one, and a change is seen', (t) => {
  const first = readTexts({ de: '{"a":"eins","__proto__":"x"}' }, used)
  const second = readTexts({ de: '{"a":"zwei","b":"drei"}' }, used)
  t.match(mergeTexts([first, second], 'de'), { a: 'eins', b: 'drei' })
  t.strictSame(Object.keys(mergeTexts([first], 'fr')), [])
  t.equal(({} as { x?: string }).x, undefined)
  t.not(first.digest, second.digest)
  t.end()
})

t.test('the files beside the entry file reach the definition in the bundle', (t) => {
  const folder = t.testdir()
  t.strictSame(textFiles(folder), [])
  mkdirSync(join(folder, 'texts'))
  writeFileSync(join(folder, 'texts', 'de.json'), '{ "a": "eins \u2028 </script>" }')
  writeFileSync(join(folder, 'texts', 'fr.json'), 'not JSON')
  writeFileSync(join(folder, 'texts', 'notes.txt'), '')
  const module: { exports: { default: { texts?: Record<string, string> } } } = { exports: { default: {} } }
  new Function('module', withTexts(textFiles(folder)))(module)
  const refused: string[] = []
  const own = readTexts(module.exports.default.texts, (file) => refused.push(file))
  t.equal(mergeTexts([own], 'de').a, 'eins \u2028 </script>')
  t.strictSame(refused, ['texts/fr.json'])
  // Otherwise V8 keeps the plugin's source in two bytes a character.
  t.match(withTexts(textFiles(folder)), /^[ -~]+$/)
  t.equal(withTexts([]), '')
  t.end()
})

t.test('a value that is a text itself is shown by its key, and as it is without a text for it', (t) => {
  const texts = { 'error.dark': 'Dunkel: {reason}', 'gate.lamp': 'Lampe {number} ist aus', 'gate.loop': '{reason}' }
  const shown = (reason_code: string, values = {}) =>
    textOf(texts, 'error.dark', { reason: 'lamp 3 is off', reason_code, ...values }, String)
  t.equal(shown('gate.lamp', { number: 3 }), 'Dunkel: Lampe 3 ist aus')
  for (const without of ['', 'gate.lamp', 'gate.other', 'gate.loop']) t.equal(shown(without), 'Dunkel: lamp 3 is off')
  const coded = (values: Values) => textOf(texts, 'error.dark', values, String)
  t.equal(coded({ reason_code: 'gate.lamp', number: 3 }), 'Dunkel: Lampe 3 ist aus', 'the key is enough')
  for (const reason_code of ['gate.lamp', 'gate.other', 'gate.loop']) t.equal(coded({ reason_code }), undefined)
  t.end()
})
