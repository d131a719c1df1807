/** systemd's notify protocol over a real socket: notify-exec opens it, becomes Node, and Node writes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { childEnv, gateOnly, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { NotifySupervisor } from '../../runtime/platform/supervision/notify-supervisor.js'
import { noPeer } from '../harness/peers/peers.js'

const root = packageRoot()
const notifyExec = join(root, 'runtime', 'tools', 'build', 'deb', 'files', 'notify-exec')
const skip = noPeer('perl')

/** Prints each datagram as a line. */
const receiver = `use Socket; $| = 1; my $path = shift; $path =~ s/^@/\\0/;
my $s; socket($s, AF_UNIX, SOCK_DGRAM, 0) && bind($s, sockaddr_un($path)) or die $!; print "bound\\n";
while (defined recv($s, my $text, 4096, 0)) { print "$text\\n" }`

/** Does what it reads, a line each, by a clock that it is told, and answers with a line. */
const service = `import { createInterface } from 'node:readline'
import { NotifySupervisor } from '${join(root, 'build', 'runtime', 'platform', 'supervision', 'notify-supervisor.js')}'
let now_ms = 0
const supervisor = NotifySupervisor.of(process.env, () => now_ms)
for await (const line of createInterface({ input: process.stdin })) {
  const [what, at] = line.split(' ')
  if (what === 'status') supervisor?.status(JSON.parse(line.slice(7)))
  else {
    if (at) now_ms = Number(at)
    supervisor?.[what]?.(now_ms)
  }
  console.log(JSON.stringify({ pid: process.pid, fd: process.env.NOTIFY_FD, isThere: supervisor !== undefined }))
}`

async function setUp(t: Test, { watchdog_s = 30, abstract = false } = {}) {
  // A path of a socket is short.
  const folder = mkdtempSync(join(tmpdir(), 'rtk-n-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const socket = abstract ? `@${folder}/notify` : join(folder, 'notify')
  const program = join(folder, 'service.mjs')
  writeFileSync(program, service)
  const kill = (child: ChildProcess) => t.teardown(() => child.kill('SIGKILL'))
  const messages: string[] = []
  const system = spawn('perl', ['-e', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  kill(system)
  createInterface({ input: system.stdout }).on('line', (line) => messages.push(line))
  await until(() => messages.shift() === 'bound', 'the socket')
  const env = { ...childEnv(), NOTIFY_SOCKET: socket, WATCHDOG_USEC: `${watchdog_s * 1e6}` }
  const child = spawn(notifyExec, [process.execPath, program], { stdio: ['pipe', 'pipe', 'inherit'], env })
  kill(child)
  await until(() => messages.shift() === 'WATCHDOG=1', 'the first sign of life, before the command runs')
  const answers = createInterface({ input: child.stdout })
  const say = async (line: string) => {
    const answer = once(answers, 'line')
    child.stdin.write(`${line}\n`)
    return JSON.parse(String((await answer)[0])) as { pid: number; fd?: string; isThere: boolean }
  }
  const heard = async (wanted: string[]) => {
    await until(() => messages.length >= wanted.length, `${wanted.join(', ')}`).catch(() => {})
    return messages.splice(0)
  }
  return { system, child, say, heard, folder, messages }
}

t.test('readiness, more time for the start and the stop reach systemd', { skip: skip || gateOnly }, async (t) => {
  for (const abstract of [false, true]) {
    const { child, say, heard } = await setUp(t, { abstract })
    t.match(await say('nothing'), { pid: child.pid, isThere: true }, 'the process that systemd started sends')
    await say('extendStart 120000')
    await say('ready')
    await say('status "fixed, 2 outputs"')
    await say('status "x\\nMAINPID=1"')
    await say('stopping')
    const two_min = 'EXTEND_TIMEOUT_USEC=120000000'
    const all = [two_min, 'READY=1', 'STATUS=fixed, 2 outputs', 'STATUS=x MAINPID=1', 'STOPPING=1']
    t.strictSame(await heard(all), all)
  }
})

t.test(
  'signs of life come three times in the time that systemd waits, and at most once a second',
  { skip: skip || gateOnly },
  async (t) => {
    for (const [watchdog_s, wanted] of [
      [30, 9],
      [3, 90],
      [1, 90],
      [0, 0],
    ] as const) {
      const { say, heard } = await setUp(t, { watchdog_s })
      for (let at_ms = 1; at_ms <= 90_000; at_ms += 1_000) await say(`alive ${at_ms}`)
      await say('stopping')
      const messages = await heard(new Array(wanted + 1).fill(''))
      const signs = messages.filter((one) => one === 'WATCHDOG=1').length
      // On a busy machine the queue of the socket is full now and then, and the next sign does as well.
      t.ok(signs <= wanted && signs >= wanted * 0.8, `WatchdogSec=${watchdog_s}: ${signs} of ${wanted}`)
    }
  },
)

t.test('a full queue holds nobody up, and what did not fit is sent again', { skip: skip || gateOnly }, async (t) => {
  const { system, say, messages } = await setUp(t)
  system.kill('SIGSTOP')
  for (let n = 0; n < 1_000; n++) await say('stopping')
  await say('ready')
  await say('status "fixed"')
  await say('alive 1')
  system.kill('SIGCONT')
  await until(() => messages.length > 0, 'the queue is read')
  let at_ms = 1
  await until(async () => {
    at_ms += 1
    await say(`alive ${at_ms}`)
    return ['READY=1', 'WATCHDOG=1', 'STATUS=fixed'].every((one) => messages.includes(one))
  }, 'all come later')
  t.ok(messages.length < 1_000, 'the queue was full')
  t.equal(messages.filter((one) => one === 'READY=1').length, 1)
  t.equal(messages.filter((one) => one === 'WATCHDOG=1').length, 1)
})

t.test('without systemd the command runs all the same', { skip: skip || gateOnly }, async (t) => {
  const run = async (env: NodeJS.ProcessEnv, command: string[]) => {
    const child = spawn(notifyExec, command, {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const [code] = await once(child, 'close')
    return { code, output }
  }
  const show = ['sh', '-c', 'echo "fd=$NOTIFY_FD $0"', 'a b']
  t.match(await run({}, show), { code: 0, output: 'fd= a b\n' })
  t.match(await run({ NOTIFY_FD: '7' }, show), { code: 0, output: 'fd= a b\n' }, 'a number of somebody else')
  t.match(await run({ NOTIFY_SOCKET: '/not/there' }, show), { code: 0, output: 'fd= a b\n' })
  t.match(await run({}, ['/not/there']), { output: /notify-exec: \/not\/there: No such file/ })
  t.notOk(existsSync('/not/there'))
  t.equal(NotifySupervisor.of({}), undefined)
  t.equal(NotifySupervisor.of({ NOTIFY_FD: '3; rm' }), undefined)
  t.ok(NotifySupervisor.of({ NOTIFY_FD: '3', WATCHDOG_USEC: 'soon' }))
})
