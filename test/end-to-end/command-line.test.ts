import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { simulated } from '../../examples/serial-receiver/test/simulated.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { portDropIn } from '../../runtime/tools/cli/allow-port.js'
import {
  childEnv,
  conformance,
  few,
  gateOnly,
  ManualClock,
  ownPorts,
  receiverConformance,
  rtkBase,
  rtkBaseAll,
  startStation,
  until,
} from '../harness/index.js'
import { smallVariant } from '../harness/small-variant.js'

t.setTimeout(900_000)

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-cli-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

t.test('on a machine with little memory the heap of a running program stays small', { skip: gateOnly }, async (t) => {
  const heap = join(packageRoot(), 'build', 'runtime', 'tools', 'cli', 'run', 'heap.js')
  /** MiB of the young generation after a lot of garbage. */
  const young = async (memory_bytes: number) => {
    const code = `
      import { getHeapSpaceStatistics } from 'node:v8'
      import { once } from 'node:events'
      import { Worker } from 'node:worker_threads'
      import { boundHeap } from ${JSON.stringify(heap)}
      boundHeap(${memory_bytes})
      // A thread of its own, as the watchdog has: it must not undo that.
      const thread = new Worker('setInterval(() => {}, 1_000)', { eval: true })
      await once(thread, 'online')
      let kept = []
      for (let i = 0; i < 3e6; i++) {
        kept.push({ i })
        if (kept.length > 20_000) kept = []
      }
      console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)
      process.exit()`
    const { stdout } = await promisify(execFile)('env', [
      '-u',
      'NODE_OPTIONS',
      process.execPath,
      '--input-type=module',
      '-e',
      code,
    ])
    return Number(stdout) / 2 ** 20
  }
  const [small, large] = [await young(2 ** 30), await young(8 * 2 ** 30)]
  t.ok(small <= 3, `${small} MiB with 1 GiB`)
  t.ok(large > small, `${large} MiB with 8 GiB`)
})

t.test('every command has --help, and a slip of the pen ends with 2 and says what to do', async (t) => {
  const commands = ['run', 'plugins', 'console', 'password', 'build', 'build-plugin', 'new-plugin']
  const helps = few(2, commands).map((name) => [name, '--help'])
  for (const { code, stdout } of [await rtkBase(['--help']), ...(await rtkBaseAll(helps))]) {
    t.equal(code, 0)
    t.match(stdout, /rtk-base/)
  }
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }
  t.match(await rtkBase(['--version']), { code: 0, stdout: `${version}\n` })
  const nowhere = folder(t)
  const small = smallVariant(folder(t), { 'udp-rtcm': {} })
  const slips: [string[], number, RegExp][] = [
    [[], 2, /rtk-base run/],
    // C10
    [['rnu'], 2, /^rtk-base: unknown command "rnu" \(did you mean "run"\?\); see rtk-base --help\n$/],
    [['run', '--dta', 'x'], 2, /^rtk-base run: unknown option --dta \(did you mean "--data"\?\)\n/],
    [['run', '--sett', 'http.port=1'], 2, /unknown option --sett \(did you mean "--set"\?\)\n/],
    [['rinex', 'x.ubx', '--antena=A'], 2, /unknown option --antena \(did you mean "--antenna"\?\)\n/],
    [['keys', '--colour', 'x'], 2, /^rtk-base keys: unknown option --colour\n/],
    [['run', '--set', 'nonsense'], 2, /--set takes NAME=VALUE/],
    [['run', small, '--set', 'http=1', '--data', nowhere], 2, /--set takes PLUGIN.OPTION=VALUE/],
    [['run', small, '--set', 'no-such.option=1', '--data', nowhere], 2, /no such plugin or section/],
    // Options of plugins that only stand by are known: the other mistake is the only one.
    [
      ['run', 'any', '--set', 'gnss-quectel.baud=9600', '--set', 'gnss-quectell.baud=1', '--data', nowhere],
      2,
      /^rtk-base run: --set gnss-quectell\.…: [^\n]*did you mean "gnss-quectel"/,
    ],
    [['run', small, '--set', 'rtcm.nope=1', '--data', nowhere], 2, /rtcm has no option nope/],
    [['run', small, '--set', 'http.port=eighty', '--data', nowhere], 2, /http.port must be integer, not "eighty"/],
    [['run', '--change', 'no-such=1', '--data', nowhere], 2, /no-such/],
    [['run', small, '--change', 'udp-port=70000', '--data', nowhere], 2, /udp-port/],
    [['run', small, '--change', 'udp-port=x', '--data', nowhere], 2, /udp-port: must be integer, not "x"/],
    [['run', 'simulatr', '--data', nowhere], 2, /did you mean "simulator"\?/],
    [['build-plugin'], 2, /folder of one plugin/],
    [['build-plugin', 'no-such-folder'], 2, /no-such-folder is not a folder/],
    [['run', 'no-such-variant.json', '--data', nowhere], 2, /no-such-variant.json: cannot be read/],
    // C14: what never started is not stopped.
    [
      ['run', 'fleet-demo', '--change', 'no-such=1', '--data', nowhere],
      2,
      /^rtk-base run: --change no-such: [^\n]*\n {2}RTK_ERR_[^\n]*\n$/,
    ],
    [
      ['plugins', 'relaod', 'x', '--data', nowhere],
      2,
      /list, load P, unload P or reload P, not "relaod x" \(did you mean "reload"\?\)/,
    ],
    [['plugins', '--data', nowhere], 1, /no rtk-base answers/],
    [['console', '--data', nowhere], 1, /no rtk-base answers/],
    [['password', '--data', nowhere], 2, /--reset/],
    [
      ['run', '--set', 'http.viewerToken=another-to-look-only', '--data', nowhere],
      2,
      /run: http\.viewerToken needs http\.token/,
    ],
    [['report', '--data', join(packageRoot(), 'package.json')], 2, /no such data folder/],
    [
      ['report', '--data', nowhere, '--out', '/proc/no-such/x'],
      1,
      /cannot be written \(ENOENT[^\n]*: make the folder of \/proc\/no-such\n {2}RTK_ERR_REPORT: [^\n]*\n$/,
    ],
    [['password', '--reset', '--data', join(nowhere, 'none')], 2, /no such data folder/],
  ]
  const given = few(4, slips)
  const results = await rtkBaseAll(given.map(([args]) => args))
  for (const [index, [args, code, text]] of given.entries()) {
    const result = results[index]
    t.equal(result?.code, code, args.join(' ') || '(nothing)')
    t.match(`${result?.stdout}${result?.stderr}`, text)
  }
  t.match(
    await rtkBase(['run', '--dta', 'x']),
    { code: 2, stderr: /unknown option --dta/ },
    'in a process of its own as well',
  )
})

t.test('rtk-base/testing leaves the environment of the test alone, and gives its children a clean one', (t) => {
  const harness = JSON.stringify(join(packageRoot(), 'build', 'test', 'harness', 'index.js'))
  const code = `import { childEnv } from ${harness}; console.log(process.env.NODE_OPTIONS, childEnv().NODE_OPTIONS)`
  // Set by `env`, as the test runner puts options of its own into what is set here.
  const args = ['NODE_OPTIONS=--no-deprecation', process.execPath, '--input-type=module', '-e', code]
  const { stdout } = spawnSync('env', args, { encoding: 'utf8', env: childEnv() })
  t.equal(stdout, '--no-deprecation undefined\n')
  t.end()
})

t.test('a Node that is too old is named, and which one is needed', async (t) => {
  const entry = join('runtime', 'tools', 'build', 'bootstrap.mjs')
  const { status, stderr } = spawnSync(process.execPath, ['--no-experimental-require-module', entry, 'plugins'], {
    encoding: 'utf8',
    env: childEnv(),
  })
  t.equal(status, 1)
  t.match(stderr, `rtk-base needs Node 20.19, 22.12 or later: this is ${process.version}`)
})

t.test('a variant error names file, line and field', async (t) => {
  const place = folder(t)
  const good = { name: 'x', hardware: 'x', plugins: { system: {} } }
  const cases: [string, RegExp][] = [
    [
      '{\n  "name": "x",\n  "hardware": "x"\n  "plugins": {}\n}',
      /variant\.json:4: a comma is missing before this: "\\"plugins\\""/,
    ],
    [
      '{\n "name": "x",\n "hardware": "x",\n "plugins": {\n  "system": {},\n  "system": {}\n }\n}',
      /variant\.json:6: plugins\.system is given twice\n/,
    ],
    [JSON.stringify({ ...good, plugins: undefined }), /variant\.json:1: .*plugins/],
    [
      '{\n  "name": "x",\n  "hardware": "x",\n  "http": {\n    "port": "80"\n  },\n  "plugins": {}\n}',
      /variant\.json:5: http\.port: must be/,
    ],
    [JSON.stringify({ ...good, plguins: {} }, null, 1), /variant\.json:7: plguins: unknown field/],
    [JSON.stringify({ ...good, plugins: { system: { a: 1 } } }, null, 1), /variant\.json:6: system has no option a/],
    [
      JSON.stringify({ ...good, changes: { nothing: 1 } }, null, 1),
      /variant\.json:8: changes\.nothing is an unknown parameter/,
    ],
    [JSON.stringify({ ...good, http: { prot: 1 } }, null, 1), /variant\.json:8: http has no option prot/],
    [JSON.stringify({ ...good, info: { mask: 3 } }, null, 1), /variant\.json:8: info\.mask: must be 1 or 2, not 3\n/],
    [
      JSON.stringify({ ...good, plugins: { 'mqtt-link': { protocol: '6' } } }, null, 1),
      /variant\.json:6: mqtt-link\.protocol: must be "auto" or "4" or "5", not "6"\n/,
    ],
    ['', /variant\.json:1: a value is missing here/],
    ['{\n  plugins: {}\n}', /variant\.json:2: .*"plugins"/],
    ['[]', /variant\.json:1: variant: must be object/],
  ]
  const lines = few(5, cases).map(([text], index) => {
    const path = join(place, String(index), 'variant.json')
    mkdirSync(dirname(path))
    writeFileSync(path, text)
    return ['run', path, '--data', join(place, String(index), 'data')]
  })
  for (const [index, { code, stderr }] of (await rtkBaseAll(lines)).entries()) {
    const [text, expected] = cases[index] ?? ['', / /]
    t.equal(code, 2, text.slice(0, 60))
    t.match(stderr, expected)
  }
})

t.test('every mistake of a variant is named at once, with value, bounds and the nearest name', async (t) => {
  const place = folder(t)
  const waits = { name: 'x', hardware: 'x', plugins: { 'udp-rtcm': {}, 'survey-in': {} } }
  const plugins = { sytem: {}, rtcm: {}, 'udp-rtcm': { maxSubscibers: 1 }, './nowhere': {}, 'survey-in': {} }
  const variant = { name: 'x', hardware: 'x', http: { prot: 80 }, changes: { 'udp-prot': 1 }, plugins }
  const two = { system: {}, [`${process.cwd()}/plugins/device/system`]: {} }
  const lines = (
    [
      [{ name: '', hardware: 'x', plguins: {}, serial: 'a b', http: { port: 70_000 }, plugins: {} }],
      [variant],
      [{ ...variant, http: {}, changes: {}, plugins: two }],
      [{ ...waits, changes: { 'udp-prot': 2_200, 'udp-port': 0, 'gnss-survey-mintime': 30 } }],
      [waits, '--change', 'udp-prot=1', '--set', 'udprtcm.host=::1'],
      [{ ...waits, http: { token: 'too-short' } }],
      [waits, '--set', 'udp-rtcm.port=2200'],
    ] as [object, ...string[]][]
  ).map(([file, ...args], index) => {
    const path = join(place, String(index), 'variant.json')
    mkdirSync(dirname(path))
    writeFileSync(path, JSON.stringify(file, null, 1))
    return ['run', path, '--data', join(place, String(index), 'data'), ...args]
  })
  const results = await rtkBaseAll(lines)
  for (const { code } of results) t.equal(code, 2)
  const [shape, all, twice, misspelt, slips, secret, other] = results.map(({ stderr }) => stderr) as [
    string,
    ...string[],
  ]

  t.match(shape, /variant\.json:2: name: must not have fewer than 1 characters, not ""/)
  t.match(shape, /variant\.json:4: plguins: unknown field \(did you mean "plugins"\?\)/)
  t.match(shape, /http\.port: must be <= 65535, not 70000/)
  t.match(shape, /variant\.json:5: serial: must be \{SN\}, 1 to 64 letters, digits, _ or -.*, not "a b"/)
  for (const expected of [
    /variant\.json:5: http has no option prot \(did you mean "port"\?\)/,
    /no plugin "sytem": .*\(did you mean "system"\?\)/,
    /udp-rtcm has no option maxSubscibers \(did you mean "maxSubscribers"\?\)/,
    /no plugin at .*nowhere/,
  ])
    t.match(all, expected)
  t.match(twice, /two plugins of this variant are called system: "system" and ".*\/plugins\/device\/system"/)
  t.match(misspelt, /changes\.udp-prot is an unknown parameter \(did you mean "udp-port"\?\)/)
  t.notMatch(misspelt, /gnss-survey-mintime/, 'a parameter of a plugin that waits is one')
  t.match(slips, /--change udp-prot: .*\(did you mean "udp-port"\?\)/)
  t.match(
    other,
    /udp-rtcm has no option port; it takes .*maxSubscribers.*; parameters that can change at run time are set by/,
  )
  t.match(slips, /--set udprtcm\.….*\(did you mean "udp-rtcm"\?\)/)
  t.match(secret, /http\.token: must not have fewer than 16 characters/)
  t.notMatch(secret, 'too-short')
})

t.test(
  'a data folder that is in use, an address that is taken end with 75, a data folder that cannot be made with 1',
  { skip: gateOnly },
  async (t) => {
    const small = smallVariant(folder(t))
    const station = await startStation([small])
    t.teardown(() => station.end())
    t.match(await rtkBase(['run', small, '--data', station.data, '--set', 'http.port=0']), {
      code: 75,
      stderr: /RTK_ERR_DATA_LOCKED/,
    })
    const port = new URL(station.url).port
    t.match(await rtkBase(['run', small, '--data', folder(t), '--set', `http.port=${port}`]), {
      code: 75,
      stderr: /RTK_ERR_LISTEN/,
    })
    const file = join(folder(t), 'file')
    writeFileSync(file, '')
    t.match(await rtkBase(['run', small, '--data', join(file, 'data')]), { code: 1, stderr: /RTK_ERR_DATA_FOLDER/ })
    // Node's own recursive mkdir never ends there.
    t.match(await rtkBase(['run', small, '--data', '/proc/rtk-base/data']), {
      code: 1,
      stderr: /data folder \/proc\/rtk-base\/data cannot be made: .*\n +RTK_ERR_DATA_FOLDER/,
    })
    // As the launcher of the simulator starts it: the channel to it must not keep a start that failed.
    const child = spawn(
      process.execPath,
      [
        join(packageRoot(), 'runtime', 'tools', 'build', 'bootstrap.mjs'),
        'run',
        '--data',
        station.data,
        '--set',
        'http.port=0',
      ],
      {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        env: childEnv(),
      },
    )
    t.teardown(() => child.kill('SIGKILL'))
    let code: number | null | undefined
    child.once('exit', (ended) => {
      code = ended
    })
    await until(() => code !== undefined, 'it ends')
    t.equal(code, 75)
  },
)

t.test('what a serial port of another driver needs is printed', async (t) => {
  const devices =
    'Character devices:\n  4 /dev/vc/0\n  4 tty\n  4 ttyS\n207 ttymxc\n511 gnss\n\nBlock devices:\n207 loop\n'
  const port = (major: number, isCharacterDevice = true) => ({
    rdev: major * 256 + 3,
    isCharacterDevice: () => isCharacterDevice,
  })
  t.equal(
    portDropIn('/dev/ttymxc3', port(207), devices),
    '# For /dev/ttymxc3.\n[Service]\nDeviceAllow=char-ttymxc rw\n',
  )
  t.match(portDropIn('/dev/gnss0', port(511), devices), /^DeviceAllow=char-gnss rw$/m)
  t.match(portDropIn('/dev/ttyS3', port(4), devices), /char-tty rw\nDeviceAllow=char-ttyS rw\n$/)
  t.throws(() => portDropIn('/dev/x', port(99), devices), { message: /names no driver for its number 99/ })
  t.throws(() => portDropIn('/etc', port(207, false), devices), { message: /is not a character device/ })
  t.match(await rtkBase(['allow-port', '/dev/null']), { code: 0, stdout: /DeviceAllow=char-mem rw\n/ })
  t.match(await rtkBase(['allow-port', '/dev/none']), { code: 2, stderr: /ENOENT/ })
})

t.test('lost passwords are reset on the machine, with the service and without', { skip: gateOnly }, async (t) => {
  const args = [smallVariant(folder(t))]
  const data = folder(t)
  const reset = () => rtkBase(['password', '--reset', '--data', data])
  const start = () => startStation(args, { data })
  let station = await start()
  const post = async (path: string, body: object) =>
    (await fetch(`${station.url}${path}`, { method: 'POST', body: JSON.stringify(body) })).status
  const set = () => post('/password', { role: 'operator', password: 'forgotten-soon' })
  t.teardown(() => station.end())
  t.equal(await set(), 200)
  t.equal(await post('/change', {}), 401)
  t.match(await reset(), { code: 0, stdout: 'the passwords are removed\n' })
  t.equal(await post('/change', {}), 200)
  t.match(await reset(), { code: 0, stdout: 'no password was set\n' })
  t.equal(await set(), 200)
  await station.end()
  t.match(await reset(), { code: 0, stdout: 'the passwords are removed\n' })
  station = await start()
  t.equal(await post('/change', {}), 200)
})

t.test('plugins and console talk to the running station over a socket that only its user may open', async (t) => {
  const { args } = await ownPorts()
  const station = await startStation(args)
  t.teardown(() => station.end())
  const { data } = station
  t.equal(statSync(join(data, 'control.sock')).mode & 0o777, 0o600)

  const list = await rtkBase(['plugins', '--data', data])
  t.match(list.stdout, /gnss-zed +running +1\.0\.0/)
  t.match(JSON.parse((await rtkBase(['plugins', 'list', '--json', '--data', data])).stdout), [
    { name: 'system', state: 'running' },
  ])

  const plugin = folder(t)
  mkdirSync(join(plugin, 'hello'))
  writeFileSync(
    join(plugin, 'hello', 'index.ts'),
    `import { definePlugin } from 'rtk-base/plugin'
     import { Type } from 'typebox'
     export default definePlugin({ name: 'hello', version: '0.1.0', api: '^1.0.0',
       setup: (ctx) => ctx.action({ name: 'hello', summary: 'greets', input: { who: Type.Optional(Type.String()) }, run: ({ input }) => 'hello ' + (input.who ?? 'world') }) })`,
  )
  t.match(await rtkBase(['plugins', 'load', join(plugin, 'hello'), '--data', data]), {
    code: 0,
    // C12: of this plugin alone
    stdout: /^hello +running +0\.1\.0\n$/,
  })
  t.match(await rtkBase(['plugins', 'load', join(plugin, 'hello'), '--data', data]), {
    code: 1,
    stderr: /RTK_ERR_ALREADY_LOADED/,
  })

  t.match(await rtkBase(['plugins', 'load', 'examples/hello-plugin', '--data', data]), {
    code: 1,
    stderr: /; did you mean "\.\/examples\/hello-plugin"\?/,
  })

  const console = await rtkBase(
    ['console', '--data', data],
    'help\nhello=roof\nhello  old roof\ninfo udp.enabled\nset udp-en=0 other=1\nset udp-en=0\ninfo udp.enabled\nnonsense\nquit\n',
  )
  t.match(console.stdout, /hello +greets \(hello\)/)
  t.match(
    console.stdout,
    /hello roof\nhello old roof\ntrue\nfailed\nother: is an unknown parameter\nok\nfalse\nunknown command "nonsense"/,
  )
  t.equal(console.code, 1, 'a script sees that a line went wrong')
  for (const [line, wrong] of [
    ['set pump-limit 8', 'pump-limit'],
    ['set pump-limit', 'pump-limit'],
    ['set', ''],
    ['set udp-en = 1', 'udp-en'],
  ]) {
    const refused = await rtkBase(['console', '--data', data], `${line}\n`)
    t.match(refused, { code: 1, stdout: `set takes KEY=VALUE, not "${wrong}"\n` }, line)
  }
  const faults = await rtkBase(
    ['console', '--data', data],
    'sim help\nsim move 30 0 -1\nsim nak CFG-RATE-MEAS\nsim=antenna open\n',
  )
  t.match(faults.stdout, /^ *sim move E N U \[S\] +\S.*\n(.*\n)* *sim noise quiet\|typical\|obstructed +\S/)
  t.match(faults.stdout, /moved E 30 N 0 U -1 m, antenna open.*refuses 1 keys\n$/)
  t.equal(faults.code, 0)

  t.match(await rtkBase(['plugins', 'reload', 'hello', '--data', data]), { code: 0 })
  const gone = await rtkBase(['plugins', 'unload', 'hello', '--data', data])
  t.equal(gone.code, 0)
  t.equal(gone.stdout, 'hello is unloaded\n')
  t.match(await rtkBase(['plugins', 'unload', 'hello', '--data', data]), { code: 1, stderr: /RTK_ERR_NOT_LOADED/ })
})

t.test(
  'a data folder whose path is longer than a unix socket takes serves plugins and console too',
  { skip: gateOnly },
  async (t) => {
    const data = join(folder(t), 'x'.repeat(100), 'data')
    mkdirSync(data, { recursive: true })
    const { args } = await ownPorts()
    const station = await startStation(args, { data })
    t.teardown(() => station.end())
    t.equal(statSync(join(data, 'control.sock')).mode & 0o777, 0o600)
    t.match(await rtkBase(['plugins', '--data', data]), { code: 0, stdout: /gnss-zed +running/ })
    t.match(await rtkBase(['console', '--data', data], 'info esp.serial\nquit\n'), { code: 0, stdout: /SIM00001/ })
    t.match(await station.end(), { code: 0 })
    t.notOk(existsSync(join(data, 'control.sock')))
    t.match(await rtkBase(['plugins', '--data', data]), { code: 1, stderr: /no rtk-base answers/ })
  },
)

t.test('a control socket that cannot be made costs the console, not the station', { skip: gateOnly }, async (t) => {
  const data = folder(t)
  mkdirSync(join(data, 'control.sock'))
  const station = await startStation([smallVariant(folder(t))], { data })
  t.teardown(() => station.end('SIGKILL'))
  t.match(station.output(), /control socket .*control\.sock cannot be made.*do not reach this station/)
  t.match(await rtkBase(['console', '--data', data]), {
    code: 1,
    stderr: /control\.sock is no socket: remove it, then restart the service\n[^\n]*the message says what to do\.\n$/,
  })
  t.match(await station.end(), { code: 0 })
})

/** A service, as the launcher of its package starts it, whose data folder cannot be made or used. */
async function serviceOn(t: Test, data: string) {
  const [root, run] = [folder(t), folder(t)]
  const env = { RTK_BASE_ROOT: root, RTK_BASE_SLOT: 'f', RTK_BASE_VARIANT: '', RUNTIME_DIRECTORY: run }
  const station = await startStation([smallVariant(folder(t))], { data, env })
  t.teardown(() => station.end('SIGKILL'))
  const changed = await fetch(`${station.url}/change`, { method: 'POST', body: '{"gnss-initial-accuracy":4}' })
  t.match(await changed.json(), { result: 'ok' })
  const { base } = await station.info<{ base: { state: { errors: { code: string; text: string }[] } } }>()
  t.match(await station.end(), { code: 0 })
  t.ok(existsSync(join(run, 'rtk-base-data', 'store')), 'its settings are in the folder that the next restart empties')
  return base.state.errors.filter(({ code }) => /^(store|change|data)-/.test(code))
}

t.test('a service whose data folder cannot be had serves from memory, and says so', async (t) => {
  const file = join(folder(t), 'file')
  writeFileSync(file, '')
  t.match(await serviceOn(t, join(file, 'data')), [
    { code: 'data-in-memory', text: /the data folder .*\/file\/data cannot be made: .*lost at the next restart/ },
  ])
})

const root = process.getuid?.() === 0
const unless = { skip: gateOnly || (!root && process.env.CI !== 'true' && 'mounting a small file system needs root') }
t.test('a disk that takes no writes', unless, async (t) => {
  const disk = folder(t)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=200', 'tmpfs', disk])
  t.teardown(() => execFileSync('umount', ['-l', disk]))
  const data = join(disk, 'data')
  const variant = smallVariant(folder(t))
  const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, disk])
  /** How it runs there: the codes of its errors, and every plugin that does not run. */
  const run = async (...args: string[]) => {
    const station = await startStation([variant, ...args], { data })
    t.teardown(() => station.end('SIGKILL'))
    const plugins = (await (await fetch(`${station.url}/plugins`)).json()) as { state: string }[]
    const { base } = await station.info<{ base: { state: { errors: { code: string }[] } } }>()
    t.match(await station.end(), { code: 0 })
    return {
      codes: new Set(base.state.errors.map(({ code }) => code).filter((code) => /^(store|change)-/.test(code))),
      broken: plugins.filter(({ state }) => state !== 'running'),
    }
  }

  t.test('a full one: it starts, also with --change and without plugins in the cache, and says so', async (t) => {
    mkdirSync(data)
    for (const size of [65_536, 4_096, 1])
      try {
        for (;;) writeFileSync(join(disk, 'ballast'), Buffer.alloc(size), { flag: 'a' })
      } catch {}
    t.same(await run('--change', 'gnss-initial-accuracy=4'), {
      codes: new Set(['change-not-stored', 'store-unwritable']),
      broken: [],
    })
    rmSync(join(disk, 'ballast'))
    t.same(await run(), { codes: new Set(), broken: [] })
  })

  t.test('one without a free inode', async (t) => {
    try {
      for (let n = 0; ; n++) writeFileSync(join(disk, `file-${n}`), '')
    } catch {}
    t.same(await run('--change', 'gnss-initial-accuracy=4'), {
      codes: new Set(['change-not-stored', 'store-unwritable']),
      broken: [],
    })
    for (const name of readdirSync(disk).filter((name) => name.startsWith('file-'))) rmSync(join(disk, name))
  })

  t.test('a read-only one', async (t) => {
    remount('ro')
    t.same(await run(), { codes: new Set(['store-unwritable']), broken: [] })
    t.match(await rtkBase(['run', variant, '--data', join(disk, 'not', 'there')]), {
      code: 1,
      stderr: /data folder .*there cannot be made: EROFS.*\n +RTK_ERR_DATA_FOLDER/,
    })
    t.match(await serviceOn(t, join(disk, 'not', 'there')), [{ code: 'data-in-memory', text: /cannot be made: EROFS/ }])
    remount('rw')
  })

  t.test('a data folder that others may write to is mentioned', async (t) => {
    chmodSync(data, 0o777)
    const station = await startStation([variant], { data })
    t.teardown(() => station.end('SIGKILL'))
    t.match(station.output(), /other users can write to the data folder .*mode 777.*chmod 700/)
    t.equal(statSync(join(data, 'store')).mode & 0o777, 0o700)
    await station.end()
  })
})

t.test(
  'SIGTERM stops within 3 s with 0; reboot restarts in place; factory clears settings and keeps the counters',
  async (t) => {
    const variant = smallVariant(folder(t), {}, { 'gnss-initial-accuracy': 7 })
    const station = await startStation([variant, '--change', 'gnss-survey-mintime=77'])
    t.teardown(() => station.end('SIGKILL'))
    const post = async (command: string) => (await fetch(`${station.url}/system?${command}`, { method: 'POST' })).text()
    const starts = () => station.output().split('rtk-base 0.').length - 1
    /** The address of the newest start: the HTTP port is a free one each time. */
    const info = async () => {
      const url = [...station.output().matchAll(/curl (http:\S+)\/get-info/g)].at(-1)?.[1]
      return (await (await fetch(`${url}/get-info`)).json()) as {
        esp: { bootcnt: number; productionflag: number }
        gnss: { config: { startup: { accuracy: number } }; ref: { survey: { config: { mintime: number } } } }
      }
    }
    /** What the variant sets stays, what a person set goes with a factory reset. */
    const settings = (mintime: number) => ({
      gnss: { config: { startup: { accuracy: 7 } }, ref: { survey: { config: { mintime } } } },
    })
    await post('prodflag=7')
    t.match(await post('reboot'), /restarting/)
    await until(() => starts() === 2, 'the restart')
    t.match(await info(), { esp: { bootcnt: 2, productionflag: 7 }, ...settings(77) })
    const url = [...station.output().matchAll(/curl (http:\S+)\/get-info/g)].at(-1)?.[1]
    t.match(await (await fetch(`${url}/system?factory`, { method: 'POST' })).text(), /cleared/)
    await until(() => starts() === 3, 'the restart after factory')
    t.match(await info(), { esp: { bootcnt: 3, productionflag: 7 }, ...settings(300) })
    // After 3 s it would end with 1.
    t.match(await station.end('SIGTERM'), { code: 0 })
  },
)

t.test(
  'reboot of a simulator restarts it in place, also when its plugins take longer to stop than a service may',
  { skip: gateOnly },
  async (t) => {
    const parent = folder(t)
    // Each is given up after 2 s.
    for (const name of ['slow', 'slower']) {
      mkdirSync(join(parent, name))
      writeFileSync(
        join(parent, name, 'index.ts'),
        `import { definePlugin } from 'rtk-base/plugin'
       export default definePlugin({ name: '${name}', version: '0.1.0', api: '^1.0.0', setup() {}, stop: () => new Promise(() => {}) })`,
      )
    }
    const file = join(parent, 'slow.json')
    const plugins = { 'http-api': {}, system: {}, './slow': {}, './slower': {} }
    writeFileSync(file, JSON.stringify({ name: 'slow', hardware: 'test', simulator: true, plugins }))
    const station = await startStation([file])
    t.teardown(() => station.end('SIGKILL'))
    t.match(await (await fetch(`${station.url}/system?reboot`, { method: 'POST' })).text(), /restarting/)
    const ended = once(station.child, 'exit').then(() => 'it ended')
    const restarted = until(() => station.output().split('rtk-base 0.').length === 3, 'the restart').then(
      () => 'it restarted',
    )
    t.equal(await Promise.race([ended, restarted]), 'it restarted')
  },
)

t.test('shutdown of a simulator ends it with 0', { skip: gateOnly }, async (t) => {
  const station = await startStation([smallVariant(folder(t))])
  t.teardown(() => station.end('SIGKILL'))
  const ended = once(station.child, 'exit')
  t.match(await (await fetch(`${station.url}/system?shutdown`, { method: 'POST' })).text(), /switching off/)
  t.same(await ended, [0, null])
  t.equal(station.output().split('rtk-base 0.').length - 1, 1, 'it ran once')
})

t.test(
  'a standard output that takes nothing, as on a full disk, costs the log and not the station',
  { skip: gateOnly },
  async (t) => {
    const data = folder(t)
    const { args } = await ownPorts()
    const full = openSync('/dev/full', 'w')
    const entry = join('runtime', 'tools', 'build', 'bootstrap.mjs')
    const child = spawn(process.execPath, [entry, 'run', '--data', data, '--set', 'http.port=0', ...args], {
      stdio: ['ignore', full, 'inherit'],
      env: childEnv(),
    })
    closeSync(full)
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    await until(() => child.exitCode !== null || existsSync(join(data, 'control.sock')), 'the control socket')
    const { stdout } = await rtkBase(['console', '--data', data], 'sim\nsim\ninfo esp.serial\n')
    t.match(stdout, /plugged.*\nplugged.*\n"SIM00001"/)
    child.kill('SIGTERM')
    t.same(await ended, [0, null])
  },
)

t.test('new-plugin --receiver makes the plugin of a receiver, with its test', { skip: gateOnly }, async (t) => {
  const place = folder(t)
  const here = process.cwd()
  process.chdir(place)
  t.teardown(() => process.chdir(here))
  t.match(await rtkBase(['new-plugin', 'roof-receiver', '--receiver']), { code: 0 })
  t.match(readFileSync(join('roof-receiver', 'index.ts'), 'utf8'), /name: 'roof-receiver'/)
  const clock = new ManualClock()
  const device = await simulated(clock)
  const options = { port: device.port }
  await t.resolves(receiverConformance(join(place, 'roof-receiver'), device, { options, surroundings: { clock } }))
  await t.resolves(conformance(join(place, 'roof-receiver'), { port: 'tcp://127.0.0.1:9' }))
})

t.test('new-plugin makes a plugin that loads, and overwrites nothing', { skip: gateOnly }, async (t) => {
  const { args } = await ownPorts()
  const station = await startStation(args)
  t.teardown(() => station.end())
  const place = folder(t)
  const here = process.cwd()
  process.chdir(place)
  t.teardown(() => process.chdir(here))
  t.match(await rtkBase(['new-plugin', 'tide-gauge']), { code: 0, stdout: /plugins load \.\/tide-gauge/ })
  t.match(await rtkBase(['new-plugin', 'tide-gauge']), { code: 2, stderr: /there already/ })
  t.match(await rtkBase(['new-plugin', 'Tide Gauge']), { code: 2, stderr: /lower case/ })
  t.match(await rtkBase(['plugins', 'load', './tide-gauge', '--data', station.data]), {
    code: 0,
    stdout: /tide-gauge +running/,
  })
  const answer = await fetch(`${station.url}/system?tide-gauge-count=7`, { method: 'POST' })
  t.equal(await answer.text(), 'count 7\n')
  for (const value of ['-1', '', 'x', '11']) {
    const refused = await fetch(`${station.url}/system?cmd=tide-gauge-count=${value}`, { method: 'POST' })
    t.equal(refused.status, 400, value)
  }
})
