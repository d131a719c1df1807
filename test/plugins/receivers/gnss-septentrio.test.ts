import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeMsmHeader, type Frame, Framer, msmSignalName, septentrioReply as reply, sbf } from 'rtk-base/gnss'
import t from 'tap'
import * as said from '../../../plugins/receivers/gnss-septentrio/blocks.js'
import { type Block, readBlock, readReply } from '../../../plugins/receivers/gnss-septentrio/framing.js'
import { modeCommands, outputCommands } from '../../../plugins/receivers/gnss-septentrio/plan.js'
import { satellitesOf } from '../../../plugins/receivers/gnss-septentrio/sky.js'

const recordings = process.env.RTK_BASE_CAPTURES ?? join(process.cwd(), '..', 'shared', 'captures')
const noRecordings = existsSync(join(recordings, 'receivers')) ? false : 'no recordings beside this folder'

/** What a recorded mosaic-G5 sent, as one stream. */
function recorded(name: string): Uint8Array {
  const path = join(recordings, 'receivers', `septentrio-mosaic-g5-${name}.jsonl`)
  const records = readFileSync(path, 'utf8').trim().split('\n')
  return Buffer.concat(records.map((record) => Buffer.from((JSON.parse(record) as { bin: string }).bin, 'hex')))
}

function framesOf(bytes: Uint8Array, chunk = bytes.length): Frame[] {
  const frames: Frame[] = []
  const framer = new Framer({ framings: [sbf, reply], onFrame: (frame) => frames.push(frame) })
  for (let at = 0; at < bytes.length; at += chunk) framer.push(bytes.subarray(at, at + chunk), 0)
  framer.flush()
  return frames
}

const blocksOf = (frames: readonly Frame[]): Block[] =>
  frames.flatMap((frame) => (frame.kind === 'other' && frame.framing === sbf.kind ? [readBlock(frame.bytes)] : []))
const repliesOf = (frames: readonly Frame[]) =>
  frames.flatMap((frame) => (frame.kind === 'other' && frame.framing === reply.kind ? [readReply(frame.bytes)] : []))

t.test('recordings of a mosaic-G5', { skip: noRecordings }, async (t) => {
  t.test('every block is found, whole or byte by byte, and nothing is left over', async (t) => {
    for (const name of ['status', 'survey', 'raw-cross']) {
      const bytes = recorded(name)
      const frames = framesOf(bytes)
      t.equal(
        frames.reduce((sum, frame) => sum + frame.bytes.length, 0),
        bytes.length,
        name,
      )
      t.equal(framesOf(bytes, 1).length, frames.length)
      t.ok(blocksOf(frames).length > 1)
    }
  })

  t.test('position and time of a base that is fixed', async (t) => {
    const blocks = blocksOf(framesOf(recorded('survey')))
    const of = (id: number) => blocks.filter((block) => block.id === id)
    const time = said.timeOf(of(said.ids.receiverTime)[0] as Block)
    t.equal(time?.leap_s, 18)
    const fix = said.fixOf(of(said.ids.pvtCartesian)[0] as Block, { acc_m: 1, leap_s: time?.leap_s }, 7)
    t.match(fix, { fix: 'time', ok: true, corrected: false, satellitesUsed: 21, arrival_ms: 7 })
    t.match(fix?.position, { x: -1144697.6018950574, y: 6090337.278719738, z: 1504171.6287872477 })
    t.ok(Math.abs((fix?.lat ?? 0) - 13.7318) < 1e-3 && Math.abs((fix?.lon ?? 0) - 100.6447) < 1e-3)
    t.ok(Math.abs((fix?.geoidSeparation_m ?? 0) + 27.378) < 0.001)
    t.equal(new Date((time?.utc_s ?? 0) * 1000).getUTCFullYear(), 2026)
    const before = of(said.ids.receiverTime).find(({ tow_ms }) => tow_ms === of(said.ids.pvtCartesian)[0]?.tow_ms)
    t.equal(before && said.timeOf(before)?.utc_s, fix?.t, 'two blocks, one time')
    t.equal(
      said.accuracyOf(of(said.ids.posCovCartesian)[0] as Block),
      undefined,
      'a base that knows its place has none',
    )
  })

  t.test('state, interference and the antenna', async (t) => {
    const blocks = blocksOf(framesOf(recorded('status')))
    const of = (id: number) => blocks.filter((block) => block.id === id)
    t.strictSame(
      of(said.ids.receiverStatus).map(said.statusOf),
      [16208, 16209, 16210].map((uptime_s) => ({ uptime_s, drawsCurrent: false })),
    )
    const heard = said.interferenceOf(of(said.ids.rfStatus)[0] as Block)
    t.equal(heard?.spoofing, 'none')
    t.strictSame(
      heard?.bands.map(({ band, jamming }) => `${band} ${jamming}`),
      ['L1 ok', 'L2 ok', 'L5 ok', 'L6 ok'],
    )
  })

  t.test('satellites: those of the MSM of the same epoch, and their signals', async (t) => {
    const frames = framesOf(recorded('raw-cross'))
    const measured = blocksOf(frames).find(({ id }) => id === said.ids.measEpoch) as Block
    const status = blocksOf(framesOf(recorded('status')))
    const of = (id: number) => status.find((block) => block.id === id) as Block
    const names = { 1077: 'gps', 1087: 'glonass', 1097: 'galileo', 1117: 'qzss', 1127: 'beidou' } as const
    const satellites = satellitesOf(measured, undefined, of(said.ids.satVisibility))
    let compared = 0
    for (const frame of frames) {
      if (frame.kind !== 'rtcm' || !(frame.type in names)) continue
      const name = names[frame.type as keyof typeof names]
      const header = decodeMsmHeader(frame.bytes)
      for (const number of header?.satellites ?? []) {
        const found = satellites.find(({ constellation, satellite }) => constellation === name && satellite === number)
        t.ok(found && found.cno_dbhz > 0, `${name} ${number}`)
        compared++
      }
    }
    t.ok(compared >= 30, `${compared}`)
    t.ok(
      satellites.flatMap(({ signals }) => signals).every(({ signal }) => /^[LEB]\d/.test(signal)),
      'each has a name',
    )
    t.ok(satellites.every(({ cno_dbhz }) => cno_dbhz < 66))
    t.ok(msmSignalName('gps', 2) !== undefined)
    const [used] = [
      satellitesOf(measured, of(said.ids.channelStatus), of(said.ids.satVisibility)).filter((s) => s.used),
    ]
    t.ok((used?.length ?? 0) > 20, `${used?.length} of ChannelStatus`)
    t.match(
      satellites.find(({ constellation, satellite }) => constellation === 'gps' && satellite === 25),
      { azimuth_deg: 128.72, elevation_deg: 33.07 },
    )
  })
})

t.test('replies', async (t) => {
  const text = [
    '$R: setElevationMask, PVT, 10\r\n  ElevationMask, PVT, 10\r\nUSB1>',
    "$R? setSignalTracking: Argument 'Signal' is invalid!\r\nCOM1>",
    '$R; lstInternalFile, Identification\r\n---->',
    '$-- BLOCK 1 / 2\r\n<rxproduct>\r\n\r\n---->',
    '$-- BLOCK 2 / 2\r\n</rxproduct>\r\n\r\nUSB1>',
  ]
  const bytes = Buffer.from(text.join(''), 'latin1')
  for (const chunk of [bytes.length, 1]) {
    const replies = repliesOf(framesOf(bytes, chunk))
    t.strictSame(
      replies.map(({ kind, port }) => `${kind}${port}`),
      [':USB1', '?COM1', ';', '-', '-USB1'],
    )
    t.strictSame(replies[0], {
      ...{ kind: ':', echo: 'setElevationMask, PVT, 10', lines: ['ElevationMask, PVT, 10'], port: 'USB1' },
    })
    t.match(replies[1]?.echo, /is invalid/)
  }
  t.strictSame(repliesOf(framesOf(Buffer.from('$R: set\0\x01'))), [], 'a reply that broke off')
})

t.test('a base in commands', async (t) => {
  const settings = {
    ...({ msm: 7, observationInterval_s: 1, referenceInterval_s: 5, biasInterval_s: 10 } as const),
    ...{ elevationMask_deg: undefined, constellations: undefined },
  }
  const commands = outputCommands(settings, 12, 'USB1')
  t.ok(commands.includes('setRTCMv3Formatting, 12'))
  t.ok(commands.some((command) => /^setRTCMv3Output, USB1, RTCM1005\+RTCM1077\+.*RTCM1230/.test(command)))
  t.notOk(
    commands.some((command) => /CopyConfigFile/.test(command)),
    'nothing is saved',
  )
  const few = outputCommands({ ...settings, msm: 4, constellations: ['gps', 'galileo'] }, 12, 'COM2')
  t.ok(few.includes('setSatelliteTracking, GPS+GALILEO+QZSS'))
  t.ok(few.some((command) => /^setRTCMv3Output, COM2, RTCM1005\+RTCM1074\+RTCM1094\+RTCM1114\+RTCM1019/.test(command)))
  t.strictSame(modeCommands({ mode: 'fixed', arp: { x: 1.00004, y: -2, z: 3 }, acc_m: 0 }).slice(1), [
    'setStaticPosCartesian, Cartesian1, 1.0000, -2.0000, 3.0000, WGS84',
    'setPVTMode, Static, , Cartesian1',
  ])
})
