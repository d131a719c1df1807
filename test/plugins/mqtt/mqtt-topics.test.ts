import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../../runtime/build/release.js'
import { asyncApi } from '../../../schemas/mqtt/async-api.js'
import { topics } from '../../../schemas/mqtt/topics.js'

const file = join(packageRoot(), 'schemas', 'asyncapi.json')

t.test('schemas/asyncapi.json is what the schemas say', (t) => {
  if (process.env.WRITE_ASYNCAPI) writeFileSync(file, `${JSON.stringify(asyncApi(), null, 2)}\n`)
  const written = JSON.parse(readFileSync(file, 'utf8')) as unknown
  t.strictSame(written, JSON.parse(JSON.stringify(asyncApi())), 'write it again: see schemas/mqtt/async-api.ts')
  t.end()
})

t.test('every reference of the document leads somewhere', (t) => {
  const document = asyncApi()
  const find = (path: string) =>
    path
      .slice(2)
      .split('/')
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document)
  let references = 0
  JSON.stringify(document, (key, value) => {
    if (key !== '$ref') return value
    references++
    t.ok(find(String(value)), String(value))
    return value
  })
  t.ok(references > topics.length)
  t.end()
})

t.test('every topic of the table is in the documentation of its plugin', (t) => {
  const page = ['mqtt-link', 'mqtt-api', 'mqtt-rtcm']
    .map((name) => readFileSync(join(packageRoot(), 'plugins', name, 'README.md'), 'utf8'))
    .join()
  for (const { address } of topics) t.ok(page.includes(`\`${address}\``), address)
  t.end()
})
