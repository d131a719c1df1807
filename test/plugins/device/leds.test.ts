import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import leds from '../../../plugins/device/leds/index.js'
import { type Facts, ledNames, patternOf, table } from '../../../plugins/device/leds/patterns.js'
import { type AnyPlugin, definePlugin } from '../../../runtime/plugin.js'
import {
  type BaseVerdict,
  type MqttLink,
  mqttLink,
  type ProcedureStatus,
  procedureStatus,
  verdict,
} from '../../../schemas/services.js'
import { pass } from '../../harness/drive.js'

/** A folder as the kernel has it; a write to `trigger` only marks the word, as here nobody makes its files. */
function folderOf(t: Test, those: Record<string, { trigger: string; max?: string; index?: string }>): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-leds-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, { trigger, max = '255', index }] of Object.entries(those)) {
    mkdirSync(join(folder, name))
    const files: Record<string, string> = { trigger: `${trigger}\n`, max_brightness: `${max}\n`, brightness: '0\n' }
    if (trigger.includes('pattern')) Object.assign(files, { pattern: '', repeat: '' })
    if (trigger.includes('timer')) Object.assign(files, { delay_on: '', delay_off: '' })
    if (index) Object.assign(files, { multi_index: `${index}\n`, multi_intensity: '' })
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text)
  }
  return folder
}

async function setUp(t: Test, folder: string, options: object = {}) {
  const state: Facts = { base: 'starting', errors: 0, link: 'connecting', via: '', status: 'acquire' }
  let told = (_count: number) => {}
  const facts = definePlugin({
    name: 'facts',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [verdict, procedureStatus, mqttLink],
    setup({ errors, services }) {
      services.provide(verdict, {
        get base() {
          return state.base
        },
      } as BaseVerdict)
      services.provide(procedureStatus, {
        get status() {
          return state.status
        },
      } as ProcedureStatus)
      services.provide(mqttLink, {
        get state() {
          return state.link
        },
        get via() {
          return state.via
        },
      } as MqttLink)
      told = (count) => void errors.while('fact', count > 0)
    },
  }) as AnyPlugin
  const station = await createTestStation({
    plugins: { facts, leds: leds as AnyPlugin },
    variant: { plugins: { leds: { folder, ...options } } },
  })
  t.teardown(() => station.stop())
  const become = async (now: Partial<Facts>) => {
    Object.assign(state, now)
    told(state.errors)
    await pass(station.clock, 5_000, 5_000)
  }
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  return {
    station,
    become,
    read,
    pattern: (led: string) => station.field(`base.leds.${led}.pattern`),
  }
}

t.test('every row of the table comes to show, and only one colour a pattern, which the kernel can blink', async (t) => {
  const usual: Facts = { base: 'ready', status: 'fixed', errors: 0, link: 'up', via: 'eth' }
  const found = new Set<unknown>()
  for (const base of ['starting', 'surveying', 'ready', 'degraded', 'updating', 'stopping'] as const)
    for (const status of ['fixed', 'moved'])
      for (const errors of [0, 1])
        for (const link of ['disabled', 'connecting', 'up', 'down', 'renewing'] as const)
          for (const via of ['', 'eth', 'sta', 'cellular'] as const)
            for (const led of ledNames) found.add(patternOf(led, { base, status, errors, link, via }))
  for (const led of ledNames)
    for (const [what, , pattern] of table[led]) {
      t.ok(found.has(pattern), `${led}: ${what}`)
      t.equal(new Set(pattern.map(({ v }) => v).filter((v) => v !== 0)).size, 1, what)
    }
  const lit = (led: (typeof ledNames)[number]) => table[led].map(([, , steps]) => steps.map(({ t }) => t).join('/'))
  t.strictSame(ledNames.map(lit), [
    ['0.25/0.25', '1', '0.1/2.9'],
    ['1', '1/1', '0.2/1.8'],
    ['0.25/0.25', '1', '1', '1', '0.5/0.5', '0.5/1.5'],
  ])
  t.strictSame(patternOf('red', usual), [{ v: 0, t: 1 }])
  const unknown: Facts = { base: undefined, status: undefined, errors: 0, link: undefined, via: '' }
  for (const led of ledNames) t.strictSame(patternOf(led, unknown), [{ v: 0, t: 1 }], 'what nobody says is not green')
})

t.test('the pattern trigger of the kernel, hard edges, and what the document shows', async (t) => {
  const folder = folderOf(t, {
    'base:green:status': { trigger: 'none [pattern] timer' },
    'base:red:fault': { trigger: 'none [pattern]', max: '1' },
    'base:rgb:link': { trigger: '[pattern]', index: 'green red blue' },
    'input3::capslock': { trigger: '[none]' },
  })
  const { become, read, pattern, station } = await setUp(t, folder)
  await until(() => read('base:green:status/pattern') === '255 200 255 0 0 1800 0 0', 'starting')
  await until(() => read('base:green:status/repeat') === '-1', 'for ever')
  await until(() => read('base:rgb:link/multi_intensity') === '255 255 0', 'yellow in the order of its channels')
  await until(() => read('base:red:fault/pattern') === '0 1000 0 0', 'off')
  await become({ base: 'ready', link: 'up', via: 'cellular' })
  await until(() => read('base:green:status/pattern') === '255 1000 255 0', 'steady')
  await until(() => read('base:rgb:link/multi_intensity') === '255 0 255', 'cyan')
  await become({ base: 'degraded', errors: 1 })
  await until(() => read('base:red:fault/pattern') === '1 1000 1 0', 'its own maximum')
  t.strictSame(pattern('red'), [{ v: 0xff0000, t: 1 }])
  t.strictSame(pattern('green'), [{ v: 0, t: 1 }])
  t.equal(read('input3::capslock/brightness'), '0\n', 'not ours')
  t.match(station.station.plugins().find(({ name }) => name === 'leds')?.reason, 'base:red:fault, base:green:status')
})

t.test('without that trigger the timer, without any the brightness', async (t) => {
  const folder = folderOf(t, { 'x:green': { trigger: 'none [timer]' }, 'x:red': { trigger: '[none]' } })
  const { become, read } = await setUp(t, folder)
  await until(() => read('x:green/delay_on') === '200' && read('x:green/delay_off') === '1800', 'blinks')
  await become({ base: 'ready' })
  await until(() => read('x:green/delay_on') === '1000' && read('x:green/delay_off') === '0', 'on')
  await become({ base: 'degraded' })
  await until(() => read('x:green/delay_on') === '0' && read('x:red/brightness') === '255', 'off, and lit')
})

t.test('no LEDs: nothing is written and empty patterns; a named one that is missing is an error entry', async (t) => {
  const folder = folderOf(t, {})
  const none = await setUp(t, folder)
  t.strictSame(none.pattern('rgb'), [])
  t.match(none.station.station.plugins().find(({ name }) => name === 'leds')?.reason, 'no LEDs in')
  await none.station.stop()
  const named = await setUp(t, folder, { red: 'mast:lamp' })
  t.match(named.station.device.errors(), [{ code: 'leds-red', text: /no LED mast:lamp/ }])
})

t.test(
  'files that are not ours yet are tried again; those that never are, an error entry until they are',
  async (t) => {
    const folder = folderOf(t, { 'x:green': { trigger: 'none [pattern]' } })
    const file = join(folder, 'x:green', 'pattern')
    rmSync(file)
    const { station, read, become } = await setUp(t, folder)
    await pass(station.clock, 300)
    t.notOk(existsSync(file), 'no file is made where the kernel has none')
    writeFileSync(file, '')
    await until(async () => {
      await station.clock.advance(500)
      return read('x:green/pattern') !== ''
    }, 'written')
    t.strictSame(station.device.errors(), [])
    rmSync(file)
    await become({ base: 'ready' })
    await until(async () => {
      await station.clock.advance(5_000)
      return station.device.errors().length > 0
    }, 'an error entry')
    t.match(station.device.errors(), [{ code: 'leds-green', text: /udev/ }])
    writeFileSync(file, '')
    await become({ base: 'surveying' })
    await until(() => station.device.errors().length === 0, 'gone')
    chmodSync(file, 0o600)
  },
)

t.test('simulated ones show patterns on a desk', async (t) => {
  const { pattern, station } = await setUp(t, 'simulator')
  t.strictSame(pattern('green'), [
    { v: 0x00ff00, t: 0.2 },
    { v: 0, t: 1.8 },
  ])
  const file = join(station.data, 'files', 'simulated-machine', 'leds', 'simulated:green:status', 'pattern')
  await until(() => readFileSync(file, 'utf8').startsWith('255 200'), 'written')
})
