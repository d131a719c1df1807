import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import gnssZed from '../../plugins/receivers/gnss-zed/index.js'
import rtcm from '../../plugins/rtcm/rtcm/index.js'
import { rtcmStream } from '../../schemas/services.js'
import { createTestStation, ManualClock, probe } from '../harness/index.js'
import { noPeer } from '../harness/peers/peers.js'

const epochs = 60
const start_ms = Date.UTC(2026, 10, 21, 6)

t.test(
  'RTKLIB reads the simulated station as a receiver’s: position, epochs, plausible ranges',
  { skip: noPeer('convbin') },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-rtklib-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const frames: Uint8Array[] = []
    const recorder = probe([rtcmStream], (ctx) => {
      const take = (frame: { bytes: Uint8Array }) => frames.push(frame.bytes) > 0
      const subscription = ctx.services.use(rtcmStream).subscribe({ via: 'test', name: 'recorder', ip: '', take })
      ctx.defer(() => subscription.close())
    })
    const clock = new ManualClock(start_ms)
    const station = await createTestStation({
      clock,
      plugins: { 'gnss-zed': [gnssZed, { port: 'simulator' }], rtcm, probe: recorder },
    })
    t.teardown(() => station.stop())
    for (let second = 0; second < epochs + 10; second++) await clock.advance(1_000)

    const file = join(folder, 'station.rtcm3')
    writeFileSync(file, Buffer.concat(frames))
    const obs = join(folder, 'station.obs')
    execFileSync(
      'convbin',
      ['-r', 'rtcm3', '-v', '3.03', '-tr', '2026/11/21', '06:00:00', '-o', obs, '-n', join(folder, 'nav'), file],
      { stdio: 'ignore' },
    )
    const text = readFileSync(obs, 'utf8')
    const position = /^ *([-\d.]+) +([-\d.]+) +([-\d.]+) .*APPROX POSITION XYZ/m.exec(text)?.slice(1).map(Number)
    t.strictSame(position, [3925405.8088, 274491.1138, 5002842.746])
    const times = text.split('\n').filter((line) => line.startsWith('> 2026 11 21 06'))
    t.ok(times.length >= epochs, `${times.length} epochs`)
    const satellites = text.split('\n').filter((line) => /^[GREC]\d\d/.test(line))
    t.strictSame([...new Set(satellites.map(([system]) => system))].sort(), ['C', 'E', 'G', 'R'])
    const ranges = satellites.map((line) => Number(line.slice(3, 17)))
    t.ok(
      ranges.every((range) => range > 1.8e7 && range < 4.3e7),
      'every first pseudorange is one of a satellite',
    )
    t.ok(satellites.length > epochs * 20, `${satellites.length} observations`)
  },
)
