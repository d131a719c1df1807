/** The simulated UM980 against the recordings of a real one: both are read by one strict parser. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import t from 'tap'
import um980Simulator from '../../../plugins/simulated/simulated-um980/index.js'
import type { Um980Options } from '../../../plugins/simulated/simulated-um980/receiver.js'
import {
  decodeMsm,
  decodeMsmHeader,
  decodeRtcm,
  distance,
  ecefToGeodetic,
  geodeticToEcef,
  messageNumber,
  offsetEnu,
} from '../../../runtime/lib/gnss/index.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { conformance, createTestStation, freeTcpPort, until } from '../../harness/index.js'
import {
  base,
  bestNav,
  bodies,
  ecef,
  type Item,
  ids,
  noRecordings,
  ok,
  parse,
  received,
  recording,
  references,
  satsInfo,
  simulate,
  truth,
  types,
} from './um980-rig.js'

// ── held against the recordings ─────────────────────────────────────────────────────────────────────────────────────

t.test('the recordings', { skip: noRecordings }, async (t) => {
  /** What the host sent, in the batches in which it did, and what was answered until the next. */
  async function replay(name: string, prepare: string[] = [], place: Partial<Um980Options> = {}) {
    const rig = await simulate(place)
    await rig.ready()
    if (prepare.length > 0) await rig.ask(...prepare)
    const ours: Item[] = []
    const records = recording(name)
    for (const [i, { out, bytes }] of records.entries()) {
      if (!out) continue
      rig.line.write(bytes)
      if (!records[i + 1]?.out) ours.push(...(await rig.during(60)))
    }
    return { rig, ours, theirs: received(records) }
  }
  /** An item without what differs from time to time. */
  const timeless = (item: Item) => {
    if (item.kind === 'line') return item.text
    if (item.kind === 'ascii')
      return [item.name, item.header.length, item.header.slice(1, 3), item.header.slice(5, 8), item.fields]
    return item.kind === 'binary' ? [ids[item.id], item.body.toString('hex')] : item
  }

  t.test('a whole dialogue comes out word for word: VERSIONB, CONFIG, MASK, MODE, outputs', async (t) => {
    const { ours, theirs, rig } = await replay('daemon')
    const logs = theirs.findIndex((item) => item.kind === 'binary' && ids[item.id] === 'STADOP')
    t.strictSame(ours.map(timeless), theirs.slice(0, logs).map(timeless))
    const names = (items: readonly Item[]) => items.flatMap((item) => (item.kind === 'binary' ? [ids[item.id]] : []))
    const notSimulated = ['GPSUTC', 'GALUTC', 'BD3UTC']
    const epoch = names(theirs.slice(logs, logs + 8)).filter((name) => !notSimulated.includes(name))
    t.strictSame(new Set(names(await rig.during(1000))), new Set(epoch), 'the same logs in each epoch')
  })

  t.test('a position in degrees is read back as it was, and one in ECEF is taken', async (t) => {
    const { ours, theirs } = await replay('dialogue-1', ['MODE BASE 13.731828457 100.644740789 12.34567'], {
      ...{ lat: 13.7318, lon: 100.6447, alt: -20 },
    })
    t.strictSame(ours.map(timeless), theirs.map(timeless))
  })

  t.test('a survey is read back as it was, settings are taken and saved', async (t) => {
    const { ours, theirs, rig } = await replay('dialogue-2', [
      ...['MODE BASE TIME 2000', 'MASK 1', 'CONFIG PPS ENABLE BDS POSITIVE 250000 1000 1 0'],
    ])
    t.strictSame(ours.map(timeless), theirs.map(timeless))
    t.equal(rig.control.received.flash, 1)
  })

  t.test('every recorded line that is answered has the checksum with its first character', async (t) => {
    for (const name of ['daemon', 'dialogue-1', 'dialogue-2'])
      t.ok(received(recording(name)).filter(({ kind }) => kind === 'line').length > 20, name)
  })

  t.test('BESTNAV, RECTIME, STADOP, SATSINFO and BESTSAT have the recorded fields', async (t) => {
    const theirs = received(recording('daemon'))
    const rig = await simulate()
    await rig.ready()
    await rig.ask('BESTNAVB 1', 'RECTIMEB 1', 'STADOPB 1', 'SATSINFOB 1', 'BESTSATB 1')
    await rig.seconds(30)
    const ours = await rig.seconds(1)
    for (const items of [theirs, ours]) {
      const nav = bestNav(bodies(items, 'BESTNAV')[0])
      t.match(nav, { status: 0, type: 16, datum: 61, velocity: [0, 8] })
      for (const sigma of nav.sigma) t.ok(sigma > 0.5 && sigma < 8, `${sigma} m`)
      t.ok(Math.abs(nav.undulation) > 1)
      t.ok(nav.used <= nav.tracked && nav.used > 20)
      const time = bodies(items, 'RECTIME')[0]
      t.equal(time.length, 44)
      t.equal(time.readUInt32LE(0), 0)
      t.equal(time.readDoubleLE(20), -18)
      t.ok(Math.abs(time.readDoubleLE(4)) < 1e-3)
      t.equal(time.readUInt32LE(28), 2026)
      t.equal(time.readUInt32LE(36) % 1000, 0)
      const dop = bodies(items, 'STADOP')[0]
      t.equal(dop.length, 42 + 2 * dop.readUInt16LE(40))
      t.equal(dop.readFloatLE(32), 5)
      t.ok(dop.readFloatLE(4) > dop.readFloatLE(8) && dop.readFloatLE(8) > dop.readFloatLE(12), 'G > P > T')
      const sky = satsInfo(bodies(items, 'SATSINFO')[0])
      const systems: Record<number, [prns: [number, number], ids: number[]]> = {
        0: [
          [1, 32],
          [0, 14, 9],
        ],
        1: [
          [38, 61],
          [0, 5],
        ],
        3: [
          [1, 36],
          [2, 17, 12],
        ],
        4: [
          [1, 63],
          [0, 17, 21, 8, 12, 13],
        ],
        5: [
          [193, 202],
          [0, 14, 9],
        ],
      }
      for (const { prn, system, azimuth, elevation, ids, signals } of sky) {
        const [[first, last], known] = systems[system]
        t.ok(prn >= first && prn <= last, `${system}: ${prn}`)
        t.strictSame(
          ids.filter((id) => !known.includes(id)),
          [],
        )
        t.ok(azimuth < 360 && elevation <= 90)
        for (const [of, cno, , count] of signals)
          t.ok(of === system && count === signals.length && cno > 15 && cno < 60)
      }
      const sats = bodies(items, 'BESTSAT')[0]
      t.equal(sats.length, 4 + 16 * sats.readUInt32LE(0))
      const used = Array.from({ length: sats.readUInt32LE(0) }, (_, i) => {
        const at = 4 + 16 * i
        return { system: sats.readUInt32LE(at), mask: sats.readUInt32LE(at + 12) }
      })
      const masks: Record<number, number[]> = { 0: [1, 3, 5, 7], 1: [1, 3], 5: [1, 7], 6: [1, 7, 69, 109], 7: [7] }
      for (const { system, mask } of used) t.ok(masks[system].includes(mask), `${system}: ${mask}`)
    }
    t.equal(bodies(theirs, 'SATSINFO')[0][1], bodies(ours, 'SATSINFO')[0][1], 'version')
  })

  t.test('MSM7: the same messages in the same order, BeiDou in two with one number and one epoch', async (t) => {
    const theirs = received(recording('raw-cross'))
    const rig = await simulate()
    await rig.ready()
    const messages = ['1077', '1087', '1097', '1117', '1127'].map((type) => `RTCM${type} 5`)
    await rig.ask(...messages, 'RTCM1230 5')
    const ours = await rig.seconds(10)
    for (const [items, from] of [
      [theirs, types(theirs).indexOf(1230)],
      [ours, 0],
    ] as const) {
      const frames = items.flatMap((item) => (item.kind === 'rtcm' ? [item.bytes] : [])).slice(from, from + 7)
      t.strictSame(frames.map(messageNumber), [1230, 1077, 1087, 1097, 1117, 1127, 1127])
      const msms = frames.slice(1).map((frame) => ({ frame, header: decodeMsmHeader(frame), msm: decodeMsm(frame) }))
      t.strictSame(
        msms.map(({ header }) => header?.multiple),
        [true, true, true, true, true, false],
      )
      t.strictSame(
        msms.map(({ header }) => header?.signals),
        [[2, 10, 23], [2, 8], [2, 15, 23], [], [2, 8, 14, 23, 25, 31], [2, 8, 14, 23, 25, 31]],
      )
      for (const { frame, header, msm } of msms) {
        if (!header || !msm) throw new Error('it is an MSM')
        t.match(header, { stationId: 0, clockSteering: 1, externalClock: 0, iods: 0, smoothing: false })
        const grid = header.satellites.length * header.signals.length
        const bits = 169 + grid + 36 * header.satellites.length + 80 * header.cells.length
        t.equal(frame.length, 6 + Math.ceil(bits / 8), 'no padding')
        t.ok(msm.observations.every(({ phase_m, lock }) => phase_m !== undefined || lock === 0))
        if (header.type !== 1087) t.ok(Object.values(msm.info ?? {}).every((info) => info === 0))
      }
      const [, , , , first, second] = msms.map(({ header }) => header)
      t.equal(first?.epochTime, second?.epochTime)
      t.equal(first?.satellites.length, 10, 'as many satellites as 64 pairs have room for')
      t.ok(Number(first?.satellites.at(-1)) < Number(second?.satellites[0]), 'in ascending order')
    }
    const rates = (items: readonly Item[], type: number) => {
      const both = items.flatMap((item) => (item.kind === 'rtcm' && item.type === type ? [decodeMsm(item.bytes)] : []))
      const cells = both
        .flatMap((msm) => (msm ? [msm] : []))
        .flatMap(({ epochTime, observations }) => observations.map((cell) => ({ ...cell, epochTime })))
      return cells.flatMap(({ satellite, signal, phase_m, rate_mps, epochTime }) => {
        const next = cells.find(
          (cell) => cell.satellite === satellite && cell.signal === signal && cell.epochTime > epochTime,
        )
        const range_mps =
          (((next?.phase_m ?? Number.NaN) - (phase_m ?? Number.NaN)) / ((next?.epochTime ?? 0) - epochTime)) * 1000
        return Number.isNaN(range_mps) ? [] : [range_mps + (rate_mps ?? 0)]
      })
    }
    for (const items of [theirs, ours]) {
      t.ok(rates(items, 1127).length > 20)
      for (const difference of rates(items, 1127))
        t.ok(Math.abs(difference) < 5, `the rate is that of a Doppler: ${difference}`)
    }
  })
})

// ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('stands what every plugin must stand', async () => {
  await conformance(um980Simulator as unknown as AnyPlugin, { tcp: await freeTcpPort() })
})

t.test('a command ends with CR LF, other bytes before it do no harm, MON-VER is not answered', async (t) => {
  const rig = await simulate()
  await rig.ready()
  const send = async (text: string) => {
    rig.line.write(Buffer.from(text, 'latin1'))
    return rig.texts(await rig.during(60))
  }
  t.strictSame(await send('MASK\n'), [])
  t.strictSame(await send('\r'), [])
  t.strictSame(await send('\r\n'), [ok('MASK'), '$CONFIG,MASK,MASK 5.0'], 'the line ends only here')
  t.strictSame(await send('\r\n\r\n'), [])
  t.strictSame(await send('\xb5b\x0a\x04\0\0\x0e4'), [], 'UBX')
  t.strictSame(await send('unlog\r\nMODE ROVER\r\nSAVECONFIG\r\n'), [ok('unlog'), ok('MODE ROVER'), ok('SAVECONFIG')])
  t.strictSame(await send('\xd3\0\x02MA\r\n\0'), [], 'a frame of RTCM, with CR LF in it')
  t.strictSame(await send('MASK 7\r\n'), [ok('MASK 7')])
})

t.test('what it does not know or understand is answered with what failed', async (t) => {
  const rig = await simulate()
  await rig.ready()
  const failed = (command: string, name: string) =>
    `$command,${command},response: PARSING FAILD NO MATCHING FUNC  ${name}`
  for (const command of ['badResponse', 'RTCM1041 1', 'rtcm1003 1', 'LOG RTCM1005'])
    t.strictSame(await rig.lines(command), [failed(command, command.split(' ')[0].toUpperCase())])
  for (const command of [
    'MODE BASE 4096 TIME 60',
    'MODE BASE TIME 3601',
    'MODE FLY',
    'MODE BASE 1 2',
    'MODE BASE x 1 2',
  ])
    t.strictSame(await rig.lines(command), [failed(command, 'MODE')])
  for (const command of ['CONFIG COM3 1234', 'CONFIG NONSENSE 1', 'CONFIG SIGNALGROUP x'])
    t.strictSame(await rig.lines(command), [failed(command, 'CONFIG')])
  t.match((await rig.ask('MODE')).at(-1), { fields: ['MODE ROVER SURVEY', ''] }, 'nothing of it was done')
})

t.test('the first connection hears itself if the option says so', async (t) => {
  const rig = await simulate({ echo: true })
  await rig.ready()
  rig.line.write(Buffer.from('MASK 5\r\n'))
  rig.chunks.length = 0
  await rig.clock.advance(10)
  t.equal(Buffer.concat(rig.chunks).toString(), 'MASK 5\r\n')
  await rig.during(60)
  await rig.line.close()
  await rig.open()
  t.strictSame(await rig.lines('MASK 5'), [ok('MASK 5')])
})

t.test('VERSIONA has the model and the firmware in words', async (t) => {
  const rig = await simulate()
  await rig.ready()
  const items = await rig.ask('VERSIONA')
  t.strictSame(rig.texts(items), [ok('VERSIONA')])
  t.match(items.at(-1), {
    name: 'VERSIONA',
    fields: ['"UM980"', '"R4.10Build17548"', '"HRPT00-S10C-P"', /^".+"$/, /^".+"$/, '"2024/12/23"'],
  })
})

t.test('BESTNAVA and RECTIMEA say in words what their binary forms say', async (t) => {
  const rig = await simulate()
  await rig.ready()
  const items = await rig.ask('BESTNAVA', 'RECTIMEA', 'BESTNAVB')
  const nav = bestNav(bodies(items, 'BESTNAV')[0])
  const fields = items.flatMap((item) => (item.kind === 'ascii' ? [item] : []))
  t.match(fields[0].fields.slice(0, 2), ['SOL_COMPUTED', 'SINGLE'])
  t.equal(fields[0].fields[2], nav.lat.toFixed(11))
  t.equal(fields[0].fields[6], 'WGS84')
  t.equal(fields[0].fields[7], nav.sigma[0].toFixed(4))
  t.match(fields[1].fields, ['VALID', /./, /./, '-18.000000000', '2026'])
})

t.test('outputs are listed by port, and UNLOG ends those of its port, of another, or one', async (t) => {
  const rig = await simulate()
  await rig.ready()
  await rig.ask('RTCM1005 10', 'RTCM1074 COM1 1', 'BESTNAVB 1', 'rtcm1230,com3,10')
  const listed = async () => {
    const [, list] = await rig.ask('UNILOGLIST')
    return list.kind === 'list' ? list.text.split('\r\n').slice(1) : []
  }
  t.strictSame(await listed(), ['4', 'RTCM1005 COM3 10', 'RTCM1074 COM1 1', 'BESTNAVB COM3 1', 'RTCM1230 COM3 10'])
  await rig.ask('UNLOG BESTNAVB')
  t.equal((await listed())[0], '3')
  await rig.ask('UNLOG')
  t.strictSame(await listed(), ['1', 'RTCM1074 COM1 1'])
  await rig.ask('UNLOG COM1')
  t.strictSame(await listed(), ['0'])
  t.strictSame(await rig.seconds(3), [], 'silence')
})

t.test('another rate takes effect after the answer, and is lost with the power', async (t) => {
  const rig = await simulate()
  await rig.ready()
  t.strictSame(await rig.lines('CONFIG COM3 460800', 'RTCM1074 1'), [ok('CONFIG COM3 460800'), ok('RTCM1074 1')])
  rig.chunks.length = 0
  await rig.clock.advance(2000)
  t.throws(() => parse(Buffer.concat(rig.chunks)), 'garbage at the old rate')
  rig.line.write(Buffer.from('MASK\r\n'))
  await rig.clock.advance(100)
  await rig.line.setBaud(460_800)
  t.strictSame(types(await rig.seconds(2)), [1074, 1074])
  t.match(await rig.lines('CONFIG'), [ok('CONFIG')])
  rig.control.restart()
  await rig.line.setBaud(115_200)
  t.strictSame(rig.texts(await rig.ready()), ['$devicename,COM3'])
})

// ── starts ──────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a start: silence, its name, no output, no time before the fix', async (t) => {
  const rig = await simulate()
  t.strictSame(await rig.seconds(3), [])
  t.strictSame(await rig.lines('MASK'), [], 'it does not hear either')
  t.strictSame(await rig.seconds(2), [{ kind: 'line', text: '$devicename,COM3' }])
  await rig.ask('BESTNAVB 1', 'RTCM1074 1')
  const items = await rig.seconds(2)
  t.match(bestNav(bodies(items, 'BESTNAV')[0]), { status: 1, type: 0, lat: 0 })
  t.match(
    items.find(({ kind }) => kind === 'binary'),
    { status: 0xc9, week: 1 },
  )
  t.strictSame(types(items), [])
  const later = await rig.seconds(10)
  t.match(bestNav(bodies(later, 'BESTNAV').at(-1) as Buffer), { status: 0, type: 16 })
  t.ok(types(later).includes(1074))
})

t.test('SIGNALGROUP starts it again: what was not saved is lost, the group is kept', async (t) => {
  const rig = await simulate()
  await rig.ready()
  await rig.ask('RTCM1074 1', 'MASK 12')
  t.strictSame(await rig.lines('CONFIG SIGNALGROUP 2'), [ok('CONFIG SIGNALGROUP 2')])
  t.strictSame(await rig.seconds(3), [])
  t.strictSame(await rig.seconds(15), [{ kind: 'line', text: '$devicename,COM3' }])
  t.ok((await rig.lines('CONFIG')).includes('$CONFIG,SIGNALGROUP,CONFIG SIGNALGROUP 2'))
  t.strictSame(await rig.lines('MASK'), [ok('MASK'), '$CONFIG,MASK,MASK 5.0'])
  t.equal(rig.control.received.flash, 1)
})

t.test('RESET keeps what was saved, FRESET nothing; writes to flash are counted', async (t) => {
  const rig = await simulate()
  await rig.ready()
  await rig.ask('MASK 12', 'RTCM1074 1', 'SAVECONFIG', 'MASK 20', 'RESET')
  await rig.ready()
  t.strictSame((await rig.lines('MASK')).at(-1), '$CONFIG,MASK,MASK 12.0')
  t.ok(types(await rig.seconds(2)).includes(1074))
  t.match(rig.control.describe(), '1 flash writes')
  t.strictSame((await rig.lines('FRESET'))[0], ok('FRESET'))
  t.strictSame(await rig.ready(), [{ kind: 'line', text: '$devicename,COM3' }])
  t.strictSame((await rig.lines('MASK')).at(-1), '$CONFIG,MASK,MASK 5.0')
  t.match(rig.control.describe(), '2 flash writes')
})

// ── base ────────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test(
  'a base by ECEF announces what was entered, with its ID, and BESTNAV is FIXEDPOS without deviations',
  async (t) => {
    const rig = await simulate()
    await rig.ready()
    const near = offsetEnu(truth, { east: 3, north: -2, up: 1 })
    await base(rig, ecef(near))
    const items = await rig.seconds(2)
    t.match(references(items)[0], { stationId: 7 })
    t.ok(distance(references(items)[0], near) < 0.0002)
    const nav = bestNav(bodies(await rig.ask('BESTNAVB'), 'BESTNAV')[0])
    t.match(nav, { status: 0, type: 1, sigma: [0, 0, 0] })
    t.ok(distance(geodeticToEcef({ ...nav, alt: nav.height + nav.undulation }), near) < 0.001)
    await rig.ask('MODE ROVER SURVEY')
    const rover = await rig.seconds(2)
    t.strictSame(references(rover), [])
    t.ok(types(rover).includes(1074), 'observations go on, as recorded')
  },
)

t.test('an entered height is above mean sea level, with UNDULATION 0 above the ellipsoid', async (t) => {
  const rig = await simulate()
  await rig.ready()
  await base(rig, 'MODE BASE 52 4 50')
  t.ok(Math.abs(distance(references(await rig.seconds(2))[0], truth) - 44.568) < 0.001)
  await rig.ask('CONFIG UNDULATION 0')
  t.ok(distance(references(await rig.seconds(2))[0], truth) < 0.001)
  t.ok((await rig.lines('CONFIG')).includes('$CONFIG,UNDULATION,CONFIG UNDULATION 0.0000'))
})

t.test('a position more than 300 m away: no RTCM at all, and CONFIG says not correct', async (t) => {
  const rig = await simulate()
  await rig.ready()
  t.strictSame(await rig.lines(ecef(offsetEnu(truth, { east: 400, north: 0, up: 0 }))), [
    ok(ecef(offsetEnu(truth, { east: 400, north: 0, up: 0 }))),
  ])
  await rig.ask('RTCM1005 1', 'RTCM1074 1', 'RTCM1230 1')
  t.strictSame(types(await rig.seconds(5)), [])
  t.match((await rig.lines('CONFIG')).at(-1), /not correct/)
  await rig.ask(ecef(offsetEnu(truth, { east: 200, north: 0, up: 0 })))
  t.ok(types(await rig.seconds(5)).includes(1005))
  t.notOk((await rig.lines('CONFIG')).some((text) => text.includes('not correct')))
})

t.test('a survey averages; with d an old position comes back without a word', async (t) => {
  const rig = await simulate()
  await rig.ready()
  await base(rig, 'MODE BASE 9 TIME 30 2')
  const during = await rig.seconds(20)
  t.strictSame(references(during), [])
  t.match(bestNav(bodies(await rig.ask('BESTNAVB'), 'BESTNAV')[0]), { type: 16 })
  const [first] = references(await rig.seconds(15))
  t.ok(distance(first, truth) < 5)
  t.notOk(distance(first, truth) < 0.001, 'it is a survey, not the truth')
  rig.control.move(0.8, 0, 0)
  await rig.ask('MODE ROVER SURVEY', 'MODE BASE 9 TIME 30 5')
  const [second] = references(await rig.seconds(35)).slice(-1)
  t.equal(distance(first, second), 0, 'the position before the move')
  await rig.ask('MODE ROVER SURVEY', 'MODE BASE 9 TIME 30')
  t.ok(distance(first, references(await rig.seconds(35)).at(-1) as never) > 0.01, 'without d: a new one')
})

t.test('a base that was saved sends with its position as soon as it has a fix, however wrong that is', async (t) => {
  const rig = await simulate()
  await rig.ready()
  const wrong = offsetEnu(truth, { east: 30, north: 0, up: 0 })
  rig.control.flash({ arp: wrong })
  rig.control.restart()
  const items = await rig.ready()
  t.ok(distance(references(items)[0], wrong) < 0.001)
  t.ok(new Set(types(items)).has(1124))
  rig.control.flash('survey-in')
  rig.control.restart()
  await rig.seconds(10)
  t.match(
    (await rig.ask('MODE')).find(({ kind }) => kind === 'ascii'),
    { fields: ['MODE BASE TIME 60 1 0', ''] },
  )
})

t.test('MASK: elevation, constellations, C/N0 of RTCM', async (t) => {
  const rig = await simulate()
  await rig.ready()
  await rig.ask('RTCM1077 1', 'RTCM1087 1', 'RTCM1127 1')
  const lowest = (items: readonly Item[]) =>
    Math.min(
      ...items
        .flatMap((item) => (item.kind === 'rtcm' ? (decodeMsm(item.bytes)?.observations ?? []) : []))
        .map(({ cnr_dbhz = 99 }) => cnr_dbhz),
    )
  t.ok(lowest(await rig.seconds(5)) < 38)
  await rig.ask('MASK GLO', 'MASK RTCMCN0 40')
  const items = await rig.seconds(5)
  t.ok(lowest(items) >= 40)
  const glonass = items.flatMap((item) => (item.kind === 'rtcm' && item.type === 1087 ? [decodeMsm(item.bytes)] : []))
  t.ok(glonass.every((msm) => msm?.observations.length === 0))
  t.strictSame(
    (await rig.lines('MASK')).slice(1),
    ['MASK 5.0', 'MASK GLO', 'MASK RTCMCN0 40'].map((text) => `$CONFIG,MASK,${text}`),
  )
  await rig.ask('UNMASK GLO', 'MASK 40', 'SATSINFOB 1', 'BESTSATB 1')
  const sats = bodies(await rig.seconds(2), 'BESTSAT').at(-1) as Buffer
  t.ok(sats.readUInt32LE(0) < 20)
})

t.test('1006, 1033 with the antenna of BASEANTENNAMODEL, empty 1137', async (t) => {
  const rig = await simulate()
  await rig.ready()
  await rig.ask(
    ecef(truth),
    'RTCM1006 1',
    'RTCM1033 1',
    'RTCM1137 1',
    'CONFIG BASEANTENNAMODEL ADVNULLANTENNA 1234 12 USER',
  )
  const items = await rig.seconds(1)
  t.strictSame(types(items), [1006, 1033, 1137])
  const [, descriptor, navic] = items.flatMap((item) => (item.kind === 'rtcm' ? [item.bytes] : []))
  t.match(decodeRtcm(descriptor), {
    antennaDescriptor: 'ADVNULLANTENNA',
    antennaSerial: '1234',
    antennaSetupId: 12,
    receiverType: 'UM980',
  })
  t.match(decodeMsmHeader(navic), { satellites: [], multiple: false })
})

// ── faults ──────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test(
  'faults: refuse, ignore, lost answers, wrong 1005, damaged frames, silence, unplugged, no antenna',
  async (t) => {
    const rig = await simulate({ boot: 'fixed' })
    await rig.ready()
    const { control } = rig
    control.nak('MODE BASE')
    t.match(await rig.lines('MODE BASE TIME 60', 'MASK 5'), [/PARSING FAILD/, ok('MASK 5')])
    control.nak(undefined)
    control.ignore('MASK 9')
    t.strictSame(await rig.lines('MASK 9', 'MASK'), [ok('MASK 9'), ok('MASK'), '$CONFIG,MASK,MASK 5.0'])
    control.dropAcks(2)
    t.equal((await rig.lines('MASK 5', 'MASK 5', 'MASK 5', 'MASK 5')).length, 2)
    control.dropAcks(0)
    control.wrongReference(10)
    t.ok(Math.abs(distance(references(await rig.seconds(2))[0], truth) - 10) < 0.001)
    control.corrupt(1)
    rig.chunks.length = 0
    await rig.clock.advance(1000)
    t.throws(() => parse(Buffer.concat(rig.chunks)), /RTCM/)
    control.antenna('open')
    await rig.seconds(1)
    t.strictSame(types(await rig.seconds(3)), [], 'nothing is received, and nothing says why')
    control.antenna('ok')
    await rig.seconds(10)
    control.silence(true)
    t.strictSame(await rig.seconds(2), [])
    t.strictSame(await rig.lines('MASK'), [])
    control.silence(false)
    control.set('RTCM1005', 0)
    t.notOk(types(await rig.seconds(3)).includes(1005), 'someone else switched it off')
    t.equal(control.value('RTCM1005'), undefined)
    t.equal(control.value('RTCM1005', 'flash'), 1)
    t.equal(control.value('CONFIG SIGNALGROUP'), 1)
    control.unplug()
    t.equal(rig.line.present(), false)
    t.rejects(rig.open())
    control.replug()
    await rig.open()
    t.ok(types(await rig.seconds(20)).includes(1005), 'as it is saved')
    t.ok(Math.abs(ecefToGeodetic(control.truth).lat - 52) < 1e-9)
  },
)

t.test('in a station: sim words, the state over a reload, one program over TCP', async (t) => {
  const tcp = await freeTcpPort()
  const plugin = [um980Simulator as unknown as AnyPlugin, { tcp }] as [AnyPlugin, Record<string, unknown>]
  const station = await createTestStation({ plugins: { 'simulated-um980': plugin } })
  t.teardown(() => station.stop())
  const sim = (line: string) => station.station.command(`sim=${line}`, { source: 'console' })
  const { text: help } = await sim('help')
  const readme = readFileSync('plugins/simulated/simulated-um980/README.md', 'utf8')
  const rows = [...readme.slice(readme.indexOf('| `sim=` |')).matchAll(/^\| `([a-z0-9-]+)[ `]/gm)].map(
    ([, name]) => name,
  )
  const words = help.split('\n').map((line) => line.split(' ')[1])
  t.strictSame(new Set(rows), new Set(words), 'the README has the same words')
  for (const word of ['spoof 1', 'corrections 5', 'nak NONSENSE', 'flash nothing'])
    t.equal((await sim(word)).status, 400, word)
  t.match((await sim('nak MODE BASE')).text, 'refuses MODE BASE')
  await sim('nak off')
  await sim('move 1 2 3')
  for (let i = 0; i < 6; i++) await station.clock.advance(1000)

  const socket = connect(tcp, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const heard: Buffer[] = []
  socket.on('data', (bytes) => heard.push(bytes))
  socket.on('error', () => {})
  socket.write('MASK 12\r\nMASK\r\n')
  await until(async () => {
    await station.clock.advance(20)
    return Buffer.concat(heard).includes('MASK 12.0')
  }, 'an answer')
  await station.reload('simulated-um980')
  t.match((await sim('')).text, /moved E 1 N 2 U 3 m.*MODE ROVER SURVEY/)
  await sim('flash fixed 5 0 0')
  await sim('restart')
  for (let i = 0; i < 15; i++) await station.clock.advance(1000)
  t.match((await sim('')).text, /MODE BASE .*FIXEDPOS/)
})
