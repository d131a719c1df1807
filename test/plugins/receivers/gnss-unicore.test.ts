import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Frame, Framer, isMsm, unicoreLine as line, unicoreLog as log } from 'rtk-base/gnss'
import t from 'tap'
import { command, type Log, readLine, readLog } from '../../../plugins/receivers/gnss-unicore/framing.js'
import gnssUnicore from '../../../plugins/receivers/gnss-unicore/index.js'
import * as said from '../../../plugins/receivers/gnss-unicore/messages.js'
import { modeCommand, outputCommands } from '../../../plugins/receivers/gnss-unicore/plan.js'
import simulatedUm980 from '../../../plugins/simulated/simulated-um980/index.js'
import { definePlugin } from '../../../runtime/plugin.js'
import { type Receiver, receiver } from '../../../schemas/services.js'
import { createTestStation, ManualClock } from '../../harness/index.js'
import type { Definition } from '../reference/survey-in-rig.js'

const recordings = process.env.RTK_BASE_CAPTURES ?? join(process.cwd(), '..', 'shared', 'captures')
const noRecordings = existsSync(join(recordings, 'receivers')) ? false : 'no recordings beside this folder'

/** What a recorded UM980 sent, as one stream. */
function recorded(name: string): Uint8Array {
  const records = readFileSync(join(recordings, 'receivers', `unicore-um980-${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  return Buffer.concat(
    records
      .map((record) => JSON.parse(record) as { out?: boolean; ascii?: string; bin?: string })
      .filter(({ out }) => !out)
      .map(({ ascii, bin = '' }) => (ascii === undefined ? Buffer.from(bin, 'hex') : Buffer.from(ascii, 'latin1'))),
  )
}

function framesOf(bytes: Uint8Array, chunk = bytes.length): Frame[] {
  const frames: Frame[] = []
  const framer = new Framer({ framings: [line, log], onFrame: (frame) => frames.push(frame) })
  for (let at = 0; at < bytes.length; at += chunk) framer.push(bytes.subarray(at, at + chunk), 0)
  framer.flush()
  return frames
}

const linesOf = (frames: readonly Frame[]) =>
  frames.flatMap((frame) => (frame.kind === 'other' && frame.framing === line.kind ? [readLine(frame.bytes)] : []))
const logsOf = (frames: readonly Frame[]) =>
  frames.flatMap((frame) => (frame.kind === 'other' && frame.framing === log.kind ? [readLog(frame.bytes)] : []))
const found = <T>(lines: readonly string[], read: (line: string) => T | undefined) =>
  lines.map(read).filter((one) => one !== undefined)

t.test('recordings of a UM980', { skip: noRecordings }, async (t) => {
  t.test('every line and log is found, whole or byte by byte', async (t) => {
    const bytes = recorded('daemon')
    const frames = framesOf(bytes)
    const kinds = (frames: readonly Frame[]) => [linesOf(frames).length, logsOf(frames).length]
    t.strictSame(kinds(frames), [39, 20])
    t.strictSame(kinds(framesOf(bytes, 1)), kinds(frames))
    t.equal(
      frames.reduce((sum, frame) => sum + frame.bytes.length, 0),
      bytes.length,
      'nothing is left over',
    )
  })

  t.test('answers, configuration and mode', async (t) => {
    const lines = linesOf(framesOf(recorded('daemon')))
    t.strictSame(
      found(lines, (line) => said.answerTo('versionb', line)),
      [[]],
    )
    t.strictSame(
      found(lines, (line) => said.configOf('SIGNALGROUP', line)),
      ['1'],
    )
    t.strictSame(
      found(lines, (line) => said.configOf('MASK', line)),
      ['5.0'],
    )
    t.strictSame(found(lines, said.modeOf), [{ mode: 'rover' }])
    t.strictSame(found(linesOf(framesOf(recorded('dialogue-2'))), said.modeOf), [{ mode: 'survey-in' }])
    t.strictSame(
      found(linesOf(framesOf(recorded('dialogue-1'))), said.modeOf),
      [{ mode: 'survey-in' }],
      'a base in degrees, whose height may be one above the sea',
    )
  })

  t.test('position, time and satellites', async (t) => {
    const logs = logsOf(framesOf(recorded('daemon')))
    const of = (id: number) => logs.filter((log) => log.id === id)
    const fix = said.fixOf(of(said.bestNav)[0] as never, 7)
    t.match(fix, { fix: '3d', ok: true, corrected: false, satellitesUsed: 28, arrival_ms: 7 })
    t.ok(Math.abs((fix?.lat ?? 0) - 13.7318) < 0.001 && Math.abs((fix?.lon ?? 0) - 100.6447) < 0.001)
    t.ok(Math.abs((fix?.alt ?? 0) - (9.223 - 30.831)) < 0.01, `${fix?.alt}: above the ellipsoid`)
    t.ok(Math.abs((fix?.acc_m ?? 0) - Math.hypot(2.1089, 1.9543, 2.6413)) < 0.001, `${fix?.acc_m}`)
    t.equal(fix?.t, Date.UTC(2026, 3, 4, 6, 47, 16) / 1000)
    t.equal(said.utcOf(of(said.recTime)[0] as never), fix?.t, 'two messages, one time')
    const used = said.usedSatellitesOf(of(said.bestSat)[0] as never)
    t.equal([...used].filter((name) => !name.startsWith('qzss')).length, 28, 'as BESTNAV counts, which leaves QZSS out')
    const satellites = said.satellitesOf(of(said.satsInfo)[0] as never, used)
    t.equal(satellites.length, 31)
    t.match(satellites[1], {
      ...{ constellation: 'gps', satellite: 11, azimuth_deg: 312, elevation_deg: 45, cno_dbhz: 45, used: true },
      signals: [{ signal: 'L1' }, { signal: 'L5' }, { signal: 'L2' }],
    })
    t.strictSame(
      satellites.filter(({ constellation }) => constellation === 'glonass').map(({ satellite }) => satellite),
      [14, 16, 15, 3],
    )
    t.equal(satellites.filter((one) => one.used).length, used.size, 'each of them is in the list')
    t.ok(
      satellites.every(({ signals }) => signals.every(({ signal }) => /^[LEB]\d/.test(signal))),
      'each has a name',
    )
  })
})

t.test('a line ends in CR LF, and its checksum counts the first character', (t) => {
  const text = (frames: Frame[]) => linesOf(frames)
  t.strictSame(text(framesOf(Buffer.from('$command,MODE,response: OK*5D\r\n'))), ['$command,MODE,response: OK'])
  t.strictSame(text(framesOf(Buffer.from('$command,MODE,response: OK*5C\r\n'))), [])
  t.strictSame(text(framesOf(Buffer.from(`$${'x'.repeat(2_000)}\r\n$command,MODE,response: OK*5D\r\n`))).length, 1)
  t.strictSame(
    framesOf(Buffer.from('$GNTXT,01,01,02,x*45\r\n'))
      .map(({ kind }) => kind)
      .includes('other'),
    false,
    'NMEA stays NMEA',
  )
  t.equal(Buffer.from(command('MODE')).toString(), 'MODE\r\n')
  t.end()
})

t.test('answers and versions', (t) => {
  t.strictSame(said.answerTo('MODE', '$command,MODE,response: OK'), [])
  t.equal(
    said.answerTo('MODE', '$command,MODE,response: PARSING FAILD NO MATCHING FUNC  MODE'),
    'PARSING FAILD NO MATCHING FUNC  MODE',
  )
  t.equal(said.answerTo('MODE', '$command,MASK,response: OK'), undefined, 'that of another command')
  t.match(
    said.versionOf(
      '#VERSIONA,97,GPS,FINE,2343,48235000,0,0,18,813;"UM980","R4.10Build11833","HRPT00-S10C-P","2310415000012-LR23A0225104240","ff27289609cf869d","2023/11/24"',
    ),
    { module: 'UM980', firmware: 'R4.10Build11833', serial: '2310415000012-LR23A0225104240' },
  )
  t.ok(said.isGreeting('$devicename,COM3'))
  const mode = (words: string) => said.modeOf(`#MODE,97,GPS,FINE,2412,542853000,17548,0,18,710;MODE ${words},`)
  t.match(mode('BASE 7 -1132881.1235 6092270.5679 1504542.9012'), {
    mode: 'fixed',
    arp: { x: -1_132_881.1235, z: 1_504_542.9012 },
  })
  t.match(mode('BASE TIME 60 1'), { mode: 'survey-in' })
  t.match(mode('BASE'), { mode: 'survey-in' }, 'what it does not say is not a position')
  t.match(mode('HEADING2'), { mode: 'rover' })
  t.equal(said.modeOf('$command,MODE,response: OK'), undefined)
  t.end()
})

t.test('time, used satellites and position, by the layouts of the manual', (t) => {
  const log = (size: number, fill: (body: DataView) => void): Log => {
    const body = new DataView(new ArrayBuffer(size))
    fill(body)
    return { id: 0, time: { week: 2400, tow_ms: 1_000 }, leap_s: 18, body }
  }
  const rectime = (state: number, isUtcValid: number) =>
    log(44, (body) => {
      body.setUint32(0, state, true)
      body.setUint32(28, 2026, true)
      for (const [at, value] of [11, 26, 10, 58].entries()) body.setUint8(32 + at, value)
      body.setUint32(36, 20_500, true)
      body.setUint32(40, isUtcValid, true)
    })
  t.equal(said.utcOf(rectime(0, 1)), Date.UTC(2026, 10, 26, 10, 58, 20, 500) / 1000)
  t.equal(said.utcOf(rectime(1, 1)), undefined)
  t.equal(said.utcOf(rectime(0, 0)), undefined, 'without the leap seconds')
  const bestSat = log(4 + 3 * 16, (body) => {
    for (const [index, [system, number, status, signals]] of [
      [0, 7, 0, 1],
      [1, 38 + 13, 0, 3],
      [5, 9, 3, 1],
    ].entries()) {
      body.setUint32(4 + 16 * index, system as number, true)
      body.setUint16(4 + 16 * index + 6, number as number, true)
      body.setUint32(4 + 16 * index + 8, status as number, true)
      body.setUint32(4 + 16 * index + 12, signals as number, true)
    }
  })
  t.strictSame([...said.usedSatellitesOf(bestSat)], ['gps 7', 'glonass 14'], 'one is not good')
  const bestNav = (type: number, state = 0) =>
    log(72, (body) => {
      body.setUint32(0, state, true)
      body.setUint32(4, type, true)
      for (const [index, value] of [52, 4, 6].entries()) body.setFloat64(8 + 8 * index, value, true)
      body.setFloat32(32, 44, true)
      for (const [index, value] of [1, 2, 2].entries()) body.setFloat32(40 + 4 * index, value, true)
      body.setUint8(65, 21)
    })
  t.match(said.fixOf(bestNav(16), 5), { fix: '3d', alt: 50, acc_m: 3, satellitesUsed: 21, corrected: false })
  t.match(said.fixOf(bestNav(18), 5), { fix: '3d', corrected: true, sbas: true })
  t.match(said.fixOf(bestNav(50), 5), { fix: 'rtk-fixed', corrected: true })
  t.match(said.fixOf(bestNav(16, 1), 5), { fix: 'none', ok: false, acc_m: Infinity }, 'no solution')
  t.match(said.fixOf(bestNav(0), 5), { fix: 'none', ok: false })
  t.end()
})

t.test('a base in commands', (t) => {
  const arp = { x: -1_132_881.12345, y: 6_092_270.5679, z: 1_504_542.9 }
  t.equal(modeCommand({ mode: 'fixed', arp, acc_m: 1 }, 12), 'MODE BASE 12 -1132881.1235 6092270.5679 1504542.9000')
  t.equal(modeCommand({ mode: 'rover' }, 12), 'MODE ROVER SURVEY')
  const settings = {
    ...({ msm: 4, observationInterval_s: 2, referenceInterval_s: 10, biasInterval_s: 5 } as const),
    ...{ elevationMask_deg: 7, constellations: ['gps', 'galileo'] as const },
  }
  const orbits = [1019, 1020, 1042, 1044, 1046].map((type) => `RTCM${type} 1`)
  const commands = outputCommands(settings)
  t.equal(commands[0], 'UNLOG')
  t.strictSame(
    commands.filter((one) => /^(RTCM|MASK)/.test(one)),
    ['MASK 7', 'RTCM1005 10', 'RTCM1074 2', 'RTCM1094 2', 'RTCM1114 2', ...orbits],
  )
  const all = outputCommands({ ...settings, msm: 7, constellations: undefined, elevationMask_deg: undefined })
  t.strictSame(
    all.filter((one) => /^(RTCM|MASK)/.test(one)),
    ['RTCM1005 10', ...[1077, 1087, 1097, 1117, 1127].map((type) => `RTCM${type} 2`), 'RTCM1230 5', ...orbits],
  )
  t.end()
})

t.test(
  'of two configurations at once the newer one counts, also while the signal group restarts the receiver',
  async (t) => {
    const clock = new ManualClock()
    let device: Receiver | undefined
    const types: number[] = []
    const reader = definePlugin({
      name: 'reader',
      version: '1.0.0',
      api: '^1.0.0',
      needs: [receiver],
      setup: () => {},
      start: (ctx) => {
        device = ctx.services.use(receiver)
        ctx.on(device.onRtcm, ({ type }) => types.push(type))
      },
    })
    const station = await createTestStation({
      clock,
      plugins: {
        'gnss-unicore': [gnssUnicore as unknown as Definition, { port: 'simulator' }],
        'simulated-um980': [simulatedUm980 as unknown as Definition, {}],
        reader,
      },
    })
    t.teardown(() => station.stop())
    const seconds = async (count: number) => {
      for (let step = 0; step < 4 * count; step++) {
        await clock.advance(250)
        for (let i = 0; i < 3; i++) await new Promise((done) => setImmediate(done))
      }
    }
    await seconds(10)
    const one = device as unknown as Receiver
    t.match(one.identity, { maker: 'Unicore', module: 'UM980' })
    t.match(one.can, { settings: 'volatile', restarts: true, fixedPosition: 'ecef', ownSurvey: false, stationId: true })
    const older = one.configure({ mode: 'rover', output: { msm: 7, constellations: ['gps', 'glonass'] } })
    const refused = t.rejects(older, { code: 'RTK_ERR_UNAVAILABLE', message: /another configuration has replaced it/ })
    await seconds(1)
    const newer = one.configure({ mode: 'rover', output: { msm: 4, constellations: ['gps'] } })
    await seconds(30)
    await Promise.all([refused, newer])
    t.match(one, { configured: true, mode: 'rover', output: { msm: 4, constellations: ['gps'] } })
    types.length = 0
    await seconds(5)
    t.strictSame([...new Set(types.filter(isMsm))].sort(), [1074, 1114])
    t.match(await station.station.command('sim=silence on', { source: 'plugin' }), { status: 200 })
    await seconds(5)
    t.match(one, { link: 'stalled', configured: false, mode: 'unknown' }, 'a silence may have been a restart')
  },
)
