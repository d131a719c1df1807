/** Two descriptions of one wire, written apart: that of the driver and that of the simulated receiver. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import {
  readDelete,
  readGet,
  readReset,
  readSet,
  writeValues,
} from '../../../plugins/simulated/simulated-receiver/ubx/config.js'
import { keys, outputKey, ports } from '../../../plugins/simulated/simulated-receiver/ubx/keys.js'
import {
  type MessageName,
  messages,
  monVer,
  monVerPayload,
  secUniqId,
  uniqIdPayload,
} from '../../../plugins/simulated/simulated-receiver/ubx/messages.js'
import {
  type Field,
  frameOf,
  type Message,
  parts,
  write,
} from '../../../plugins/simulated/simulated-receiver/ubx/wire.js'
import { Framer } from '../../../runtime/lib/gnss/index.js'
import { capture, noCaptures } from '../../harness/captures.js'

/** Message → the driver's layout, and the driver's names where they are others; in pairs that the driver reads as one value. */
const layouts: Readonly<Record<Exclude<MessageName, 'NAV2-PVT'>, ubx.Layout>> & Record<string, ubx.Layout> = {
  'NAV-STATUS': ubx.navStatus,
  'NAV-PVT': ubx.navPvt,
  'NAV2-PVT': ubx.nav2Pvt,
  'NAV-HPPOSECEF': ubx.navHpPosEcef,
  'NAV-HPPOSLLH': ubx.navHpPosLlh,
  'NAV-TIMEGPS': ubx.navTimeGps,
  'NAV-TIMELS': ubx.navTimeLs,
  'NAV-SAT': ubx.navSat,
  'NAV-SVIN': ubx.navSvin,
  'NAV-SIG': ubx.navSig,
  'NAV-EOE': ubx.navEoe,
  'RXM-RTCM': ubx.rxmRtcm,
  'RXM-COR': ubx.rxmCor,
  'ACK-NAK': ubx.ackNak,
  'ACK-ACK': ubx.ackAck,
  'MON-HW': ubx.monHw,
  'MON-COMMS': ubx.monComms,
  'MON-RF': ubx.monRf,
}
/** The driver's name of a field, where it is not that of the interface description with a unit. */
const renamed: Readonly<Record<string, string>> = {
  qualityInd: 'quality',
  svUsed: 'used',
  clsID: 'clsId',
  msgID: 'msgId',
  noisePerMS: 'noisePerMs',
  aStatus: 'antStatus',
  aPower: 'antPower',
}
const pairs: Readonly<Record<string, readonly [rest: string, name: string, steps: number, ratio: number]>> = {
  ecefX: ['ecefXHp', 'x_m', 1e4, 100],
  ecefY: ['ecefYHp', 'y_m', 1e4, 100],
  ecefZ: ['ecefZHp', 'z_m', 1e4, 100],
  meanX: ['meanXHP', 'x_m', 1e4, 100],
  meanY: ['meanYHP', 'y_m', 1e4, 100],
  meanZ: ['meanZHP', 'z_m', 1e4, 100],
}
const angles: typeof pairs = {
  lon: ['lonHp', 'lon_deg', 1e9, 100],
  lat: ['latHp', 'lat_deg', 1e9, 100],
  height: ['heightHp', 'height_m', 1e4, 10],
  hMSL: ['hMSLHp', 'hMSL_m', 1e4, 10],
}

const nameIn = (decoded: Record<string, unknown>, field: string): string | undefined =>
  [renamed[field] ?? field].flatMap((name) =>
    Object.keys(decoded).filter((one) => one === name || one.replace(/_(ms|ns|m|s|deg|dbhz|mps|db)$/, '') === name),
  )[0]

/** A value that a field can hold; of a bit field, one bit; of a byte that says yes or no, that. */
function anyValue([name, , type, scale = 1]: Field) {
  if (type[0] === 'X' || name === 'valid' || name === 'active') return fc.integer({ min: 0, max: 1 })
  const bits = 8 * Number(type[1])
  const [min, max] = type[0] === 'I' ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1]
  return fc.integer({ min, max }).map((steps) => steps / scale)
}
const valuesOf = (fields: readonly Field[]) =>
  fc.record(Object.fromEntries(fields.map((field) => [field[0], anyValue(field)])))

const read = (frame: Uint8Array) => {
  const found: { cls: number; id: number; payload: Uint8Array }[] = []
  const framer = new Framer({
    onFrame: (one) => {
      if (one.kind === 'ubx') found.push({ cls: one.cls, id: one.id, payload: ubx.payloadOf(one.bytes) })
    },
  })
  framer.push(frame, 0)
  return found[0]
}

function compare(t: Test, fields: readonly Field[], given: Record<string, number>, decoded: Record<string, unknown>) {
  const hp = fields.some(([name]) => name === 'lonHp') ? angles : pairs
  const rests = new Set(Object.values(hp).map(([rest]) => rest))
  for (const [field] of fields) {
    if (rests.has(field)) continue
    const pair = hp[field]
    if (pair) {
      const [rest, name, steps, ratio] = pair
      t.equal(decoded[name], ((given[field] ?? 0) * ratio + (given[rest] ?? 0)) / steps, field)
      continue
    }
    const name = nameIn(decoded, field)
    if (name === undefined) t.fail(`the driver does not read ${field}`)
    else t.equal(Number(decoded[name]), given[field], field)
  }
}

for (const [name, message] of Object.entries(messages) as [MessageName, Message][]) {
  t.test(`the driver reads ${name} as it was meant`, async (t) => {
    const layout = layouts[name]
    t.match(layout, { cls: message.is[0], id: message.is[1], length: message.size })
    const blocks = message.blocks ? fc.array(valuesOf(message.blocks.fields), { maxLength: 4 }) : fc.constant([])
    fc.assert(
      fc.property(valuesOf(message.fields), blocks, (values, given) => {
        const frame = read(write(message, values, given))
        t.match(frame, { cls: message.is[0], id: message.is[1] })
        const decoded = ubx.decode(layout, frame?.payload ?? new Uint8Array()) as Record<string, unknown>
        compare(t, message.fields, values, decoded)
        if (!message.blocks) return
        const read_ = decoded.blocks as Record<string, unknown>[]
        t.equal(read_.length, given.length)
        for (const [i, block] of given.entries()) compare(t, message.blocks.fields, block, read_[i] ?? {})
      }),
      { numRuns: 30 },
    )
  })
}

t.test('who it is', async (t) => {
  const payload = monVerPayload('EXT CORE 1.00', '00190000', ['FWVER=HPG 1.32', 'PROTVER=27.31', 'MOD=ZED-F9P'])
  t.match(ubx.decodeIdentity(read(frameOf(monVer, payload))?.payload ?? payload), {
    ...{ module: 'ZED-F9P', firmware: 'HPG 1.32', protocol: '27.31', hardware: '00190000', software: 'EXT CORE 1.00' },
  })
  t.same(ubx.secUniqId.decode(uniqIdPayload('ABCDEF0123')), { version: 1, id: 'ABCDEF0123' })
  t.equal(
    Buffer.from(frameOf(secUniqId, uniqIdPayload('ABCDEF0123'))).toString('hex'),
    'b562270309000100 0000abcdef0123bf08'.replace(' ', ''),
  )
})

t.test('the keys have the same ids, and none is missing on either side', async (t) => {
  const driver = ubx.configKeys.map(({ name, id, signed }) => ({ name, id, signed }))
  t.same(
    keys.map(({ name, id, isSigned }) => ({ name, id, signed: isSigned })),
    driver,
  )
  for (const port of ports) {
    t.equal(outputKey(1005, port), ubx.messageOutKey(1005, port))
    t.equal(outputKey('NAV-PVT', port), ubx.messageOutKey('NAV-PVT', port))
    t.equal(outputKey('GGA', port), ubx.messageOutKey('GGA', port))
  }
})

t.test('configuration is asked, answered and written alike', async (t) => {
  const pair = fc.constantFrom(...keys).chain(({ id, isSigned }) => {
    const bits = 8 * (ubx.valueSize(id) ?? 1)
    const range = isSigned ? { min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 } : { min: 0, max: 2 ** bits - 1 }
    return fc.integer(range).map((value): [number, number] => [id, value])
  })
  const body = (frame: Uint8Array) => read(frame)?.payload ?? new Uint8Array()
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 64 }), fc.integer({ min: 0, max: 5000 }), (pairs, position) => {
      t.same(readSet(body(ubx.valset(pairs, 5))), { layers: 5, transaction: 0, pairs })
      t.same(readSet(body(ubx.valset(pairs, 1, 3)))?.transaction, 3)
      const ids = pairs.map(([id]) => id)
      t.same(readGet(body(ubx.valgetPoll(ids, 'default', position))), { layer: 7, position, keys: ids })
      t.same(readDelete(body(ubx.valdel(ids, 6))), { layers: 6, keys: ids })
      const answer = ubx.decodeValget(body(writeValues(pairs, 2, position)))
      t.same(answer, { layer: 2, position, values: new Map(pairs) })
    }),
    { numRuns: 50 },
  )
  for (const [mask, mode, isCold] of [
    [0, 1, false],
    [0xffff, 0, true],
    [1, 8, true],
  ] as const)
    t.same(readReset(ubx.encode(ubx.cfgRst, { navBbrMask: mask, resetMode: mode })), { mode, isCold })
})

t.test('frames of real receivers are written as they were', async (t) => {
  const [x, xHp] = parts(-1_283_141.8523, 1e4, 100)
  const [y, yHp] = parts(-4_737_985.5215, 1e4, 100)
  const [z, zHp] = parts(4_061_536.0986, 1e4, 100)
  const means = { meanX: x, meanXHP: xHp, meanY: y, meanYHP: yHp, meanZ: z, meanZHP: zHp }
  const survey = write(messages['NAV-SVIN'], {
    iTOW: 310_150_000,
    dur: 60,
    ...means,
    meanAcc: 7.2422,
    obs: 61,
    valid: 1,
  })
  t.equal(
    Buffer.from(survey).toString('hex'),
    'b562013b28000000000070837c123c000000b7145af86868c2e38a693518e9f1f200e61a01003d00000001000000fe23',
  )
  const rtcm = write(messages['RXM-RTCM'], { version: 2, msgUsed: 0, refStation: 0, msgType: 1084 })
  t.equal(Buffer.from(rtcm).toString('hex'), 'b562023208000200000000003c047e1a')
})

t.test('what a ZED-F9P sent says the same to both tables', { skip: noCaptures }, async (t) => {
  const seen = new Map<string, number>()
  const framer = new Framer({
    onFrame: (frame) => {
      if (frame.kind !== 'ubx') return
      const name = (Object.keys(messages) as MessageName[]).find(
        (one) => messages[one].is[0] === frame.cls && messages[one].is[1] === frame.id,
      )
      if (!name || (seen.get(name) ?? 0) >= 5) return
      const payload = ubx.payloadOf(frame.bytes)
      const message: Message = messages[name]
      const decoded = ubx.decode(layouts[name], payload) as Record<string, unknown> | undefined
      if (!decoded) return
      seen.set(name, (seen.get(name) ?? 0) + 1)
      // Written again with what the driver read, each field has the bytes of the receiver.
      for (const [i, field] of message.fields.entries()) {
        // Two parts that the driver reads as one number.
        if (field[0] in angles && name === 'NAV-HPPOSLLH') continue
        const key = nameIn(decoded, field[0])
        if (key === undefined || typeof decoded[key] !== 'number' || field[2][0] === 'X' || field[1] >= payload.length)
          continue
        const own = write({ ...message, fields: [message.fields[i] as Field] }, { [field[0]]: decoded[key] as number })
        const size = Number(field[2][1])
        t.same(
          [...own.subarray(6 + field[1], 6 + field[1] + size)],
          [...payload.subarray(field[1], field[1] + size)],
          `${name}.${field[0]}`,
        )
      }
    },
  })
  for (const file of ['hazer_simplertk2b_base.dat', 'gpsd_ublox-zed-f9p-hp.log', 'gpsd_ublox8-uniqid-monhw.log'])
    framer.push(capture(file) ?? new Uint8Array(), 0)
  for (const name of ['NAV-PVT', 'NAV-SVIN', 'NAV-HPPOSECEF', 'NAV-HPPOSLLH', 'NAV-STATUS', 'MON-HW'])
    t.ok(seen.get(name), name)
})
