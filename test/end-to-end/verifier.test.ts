import { spawn } from 'node:child_process'
import { createPrivateKey, sign, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect } from 'mqtt'
import { childEnv, freeUdpPort, gateOnly, ownPorts, readyBase, startStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { signedBytes } from '../../runtime/lib/gnss/index.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { createAuthority } from '../harness/peers/certificates.js'
import { mosquittoFor } from '../harness/peers/mosquitto.js'
import { noPeer } from '../harness/peers/peers.js'

interface Verdict {
  ok: boolean
  why: string
  text: string
  gap?: number
  silent_s?: number
}
interface Verifier {
  certificate(serial: string, pem: string): string | undefined
  publication(serial: string, topic: string, payload: Buffer, signature: object | undefined): Verdict
}
type Module = { Verifier: new (options: { ca: string; maxAge_s?: number; now?: () => number }) => Verifier }

const folder = join(packageRoot(), 'examples', 'rtcm-verifier')
const program = join(folder, 'verifier.mjs')
const skip = noPeer('openssl')

t.test('verify.mjs', skip ? { skip } : {}, async (t) => {
  const { Verifier } = (await import(pathToFileURL(join(folder, 'verify.mjs')).href)) as Module
  const pki = createAuthority(join(t.testdir(), 'pki'))
  const device = pki.issue('device', '/O=Surveyors/CN=A1', 'extendedKeyUsage=clientAuth\n')
  const pem = readFileSync(device.cert, 'utf8')
  const topic = 'base/A1/drtk'
  const payload = Buffer.from('d300', 'hex')
  // Later than any certificate that the subtests issue, however slow the machine.
  const begin_ms = Date.now() + 3_600_000
  let now_ms = begin_ms
  const make = () => new Verifier({ ca: readFileSync(pki.ca, 'utf8'), now: () => now_ms })
  const signed = (sequence: number, time_ms = now_ms, { cert, key } = device, of = topic) => ({
    'sig-alg': 'ECDSA-SHA256',
    sig: sign('sha256', signedBytes(of, sequence, time_ms, payload), createPrivateKey(readFileSync(key))).toString(
      'base64',
    ),
    'sig-cert': new X509Certificate(readFileSync(cert)).serialNumber,
    'sig-seq': String(sequence),
    'sig-time': String(time_ms),
  })
  const ready = () => {
    now_ms = begin_ms
    const verifier = make()
    t.equal(verifier.certificate('A1', pem), undefined)
    return verifier
  }

  t.test('what follows in order is good; a gap says how many and how long', (t) => {
    const verifier = ready()
    t.match(verifier.publication('A1', topic, payload, signed(10)), { ok: true, gap: 0 })
    t.match(verifier.publication('A1', topic, payload, signed(11)), { ok: true, gap: 0 })
    now_ms += 4_000
    t.match(verifier.publication('A1', topic, payload, signed(15)), { ok: true, gap: 3, silent_s: 4 })
    t.match(
      verifier.publication('A1', topic, payload, signed(20, 0)),
      { gap: 4, silent_s: undefined },
      'without a time',
    )
    t.match(verifier.publication('A1', topic, payload, signed(30)), { gap: 9, silent_s: undefined })
    t.end()
  })

  t.test('replayed, stale, of the future', (t) => {
    const verifier = ready()
    const first = signed(10)
    verifier.publication('A1', topic, payload, first)
    t.match(verifier.publication('A1', topic, payload, first), { ok: false, why: 'replayed' })
    t.match(verifier.publication('A1', topic, payload, signed(9)), { ok: false, why: 'replayed' })
    const held = signed(11)
    now_ms += 31_000
    t.match(verifier.publication('A1', topic, payload, held), { ok: false, why: 'stale' })
    t.match(verifier.publication('A1', topic, payload, signed(12, now_ms + 31_000)), { ok: false, why: 'stale' })
    t.match(verifier.publication('A1', topic, payload, signed(12, 0)), { ok: true }, 'a station without a clock')
    t.match(make().publication('A1', topic, payload, signed(12)), { ok: false, why: 'no-certificate' })
    t.end()
  })

  t.test('a change to any signed part, or to the signature', (t) => {
    const verifier = ready()
    const good = signed(10)
    const forged = (what: string, signature: object, of = payload, on = topic) =>
      t.match(verifier.publication('A1', on, of, signature), { ok: false, why: 'forged' }, what)
    forged('payload', good, Buffer.from('d301', 'hex'))
    forged('sequence', { ...good, 'sig-seq': '11' })
    forged('time', { ...good, 'sig-time': String(now_ms + 1) })
    forged('topic', good, payload, 'base/A1/drtk2')
    forged('algorithm', { ...good, 'sig-alg': 'RSA-SHA256' })
    forged('unknown algorithm', { ...good, 'sig-alg': 'constructor' })
    forged('signature', { ...good, sig: 'AAAA' })
    forged('a property that comes twice', { ...good, 'sig-seq': ['10', '11'] })
    forged('incomplete', { ...good, 'sig-time': undefined })
    t.match(verifier.publication('A1', topic, payload, undefined), { ok: false, why: 'unsigned' })
    t.match(verifier.publication('A1', topic, payload, {}), { ok: false, why: 'unsigned' })
    t.match(verifier.publication('A1', topic, payload, good), { ok: true }, 'and nothing of it did any harm')
    t.end()
  })

  t.test('certificates: another station, another authority, over, a chain', (t) => {
    const verifier = ready()
    const other = createAuthority(join(t.testdir(), 'other'), 'test authority')
    const foreign = other.issue('device', '/CN=A1', '')
    t.match(verifier.certificate('A1', readFileSync(foreign.cert, 'utf8')), /no authority/)
    t.match(verifier.publication('A1', topic, payload, signed(20, now_ms, foreign)), { why: 'no-certificate' })
    t.match(verifier.certificate('B2', pem), /it is for A1/)
    const sibling = pki.issue('sibling', '/CN=B2', '')
    t.match(verifier.publication('A1', topic, payload, signed(20, now_ms, sibling)), { why: 'no-certificate' })
    t.equal(
      verifier.certificate('C3', readFileSync(pki.issue('dns', '/CN=x', 'subjectAltName=DNS:C3\n').cert, 'utf8')),
      undefined,
    )
    const ended = pki.issue('ended', '/CN=A1', '', -1)
    t.match(verifier.certificate('A1', readFileSync(ended.cert, 'utf8')), /is valid from/)
    t.match(verifier.certificate('A1', 'nonsense'), /not a certificate/)
    // One that is no authority itself vouches for nobody.
    t.match(verifier.certificate('A1', readFileSync(foreign.cert, 'utf8') + pem), /no authority/)
    t.match(verifier.publication('A1', topic, payload, signed(20)), { ok: true }, 'the good one is still there')
    now_ms += 31 * 86_400_000
    t.match(verifier.publication('A1', topic, payload, signed(21)), { why: 'no-certificate' }, 'it ends')
    t.end()
  })
})

t.test('S11: stations that nobody vouches for take no memory', skip ? { skip } : {}, async (t) => {
  const { Verifier } = (await import(pathToFileURL(join(folder, 'verify.mjs')).href)) as Module
  const pki = createAuthority(join(t.testdir(), 'pki'))
  const verifier = new Verifier({ ca: readFileSync(pki.ca, 'utf8') })
  const signature = { 'sig-alg': 'Ed25519', sig: '', 'sig-cert': '00', 'sig-seq': '1', 'sig-time': '1' }
  const payload = Buffer.of(0xd3)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const flood = (from: number, count: number) => {
    for (let n = from; n < from + count; n++) {
      const { why } = verifier.publication(`S${n}`, `base/S${n}/drtk`, payload, signature)
      if (why !== 'no-certificate') t.fail(why)
    }
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = flood(0, 1_000)
  const grown = flood(1_000, 200_000) - before
  t.ok(grown < 5e6, `${Math.round(grown / 1e6)} MB for 200,000 names`)
})

/** The example as a person runs it. */
function verifierProcess(t: Test, args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: childEnv() })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('latin1').on('data', (chunk: string) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number)
  t.teardown(() => void child.kill('SIGKILL'))
  return { child, output, ended }
}

for (const version of ['4', '5']) {
  const missing = skip || noPeer('mosquitto') || gateOnly
  t.test(`a station that signs, a verifier, MQTT ${version}`, missing ? { skip: missing } : {}, async (t) => {
    const pki = createAuthority(join(t.testdir(), 'pki'))
    const device = pki.issue('device', '/CN=SIM00001', 'extendedKeyUsage=clientAuth\n')
    const server = pki.issue('server', '/CN=broker', 'subjectAltName=IP:127.0.0.1\n')
    const broker = await mosquittoFor(t, [
      ...[`cafile ${pki.ca}`, `certfile ${server.cert}`, `keyfile ${server.key}`],
      ...['require_certificate true', 'use_identity_as_username true'],
    ])
    const url = `mqtts://127.0.0.1:${broker.port}`
    const tls = ['--ca', pki.ca, '--cert', device.cert, '--key', device.key]
    const { args } = await ownPorts()
    const station = await startStation([
      ...args,
      ...readyBase,
      ...['--set', 'udp-rtcm.host=127.0.0.1', '--set', 'mqtt-broker.port=0', '--set', `mqtt-link.protocol=${version}`],
      ...[
        '--set',
        `mqtt-link.ca=${pki.ca}`,
        '--set',
        `mqtt-link.cert=${device.cert}`,
        '--set',
        `mqtt-link.key=${device.key}`,
      ],
      ...[
        '--change',
        `mqtt-port=${broker.port}`,
        '--change',
        'mqtt-rtcm-sign=1',
        '--change',
        `udp-port=${await freeUdpPort()}`,
      ],
    ])
    t.teardown(() => station.end())
    const { output, child, ended } = verifierProcess(t, [url, '--authority', pki.ca, ...tls])
    await until(() => (output.stdout.match(/SIM00001 good/g) ?? []).length >= 3, 'three publications')
    t.match(output.stdout, /SIM00001 certificate trusted/)
    t.notMatch(output.stdout, /GAP/)

    const attacker = connect(url, {
      ca: readFileSync(pki.ca),
      cert: readFileSync(device.cert),
      key: readFileSync(device.key),
      protocolVersion: 5,
      clientId: 'attacker',
      reconnectPeriod: 0,
    })
    t.teardown(() => void attacker.end(true))
    await attacker.publishAsync('base/SIM00001/drtk', Buffer.from('d30000', 'hex'), { qos: 1 })
    await until(() => /REFUSED unsigned/.test(output.stdout), 'the refusal')
    child.kill('SIGTERM')
    t.equal(await ended, 0)
  })
}

t.test('usage', async (t) => {
  const run = async (args: string[]) => {
    const { ended, output } = verifierProcess(t, args)
    return { code: await ended, ...output }
  }
  t.match(await run(['--help']), { code: 0, stdout: /--authority FILE/ })
  t.match(await run([]), { code: 2, stderr: /give the broker/ })
  t.match(await run(['mqtt://127.0.0.1:1']), { code: 2, stderr: /whom should it trust/ })
  t.match(await run(['mqtt://127.0.0.1:1', '--authority', '/nowhere']), { code: 2, stderr: /--authority: ENOENT/ })
  const ca = join(t.testdir({ 'ca.pem': 'nonsense' }), 'ca.pem')
  t.match(await run(['mqtt://127.0.0.1:1', '--authority', ca]), { code: 2, stderr: /a CA certificate is required/ })
})
