/** The simulated LG290P and mosaic against the recordings of real ones, and their quirks. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { type Lg290pOptions, SimulatedLg290p } from '../../../plugins/simulated/simulated-lg290p/receiver.js'
import { sky } from '../../../plugins/simulated/simulated-lg290p/sky.js'
import { SimulatedMosaic } from '../../../plugins/simulated/simulated-mosaic/receiver.js'
import {
  crc24q,
  decodeEphemeris,
  decodeMsmHeader,
  decodeRtcm,
  distance,
  expectedRange,
  geodeticToEcef,
  messageNumber,
} from '../../../runtime/lib/gnss/index.js'
import {
  type DeviceOptions,
  ephemerisFrame,
  type LineDevice,
  ReceiverLine,
  visibleFrom,
} from '../../../runtime/lib/simulation/index.js'
import { conformance, freeTcpPort, ManualClock } from '../../harness/index.js'
import { shippedPlugin } from '../../harness/shipped.js'

const folder = join(resolve(process.env.RTK_BASE_CAPTURES ?? '../shared/captures'), 'receivers')
const noRecordings = existsSync(join(folder, 'quectel-lg290p-survey.jsonl')) ? false : `no recordings in ${folder}`

function recorded(name: string): Item[] {
  const records = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  const parts = records.map((record) => JSON.parse(record) as { ascii?: string; bin?: string })
  return parse(
    Buffer.concat(
      parts.map(({ ascii, bin = '' }) =>
        ascii === undefined ? Buffer.from(bin, 'hex') : Buffer.from(ascii, 'latin1'),
      ),
    ),
  )
}

// ── a strict parser of all that the two say ─────────────────────────────────────────────────────────────────────────

type Item =
  | { kind: 'sentence'; text: string }
  | { kind: 'reply'; text: string }
  | { kind: 'block'; id: number; revision: number; tow_ms: number; bytes: Buffer }
  | { kind: 'rtcm'; type: number; bytes: Uint8Array }

function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  }
  return crc
}

/** Throws at the first byte that belongs to nothing, or at a wrong checksum. */
function parse(bytes: Buffer): Item[] {
  const items: Item[] = []
  let at = 0
  const need = (condition: boolean, what: string) => {
    if (!condition) throw new Error(`${what} at ${at}: ${bytes.toString('latin1', at, at + 120)}`)
  }
  while (at < bytes.length) {
    if (bytes[at] === 0xd3) {
      const size = bytes.readUInt16BE(at + 1) + 6
      const frame = Uint8Array.from(bytes.subarray(at, at + size))
      need(frame.length === size && crc24q(frame, 0, size) === 0, 'RTCM')
      items.push({ kind: 'rtcm', type: messageNumber(frame), bytes: frame })
      at += size
    } else if (bytes.toString('latin1', at, at + 2) === '$@') {
      const size = bytes.readUInt16LE(at + 6)
      const block = bytes.subarray(at, at + size)
      need(size % 4 === 0 && crc16(block.subarray(4)) === block.readUInt16LE(2), 'block')
      const id = block.readUInt16LE(4)
      items.push({ kind: 'block', id: id & 0x1fff, revision: id >> 13, tow_ms: block.readUInt32LE(8), bytes: block })
      at += size
    } else if (/^(\$[R-]|USB1>)/.test(bytes.toString('latin1', at, at + 5))) {
      const [text = ''] = /^(USB1>|\$.*?\r\n(USB1>|---->|STOP>))/s.exec(bytes.toString('latin1', at)) ?? []
      need(text !== '', 'reply')
      items.push({ kind: 'reply', text })
      at += text.length
    } else {
      const end = bytes.indexOf('\r\n', at)
      const [, text = '', sum = ''] = /^\$([^*]+)\*([0-9A-F]{2})$/.exec(bytes.toString('latin1', at, end)) ?? []
      const expected = [...text].reduce((xor, character) => xor ^ character.charCodeAt(0), 0)
      need(text !== '' && Number.parseInt(sum, 16) === expected, 'sentence')
      items.push({ kind: 'sentence', text })
      at = end + 2
    }
  }
  return items
}

const sentences = (items: readonly Item[]) => items.flatMap((item) => (item.kind === 'sentence' ? [item.text] : []))
const replies = (items: readonly Item[]) => items.flatMap((item) => (item.kind === 'reply' ? [item.text] : []))
const types = (items: readonly Item[]) => items.flatMap((item) => (item.kind === 'rtcm' ? [item.type] : []))
const blocksOf = (items: readonly Item[], id: number) =>
  items.flatMap((item) => (item.kind === 'block' && item.id === id ? [item] : []))
const places = (items: readonly Item[]) =>
  items.flatMap((item) => {
    const message = item.kind === 'rtcm' ? decodeRtcm(item.bytes) : undefined
    return message?.type === 1005 || message?.type === 1006 ? [message] : []
  })

// ── the two on a line ───────────────────────────────────────────────────────────────────────────────────────────────

const usual: DeviceOptions = {
  ...{
    boot: 'rover',
    lat: 52,
    lon: 4,
    alt: 50,
    seed: 7,
    geoidSeparation_m: 44.568,
    noise: 'quiet',
    tcp: 0,
    echo: false,
  },
}
const truth = geodeticToEcef(usual)
const axes = [truth.x, truth.y, truth.z].map((axis) => axis.toFixed(4))

async function onLine<D extends LineDevice & { powerOn(): void }>(
  create: (edges: ConstructorParameters<typeof SimulatedLg290p>[1]) => D,
) {
  const clock = new ManualClock()
  const timers = { after: (ms: number, fn: () => void) => clock.timer(ms, fn), every: () => () => {} }
  const edges = { clock, timers }
  const line = new ReceiverLine(create(edges), edges)
  const chunks: Uint8Array[] = []
  const open = () => line.open(line.rate, { data: (chunk) => chunks.push(Uint8Array.from(chunk)), closed: () => {} })
  await open()
  line.device.powerOn()
  /** What comes meanwhile. */
  const during = async (ms: number) => {
    chunks.length = 0
    for (let left = ms; left > 0; left -= 1000) await clock.advance(Math.min(left, 1000))
    return parse(Buffer.concat(chunks))
  }
  const write = (text: string) => line.write(Buffer.from(text, 'latin1'))
  await during(40_000)
  return { device: line.device, line, open, during, write, seconds: (count: number) => during(count * 1000) }
}

const lg290p = (options: Partial<Lg290pOptions> = {}) =>
  onLine((edges) => new SimulatedLg290p({ ...usual, surveySticks: false, usb: false, ...options }, edges))
type Lg290p = Awaited<ReturnType<typeof lg290p>>

const framed = (text: string) => {
  const sum = [...text].reduce((xor, character) => xor ^ character.charCodeAt(0), 0)
  return `$${text}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`
}
/** Its answers to commands that are sent one after the other. */
async function ask(rig: Lg290p, ...commands: string[]): Promise<string[]> {
  const answers: string[] = []
  for (const command of commands) {
    rig.write(framed(command))
    const [name = ''] = command.split(',')
    answers.push(...sentences(await rig.during(400)).filter((text) => text.startsWith(`${name},`)))
  }
  return answers
}
const saved = async (rig: Lg290p, ...commands: string[]) => {
  const answers = await ask(rig, ...commands, 'PQTMSAVEPAR')
  rig.write(framed('PQTMSRR'))
  await rig.seconds(18)
  return answers
}
const baseCommands = ['PQTMCFGRCVRMODE,W,2', `PQTMCFGSVIN,W,2,0,0,${axes.join()}`]

/** Digits and signs away: how many fields there are, and how each is written. */
const shape = (text: string) => {
  const [name = '', ...fields] = text.split(',')
  return [name, ...fields.map((field) => field.replace(/^-?\d+/, '0').replace(/\d/g, '0'))].join()
}

t.test('LG290P', async (t) => {
  t.test('its sentences and messages are those of the recordings', { skip: noRecordings }, async (t) => {
    const survey = recorded('quectel-lg290p-survey')
    const rig = await lg290p({ lat: 13.73184, lon: 100.64474, alt: -27, geoidSeparation_m: -30.85 })
    await saved(rig, 'PQTMCFGRCVRMODE,W,2', 'PQTMCFGSVIN,W,1,60,1,0,0,0')
    await ask(rig, 'PQTMCFGMSGRATE,W,RMC,1', 'PQTMCFGMSGRATE,W,PQTMSVINSTATUS,1,1', 'PQTMCFGMSGRATE,W,PQTMPVT,1,1')
    await ask(rig, 'PQTMCFGMSGRATE,W,RTCM3-1033,1', 'PQTMCFGMSGRATE,W,PQTMEOE,1,1')
    const ours = await rig.seconds(8)
    const shapes = (items: readonly Item[], name: string) =>
      new Set(sentences(items).flatMap((text) => (text.startsWith(`${name},`) ? [shape(text)] : [])))
    for (const name of ['PQTMPVT', 'PQTMEOE', 'PQTMSVINSTATUS']) {
      const [own] = shapes(ours, name)
      t.ok(own !== undefined && shapes(survey, name).has(own), `${name}: ${own}`)
    }
    t.equal(
      sentences(ours)
        .find((text) => text.startsWith('GNRMC'))
        ?.split(',').length,
      sentences(survey)
        .find((text) => text.startsWith('GNRMC'))
        ?.split(',').length,
    )
    const order = (items: readonly Item[]) => {
      const names = items.map((item) =>
        item.kind === 'sentence' ? item.text.split(',')[0] : item.kind === 'rtcm' && item.type,
      )
      const end = names.indexOf('PQTMEOE')
      const second = names.slice(end + 1, names.indexOf('PQTMEOE', end + 1) + 1)
      return second.filter((name, i) => name !== 1114 && name !== second[i - 1])
    }
    t.strictSame(
      order(ours),
      order(survey).map((name) => name),
    )
    const masks = (items: readonly Item[]) =>
      new Map(
        items.flatMap((item) => {
          const header = item.kind === 'rtcm' ? decodeMsmHeader(item.bytes) : undefined
          return item.kind === 'rtcm' && header && item.type !== 1114 ? [[item.type, header.signals] as const] : []
        }),
      )
    t.strictSame(new Map([...masks(ours)].sort()), new Map([...masks(survey)].sort()), 'the signals of each MSM')
    t.strictSame(places(ours), [], 'no 1005 while it surveys')
    const factory = recorded('quectel-lg290p-factory')
    const rover = await lg290p()
    const own = await rover.seconds(40)
    for (const name of ['GNGGA', 'GNGLL', 'GNGSA', 'GBGSV'] as const) {
      const lengths = (items: readonly Item[]) =>
        new Set(sentences(items).flatMap((text) => (text.startsWith(`${name},`) ? [text.split(',').length] : [])))
      const known = lengths(factory)
      t.ok(
        name.endsWith('GSV') || [...lengths(own)].every((length) => known.has(length)),
        `${name}: ${[...lengths(own)]} of ${[...known]}`,
      )
    }
    t.ok(sentences(own).filter((text) => text.startsWith('GNGGA')).length > 300, 'ten times a second')
  })

  t.test('stored settings have an effect after a save and a restart', async (t) => {
    const rig = await lg290p()
    t.strictSame(await ask(rig, ...baseCommands, 'PQTMCFGRCVRMODE,R', 'PQTMCFGSVIN,R'), [
      ...['PQTMCFGRCVRMODE,OK', 'PQTMCFGSVIN,OK', 'PQTMCFGRCVRMODE,OK,2'],
      `PQTMCFGSVIN,OK,2,0,0.0,${axes.join()}`,
    ])
    t.strictSame(places(await rig.seconds(5)), [], 'not yet a base')
    t.equal(rig.device.flashWrites, 0)
    t.strictSame(await saved(rig), ['PQTMSAVEPAR,OK'])
    t.equal(rig.device.flashWrites, 1)
    const [place] = places(await rig.seconds(3))
    t.ok(place && distance(place, truth) < 0.001)
    t.equal(place?.stationId, 290)
    rig.device.restart()
    t.equal(places(await rig.seconds(20)).length > 0, true, 'a base again')
  })

  t.test('the base mode sets the type of MSM back to 4', async (t) => {
    const rig = await lg290p()
    await ask(rig, 'PQTMCFGRTCM,W,7,0,-90.0,07,06,2,30', 'PQTMCFGRCVRMODE,W,2')
    t.strictSame(await ask(rig, 'PQTMCFGRTCM,R'), ['PQTMCFGRTCM,OK,4,0,-90.0,07,06,2,30'])
    await ask(rig, 'PQTMCFGRTCM,W,7,0,-90.0,07,06,2,30')
    await saved(rig)
    t.ok(types(await rig.seconds(2)).includes(1077))
  })

  t.test('a restart right behind a save loses it', async (t) => {
    const rig = await lg290p()
    await ask(rig, ...baseCommands)
    rig.write(framed('PQTMSAVEPAR') + framed('PQTMSRR'))
    t.notOk(sentences(await rig.seconds(20)).some((text) => text.startsWith('PQTMSAVEPAR')))
    t.strictSame(await ask(rig, 'PQTMCFGRCVRMODE,R'), ['PQTMCFGRCVRMODE,OK,1'])
  })

  t.test('what it does not take', async (t) => {
    const rig = await lg290p()
    const refused = [
      'PQTMCFGRCVRMODE,W,9',
      'PQTMCFGSVIN,W,2,0,0,1,2',
      'PQTMCFGRSID,W,5000',
      'PQTMCFGRSID,X',
      'PQTMCFGRTCM,W,5',
    ]
    for (const command of refused) t.match(await ask(rig, command), [/ERROR,1$/], command)
    t.strictSame(await ask(rig, 'PQTMCFGMSGRATE,W,PQTMEOE,2,1'), ['PQTMCFGMSGRATE,ERROR,1'], 'every epoch only')
    t.strictSame(await ask(rig, 'PQTMCFGMSGRATE,W,PQTMSVINSTATUS,1,1'), ['PQTMCFGMSGRATE,ERROR,1'], 'in a rover')
    t.strictSame(await ask(rig, 'PQTMANTENNASTATUS'), ['PQTMANTENNASTATUS,ERROR,3'])
    rig.write(framed('PQTMVERNO').replace('\r\n', '\n'))
    t.notOk(
      sentences(await rig.seconds(1)).some((text) => text.startsWith('PQTMVERNO')),
      'without a CR',
    )
    rig.write('$PQTMVERNO*00\r\n')
    t.notOk(
      sentences(await rig.seconds(1)).some((text) => text.startsWith('PQTMVERNO')),
      'a wrong checksum',
    )
    rig.write('\x00\xff$'.repeat(5000))
    t.match(await ask(rig, 'PQTMVERNO', 'PQTMVERNO'), [/LG290P/], 'after garbage: the line that it ended is lost')
  })

  t.test('its own survey: a counter, a place after its seconds, or a counter that sticks', async (t) => {
    for (const surveySticks of [false, true]) {
      const rig = await lg290p({ surveySticks })
      await saved(rig, 'PQTMCFGRCVRMODE,W,2', 'PQTMCFGSVIN,W,1,30,1,0,0,0')
      await ask(rig, 'PQTMCFGMSGRATE,W,PQTMSVINSTATUS,1,1')
      const heard = await rig.seconds(40)
      const states = sentences(heard).filter((text) => text.startsWith('PQTMSVINSTATUS'))
      t.equal(new Set(states.map((text) => text.split(',')[6])).size === 1, surveySticks)
      t.equal(places(heard).length > 0, !surveySticks)
    }
  })

  t.test('the first connection after power-up may hear its own commands', async (t) => {
    const rig = await lg290p({ echo: true })
    t.strictSame(await ask(rig, 'PQTMCFGRSID,R'), ['PQTMCFGRSID,R', 'PQTMCFGRSID,OK,290'])
    await rig.line.close()
    await rig.open()
    t.strictSame(await ask(rig, 'PQTMCFGRSID,R'), ['PQTMCFGRSID,OK,290'])
  })

  t.test('constellations and the mask', async (t) => {
    const rig = await lg290p()
    await saved(rig, ...baseCommands, 'PQTMCFGCNST,W,1,0,1,0,1,1')
    const heard = types(await rig.seconds(3))
    t.ok(heard.includes(1074) && heard.includes(1094))
    const satellites = (items: readonly Item[]) =>
      items.flatMap((item) => (item.kind === 'rtcm' ? (decodeMsmHeader(item.bytes)?.satellites ?? []) : [])).length
    const before = satellites(await rig.seconds(1))
    await ask(rig, 'PQTMCFGELETHD,W,40.0')
    const after = satellites(await rig.seconds(1))
    t.ok(after > 0 && after < before, `${before} → ${after}`)
  })
})

t.test('ephemerides: the satellites are where they say, at the end of a week too', async (t) => {
  const week_s = 604_800
  for (const gps_s of [2400 * week_s + 100_000, 2401 * week_s - 30, 2401 * week_s + 3, 2403 * week_s + 5_000]) {
    let compared = 0
    for (const sight of visibleFrom(truth, gps_s, 5, new Set(), sky)) {
      const frame = ephemerisFrame(sight, gps_s)
      const ephemeris = frame && decodeEphemeris(frame, gps_s)
      if (!ephemeris) continue
      compared++
      const seen = expectedRange(truth, ephemeris, gps_s, sight.range_m)
      const name = `${sight.constellation.name} ${sight.svId}`
      // What is left is air: 2.3 m in the zenith.
      const air_m = sight.range_m - Number(seen?.pseudorange_m)
      const zenith_m = air_m * Math.sin((sight.elevation_deg * Math.PI) / 180)
      t.ok(zenith_m > 1.9 && zenith_m < 2.8, `${name} ${zenith_m} m`)
      t.ok(Math.abs(Number(seen?.elevation_deg) - sight.elevation_deg) < 0.001, name)
      t.ok(Math.abs(Math.sin(((Number(seen?.azimuth_deg) - sight.azimuth_deg) * Math.PI) / 180)) < 0.0001, name)
    }
    t.ok(compared > 20, `${compared}`)
  }
})

// ── mosaic ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const mosaic = (options: Partial<ConstructorParameters<typeof SimulatedMosaic>[0]> = {}) =>
  onLine((edges) => new SimulatedMosaic({ ...usual, user: '', password: '', ...options }, edges))
type Mosaic = Awaited<ReturnType<typeof mosaic>>

async function tell(rig: Mosaic, ...commands: string[]): Promise<string[]> {
  const heard: string[] = []
  for (const command of commands) {
    rig.write(`${command}\r\n`)
    heard.push(...replies(await rig.during(50)))
  }
  return heard
}
const everyBlock =
  'MeasEpoch+PVTCartesian+PosCovCartesian+ChannelStatus+ReceiverStatus+ReceiverTime+RFStatus+SatVisibility'
const asBase = [`setStaticPosCartesian, Cartesian1, ${axes.join(', ')}, WGS84`, 'setPVTMode, Static, , Cartesian1']

t.test('mosaic', async (t) => {
  t.test('its blocks and messages are those of the recordings', { skip: noRecordings }, async (t) => {
    const rig = await mosaic()
    const msm = [1074, 1077, 1084, 1087, 1094, 1097, 1124, 1127].map((type) => `RTCM${type}`).join('+')
    await tell(rig, ...asBase, `setSBFOutput, Stream1, USB1, ${everyBlock}, sec1`)
    await tell(rig, `setRTCMv3Output, USB1, ${msm}+RTCM1230+RTCM1033+RTCM1006`)
    const ours = await rig.seconds(10)
    const theirs = ['status', 'survey', 'raw-cross'].flatMap((name) => recorded(`septentrio-mosaic-g5-${name}`))
    for (const id of [4006, 4012, 4013, 4014, 4027, 4092, 5905, 5914]) {
      const [own] = blocksOf(ours, id)
      const [recorded] = blocksOf(theirs, id)
      t.equal(own?.revision, recorded?.revision, `${id}`)
      // Repeated parts: their sizes. Others: the whole.
      if ([4006, 5905, 5914].includes(id)) t.equal(own?.bytes.length, recorded?.bytes.length, `${id}`)
      else if (id === 4014) t.equal(own?.bytes[29], recorded?.bytes[29], `${id}`)
      else
        t.strictSame(
          own?.bytes.subarray(15, 16 + Number(id === 4013 || id === 4027)),
          recorded?.bytes.subarray(15, 16 + Number(id === 4013 || id === 4027)),
          `${id}`,
        )
    }
    const [place] = blocksOf(ours, 4006)
    t.equal(place?.bytes[14], blocksOf(theirs, 4006)[0]?.bytes[14], 'a place that is known')
    t.equal(blocksOf(ours, 5905)[0]?.bytes.readFloatLE(16), -2e10, 'without a deviation')
    const masks = (items: readonly Item[]) =>
      new Map(
        items.flatMap((item) => {
          const header = item.kind === 'rtcm' ? decodeMsmHeader(item.bytes) : undefined
          const isEmpty = header && header.satellites.length === 0
          return item.kind === 'rtcm' && header && !isEmpty && item.type !== 1117
            ? [[item.type, header.signals] as const]
            : []
        }),
      )
    t.strictSame(new Map([...masks(ours)].sort()), new Map([...masks(theirs)].sort()), 'the signals of each MSM')
    /** Those of the first epoch with all of them. */
    const order = (items: readonly Item[]) => {
      const all = types(items).filter((type) => ![1107, 1117, 1137].includes(type))
      const from = all.lastIndexOf(1074, all.indexOf(1033))
      return all.slice(from, from + 11)
    }
    const known = order(theirs)
    t.ok(known.length > 8)
    t.strictSame(order(ours).slice(0, known.length), known)
  })

  t.test('replies: an echo and the state; what is wrong is said', async (t) => {
    const rig = await mosaic()
    t.strictSame(await tell(rig, 'SSSSSSSSSS'), ['USB1>'])
    t.strictSame(await tell(rig, 'setElevationMask, PVT, 10'), [
      '$R: setElevationMask, PVT, 10\r\n  ElevationMask, PVT, 10\r\nUSB1>',
    ])
    t.match(await tell(rig, 'setPVTMode, Static, , auto', 'getPVTMode'), [
      /Static/,
      /PVTMode, Static, StandAlone.*, auto/,
    ])
    t.match(await tell(rig, 'lstInternalFile, Identification'), [/^\$R; .*---->$/s, /hwplatform/, /firmware/])
    for (const wrong of [
      'setFrequency, 1',
      'setPVTMode, Flying',
      'setRTCMv3Output, USB7, RTCM1005',
      'setElevationMask, PVT, 1, 2',
    ])
      t.match(await tell(rig, wrong), [/^\$R\? /], wrong)
    rig.write('\xff\x00'.repeat(8000))
    t.match(await tell(rig, '', 'getPVTMode'), [/^\$R\? /, /PVTMode/])
  })

  t.test('a base announces its place; saved, it does so after a restart; a rover sends no RTCM', async (t) => {
    const rig = await mosaic()
    await tell(rig, 'setRTCMv3Output, USB1, RTCM1005+RTCM1077', 'setRTCMv3Formatting, 7')
    t.strictSame(types(await rig.seconds(3)), [], 'a rover')
    await tell(rig, ...asBase)
    const [place] = places(await rig.seconds(3))
    t.ok(place && distance(place, truth) < 0.001)
    t.equal(place?.stationId, 7)
    rig.write('exeResetReceiver, Soft, none\r\n')
    const [answer] = replies(await rig.during(100))
    t.match(answer, /STOP>$/)
    t.notOk(rig.line.plugged, 'its USB vanishes')
    await rig.seconds(2)
    t.ok(rig.line.plugged)
    await rig.open()
    t.strictSame(types(await rig.seconds(15)), [], 'nothing was saved')
    await tell(rig, 'setRTCMv3Output, USB1, RTCM1005', ...asBase, 'exeCopyConfigFile, Current, Boot')
    t.equal(rig.device.flashWrites, 1)
    rig.device.restart()
    t.ok(places(await rig.seconds(15)).length > 0)
  })

  t.test('its own position of two minutes', async (t) => {
    const rig = await mosaic()
    await tell(rig, 'setRTCMv3Output, USB1, RTCM1005', 'setPVTMode, Static, , auto')
    await tell(rig, 'setSBFOutput, Stream1, USB1, PVTCartesian, sec1')
    const before = await rig.seconds(60)
    t.strictSame(places(before), [])
    t.ok(
      blocksOf(before, 4006).every(({ bytes }) => (Number(bytes[14]) & 0x40) !== 0),
      'it says so',
    )
    const [place] = places(await rig.seconds(70))
    const away_m = place ? distance(place, truth) : 0
    t.ok(away_m > 0.01 && away_m < 20, `${away_m} m`)
  })

  t.test('a login', async (t) => {
    const rig = await mosaic({ user: 'base', password: 'roof' })
    t.match(await tell(rig, 'setRTCMv3Formatting, 7', 'getRTCMv3Formatting'), [/Not authorized/, /RTCMv3Formatting, 0/])
    t.match(await tell(rig, 'login, base, wrong', 'login, base, roof', 'setRTCMv3Formatting, 7'), [
      /^\$R\? LogIn/,
      /^\$R! LogIn/,
      /RTCMv3Formatting, 7/,
    ])
  })

  t.test('measurements: range, phase and Doppler of each signal are those of its MSM', async (t) => {
    const rig = await mosaic()
    await tell(rig, ...asBase, 'setSBFOutput, Stream1, USB1, MeasEpoch, sec1', 'setRTCMv3Output, USB1, RTCM1077')
    const heard = await rig.seconds(3)
    const measured = blocksOf(heard, 4027).at(-1)?.bytes
    if (!measured) return t.fail('no block')
    const light_mps = 299_792_458
    const found = heard.findLast((item) => item.kind === 'rtcm' && item.type === 1077)
    const { decodeMsm } = await import('../../../runtime/lib/gnss/index.js')
    const msm = found?.kind === 'rtcm' ? decodeMsm(found.bytes) : undefined
    let compared = 0
    for (let at = 20, left = Number(measured[14]); left > 0; left--) {
      const [type, id] = [Number(measured[at + 1]) & 0x1f, Number(measured[at + 2])]
      const range_m = ((Number(measured[at + 3]) & 0x0f) * 2 ** 32 + measured.readUInt32LE(at + 4)) / 1000
      const wavelength_m = light_mps / 1575.42e6
      const cycles = (measured.readInt8(at + 14) * 65_536 + measured.readUInt16LE(at + 12)) / 1000
      const doppler_hz = measured.readInt32LE(at + 8) / 10_000
      const cell = msm?.observations.find(({ satellite, signal }) => id <= 37 && satellite === id && signal === 2)
      at += 20 + 12 * Number(measured[at + 19])
      if (type !== 0 || !cell) continue
      compared++
      t.ok(Math.abs(range_m - Number(cell.pseudorange_m)) < 0.002, `G${id} range`)
      t.ok(Math.abs(range_m + cycles * wavelength_m - Number(cell.phase_m)) < 0.002, `G${id} phase`)
      t.ok(Math.abs(-doppler_hz * wavelength_m - Number(cell.rate_mps)) < 0.01, `G${id} Doppler`)
    }
    t.ok(compared >= 4, `${compared}`)
  })
})

for (const name of ['simulated-lg290p', 'simulated-mosaic'])
  t.test(`${name} stands what every plugin must`, async (t: Test) => {
    await conformance(await shippedPlugin(name), { tcp: await freeTcpPort() })
    t.pass('it does')
  })
