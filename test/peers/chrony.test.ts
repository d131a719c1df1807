/** chrony of Debian takes the receiver's time from the station. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import system from '../../plugins/device/system/index.js'
import { answerTo, ReceiverTime } from '../../plugins/device/system/time-server.js'
import { systemClock } from '../../runtime/platform/ports/clock.js'
import { SimulatedMachine } from '../../runtime/platform/ports/machine.js'
import type { AnyPlugin } from '../../runtime/plugin.js'
import { createTestStation, gateOnly, until } from '../harness/index.js'
import { inOwnNetwork, noNetwork } from '../harness/peers/own-network.js'
import { freeUdpPort } from '../harness/process.js'

const noChrony = spawnSync('chronyd', ['--version']).status === 0 ? false : 'needs chronyd'

t.test('the time that is served', async (t) => {
  const utc_ms = Date.UTC(2026, 10, 21, 12, 0, 0, 250)
  const now = { utc_ms, dispersion_s: 0.25, told_ms: utc_ms - 1_000 }
  const request = Buffer.alloc(48)
  request[0] = (4 << 3) | 3
  request.write('cookie!!', 40, 'latin1')

  t.test('is an answer as RFC 5905 has it', (t) => {
    const answer = answerTo(request, now, { ...now, utc_ms: utc_ms + 1 }) as Buffer
    t.equal(answer.length, 48)
    t.equal(answer[0], (4 << 3) | 4, 'no leap second, version 4, server')
    t.equal(answer[1], 1, 'stratum')
    t.equal(answer.readUInt32BE(8), 0.25 * 65_536, 'root dispersion')
    t.equal(answer.toString('latin1', 12, 16), 'GNSS')
    t.equal(answer.toString('latin1', 24, 32), 'cookie!!', 'what the client sent as its time')
    t.equal(answer.readUInt32BE(32), utc_ms / 1000 - 0.25 + 2_208_988_800)
    t.equal(answer.readUInt32BE(36), 2 ** 30, 'a quarter of a second')
    t.end()
  })

  t.test('is said to be none without a receiver, and is given to requests alone', (t) => {
    const answer = answerTo(request, undefined, undefined) as Buffer
    t.equal((answer[0] as number) >> 6, 3, 'not synchronised')
    t.equal(answer[1], 0)
    t.equal(answer.readUInt32BE(32), 0)
    for (const [what, first] of [
      ['an answer', 4],
      ['a broadcast', 5],
      ['a symmetric peer', 1],
    ] as const) {
      const other = Buffer.from(request)
      other[0] = (4 << 3) | first
      t.equal(answerTo(other, now, now), undefined, what)
    }
    t.equal(answerTo(request.subarray(0, 47), now, now), undefined)
    t.end()
  })

  t.test('is that of the arrival with the least delay, and ends with the receiver', (t) => {
    const time = new ReceiverTime()
    t.equal(time.now(0), undefined)
    for (const [second, delay_ms] of [80, 60, 110, 75].entries()) time.add(second * 1_000, utc_ms - delay_ms)
    const best = time.now(3_500)
    t.equal(best?.utc_ms, utc_ms - 60 + 3_500)
    t.ok((best?.dispersion_s ?? 0) >= 0.25 && (best?.dispersion_s ?? 0) < 0.3, 'with the spread')
    time.add(3_000, utc_ms - 75)
    t.ok(time.now(12_900), 'the same moment again is no arrival')
    t.equal(time.now(13_100), undefined)
    t.end()
  })
})

t.test('chrony measures the receiver, not the clock of the machine', { skip: noChrony || gateOnly }, async (t) => {
  const port = await freeUdpPort()
  const machine = new SimulatedMachine(() => {})
  machine.isClockSynchronised = async () => true
  const station = await createTestStation({
    clock: systemClock,
    machine,
    plugins: { system: [system as AnyPlugin, { ntpPort: port }] },
  } as unknown as Parameters<typeof createTestStation>[0])
  t.teardown(() => station.stop())
  const ahead_ms = 1_000_000
  const telling = setInterval(() => station.device.setUtc(Date.now() + ahead_ms), 200)
  t.teardown(() => clearInterval(telling))
  await until(() => station.field('base.clock.served') === port, 'the time is served')
  t.match(station.field('base.clock'), { kept: 'ntp', served: port })
  t.ok(Math.abs((station.field('base.clock.offset') as number) - 1_000) < 0.1)

  // -Q measures and prints, and sets nothing.
  const config = `server 127.0.0.1 port ${port} iburst maxsamples 4`
  const args = ['-Q', '-x', '-t', '20', '-u', 'root', config]
  const { stdout, stderr } = await promisify(execFile)('chronyd', args, { timeout: 40_000 })
  const [, wrong] = /System clock wrong by (-?[\d.]+) seconds/.exec(stdout + stderr) ?? []
  t.ok(Math.abs(Number(wrong) - 1_000) < 0.25, `chrony: ${stdout}${stderr}`)
})

t.test(
  'chrony follows the receiver, and the document says that it keeps the clock',
  { skip: noChrony || noNetwork || gateOnly },
  async (t) => {
    let found: Record<string, unknown> = {}
    for await (const line of inOwnNetwork<typeof found>(t, 'chrony-follows', [])) found = line
    t.match(found, { before: 'nobody', after: 'ntp', set: 0, reference: '127.0.0.1', stratum: 2, leap: 'Normal' })
    t.ok(Math.abs(Number(found.wrong_s) - 1_000) < 0.25, `wrong by ${found.wrong_s} s`)
  },
)
