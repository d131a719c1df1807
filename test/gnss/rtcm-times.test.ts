/** When observations were made and for how long a phase was held: epochs and lock times of MSMs, and positions of GGA. */
import t from 'tap'
import { decodeGga, encodeNmea } from '../../runtime/lib/gnss/nmea.js'
import { lockBroken, lockTime } from '../../runtime/lib/gnss/rtcm/lock-time.js'
import { encodeMsm, msmEpochTime, msmType } from '../../runtime/lib/gnss/rtcm/messages.js'
import { MsmEpochs } from '../../runtime/lib/gnss/rtcm/msm-epochs.js'
import { arpFrame } from '../harness/fake-receiver.js'

t.test('a lock time indicator stands for the range of the tables of DF402 and DF407', async (t) => {
  for (const [msm, indicator, from_ms, below_ms] of [
    [4, 0, 0, 32],
    [4, 1, 32, 64],
    [5, 2, 64, 128],
    [5, 14, 262_144, 524_288],
    [4, 15, 524_288, Infinity],
    [4, 16, 0, Infinity],
    [4, undefined, 0, Infinity],
    [7, 0, 0, 1],
    [7, 63, 63, 64],
    [6, 64, 64, 66],
    [7, 95, 126, 128],
    [7, 96, 128, 132],
    [7, 127, 252, 256],
    [7, 128, 256, 264],
    [7, 703, 66_060_288, 67_108_864],
    [6, 704, 67_108_864, Infinity],
    [7, 705, 0, Infinity],
    [7, undefined, 0, Infinity],
  ] as const)
    t.same(lockTime(msmType('GPS', msm), indicator), { from_ms, below_ms }, `MSM${msm} ${indicator}`)
})

t.test('a phase was lost where its lock time fell, or is less than the time that passed', async (t) => {
  const held = (from_ms: number, below_ms: number) => ({ from_ms, below_ms })
  for (const [before, now, interval_ms, isBroken] of [
    [held(64, 128), held(64, 128), 50, false],
    [held(64, 128), held(32, 64), 50, true],
    [held(64, 128), held(33, 65), 50, false],
    [held(0, 32), held(0, 980), 1_000, true],
    [held(0, 32), held(0, 981), 1_000, false],
    [held(65_536, 131_072), held(65_536, 131_072), 100_000, false],
  ] as const)
    t.equal(lockBroken(before, now, interval_ms), isBroken, `${now.from_ms}-${now.below_ms} after ${interval_ms} ms`)
})

const tow_ms = 408_698_000
const msm = (constellation: 'GPS' | 'GLONASS' | 'Galileo', at_ms: number, multiple: boolean) =>
  encodeMsm({
    ...{ type: msmType(constellation, 4), stationId: 1, epochTime: msmEpochTime(constellation, at_ms, 18), multiple },
    observations: [
      {
        ...{ satellite: 1, signal: 2, pseudorange_m: 2e7, phase_m: 2e7, rate_mps: undefined, lock: 1 },
        ...{ halfCycle: false, cnr_dbhz: 40 },
      },
    ],
  })

t.test('an epoch ends with its last message, with the first one of another time, or with the 32nd', async (t) => {
  const epochs = (...frames: Uint8Array[]) => {
    const collector = new MsmEpochs(() => 18)
    return frames.map((frame) => collector.push(frame).map(({ time_ms, messages }) => [time_ms, messages.length]))
  }
  t.same(epochs(msm('GPS', tow_ms, true), msm('GLONASS', tow_ms, false)), [[], [[tow_ms, 2]]])
  t.same(epochs(msm('GLONASS', tow_ms, true), msm('GPS', tow_ms, false)), [[], [[tow_ms, 2]]])
  t.same(epochs(msm('GLONASS', tow_ms, false)), [[[tow_ms, 1]]], 'GLONASS alone')
  t.same(epochs(msm('GPS', tow_ms, false), msm('GPS', tow_ms + 1_000, false)), [[[tow_ms, 1]], [[tow_ms + 1_000, 1]]])
  t.same(
    epochs(msm('GPS', tow_ms, true), msm('Galileo', tow_ms, true), msm('GPS', tow_ms + 1_000, false)),
    [
      [],
      [],
      [
        [tow_ms, 2],
        [tow_ms + 1_000, 1],
      ],
    ],
    'its last message was lost',
  )
  t.same(
    epochs(msm('GLONASS', tow_ms, true), msm('GLONASS', tow_ms + 1_000, true)),
    [[], [[tow_ms, 1]]],
    'of GLONASS alone too',
  )
  t.same(epochs(arpFrame({ x: 1, y: 2, z: 3 }, 1), msm('GPS', tow_ms, false)), [[], [[tow_ms, 1]]])
  const many = epochs(...Array.from({ length: 33 }, () => msm('GPS', tow_ms, true)))
  t.same([many.slice(0, 31).flat(), many[31], many[32]], [[], [[tow_ms, 32]], []])
})

t.test('a GGA has degrees within the globe, and nothing where its fields are empty or no numbers', async (t) => {
  const whole = [
    'GNGGA',
    '123519.00',
    '4807.038',
    'N',
    '01131.000',
    'E',
    '4',
    '08',
    '0.9',
    '545.4',
    'M',
    '46.9',
    'M',
    '1.5',
    '31',
  ]
  const read = (changes: Record<number, string> = {}) =>
    decodeGga(encodeNmea(whole.map((field, index) => changes[index] ?? field).join(',')))
  const found = read()
  t.match(found, { time: '123519.00', quality: 4, satellitesUsed: 8, hdop: 0.9, altMsl_m: 545.4 })
  t.match(found, { geoidSeparation_m: 46.9, correctionAge_s: 1.5, correctionStation: '31' })
  t.ok(Math.abs((found?.lat ?? 0) - 48.1173) < 1e-9)
  t.ok(Math.abs((found?.lon ?? 0) - 11.516_666_667) < 1e-9)
  for (const [changes, lat, lon] of [
    [{ 2: '9000.0', 4: '18000.0' }, 90, 180],
    [{ 2: '9000.0', 3: 'S', 4: '18000.0', 5: 'W' }, -90, -180],
    [{ 2: '9000.01', 4: '18000.01' }, undefined, undefined],
    [{ 2: '-4807.0', 4: '' }, undefined, undefined],
    [{ 2: '1e2', 4: '1234567890123456' }, undefined, undefined],
    [{ 2: '0030.0', 4: '00130.0' }, 0.5, 1.5],
  ] as const)
    t.same([read(changes)?.lat, read(changes)?.lon], [lat, lon], JSON.stringify(changes))
  t.match(read({ 6: '', 7: '', 13: '' }), { quality: 0, satellitesUsed: undefined, correctionAge_s: undefined })
  t.equal(read({ 0: 'GPGGA' })?.quality, 4, 'of any talker')
  for (const name of ['GNRMC', 'GGA', 'XGNGGA']) t.equal(read({ 0: name }), undefined, name)
  t.match(decodeGga(encodeNmea(whole.slice(0, 14).join(','))), { quality: 4 }, 'without its last field')
})
