/** The programs and files of the machine, as the plugin `radio` uses them. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { Value } from 'typebox/value'
import radioPlugin from '../../../../plugins/network/radio/index.js'
import { realMachine, simulatedMachine, watchSimulated } from '../../../../plugins/network/radio/machine.js'
import { limitsOf, RadioOptions } from '../../../../plugins/network/radio/options.js'
import { errorsOf } from '../../../harness/standing-errors.js'

t.test('files: the first 256 KiB are read, a missing one is none, a FIFO is refused at once', async (t) => {
  const machine = realMachine({ process: {} as never })
  const folder = t.testdir({ small: 'ab', folder: {} })
  const path = (name: string) => join(folder, name)
  t.equal(await machine.readFile(path('small')), 'ab')
  t.equal(await machine.readFile(path('missing')), undefined)
  await t.rejects(machine.readFile(path('folder')), { code: 'EISDIR' })
  const long = `${'x'.repeat(262_143)}yz`
  writeFileSync(path('long'), long)
  t.equal(await machine.readFile(path('long')), long.slice(0, -1))
  execFileSync('mkfifo', [path('fifo')])
  const soon = async () => {
    await setTimeout(5_000, undefined, { ref: false })
    throw new Error('it waits for a writer')
  }
  await t.rejects(Promise.race([machine.readFile(path('fifo')), soon()]), { code: 'ESPIPE' })
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let n = 0; n < 20; n++) await machine.readFile(path('small'))
  t.equal(open(), before, 'each is closed')
  await machine.writeFile(path('new'), 'text')
  t.equal(readFileSync(path('new'), 'utf8'), 'text')
  t.equal(statSync(path('new')).mode & 0o777 & ~process.umask(), 0o644 & ~process.umask(), 'others read it')
  await machine.removeFile(path('new'))
  t.notOk(existsSync(path('new')))
  await machine.removeFile(path('new'))
})

t.test('programs answer in the locale that is read, with the limits that were given', async (t) => {
  const calls: unknown[] = []
  const execFile = async (...call: unknown[]) => {
    calls.push(call)
    return { code: 0, stdout: 'out', stderr: '' }
  }
  const machine = realMachine({ process: { execFile } as never })
  t.match(await machine.execFile('iw', ['dev'], { timeout_ms: 5 }), { stdout: 'out' })
  t.same(calls, [['iw', ['dev'], { timeout_ms: 5, env: { LC_ALL: 'C' } }]])
})

t.test('the options are seconds, and what is left out is what the rules have', async (t) => {
  const options = Value.Create(RadioOptions)
  t.match(options, {
    ...{ backend: 'machine', interface: '', both: 'auto', departuresPerHour: 4 },
    ...{ fallback_s: 60, rescan_s: 60, suppression_s: 600, blind_s: 900, clientsHold_s: 600 },
  })
  t.match(limitsOf({ ...options, fallback_s: 1, rescan_s: 2, suppression_s: 3, blind_s: 4, clientsHold_s: 5 }), {
    ...{ fallback_ms: 1_000, rescan_ms: 2_000, suppression_ms: 3_000, blind_ms: 4_000, clientsHold_ms: 5_000 },
    mostDepartures: 4,
  })
})

t.test(
  'the next version gets what is known and wished; the end of the plugin ends both uses of the radio',
  async (t) => {
    let ended = 0
    const keeper = { memory: { blind: 1 }, wishes: { applied: '' }, end: async () => void ended++ }
    const stop = (reason: string) => radioPlugin.stop?.(reason as never, { keeper } as never, {} as never)
    for (const [reason, ends] of [
      ['reload', 0],
      ['shutdown', 0],
      ['remove', 1],
    ] as const) {
      t.same(await stop(reason), [
        ['memory', keeper.memory],
        ['wishes', keeper.wishes],
      ])
      t.equal(ended, ends, reason)
    }
  },
)

t.test('a simulated radio without its machine says so, also to a person', async (t) => {
  const none = simulatedMachine({ services: { find: () => undefined } as never })
  for (const ask of [
    () => none.execFile('iw', []),
    () => none.readFile('/x'),
    () => none.writeFile('/x', ''),
    () => none.removeFile('/x'),
  ])
    await t.rejects(ask() as Promise<void>, {
      code: 'RTK_ERR_UNAVAILABLE',
      message: /needs the plugin simulated-machine/,
    })
  const told: unknown[] = []
  let watch: (service: unknown) => unknown = () => {}
  watchSimulated({
    services: {
      watch(_: unknown, fn: typeof watch) {
        watch = fn
      },
    },
    errors: errorsOf('radio', (text, code) => told.push([code, text])),
    status: (text: string) => told.push(text),
  } as never)
  watch(undefined)
  watch({})
  t.match(told, [
    ['radio-simulator', /needs the plugin simulated-machine.*; list simulated-machine, or set radio.backend/],
    /needs the plugin simulated-machine/,
    ['radio-simulator', /^$/],
  ])
})
