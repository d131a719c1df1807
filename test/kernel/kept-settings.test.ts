/** Settings of a person that cannot be used: what runs instead, and that no login that was set is lost with them. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogger } from '../../runtime/platform/log/log.js'
import {
  type Arguments,
  type Settings,
  settingsOf,
  slotNotice,
  startProven,
} from '../../runtime/tools/cli/run/kept-settings.js'

const log = createLogger({ level: 'silent' })
const token = 'http.token=0123456789abcdef'
const login = { http: { token: '0123456789abcdef' } }
const loopback = 'http.host=127.0.0.1'

const given = (...set: string[]): Arguments => ({ set, change: ['udp-port=2200'], log: 'debug' })

function service(t: Test) {
  const root = t.testdir()
  const own = join(root, 'variant.json')
  const write = (more: object = {}) => {
    writeFileSync(own, JSON.stringify({ name: 'roof', hardware: 'x', plugins: {}, ...more }))
    return own
  }
  const start = (variant: string | undefined, args: Arguments, mode = '', options: string | undefined = '') =>
    settingsOf(variant, args, {
      RTK_BASE_ROOT: root,
      RTK_BASE_VARIANT: own,
      RTK_BASE_SETTINGS: mode,
      ...(options !== undefined && { RTK_BASE_OPTIONS: options }),
    })
  const gone = (variant: string | undefined, args: Arguments) =>
    settingsOf(variant, args, { RTK_BASE_ROOT: root, RTK_BASE_VARIANT: own, RTK_BASE_SETTINGS: '' })
  const proven = (settings: Settings) => startProven(root, settings, log)
  return { root, own, write, start, gone, proven, kept: join(root, 'kept.json') }
}

t.test(
  'whatever lies in the place of exits and kept.json keeps nothing waiting, and is as if it were missing',
  async (t) => {
    const { root, own, write, start, proven, kept } = service(t)
    const exits = join(root, 'exits')
    const settings = start(write(), given())
    const traps: readonly ((file: string) => void)[] = [
      (file) => execFileSync('mkfifo', [file]),
      (file) => symlinkSync('/dev/zero', file),
      (file) => symlinkSync(file, file),
      (file) => mkdirSync(join(file, 'x'), { recursive: true }),
      (file) => {
        writeFileSync(file, '')
        truncateSync(file, 2 ** 40)
      },
    ]
    for (const put of traps) {
      for (const file of [exits, kept]) {
        rmSync(file, { recursive: true, force: true })
        put(file)
      }
      t.match(start(own, given(), 'kept'), { set: [loopback], careful: true }, 'nothing was kept')
      proven({ ...settings, notice: { code: 'settings-refused', values: { reason: '' } } })
      proven(settings)
      t.equal(lstatSync(exits, { throwIfNoEntry: false }), undefined, 'what it counted is forgotten')
      t.match(JSON.parse(readFileSync(kept, 'utf8')), given())
    }
  },
)

t.test('what the person has set runs as long as it is not refused', async (t) => {
  const { write, start, own } = service(t)
  const args = given('system.x=1')
  t.match(start(write(), args), { ...args, careful: false, notice: undefined, file: { file: own } })
  t.match(start(undefined, args), { ...args, file: { variant: { name: 'simulator' } } })
  writeFileSync(own, '{ "name": ')
  t.throws(() => start(own, args), { code: 'RTK_ERR_VARIANT' })
  t.throws(() => settingsOf(own, args, {}), { code: 'RTK_ERR_VARIANT' })
  t.throws(() => settingsOf(own, args, { RTK_BASE_ROOT: '/x', RTK_BASE_SETTINGS: 'safe' }), { code: 'RTK_ERR_VARIANT' })
})

t.test('settings that were refused give way to those that ran well', async (t) => {
  const { write, own, start, proven, kept } = service(t)
  const good = given('gnss-zed.port=/dev/ttyAMA0')
  proven(start(write(login), good))
  t.equal(statSync(kept).mode & 0o777, 0o600, 'it may hold a login')
  writeFileSync(own, '{ "name": ')
  const started = start(own, given('http.prot=80'), 'kept')
  t.match(started, { ...good, careful: false, file: { file: own, variant: { name: 'roof', ...login } } })
  t.strictSame(started.set, good.set, 'with the login that stood')
  t.match(started.notice, {
    code: 'settings-refused',
    values: { reason: /those that ran before are used$/ },
  })
  t.match(start(undefined, given('http.prot=80'), 'kept'), { file: { variant: { name: 'roof' } } })

  t.test('a login that is refused with them leaves this machine only', async (t) => {
    const { write, own, start, proven } = service(t)
    proven(start(write(), good))
    const args = start(own, given(token, 'http.prot=80'), 'kept')
    t.strictSame(args.set, [...good.set, loopback])
    t.match(args.notice?.values.reason, /on this machine only/)
    for (const text of ['{ "http": { "token": "0123', JSON.stringify(login)]) {
      writeFileSync(own, text)
      t.strictSame(start(own, given(), 'kept').set, [...good.set, loopback], text)
    }
    writeFileSync(own, '{ "name": ')
    t.strictSame(start(own, given(), 'kept').set, good.set)
    rmSync(own)
    t.strictSame(start(own, given(), 'kept').set, [...good.set, loopback], 'what cannot be read may hold one')
  })
})

t.test('a variant above 1 MiB is refused, and may hold a login', async (t) => {
  const { write, own, start, proven } = service(t)
  proven(start(write(), given('gnss-zed.port=/dev/ttyAMA0')))
  const large = readFileSync(own, 'utf8')
  writeFileSync(own, large.padEnd(1_048_576))
  t.match(start(own, given()), { file: { file: own } })
  writeFileSync(own, large.padEnd(1_048_577))
  t.throws(() => start(own, given()), { code: 'RTK_ERR_VARIANT', message: /is not a file of at most 1 MiB/ })
  const started = start(own, given(), 'kept')
  t.match(started, { set: ['gnss-zed.port=/dev/ttyAMA0', loopback], notice: { code: 'settings-refused' } })
})

t.test('without settings that ran well HTTP is on this machine only, and no receiver is written to', async (t) => {
  const { write, own, start, proven, kept } = service(t)
  const isSafe = (settings: Settings, what: string) => {
    t.match(settings, { set: [loopback], change: [], careful: true, file: { variant: { name: 'simulator' } } }, what)
    t.match(
      settings.notice,
      { code: 'settings-refused', values: { reason: /HTTP answers on this machine only/ } },
      what,
    )
  }
  isSafe(start(write(), given('http.prot=80'), 'kept'), 'nothing was kept')
  for (const text of [
    '',
    '{',
    '{}',
    '{"set":[1],"change":[],"log":"info"}',
    '{"set":[],"change":[],"log":"info","variant":{"file":"x","text":"{"}}',
  ]) {
    writeFileSync(kept, text)
    isSafe(start(own, given(), 'kept'), `kept: ${text}`)
  }
  proven(start(write(), given()))
  isSafe(start(own, given('http.prot=80'), 'safe'), 'what was kept is refused too')
})

t.test('a file that is gone does not open what it closed', async (t) => {
  const { write, own, start, gone, proven, kept } = service(t)
  proven(start(write(login), given()))
  rmSync(own)
  const started = start(undefined, given())
  t.match(started, { file: { file: own, variant: login } })
  t.match(started.notice, {
    code: 'settings-missing',
    values: { reason: /the variant .* is missing, and with it the login/ },
  })
  proven(started)
  t.match(start(undefined, given()), { file: { variant: login } }, 'also at the next start')
  rmSync(kept)
  t.match(
    start(undefined, given()),
    { notice: undefined, file: { variant: { name: 'simulator' } } },
    'until a person says so',
  )

  proven(start(undefined, given(token)))
  t.match(gone(undefined, given()), {
    set: [token],
    notice: { code: 'settings-missing', values: { reason: /RTK_BASE_OPTIONS/ } },
  })
  t.match(start(undefined, given()), { set: [], notice: undefined }, 'options that a person has emptied')
  t.match(start(write(), given()), { notice: undefined }, 'a variant of the person’s own')
  proven(start(undefined, given('system.x=1')))
  t.match(gone(undefined, given()), { set: [], notice: undefined }, 'there was no login')
})

t.test('a start that has proved itself', async (t) => {
  const { root, write, own, start, proven, kept } = service(t)
  const exits = join(root, 'exits')
  const counts = 'slot=a\ncount=4\nsettings=ab\nrefused=3\n'
  writeFileSync(exits, counts)
  const settings = start(write(), given())
  proven(settings)
  t.notOk(existsSync(exits), 'the ends before it are forgotten')
  const { ino } = statSync(kept)
  proven(settings)
  t.equal(statSync(kept).ino, ino, 'the same settings are not written again')
  proven(start(own, given('a.b=1')))
  t.not(statSync(kept).ino, ino)
  writeFileSync(exits, counts)
  proven(start(own, given('x.y=1'), 'safe'))
  t.equal(readFileSync(exits, 'utf8'), 'slot=a\ncount=0\nsettings=ab\nrefused=3\n', 'what is refused still is')
  t.match(readFileSync(kept, 'utf8'), /a\.b=1/, 'and is not kept')
  rmSync(root, { recursive: true })
  proven(settings)
})

t.test('why the launcher has started another slot', async (t) => {
  const notice = (why: string, slot: string) => slotNotice({ RTK_BASE_FALLBACK: why, RTK_BASE_SLOT: slot })
  t.strictSame(slotNotice({}), [])
  t.strictSame(notice('', 'a'), [])
  t.strictSame(notice('x', 'a'), [])
  t.match(notice('state', 'f'), [{ code: 'slot-state-lost', values: { reason: /the version of the package runs$/ } }])
  t.match(notice('b', 'a'), [
    { code: 'slot-damaged', values: { reason: /^slot b is damaged and was not started: slot a runs/ } },
  ])
  t.match(notice('f', 'a'), [{ code: 'slot-damaged', values: { _package: true } }])
})
