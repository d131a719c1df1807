import { fstatSync } from 'node:fs'
import { Writable } from 'node:stream'
import { queryObjects } from 'node:v8'
import t from 'tap'
import { journalLine, writesToJournal } from '../../runtime/platform/log/journal.js'
import { createLogger } from '../../runtime/platform/log/log.js'
import { LogLimit, limitLog, mostOfKind } from '../../runtime/platform/log/log-limit.js'
import { HeldOutput } from '../../runtime/tools/cli/run/held-output.js'
import { ManualClock, until } from '../harness/index.js'

/** What is written for each object that is logged. */
function logged(write: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  write(createLogger({ level: 'debug', destination: destination as never }))
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

t.test('a secret is in no log line, however deep it lies and whatever the word before it is', async (t) => {
  const secrets = {
    key: 's3cret',
    privateKey: 's3cret',
    'wap-pswd': 's3cret',
    apiToken: 's3cret',
    Authorization: 's3cret',
    client_secret: { inside: 's3cret' },
  }
  const error = Object.assign(new Error('refused'), { token: 's3cret', options: { tls: { key: 's3cret' } } })
  const deep = { a: { b: { c: [{ d: secrets }] } } }
  const before = structuredClone(deep)
  const lines = logged((log) => {
    log.info(secrets, 'flat')
    log.info(deep, 'deep')
    log.info({ err: error }, 'error')
    log.error(error)
    log.child({ plugin: 'x', password: 's3cret' }).info('child')
  })
  t.equal(lines.length, 5)
  t.notMatch(JSON.stringify(lines), 's3cret')
  t.match(lines[2], { err: { type: 'Error', message: 'refused', stack: /log\.test/ } })
  t.same(deep, before, 'what was logged is not changed')
})

t.test('the journal gets priorities and text', async (t) => {
  const lines = logged((log) => {
    log.debug('d')
    log.info({ code: 'x' }, 'i')
    log.warn('w')
    log.child({ plugin: 'mast' }).error({ err: new Error('broken') }, 'e')
    log.fatal('f')
  }).map((line) => journalLine(JSON.stringify(line)))
  const [debug, info, warn, error = '', fatal] = lines
  t.strictSame([debug, info, warn, fatal], ['<7>d\n', '<6>i {"code":"x"}\n', '<4>w\n', '<2>f\n'])
  t.match(error, /^<3>mast: e\n<3>Error: broken\n<3> +at /, 'each line of a stack is an error too')
  const { dev, ino } = fstatSync(1)
  t.equal(writesToJournal({ JOURNAL_STREAM: `${dev}:${ino}` }), true)
  t.equal(writesToJournal({ JOURNAL_STREAM: `${dev}:${ino + 1}` }), false, 'it was redirected')
  t.equal(writesToJournal({}), false)
  t.equal(writesToJournal({ JOURNAL_STREAM: '1:2' }, 999), false)
})

t.test('everything else is logged as it is', async (t) => {
  const circular: Record<string, unknown> = { name: 'loop' }
  circular.self = circular
  const harmless = { monkey: 1, keys: ['a'], parameter: 'udp-port', at: new Date(0), list: [{ n: null }], keyed: true }
  const [line, loop] = logged((log) => {
    log.info(harmless, 'plain')
    log.info(circular, 'circular')
  })
  t.match(line, { ...harmless, at: '1970-01-01T00:00:00.000Z' })
  t.match(loop, { name: 'loop' })
})

t.test('a logger that nobody has any more leaves nothing behind', async (t) => {
  const log = createLogger({ level: 'silent' })
  // It collects garbage first.
  const references = () => queryObjects(WeakRef, { format: 'count' })
  const before = references()
  for (let n = 0; n < 60; n++) log.child({ plugin: `p${n}` })
  await until(() => references() < before + 10, 'they are forgotten')
  t.pass()
})

t.test('a limit lets each text through once a minute, and few different ones', async (t) => {
  const clock = new ManualClock()
  const limit = new LogLimit(clock)
  t.equal(limit.admit('a'), 0)
  for (let n = 0; n < 5; n++) t.equal(limit.admit('a'), undefined)
  t.equal(limit.admit('b'), 5, 'the next line says how many were left out')
  await clock.advance(60_000)
  t.equal(limit.admit('a'), 0)
  let admitted = 0
  for (let n = 0; n < 10_000; n++) if (limit.admit(`text ${n}`) !== undefined) admitted++
  t.equal(admitted, 31, 'with the one before 32 in this minute')
})

t.test('a plugin writes ten lines of a kind in a minute, and the number of those that were left out', (t) => {
  let now_ms = 0
  const lines = logged((root) => {
    const log = limitLog(root.child({ plugin: 'x' }), { monotonic: () => now_ms })
    for (let n = 0; n < 5_000; n++) log.warn({ n }, `the port ${n} was reset by 192.168.1.${n % 250}`)
    log.warn('another kind')
    log.error(new Error('an error'))
    for (let n = 0; n < 100; n++) log.debug('for who looks for it')
    for (let n = 0; n < 100; n++) root.warn('of the runtime')
    now_ms += 60_000
    log.warn('the port 1 was reset by 192.168.1.1')
    log.warn('the port 2 was reset by 192.168.1.1')
    for (let n = 0; n < 5_000; n++) log.info(String.fromCharCode(97 + (n % 26)).repeat(1 + ((n / 26) | 0)))
  })
  const count = (text: RegExp) => lines.filter(({ msg }) => text.test(String(msg))).length
  t.equal(count(/was reset/), mostOfKind + 2)
  t.equal(count(/another kind/), 1)
  t.equal(count(/an error/), 1)
  t.equal(count(/for who/), 100)
  t.equal(count(/of the runtime/), 100)
  t.match(
    lines.filter(({ msg }) => /more lines/.test(String(msg))).map(({ msg }) => msg),
    ['the port 1 was reset by 192.168.1.1 (4990 more lines like this were left out)'],
  )
  t.ok(lines.length < 64 * mostOfKind + 300, `${lines.length} lines`)
  t.end()
})

t.test('on a terminal what is logged at the start comes below the banner, or after its time', async (t) => {
  const written: string[] = []
  const output = { write: (line: string) => void written.push(line) }
  const held = new HeldOutput(output)
  createLogger({ destination: held }).info('at the start')
  t.strictSame(written, [])
  held.release()
  createLogger({ destination: held }).info('later')
  t.match(written, [/at the start/, /later/])
  held.release()
  t.equal(written.length, 2, 'once')
  const slow = new HeldOutput(output, 1)
  slow.write('a start that takes long')
  await until(() => written.length === 3, 'the end of its time')
})
