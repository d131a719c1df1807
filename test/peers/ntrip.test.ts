/** The caster, the pusher and the client beside the programs that people use. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { Framer, isMsm } from '../../runtime/lib/gnss/index.js'
import { freeTcpPort, gateOnly, ownPorts, readyBase, startStation, until } from '../harness/index.js'
import { noPeer } from '../harness/peers/peers.js'

t.setTimeout(3_000_000)

const typesOf = (bytes: Buffer) => {
  const types: number[] = []
  new Framer({ onFrame: (frame) => frame.kind === 'rtcm' && types.push(frame.type) }).push(bytes, 0)
  return types
}
const read = (file: string) => {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}

function run(t: Test, program: string, args: string[]) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  t.teardown(() => child.kill('SIGKILL'))
  const output = { bytes: Buffer.alloc(0) }
  child.stdout.on('data', (chunk: Buffer) => {
    output.bytes = Buffer.concat([output.bytes, chunk])
  })
  child.stdin.on('error', () => {})
  return { child, output }
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-ntrip-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Shown = {
  gnss: {
    state: { status: string }
    ref: { survey: { state: string; corr: boolean; rtcm: { remote: string; dist: number } } }
  }
  ntrip: {
    caster: { port: number; tls: number; rovers: { agent: string; quality: number; user: string }[] }
    client: { state: string; frames: number; text: string }
  }
}

async function station(t: Test, args: string[] = []) {
  const station = await startStation([...(await ownPorts()).args, ...readyBase, ...args])
  t.teardown(() => station.end('SIGKILL'))
  const shown = () => station.info<Shown>()
  const post = async (path: string, body = '') =>
    (await fetch(`${station.url}${path}`, { method: 'POST', body })).text()
  return { ...station, shown, post, ntrip: async () => (await shown()).ntrip }
}

const fixed = (shown: () => Promise<Shown>) =>
  until(async () => (await shown()).gnss.state.status === 'fixed', 'fixed', 120_000)

t.test('programs take the stream of the simulator station', { skip: gateOnly }, async (t) => {
  const folder = folderOf(t)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes', '-newkey', 'rsa:2048']
  spawnSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', cert])
  const tls = await freeTcpPort()
  const options = [`tls.port=${tls}`, `tls.cert=${cert}`, `tls.key=${key}`]
  const { shown, ntrip, post } = await station(
    t,
    options.flatMap((option) => ['--set', `ntrip-caster.${option}`]),
  )
  await fixed(shown)
  const { port } = (await ntrip()).caster

  t.test('RTKLIB str2str, NTRIP 1 with GGA; its convbin reads what it got', { skip: noPeer('str2str') }, async (t) => {
    const file = join(folder, 'str2str.rtcm3')
    const from = `ntrip://rover:pass@127.0.0.1:${port}/SIM00001`
    const { child } = run(t, 'str2str', [
      '-n',
      '1000',
      '-p',
      '52.0',
      '4.0',
      '50',
      '-in',
      from,
      '-out',
      `file://${file}`,
    ])
    await until(() => typesOf(read(file)).filter(isMsm).length >= 20, 'five epochs', 60_000)
    t.equal(typesOf(read(file))[0], 1005, 'the position first')
    const rover = async () => (await ntrip()).caster.rovers.find(({ agent }) => /RTKLIB/.test(agent))
    await until(async () => ((await rover())?.quality ?? 0) > 0, 'its GGA', 60_000)
    child.kill('SIGINT')
    const { status } = spawnSync('convbin', ['-r', 'rtcm3', '-od', '-o', join(folder, 'o.obs'), file], {
      encoding: 'utf8',
    })
    t.equal(status, 0)
    t.match(read(join(folder, 'o.obs')).toString(), /APPROX POSITION XYZ/)
  })

  t.test('curl, NTRIP 2: table and stream', { skip: noPeer('curl') }, async (t) => {
    const ntrip = ['-sS', '-A', 'NTRIP curl/1', '-H', 'Ntrip-Version: Ntrip/2.0']
    const { stdout } = spawnSync('curl', [...ntrip, `http://127.0.0.1:${port}/`], { encoding: 'utf8' })
    t.match(stdout, /^CAS;127\.0\.0\.1;.*\r\nNET;.*\r\nSTR;SIM00001;SIM00001;RTCM 3\.2;1005\(1\),1074\(1\)/)
    t.match(stdout, /ENDSOURCETABLE\r\n$/)
    const { output } = run(t, 'curl', [...ntrip, '-N', '-m', '60', `http://127.0.0.1:${port}/SIM00001`])
    await until(() => typesOf(output.bytes).filter(isMsm).length >= 8, 'two epochs', 60_000)
    t.equal(typesOf(output.bytes)[0], 1005)
  })

  t.test('curl, NTRIP 2, as a foreign base; str2str as another', { skip: noPeer('str2str') }, async (t) => {
    await post('/system?ntrip-base', 'EAST:s3cret')
    await post('/system?ntrip-base', 'WEST:s3cret')
    const own = `http://127.0.0.1:${port}/SIM00001`
    const pushes = `curl -sSN -A "NTRIP curl/1" ${own} --http0.9 | tail -c +15 | curl -sSN -A "NTRIP curl/1" -H "Ntrip-Version: Ntrip/2.0" -X POST -T - -u x:s3cret -H "Expect:" http://127.0.0.1:${port}/EAST`
    const { child } = run(t, 'setsid', ['sh', '-c', pushes])
    t.teardown(() => {
      if (child.pid) process.kill(-child.pid, 'SIGKILL')
    })
    const east = run(t, 'curl', ['-sSN', '--http0.9', '-A', 'NTRIP curl/1', `http://127.0.0.1:${port}/EAST`])
    await until(() => typesOf(east.output.bytes).filter(isMsm).length >= 8, 'two epochs of EAST', 60_000)
    t.equal(typesOf(east.output.bytes)[0], 1005)
    const from = `ntrip://127.0.0.1:${port}/SIM00001`
    run(t, 'str2str', ['-in', from, '-out', `ntrips://:s3cret@127.0.0.1:${port}/WEST`])
    const west = run(t, 'curl', ['-sSN', '--http0.9', '-A', 'NTRIP curl/1', `http://127.0.0.1:${port}/WEST`])
    await until(() => typesOf(west.output.bytes).filter(isMsm).length >= 8, 'two epochs of WEST', 60_000)
    const wrong = spawnSync('curl', ['-sS', '-X', 'POST', '-d', '', '-u', 'x:wrong', `http://127.0.0.1:${port}/EAST`])
    t.match(String(wrong.stdout), /password/)
    await post('/system?ntrip-base', 'EAST')
    await post('/system?ntrip-base', 'WEST')
  })

  const request = 'GET /SIM00001 HTTP/1.0\r\nUser-Agent: NTRIP tls/1\r\n\r\n'
  for (const [program, args] of [
    ['openssl', ['s_client', '-quiet', '-connect', `127.0.0.1:${tls}`, '-CAfile', cert, '-verify_return_error']],
    ['gnutls-cli', ['--x509cafile', cert, '--verify-hostname', 'localhost', '-p', `${tls}`, '127.0.0.1']],
  ] as const) {
    t.test(`${program}, over TLS`, { skip: noPeer(program) }, async (t) => {
      t.equal((await ntrip()).caster.tls, tls)
      const { child, output } = run(t, program, [...args])
      child.stdin.write(request)
      await until(() => typesOf(output.bytes).filter(isMsm).length >= 8, 'two epochs', 60_000)
      t.match(output.bytes.toString('latin1'), 'ICY 200 OK')
    })
  }

  t.test('gpsd, NTRIP 1 with its login', { skip: noPeer('gpsd') }, async (t) => {
    await post('/system?ntrip-user', 'rover:s3cret')
    const own = await freeTcpPort()
    run(t, 'gpsd', ['-N', '-n', '-S', `${own}`, `ntrip://rover:s3cret@127.0.0.1:${port}/SIM00001`])
    await until(async () => (await ntrip()).caster.rovers.some(({ user }) => user === 'rover'), 'its login', 60_000)
    const { output } = run(t, 'gpspipe', ['-w', `127.0.0.1:${own}`])
    const types = () =>
      [...output.bytes.toString().matchAll(/"class":"RTCM3"[^}]*?"type":(\d+)/g)].map(([, type]) => type)
    await until(() => types().includes('1074') && types().includes('1005'), 'it reads the messages', 60_000)
    t.match((await ntrip()).caster.rovers, [{ agent: /gpsd/ }])
  })
})

t.test('str2str as caster: the client corrects a survey-in', { skip: noPeer('str2str') || gateOnly }, async (t) => {
  const base = await station(t)
  await fixed(base.shown)
  const port = await freeTcpPort()
  const from = `ntrip://127.0.0.1:${(await base.ntrip()).caster.port}/SIM00001`
  const row = 'BASE1:;RTCM 3.2;1005(1),1074(1);2;GPS+GLO;NONE;NLD;52.00;4.00;0;0;RTKLIB;none;B;N;900;'
  run(t, 'str2str', ['-in', from, '-out', `ntripc://rover:pass@:${port}/${row}`])
  const client = { host: '127.0.0.1', port, user: 'rover', password: 'pass', version: 1 }
  const surveyed = await startStation([
    ...(await ownPorts()).args,
    ...['--set', 'simulated-receiver.lat=52.05', '--set', 'simulated-receiver.seed=2'],
    ...['--change', 'gnss-station-id=7'],
  ])
  t.teardown(() => surveyed.end('SIGKILL'))
  const shown = () => surveyed.info<Shown>()
  const post = async (path: string, body = '') => fetch(`${surveyed.url}${path}`, { method: 'POST', body })
  await fixed(shown)
  // No mountpoint: the nearest of the table.
  t.equal((await post('/change', JSON.stringify({ 'ntrip-client': client }))).status, 200)
  t.equal((await post('/system?rtcmin=1')).status, 200)
  await until(async () => (await shown()).ntrip.client.state === 'streaming', 'the stream', 60_000)
  await post('/system?start-survey-in')
  await until(async () => (await shown()).gnss.ref.survey.state === 'running', 'the survey-in', 60_000)
  await until(async () => (await shown()).gnss.ref.survey.state !== 'running', 'its end', 400_000)
  const { survey } = (await shown()).gnss.ref
  t.match(survey, { state: 'complete', corr: true, rtcm: { remote: `ntrip 127.0.0.1:${port}/BASE1` } })
})

const unshared = spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']).status === 0
t.test(
  'a line that is cut without a word',
  { skip: gateOnly || (!unshared && process.env.CI !== 'true' && 'no network namespaces') },
  (t) => {
    const child = fileURLToPath(new URL('../harness/children/half-open.js', import.meta.url))
    const { stdout, stderr } = spawnSync('unshare', ['-rn', process.execPath, child], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    const said = JSON.parse(stdout || '{}') as Record<string, { text: string; next: number }>
    for (const name of ['push', 'tcp', 'serial']) {
      const { text = '' } = said[name] ?? {}
      t.match(
        text,
        /^nothing acknowledged for \d+ s: the line is cut, or the other end takes nothing$/,
        `${name}: ${stderr}`,
      )
      // A machine that is busy looks at it late.
      t.ok(Number(/\d+/.exec(text)?.[0]) >= 25, `${name}: ${text}`)
    }
    const { next = 0 } = said.push ?? {}
    t.ok(next >= 1 && next <= 18)
    t.end()
  },
)
