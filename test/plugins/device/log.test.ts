import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createTestStation, type TestStationOptions } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import log from '../../../plugins/device/log/index.js'
import { LogRing } from '../../../plugins/device/log/ring.js'
import system from '../../../plugins/device/system/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import { bootId, RunRecord, runEndOf } from '../../../runtime/platform/supervision/run-record.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../../runtime/plugin.js'
import { station as stationToken } from '../../../schemas/services.js'

async function setUp(t: Test, options: TestStationOptions & { log?: Record<string, unknown> } = {}) {
  let ctx: PluginContext | undefined
  let counted = 5
  const talker = definePlugin({
    name: 'talker',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [stationToken],
    setup: (own) => own.metrics.counter({ name: 'talk_words_total', help: 'words' }),
    start(own, _handoff, words) {
      ctx = own
      words.inc()
      own.on(own.services.use(stationToken).onCountersReset, () => {
        counted = 0
      })
    },
  }) as AnyPlugin
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'rtk-base-log-'))
  if (options.data === undefined) t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const plugins = { log: log as AnyPlugin, talker, system: system as AnyPlugin, 'http-api': httpApi as AnyPlugin }
  const { log: logOptions, ...rest } = options
  const variant = logOptions ? { plugins: { log: logOptions } } : {}
  const station = await createTestStation({ variant, ...rest, data, plugins })
  t.teardown(() => station.stop())
  const send = async (command: string) => {
    const { status, text } = await station.request(`/system?${command}`, { method: 'POST' })
    return { status, text }
  }
  const saved = async (query = '', accept = 'text/plain') =>
    (await station.request(`/get-log-saved${query}`, { headers: { accept } })).text
  const files = () => readdirSync(join(data, 'files', 'log', 'saved')).sort()
  const change = (values: object) => station.request('/change', { method: 'POST', body: JSON.stringify(values) })
  return { station, send, saved, files, change, data, ctx: ctx as unknown as PluginContext, counted: () => counted }
}

t.test('the saved log', async (t) => {
  t.test('a FIFO, a device or a huge file in its folder costs a line', async (t) => {
    const { data, send, saved, files } = await setUp(t)
    await send('logsavenvs')
    const at = (name: string) => join(data, 'files', 'log', 'saved', name)
    execFileSync('mkfifo', [at('run-00000007.log.gz')])
    symlinkSync('/dev/zero', at('run-00000008.log.gz'))
    writeFileSync(at('run-00000009.log.gz'), '')
    truncateSync(at('run-00000009.log.gz'), 2 ** 40)
    const text = await saved()
    for (const run of [7, 8, 9])
      t.match(text, new RegExp(`run-0000000${run}.log.gz cannot be read: .* is not a file of at most 8 MiB`))
    t.equal(files().length, 4)
  })

  t.test(
    'is empty at first, holds the lines after a save, as text and as JSON, and the newest with tail',
    async (t) => {
      const { ctx, send, saved, station } = await setUp(t)
      t.equal(await saved(), '')
      ctx.log.warn({ volts: 3, password: 'hush' }, 'the first')
      ctx.log.error({ err: new Error('boom') }, 'the second')
      t.match(await send('logsavenvs'), { status: 200, text: 'log saved\n' })
      const text = await saved()
      t.match(text, /^\d{4}-\d\d-\d\dT.*Z WARN {2}talker: the first \(volts=3 password=…\)$/m)
      t.match(text, /ERROR talker: the second\n {4}Error: boom\n {8}at /, 'with the stack')
      t.notMatch(text, 'hush')
      const last = (await saved('?tail=2')).split('\n').filter((line) => /^\d/.test(line))
      t.equal(last.length, 2)
      const lines = (await saved('', 'application/x-ndjson')).trim().split('\n')
      t.match(
        lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'the first'),
        { level: 40, plugin: 'talker', volts: 3, password: '…' },
      )
      t.equal((await station.request('/get-log-saved?tail=x')).status, 400)
      t.match(await send('logclearnvs'), { status: 200 })
      t.equal(await saved(), '')
    },
  )

  t.test('is written every log-save-period, where there is something new, and not at all with 0', async (t) => {
    const { ctx, saved, station, change, files, data } = await setUp(t)
    ctx.log.warn('hourly')
    await station.clock.advance(3_599_000)
    t.equal(await saved(), '')
    await station.clock.advance(1_000)
    t.match(await saved(), /hourly/)
    const written = () => statSync(join(data, 'files', 'log', 'saved', files()[0] as string)).ino
    const before = written()
    await station.clock.advance(36_000_000)
    t.equal(written(), before, 'nothing new, nothing written')
    await change({ 'log-save-period': 10 })
    t.equal(station.field('base.log.save_period'), 10)
    ctx.log.warn('soon')
    await station.clock.advance(10_000)
    t.match(await saved(), /soon/)
    await change({ 'log-save-period': 0 })
    ctx.log.warn('only at the end')
    await station.clock.advance(1_000_000)
    t.notMatch(await saved(), 'only at the end')
    t.match((await change({ 'log-save-period': 604_801 })).json(), { result: 'failed' })
  })

  t.test('is saved at the end; the newest runs are kept, and a reload goes on with the same lines', async (t) => {
    const first = await setUp(t, { log: { runs: 2 } })
    first.ctx.log.warn('run one')
    await first.station.reload('log')
    first.ctx.log.warn('after the reload')
    await first.station.stop()
    const { data } = first
    for (const run of ['run two', 'run three']) {
      const next = await setUp(t, { data, log: { runs: 2 } })
      next.ctx.log.warn(run)
      await next.station.stop()
      t.ok(next.files().length <= 2)
    }
    const last = await setUp(t, { data, log: { runs: 2 } })
    const text = await last.saved()
    t.match(text, /run two(.|\n)*run three/)
    t.notMatch(text, 'run one')
  })

  t.test('is bounded, whatever is logged', async (t) => {
    const { ctx, send, saved } = await setUp(t, { log: { ring_kb: 16 } })
    const kinds = 'abcdefghijklmnopqrstuvwxyzABCD'
    for (let i = 0; i < 300; i++) ctx.log.warn({ i, filler: 'x'.repeat(300) }, `long ${kinds[Math.floor(i / 10)]}`)
    ctx.log.warn('x'.repeat(50_000))
    await send('logsavenvs')
    const text = await saved('', 'application/json')
    t.ok(text.length <= 16_384, `${text.length} bytes`)
    t.match(text, /"i":299/)
    t.match(text, /… \(cut\)/)
    const ring = new LogRing(1_000)
    for (let i = 0; i < 10_000; i++) ring.add({ level: 30, time: i, msg: 'm' })
    t.ok(ring.text().length <= 1_000)
    t.match(ring.text(), /"time":9999/)
  })

  t.test('a damaged file is one line, and a folder that takes no writes an error entry', async (t) => {
    const { ctx, send, saved, data, station } = await setUp(t)
    const folder = join(data, 'files', 'log', 'saved')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'run-00000000.log.gz'), 'no gzip')
    writeFileSync(join(folder, 'run-00000001.log.gz'), gzipSync('{ not JSON\n'))
    t.match(await saved(), /WARN {2}log: run-00000000\.log\.gz cannot be read: .*\n- WARN {2}\{ not JSON\n/)
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'a file where the folder was')
    ctx.log.warn('lost?')
    t.match(await send('logsavenvs'), { status: 503, text: /could not be saved: .*free space/ })
    t.match(station.field('base.state.errors'), [{ code: 'log-not-saved' }])
    rmSync(folder)
    t.match(await send('logsavenvs'), { status: 200 })
    t.notMatch(station.field('base.state.errors'), [{ code: 'log-not-saved' }])
  })
})

t.test('commands', async (t) => {
  t.test('log sets the level of everything, or of one plugin; anything else is 400', async (t) => {
    const { ctx, send, station } = await setUp(t)
    const seen = (text: string) => station.lines.some(({ msg }) => msg === text)
    for (const [value, shown, hidden] of [
      ['n', undefined, 'error'],
      ['0', undefined, 'error'],
      ['e', 'error', 'warn'],
      ['w', 'warn', 'info'],
      ['i', 'info', 'debug'],
      ['1', 'info', 'debug'],
      ['d', 'debug', 'trace'],
      ['v', 'trace', undefined],
      ['talker:e', 'error', 'warn'],
    ] as const) {
      t.match(await send(`log=${value}`), { status: 200 })
      if (shown) ctx.log[shown](`${value} ${shown}`)
      if (hidden) ctx.log[hidden](`${value} ${hidden}`)
      if (shown) t.ok(seen(`${value} ${shown}`), `${value} shows ${shown}`)
      t.notOk(seen(`${value} ${hidden}`), `${value} hides ${hidden}`)
    }
    for (const bad of ['log', 'log=', 'log=x', 'log=debug', 'log=nobody:d', 'log=:d'])
      t.match(await send(bad), { status: 400 }, bad)
  })

  t.test('reset-debug reaches the counters of every plugin, in the metrics and outside', async (t) => {
    const { send, counted, station } = await setUp(t)
    t.equal(counted(), 5)
    t.match(await send('reset-debug'), { status: 200 })
    t.equal(counted(), 0)
    t.ok(station.field('base.state'))
  })
})

t.test('why the run before ended', async (t) => {
  const run = { boot: 'a', started_ms: 1_000, stalls: [] }
  const blocked = { how: 'blocked' as const, text: 'plugin leds blocked it', at_ms: 2_000, stack: ['blink x.ts:3:1'] }
  const told = (result: string, code: string, status: string, boot = 'a') => ({ boot, result, code, status })
  for (const [traces, how, text] of [
    [{ run: undefined }, 'first', /no previous run/],
    [
      { run: { ...run, end: { how: 'stopped', text: 'the service was stopped', at_ms: 5, stack: [] } } },
      'stopped',
      /stopped/,
    ],
    [
      {
        run: { ...run, end: { how: 'stopped', text: '', at_ms: 5, stack: [] } },
        supervisor: told('success', 'exited', '0'),
      },
      'stopped',
      /^$/,
    ],
    [
      {
        run: { ...run, end: { how: 'stopped', text: '', at_ms: 5, stack: [] } },
        supervisor: told('exit-code', 'exited', '3'),
      },
      'failed',
      /exit code 3/,
    ],
    [
      { run: { ...run, end: blocked }, supervisor: told('signal', 'killed', 'KILL') },
      'blocked',
      /^plugin leds blocked it$/,
    ],
    [{ run, boot: 'b' }, 'power', /power cut/],
    [{ run, boot: 'b', supervisor: told('signal', 'killed', 'KILL', 'x') }, 'power', /power cut/],
    [{ run, supervisor: told('signal', 'killed', 'KILL') }, 'killed', /SIGKILL/],
    [{ run, supervisor: told('core-dump', 'dumped', 'ABRT') }, 'failed', /heap was full/],
    [{ run, supervisor: told('watchdog', 'killed', 'KILL') }, 'blocked', /watchdog/],
    [{ run, supervisor: told('exit-code', 'exited', '1') }, 'failed', /exit code 1/],
    [{ run, boot: 'b', supervisor: told('timeout', 'killed', 'KILL') }, 'killed', /SIGKILL after a time limit/],
    [{ run, supervisor: told('oom-kill', 'killed', 'KILL') }, 'killed', /out of memory/],
  ] as const) {
    const end = runEndOf({ boot: 'a', supervisor: undefined, ...traces } as Parameters<typeof runEndOf>[0])
    t.match(end, { how, text }, `${JSON.stringify(traces)}`)
  }
  t.match(runEndOf({ run: { ...run, end: blocked }, boot: 'a', supervisor: undefined }), blocked)

  t.test('what the supervisor wrote speaks for one run only', async (t) => {
    const data = t.testdir({ ended: `${bootId()} exit-code exited 1\n` })
    const runs: RunRecord[] = []
    const begin = (boot?: string) => {
      const record = new RunRecord(data)
      runs.push(record)
      return record.begin(() => 1_000, boot)
    }
    t.teardown(() => runs.map((record) => record.stopped()))
    t.match(begin(), { how: 'first' })
    writeFileSync(join(data, 'ended'), `${bootId()} signal killed KILL\n`)
    t.match(begin(), { how: 'killed' })
    t.match(begin('the next boot'), { how: 'power' }, 'and not for the run that a power cut ended later')
  })

  t.test('whatever lies in the place of a record keeps no run from beginning', async (t) => {
    const end = { how: 'stopped', text: '', at_ms: 1, stack: [] }
    const stopped = JSON.stringify({ boot: 'b', started_ms: 1, end, stalls: [] })
    const data = t.testdir({ 'run.json': stopped.padEnd(2 << 20), 'run.json.new': {} })
    const begin = () => {
      const record = new RunRecord(data)
      const { how } = record.begin(() => 1_000)
      record.stopped()
      return how
    }
    t.equal(begin(), 'first', 'a large file is not read')
    t.equal(begin(), 'stopped', 'and is replaced, also where a folder has the name of the new one')
    for (const name of ['run.json', 'run.json.new', 'ended']) {
      rmSync(join(data, name), { force: true })
      execFileSync('mkfifo', [join(data, name)])
    }
    t.equal(begin(), 'first', 'a FIFO would block its reader for ever')
    t.equal(begin(), 'stopped')
  })
})
