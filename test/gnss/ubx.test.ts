import fc from 'fast-check'
import t from 'tap'
import { firmwareOf } from '../../plugins/receivers/gnss-zed/configure/firmware.js'
import * as ubx from '../../plugins/receivers/gnss-zed/ubx/index.js'
import { bandOf, msmSignalName } from '../../runtime/lib/gnss/index.js'
import { decodeValdel, decodeValgetPoll, decodeValset } from './support/ubx-receiver.js'

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
const hex = (frame: Uint8Array) => Buffer.from(frame).toString('hex')
const payload = (frame: string) => ubx.payloadOf(bytes(frame))
const key = ubx.keyId

t.test('writes the frames that a real receiver takes, byte for byte', async (t) => {
  const fixed: [string, number][] = [
    ['CFG-TMODE-MODE', 2],
    ['CFG-TMODE-POS_TYPE', 0],
    ['CFG-TMODE-ECEF_X', 392540580],
    ['CFG-TMODE-ECEF_Y', 27449111],
    ['CFG-TMODE-ECEF_Z', 500284274],
    ['CFG-TMODE-ECEF_X_HP', 88],
    ['CFG-TMODE-ECEF_Y_HP', 38],
    ['CFG-TMODE-ECEF_Z_HP', 60],
    ['CFG-TMODE-FIXED_POS_ACC', 100],
  ]
  const survey: ubx.ConfigPair[] = [
    [key('CFG-TMODE-MODE'), 1],
    [key('CFG-TMODE-SVIN_MIN_DUR'), 60],
    [key('CFG-TMODE-SVIN_ACC_LIMIT'), 20000],
  ]
  const reset = (navBbrMask: number, resetMode: number) => ubx.encodeFrame(ubx.cfgRst, { navBbrMask, resetMode })
  const table: [what: string, made: Uint8Array, expected: string][] = [
    ['poll MON-VER', ubx.poll(ubx.monVer), 'B562 0A04 0000 0E34'],
    ['poll SEC-UNIQID', ubx.poll(ubx.secUniqId.layout), 'B562 2703 0000 2AA5'],
    ['poll NAV-SVIN', ubx.poll(ubx.navSvin), 'B562 013B 0000 3CB5'],
    ['poll MON-RF', ubx.poll(ubx.monRf), 'B562 0A38 0000 42D0'],
    ['poll MON-COMMS', ubx.poll(ubx.monComms), 'B562 0A36 0000 40CA'],
    ['hot reset of the GNSS part', reset(0, 2), 'B562 0604 0400 0000 0200 1068'],
    ['hot controlled reset', reset(0, 1), 'B562 0604 0400 0000 0100 0F66'],
    ['cold hardware reset', reset(0xffff, 0), 'B562 0604 0400 FFFF 0000 0C5D'],
    ['cold controlled reset', reset(0xffff, 1), 'B562 0604 0400 FFFF 0100 0D5F'],
    ['GNSS stop', reset(0, 8), 'B562 0604 0400 0000 0800 1674'],
    ['time mode off', ubx.valset([[key('CFG-TMODE-MODE'), 0]], 1), 'B562 068A 0900 00010000 01000320 00 BE7F'],
    [
      'survey-in',
      ubx.valset(survey, 1),
      'B562 068A 1900 00010000 01000320 01 10000340 3C000000 11000340 204E0000 209E',
    ],
    [
      '1005 on USB at each epoch',
      ubx.valset([[ubx.messageOutKey(1005, 'USB'), 1]], 1),
      'B562 068A 0900 00010000 C0029120 01 0EED',
    ],
    [
      'a fixed position with its 0.1 mm part',
      ubx.valset(
        fixed.map(([name, value]) => [key(name), value]),
        1,
      ),
      `B562068A3D000001000001000320020200032000030003 40A4B165170400034017D7A2010500034072BBD11D
       0600032058070003202608000320 3C0F00034064000000 5963`.replace(/\s/g, ''),
    ],
    ['asking for one key', ubx.valgetPoll([key('CFG-TMODE-MODE')], 'ram'), 'B562068B0800000000000100 0320 BDBB'],
    ['asking for a group', ubx.valgetPoll([0x0003ffff], 'ram'), 'B562068B080000000000FFFF0300 9A90'],
    ['ACK', ubx.encodeFrame(ubx.ackAck, { clsId: 6, msgId: 0x8a }), 'B562 0501 0200 068A 98C1'],
    ['NAK', ubx.encodeFrame(ubx.ackNak, { clsId: 6, msgId: 0x8a }), 'B562 0500 0200 068A 97BC'],
    [
      'unique id, version 1',
      ubx.ubxFrame(0x27, 0x03, ubx.secUniqId.encode(1, 'ABCDEF0123')),
      'B562 2703 0900 01000000 ABCDEF0123 BF08',
    ],
    [
      'unique id, version 2',
      ubx.ubxFrame(0x27, 0x03, ubx.secUniqId.encode(2, 'ABCDEF012345')),
      'B562 2703 0A00 02000000 ABCDEF012345 0622',
    ],
    [
      'correction input report',
      ubx.encodeFrame(ubx.rxmCor, {
        protocol: 1,
        errStatus: 1,
        msgUsed: 2,
        correctionId: 1234,
        msgTypeValid: true,
        msgType: 1074,
      }),
      'B562 0234 0C00 01000000 21A50902 3204 0000 4A7F',
    ],
  ]
  for (const [what, made, expected] of table) t.equal(hex(made), hex(bytes(expected)), what)

  const block = { jammingState: 1, antStatus: 2, antPower: 1, noisePerMs: 80, agcCnt: 5000, jamInd: 10 }
  const iq = { ofsI: -3, magI: 100, ofsQ: 4, magQ: 110 }
  const rf = ubx.encodeFrame(ubx.monRf, {
    blocks: [
      { blockId: 0, ...block, ...iq },
      { blockId: 1, ...block, ...iq, noisePerMs: 81 },
    ],
  })
  t.equal(
    hex(rf),
    hex(
      bytes(
        'B5620A383400000200000001020100000000000000005000 88130AFD64046E0000000101020100000000000000005100 88130AFD64046E00000012BE',
      ),
    ),
    'MON-RF with two blocks',
  )
})

t.test('reads frames of real receivers', async (t) => {
  const svin = ubx.decode(
    ubx.navSvin,
    payload('b562013b28000000000070837c123c000000b7145af86868c2e38a693518e9f1f200e61a01003d00000001000000fe23'),
  )
  t.match(svin, { iTOW_ms: 310150000, dur_s: 60, x_m: -1283141.8523, y_m: -4737985.5215, z_m: 4061536.0986 })
  t.match(svin, { meanAcc_m: 7.2422, obs: 61, valid: true, active: false })

  const ecef = ubx.decode(
    ubx.navHpPosEcef,
    payload('b56201131c000000000010e6b909eac8d9e535366004e465d8e40b13e00080f50200a182'),
  )
  t.match(ecef, { x_m: -4387120.8589, y_m: 734141.9719, z_m: -4555801.8832, pAcc_m: 19.392, invalidEcef: false })

  const llh = ubx.decode(
    ubx.navHpPosLlh,
    payload('b562011424000000000010e6b9095a41a0650aa5a7e432720000336b0000f20efc00a6350200d6f70100b445'),
  )
  t.match(llh, { lon_deg: 170.500130586, lat_deg: -45.877528586, height_m: 29.2336, hMSL_m: 27.443 })
  t.match(llh, { hAcc_m: 14.4806, vAcc_m: 12.8982 })

  const status = ubx.decode(ubx.navStatus, payload('b5620103100070837c1205dd00086b6e0000108dd203cab7'))
  t.match(status, { gpsFix: 5, gpsFixOk: true, ttff_ms: 28267, msss_ms: 64130320 })

  const pvt = ubx.decode(
    ubx.navPvt,
    payload(
      `b56201075c00f8aa610fe60705181728293716000000ab9200000303ea1e5cf0b0b7f05d441ac9ef10002f4311006401000009020000
       06000000faffffff1700000009000000000000001a00000034285b006c0000006c18423e0000000000000000f7b0`.replace(/\s/g, ''),
    ),
  )
  t.match(pvt, { year: 2022, month: 5, day: 24, hour: 23, min: 40, sec: 41, fixType: 3, diffSoln: true, numSV: 30 })
  t.match(pvt, { lon_deg: -121.31409, lat_deg: 44.0688112, height_m: 1109.961, hMSL_m: 1131.311, carrSoln: 0 })

  t.same(ubx.secUniqId.decode(payload('b5622703090001000000cffb03d2592c88')), { version: 1, id: 'CFFB03D259' })
  const longer = (version: 1 | 2) => Uint8Array.from([...ubx.secUniqId.encode(version, 'ABCDEF012345'), 7, 7])
  t.same(ubx.secUniqId.decode(longer(1)), { version: 1, id: 'ABCDEF0123' })
  t.same(ubx.secUniqId.decode(longer(2)), { version: 2, id: 'ABCDEF012345' })
  t.equal(ubx.secUniqId.decode(ubx.secUniqId.encode(2, 'ABCDEF012345').subarray(0, 9)), undefined)
  t.match(ubx.decode(ubx.rxmRtcm, payload('b562023208000200000000003c047e1a')), {
    version: 2,
    crcFailed: false,
    msgUsed: 0,
    msgType: 1084,
  })
})

t.test('every field that decides something stands where the interface description has it', async (t) => {
  // Assembled by hand from the description of HPG 1.32: another value in every field, and in the bits beside a flag.
  const table: [ubx.Layout, string, object][] = [
    ...(['0f02006b6e0000108dd203923c', '0f02086b6e0000108dd2039a84', '0f02106b6e0000108dd203a2cc'] as const).map(
      (rest, spoofDetState): [ubx.Layout, string, object] => [
        ubx.navStatus,
        `b562010310000070991405${rest}`,
        { iTOW_ms: 345_600_000, gpsFix: 5, gpsFixOk: true, diffSoln: true, spoofDetState, carrSoln: 0 },
      ],
    ),
    [
      ubx.navStatus,
      'b5620103100000709914050f02186b6e0000108dd203aa14',
      { spoofDetState: 3, wknSet: true, towSet: true, ttff_ms: 28_267, msss_ms: 64_130_320 },
    ],
    [ubx.navStatus, 'b5620103100000709914030f03406b6e0000108dd203d16e', { gpsFix: 3, spoofDetState: 0, carrSoln: 1 }],
    [
      ubx.navPvt,
      `b56201075c00e8739914ea070b150304053719000000c01dfeff0583e01b15cd5b07ecf3c5e4c7cfffff31d400000e00000015000000e9030000
       16fcffffeb030000ec0300007f57edfe2d00000042771b000f27090000000000000000000000000098a7`,
      {
        ...{ iTOW_ms: 345_601_000, year: 2026, month: 11, day: 21, hour: 3, min: 4, sec: 5 },
        ...{ validDate: true, validTime: true, fullyResolved: true, tAcc_ns: 25, nano_ns: -123_456 },
        ...{ fixType: 5, gnssFixOK: true, diffSoln: true, carrSoln: 2, numSV: 27 },
        ...{ confirmedAvai: true, confirmedDate: true, confirmedTime: true },
        ...{
          lon_deg: 12.3456789,
          lat_deg: -45.6789012,
          height_m: -12.345,
          hMSL_m: 54.321,
          hAcc_m: 0.014,
          vAcc_m: 0.021,
        },
        ...{ velN_mps: 1.001, velE_mps: -1.002, velD_mps: 1.003, gSpeed_mps: 1.004, headMot_deg: -180.00001 },
        ...{ sAcc_mps: 0.045, headAcc_deg: 18.00002, pDOP: 99.99, invalidLlh: true, lastCorrectionAge: 4 },
      },
    ],
    [
      ubx.navHpPosEcef,
      'b56201131c0000000000e8739914a4b16517e9285dfe72bbd11d58da6301e1100000175d',
      { x_m: 3_925_405.8088, y_m: -274_491.1138, z_m: 5_002_842.7499, invalidEcef: true, pAcc_m: 0.4321 },
    ],
    [
      ubx.navHpPosLlh,
      'b5620114240000000001e873991415cd5b07ecf3c5e4c7cfffff31d40000639e09f8d20400002e160000c3a3',
      {
        ...{ invalidLlh: true, iTOW_ms: 345_601_000, lon_deg: 12.345678999, lat_deg: -45.678901298 },
        ...{ height_m: -12.3441, hMSL_m: 54.3202, hAcc_m: 0.1234, vAcc_m: 0.5678 },
      },
    ],
    [
      ubx.navTimeGps,
      'b56201201000e8739914c01dfeff5909120719000000a74f',
      { fTOW_ns: -123_456, week: 2393, leapS: 18, towValid: true, weekValid: true, leapSValid: true, tAcc_ns: 25 },
    ],
    [
      ubx.navTimeLs,
      'b56201261800e873991400000000021202ff805101006009070000000003a19b',
      {
        ...{ srcOfCurrLs: 2, currLs: 18, srcOfLsChange: 2, lsChange: -1, timeToLsEvent_s: 86_400 },
        ...{ dateOfLsGpsWn: 2400, dateOfLsGpsDn: 7, validCurrLs: true, validTimeToLsEvent: true },
      },
    ],
    [
      ubx.navSvin,
      'b562013b280000000000e87399143d000000b7145af86868c2e389693518e9f15600e61a01003e00000000010000ea7a',
      {
        dur_s: 61,
        x_m: -1_283_141.8523,
        y_m: -4_737_985.5215,
        z_m: 4_061_536.0986,
        obs: 62,
        valid: false,
        active: true,
      },
    ],
    [
      ubx.navSat,
      `b56201352c00007099140103000000072dfb670185ff5f0902000615213d0c002d0012080000031e00a50000000021000000bb96`,
      {
        blocks: [
          {
            ...{
              gnssId: 0,
              svId: 7,
              cno_dbhz: 45,
              elev_deg: -5,
              azim_deg: 359,
              prRes_m: -12.3,
              quality: 7,
              used: true,
            },
            ...{ health: 1, diffCorr: true, orbitSource: 1, ephAvail: true, rtcmCorrUsed: true },
          },
          {
            ...{ gnssId: 6, svId: 21, cno_dbhz: 33, elev_deg: 61, azim_deg: 12, prRes_m: 4.5, quality: 2, used: false },
            ...{ health: 1, diffCorr: false, orbitSource: 0, ephAvail: true, rtcmCorrUsed: false },
          },
          { gnssId: 3, svId: 30, cno_dbhz: 0, elev_deg: -91, quality: 1, health: 2 },
        ],
      },
    ],
    [
      ubx.navSig,
      `b5620143380000709914000300000007000085ff2d070401290000000000000703001b0026050000100000000000061502092d00210401
       02210000000000853a`,
      {
        blocks: [
          {
            ...{ gnssId: 0, svId: 7, sigId: 0, freqId: 0, prRes_m: -12.3, cno_dbhz: 45, quality: 7, corrSource: 4 },
            ...{ prUsed: true, crUsed: false },
          },
          {
            gnssId: 0,
            svId: 7,
            sigId: 3,
            prRes_m: 2.7,
            cno_dbhz: 38,
            quality: 5,
            corrSource: 0,
            prUsed: false,
            crUsed: true,
          },
          {
            gnssId: 6,
            svId: 21,
            sigId: 2,
            freqId: 9,
            prRes_m: 4.5,
            cno_dbhz: 33,
            quality: 4,
            prUsed: false,
            crUsed: false,
          },
        ],
      },
    ],
    [
      ubx.monRf,
      `b5620a383400000200000002020104030201000000005000ff0f0afd64046e00000001030400040302010000000051008813c8fc65056f00
       00005de0`,
      {
        blocks: [
          {
            ...{ blockId: 0, jammingState: 2, antStatus: 2, antPower: 1, postStatus: 0x01020304, noisePerMs: 80 },
            ...{ agcCnt: 4095, jamInd: 10, ofsI: -3, magI: 100, ofsQ: 4, magQ: 110 },
          },
          { blockId: 1, jammingState: 3, antStatus: 4, antPower: 0, agcCnt: 5000, jamInd: 200, ofsI: -4, magQ: 111 },
        ],
      },
    ],
    [
      ubx.monHw,
      `b5620a093c00000000000000000000000000000000005300ff0703020d0000000000000000000000000000000000000000
       00004d000000000000000000000000000007af`,
      { noisePerMs: 83, agcCnt: 2047, antStatus: 3, antPower: 2, jammingState: 3, jamInd: 77 },
    ],
    [
      ubx.monComms,
      `b5620a36580000020200000105ff00010b0040420f00286303007011010005080600000102030405060700000000000000000900000000
       03010002000000030405000600000007080900000102030405060700000000000000000a000000dc2c`,
      {
        nPorts: 2,
        txErrors: 2,
        blocks: [
          {
            ...{
              portId: 0x0100,
              txPending: 11,
              txBytes: 1_000_000,
              txUsage_pct: 40,
              txPeakUsage_pct: 99,
              rxPending: 3,
            },
            ...{ rxBytes: 70_000, rxUsage_pct: 5, rxPeakUsage_pct: 8, overrunErrs: 6, skipped: 9 },
          },
          { portId: 0x0300, rxBytes: 6, skipped: 10 },
        ],
      },
    ],
    [
      ubx.rxmRtcm,
      'b562023208000205 0300d20435045595',
      { version: 2, crcFailed: true, msgUsed: 2, subType: 3, refStation: 1234, msgType: 1077 },
    ],
    [
      ubx.rxmCor,
      'b56202340c0001000000c1a4090635040300f39e',
      {
        protocol: 1,
        errStatus: 2,
        msgUsed: 1,
        correctionId: 1234,
        msgTypeValid: true,
        msgSubTypeValid: true,
        msgSubType: 3,
      },
    ],
  ]
  for (const [layout, frame, values] of table) {
    const given = bytes(frame.replace(/\s/g, ''))
    t.same([given[2], given[3]], [layout.cls, layout.id], layout.name)
    t.match(ubx.decode(layout, ubx.payloadOf(given)), values, layout.name)
  }
})

t.test('names constellations, signals and bands as the interface description numbers them', async (t) => {
  t.same([0, 1, 2, 3, 5, 6, 7].map(ubx.constellationName), [
    ...['gps', 'sbas', 'galileo', 'beidou', 'qzss', 'glonass', 'navic'],
  ])
  t.equal(ubx.constellationName(4), undefined, 'IMES is none')
  const bySigId = {
    gps: { 0: 'L1', 3: 'L2', 4: 'L2', 6: 'L5', 7: 'L5' },
    galileo: { 0: 'E1', 1: 'E1', 3: 'E5a', 4: 'E5a', 5: 'E5b', 6: 'E5b' },
    beidou: { 0: 'B1I', 1: 'B1I', 2: 'B2I', 3: 'B2I', 5: 'B1C', 7: 'B2a' },
    glonass: { 0: 'L1', 2: 'L2' },
    qzss: { 0: 'L1', 1: 'L1S', 4: 'L2', 5: 'L2', 8: 'L5', 9: 'L5' },
  } as const
  for (const [constellation, signals] of Object.entries(bySigId)) {
    for (const [id, name] of Object.entries(signals)) {
      t.equal(ubx.signalName(constellation as keyof typeof bySigId, Number(id)), name, `${constellation} ${id}`)
    }
  }
  t.equal(ubx.signalName('gps', 1), 'signal 1')
  // RTCM 10403.3, tables 3.5-91 ff.: 2 is 1C, 15 is 2S, 22 is 5I of GPS, and so on.
  const byMsm: [Parameters<typeof msmSignalName>[0], number[], (string | undefined)[]][] = [
    [
      'gps',
      [1, 2, 4, 5, 8, 17, 18, 22, 24, 30, 32],
      [undefined, 'L1', 'L1', undefined, 'L2', 'L2', undefined, 'L5', 'L5', 'L1', 'L1'],
    ],
    ['glonass', [2, 3, 4, 8, 9, 10], ['L1', 'L1', undefined, 'L2', 'L2', undefined]],
    ['galileo', [2, 6, 8, 12, 14, 16, 22, 24, 25], ['E1', 'E1', 'E6', 'E6', 'E5b', 'E5b', 'E5a', 'E5a', undefined]],
    ['beidou', [2, 4, 8, 10, 14, 16, 22, 24, 30], ['B1I', 'B1I', 'B3I', 'B3I', 'B2I', 'B2I', 'B2a', 'B2a', 'B1C']],
    ['qzss', [2], [undefined]],
  ]
  for (const [constellation, ids, signals] of byMsm) {
    t.same(
      ids.map((id) => msmSignalName(constellation, id)),
      signals,
      constellation,
    )
  }
  t.same(['L1', 'E1', 'B1I', 'L2', 'E5b', 'B2I', 'L5', 'E5a', 'B2a', 'E6', '?'].map(bandOf), [
    ...['L1', 'L1', 'L1', 'L2', 'L2', 'L2', 'L5', 'L5', 'L5', 'L6', ''],
  ])
})

t.test('the signals that are switched on are those of CFG-SIGNAL', async (t) => {
  const on = [
    0x1031001f, 0x10310001, 0x10310003, 0x10310025, 0x10310018, 0x10310021, 0x10310007, 0x1031000a, 0x1031000d,
  ]
  const values = new Map<number, number>([
    ...on.map((key): [number, number] => [key, 1]),
    [0x10310022, 0],
    [0x1031001a, 0],
  ])
  t.same(
    [...ubx.expectedSignals(values)],
    [
      ['gps', ['L1', 'L2']],
      ['glonass', ['L1']],
      ['galileo', ['E1', 'E5b']],
    ],
  )
})

t.test('each signal is switched by its key, where its constellation is switched on', async (t) => {
  // CFG-SIGNAL of the u-blox F9 HPG 1.32 and X20 HPG 2.00 interface descriptions.
  const keys = {
    gps: [0x1031001f, { L1: 0x10310001, L2: 0x10310003, L5: 0x10310004 }],
    glonass: [0x10310025, { L1: 0x10310018, L2: 0x1031001a }],
    galileo: [0x10310021, { E1: 0x10310007, E5b: 0x1031000a, E5a: 0x10310009, E6: 0x1031000b }],
    beidou: [0x10310022, { B1I: 0x1031000d, B1C: 0x1031000f, B2I: 0x1031000e, B3I: 0x10310010, B2a: 0x10310028 }],
  } as const
  for (const [constellation, [enable, signals]] of Object.entries(keys)) {
    for (const [signal, key] of Object.entries(signals)) {
      const on = (value: number | bigint) =>
        ubx.expectedSignals(
          new Map<number, number | bigint>([
            [enable, 1],
            [key, value],
          ]),
        )
      t.same([...on(1)], [[constellation, [signal]]])
      t.same([...on(1n)], [[constellation, [signal]]])
      t.same([...on(0)], [[constellation, []]])
      t.same([...ubx.expectedSignals(new Map([[key, 1]]))], [], 'its constellation is off')
    }
  }
})

t.test('what is deleted, and which firmware has a second solution, by the description', async (t) => {
  t.equal(hex(ubx.valdel([0x0fffffff], 6)), 'b562068c080000060000ffffff0faccc')
  t.match(decodeValdel(payload('b562068c080001060100ffffff0f0000')), {
    layers: 6,
    keys: [0x0fffffff],
  })
  t.match(decodeValset(payload('b562068a0900010103000100032002 0000')), {
    version: 1,
    layers: 1,
    transaction: 3,
    pairs: [[0x20030001, 2]],
  })
  for (const [protocol, nav2] of [
    ['27.30', true],
    ['27.29', false],
    ['50.11', true],
    ['', false],
  ] as const) {
    t.equal(firmwareOf({ firmware: 'HPG 1.30', protocol }).nav2, nav2, protocol)
  }
  t.equal(firmwareOf({ firmware: 'HPG 2.00', protocol: '50.00' }).nav2, false, 'an X20P')
  for (const [firmware, protocol, takenFor, report] of [
    ['HPG 1.13', '27.12', '', 'RXM-RTCM'],
    ['HPG 1.51', '27.50', '', 'RXM-RTCM'],
    ['TIM 2.20', '29.20', '', 'RXM-RTCM'],
    ['HPG 2.02', '50.10', '', 'RXM-COR'],
    ['HPG 3.00', '51.00', 'ZED-X20P HPG 2.00', 'RXM-COR'],
    ['SPG 4.04', '32.01', 'ZED-F9T TIM 2.20', 'RXM-RTCM'],
    ['', '', 'ZED-F9P HPG 1.13', 'RXM-RTCM'],
  ] as const)
    t.match(firmwareOf({ firmware, protocol }), { takenFor, correctionReport: report }, firmware)
  const glonass = (...constellations: string[]) =>
    firmwareOf({ firmware: 'HPG 1.32', protocol: '27.31', constellations }).glonass
  t.strictSame([glonass(), glonass('GPS', 'GLO'), glonass('GPS', 'GAL')], [true, true, false], 'as it lists them')
})

t.test('a list of blocks that the message does not hold is no message', async (t) => {
  const sat = payload(
    'b56201352c00007099140103000000072dfb670185ff5f0902000615213d0c002d0012080000031e00a50000000021000000bb96',
  )
  t.equal(ubx.decode(ubx.navSat, sat.subarray(0, sat.length - 1)), undefined)
  t.equal(
    ubx.decode(ubx.navSat, Uint8Array.from([...sat, 0]))?.blocks.length,
    3,
    'more than it knows is read as far as known',
  )
  const rf = new Uint8Array(4 + 2 * 19)
  rf[1] = 2
  t.equal(ubx.decode(ubx.monRf, rf), undefined, 'blocks too small to hold their fields')
  t.equal(ubx.decode(ubx.navPvt, new Uint8Array(84))?.lastCorrectionAge, 0, 'protocol 14 ends before some fields')
})

t.test('reads the identity of old, current and X20P firmware', async (t) => {
  const ver = (extensions: string[]) =>
    ubx.encode(ubx.monVer, {
      swVersion: 'EXT CORE 1.00 (f17067)',
      hwVersion: '00190000',
      blocks: extensions.map((extension) => ({ extension })),
    })
  t.same(ubx.decodeIdentity(ver(['ROM BASE 0x118B2060', 'FWVER=HPG 1.50', 'PROTVER=27.50', 'MOD=ZED-F9P'])), {
    module: 'ZED-F9P',
    firmware: 'HPG 1.50',
    protocol: '27.50',
    hardware: '00190000',
    software: 'EXT CORE 1.00 (f17067)',
    constellations: [],
  })
  const x20p = [
    'ROM BASE 0x00A9D329',
    'FWVER=HPG 2.02',
    'PROTVER=50.10',
    'MOD=ZED-X20P',
    'GPS;GAL;BDS',
    'SBAS;QZSS',
    'NAVIC',
  ]
  const recorded = ubx.decodeIdentity(ver(x20p))
  t.match(
    recorded,
    { module: 'ZED-X20P', constellations: ['GPS', 'GAL', 'BDS', 'SBAS', 'QZSS', 'NAVIC'] },
    'as recorded',
  )
  t.match(firmwareOf(recorded), { glonass: false, private4072: false, correctionReport: 'RXM-COR', takenFor: '' })
  t.match(ubx.decodeIdentity(ver(['PROTVER 14.00'])), { module: '', firmware: '', protocol: '14.00' })
  t.match(ubx.decodeIdentity(ver(['FWVER=HPG 2.02', 'PROTVER=50.11'])), { module: 'ZED-X20P' })
  t.match(ubx.decodeIdentity(ver(['FWVER=HPG 2.00', 'PROTVER=50.00'])), { module: 'ZED-X20P' })
  t.match(ubx.decodeIdentity(ver(['FWVER=HPG 2.00', 'PROTVER=49.99'])), { module: '' })
})

t.test('derives the size of MON-RF blocks from the length of the message', async (t) => {
  const short = new Uint8Array(4 + 2 * 20)
  short[1] = 2
  short[4 + 20 + 2] = 4
  const rf = ubx.decode(ubx.monRf, short)
  t.equal(rf?.blocks.length, 2)
  t.equal(rf?.blocks[1]?.antStatus, 4)
})

const layouts: ubx.Layout[] = [
  ubx.navStatus,
  ubx.navPvt,
  ubx.navHpPosEcef,
  ubx.navHpPosLlh,
  ubx.navTimeGps,
  ubx.navTimeLs,
  ubx.navSat,
  ubx.navSig,
  ubx.navSvin,
  ubx.navEoe,
  ubx.monVer,
  ubx.monHw,
  ubx.monComms,
  ubx.monRf,
  ubx.rxmRtcm,
  ubx.rxmCor,
  ubx.ackAck,
  ubx.ackNak,
  ubx.cfgRst,
]

t.test('decodes any payload without throwing', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (random) => {
      for (const layout of layouts) ubx.decode(layout, random)
      ubx.decodeIdentity(random)
      ubx.secUniqId.decode(random)
      ubx.decodeInf(1, random)
      decodeValset(random)
      ubx.decodeValget(random)
      decodeValgetPoll(random)
      decodeValdel(random)
    }),
  )
  for (const layout of layouts) {
    t.equal(ubx.decode(layout, new Uint8Array((layout.minLength ?? layout.length) - 1)), undefined, layout.name)
  }
})

t.test('reads back what it wrote', async () => {
  for (const layout of layouts) {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: layout.length, maxLength: layout.length + 120 }), (random) => {
        const values = ubx.decode(layout, random)
        if (!values) return
        const again = ubx.decode(layout, ubx.encode(layout, values))
        if (JSON.stringify(again) !== JSON.stringify(values)) throw new Error(layout.name)
      }),
      { numRuns: 50 },
    )
  }
})

t.test('keeps 0.1 mm of a position through the coarse and the fine part', async () => {
  fc.assert(
    fc.property(fc.integer({ min: -70_000_000_000, max: 70_000_000_000 }), (tenthMm) => {
      const { coarse, fine } = ubx.splitHighPrecision(tenthMm, 100)
      if (coarse * 100 + fine !== tenthMm || Math.abs(fine) > 99 || coarse * fine < 0) throw new Error('split')
      const x_m = tenthMm / 1e4
      const back = ubx.decode(ubx.navHpPosEcef, ubx.encode(ubx.navHpPosEcef, { x_m }))
      if (back?.x_m !== x_m) throw new Error('round trip')
    }),
  )
})

t.test('configuration values keep their width and sign', async (t) => {
  const pairs: ubx.ConfigPair[] = [
    [key('CFG-TMODE-ECEF_X'), -438712086],
    [key('CFG-TMODE-ECEF_X_HP'), -99],
    [key('CFG-UART1-BAUDRATE'), 4_000_000_000],
    [key('CFG-RTCM-DF003_OUT'), 4095],
    [0x50990001, 0xffff_ffff_ffff_fff0n],
  ]
  t.same(decodeValset(ubx.payloadOf(ubx.valset(pairs, 1)))?.pairs, pairs)
  t.throws(() => ubx.valset(Array(65).fill(pairs[0]), 1), RangeError)
  t.equal(ubx.decodePairs(Uint8Array.of(1, 0, 3, 0x20), 0), undefined, 'a key without its value')
})

t.test('every key is named once, and wildcards name groups', async (t) => {
  t.equal(new Set(ubx.configKeys.map(({ id }) => id)).size, ubx.configKeys.length)
  t.equal(new Set(ubx.configKeys.map(({ name }) => name)).size, ubx.configKeys.length)
  t.equal(ubx.messageOutKey('NAV-PVT', 'USB'), 0x20910009)
  t.equal(ubx.messageOutKey(1230, 'UART2'), 0x20910305)
  t.equal(key('CFG-MSGOUT-RTCM_3X_TYPE1074_USB'), 0x20910361)
  t.equal(key('CFG-MSGOUT-UBX_NAV2_PVT_USB'), 0x20910493)
  t.equal(key('CFG-MSGOUT-UBX_MON_HW_I2C'), 0x209101b4)
  t.equal(ubx.infKey('USB'), 0x20920004)
  t.equal(ubx.keyName(ubx.infKey('SPI')), 'CFG-INFMSG-UBX_SPI')
  t.equal(ubx.keyName(0x20919999), '0x20919999', 'one that is not in the table')
  t.ok(ubx.matchesKey(0x0003ffff, key('CFG-TMODE-ECEF_X')))
  t.notOk(ubx.matchesKey(0x0003ffff, key('CFG-RTCM-DF003_OUT')))
  t.ok(ubx.matchesKey(0x0fffffff, key('CFG-RTCM-DF003_OUT')))
  t.throws(() => ubx.keyId('CFG-NO-SUCH'), RangeError)
})
