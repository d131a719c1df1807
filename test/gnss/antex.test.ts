/** Antenna calibrations: a file written here by the columns of ANTEX 1.4, in pieces, damaged, and as large as that of the IGS. */
import fc from 'fast-check'
import t from 'tap'
import { antennaCode } from '../../runtime/lib/gnss/index.js'
import { type AntennaCalibration, findAntenna, readAntex } from '../../runtime/lib/rinex/antex.js'
import { type Antenna, block, bytesOf, choke, header, line } from './support/antex-writer.js'

const antennas: readonly Antenna[] = [
  { model: 'BLOCK IIA', radome: '    ', serial: 'G01', method: '', centres: [['G01', 279, 0, 2319.5]] },
  choke,
  { ...choke, radome: 'TZGD', centres: [['G01', 9, 9, 9]] },
  { ...choke, serial: '1440911917', centres: [['G01', 5, 6, 7]] },
]
const file = bytesOf([...header(), ...antennas.flatMap(block)])
const inPieces = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, at * size + size))
async function all(source: Iterable<Uint8Array>): Promise<AntennaCalibration[]> {
  const found: AntennaCalibration[] = []
  for await (const antenna of readAntex(source)) found.push(antenna)
  return found
}

t.test('the phase centres of a type, by frequency', async (t) => {
  const found = await findAntenna([file], 'TRM57971.00     NONE')
  t.match(found, { type: 'TRM57971.00     NONE', serial: '', method: 'ROBOT', isAbsolute: true })
  t.strictSame(
    [...(found?.centres ?? [])],
    choke.centres.map(([frequency, north_mm, east_mm, up_mm]) => [frequency, { north_mm, east_mm, up_mm }]),
  )
})

t.test('which calibration counts', async (t) => {
  const up = async (code: string, serial?: string) =>
    (await findAntenna([file], code, serial))?.centres.get('G01')?.up_mm
  t.equal(await up('TRM57971.00'), 66.73, 'no radome is NONE')
  t.equal(await up(' trm57971.00 none '), 66.73)
  t.equal(await up('TRM57971.00     TZGD'), 9)
  t.equal(await up('TRM57971.00     SCIT'), undefined, 'another radome is another antenna')
  t.equal(await up('TRM57971.00     NONE', '1440911917'), 7, 'its own')
  t.equal(await up('TRM57971.00     NONE', '1440911918'), 66.73, 'that of the type, if it has none of its own')
  t.equal(await up('TRM57971.00     TZGD', '1440911917'), 9)
  t.equal(await up('TRM59800.00     NONE'), undefined)
  const long = bytesOf([...header(), ...block({ ...choke, model: 'SEPCHOKE_B3E6_XY', radome: 'SPKE' })])
  t.equal((await findAntenna([long], 'SEPCHOKE_B3E6_XYSPKE'))?.centres.size, 4, 'a model of 16 characters')
  t.equal((await findAntenna([long], 'SEPCHOKE_B3E6_XY SPKE'))?.centres.size, 4)
  t.equal(await findAntenna([long], 'SEPCHOKE_B3E6_XY'), undefined)
  t.equal(await up(''), undefined)
  const relative = await findAntenna([bytesOf([...header('R'), ...block(choke)])], 'TRM57971.00')
  t.equal(relative?.isAbsolute, false)
})

t.test('an antenna as a person types it', (t) => {
  for (const [typed, code] of [
    ['TRM57971.00', 'TRM57971.00     NONE'],
    [' TRM57971.00   TZGD ', 'TRM57971.00     TZGD'],
    ['SEPCHOKE_B3E6_XYSPKE', 'SEPCHOKE_B3E6_XYSPKE'],
    ['', ''],
    ['   ', ''],
    ['A_MODEL_OF_MORE_CHARACTERS NONE', ''],
    ['TRM57971.00 RADOME', ''],
  ] as const)
    t.equal(antennaCode(typed), code, typed)
  t.end()
})

t.test('what a file is, after its last antenna', async (t) => {
  const summaryOf = async (bytes: Uint8Array) => {
    const reader = readAntex([bytes])
    for (;;) {
      const next = await reader.next()
      if (next.done) return next.value
    }
  }
  t.strictSame(await summaryOf(file), { isAntex: true, isComplete: true, leftOut: 0 })
  for (const cut of [5, 30, 90, 2_000])
    t.equal((await summaryOf(file.subarray(0, file.length - cut))).isComplete, false, `${cut} bytes are missing`)
  t.match(await summaryOf(bytesOf(['RINEX', ...block(choke)])), { isAntex: false })
  t.match(await summaryOf(Buffer.alloc(0)), { isAntex: false, isComplete: false })
  t.match(await summaryOf(bytesOf([...header(), ...block(choke).slice(0, -1), ...block(choke)])), { leftOut: 1 })
  t.strictSame(
    (await all([file])).map(({ isSatellite }) => isSatellite),
    [true, false, false, false],
  )
})

t.test('in pieces of any size, and with any ends of lines', async (t) => {
  const whole = await all([file])
  t.equal(whole.length, 4)
  for (const size of [1, 7, 81, 4096]) t.strictSame(await all(inPieces(file, size)), whole, `${size}`)
  for (const end of ['\r\n', '\r']) {
    const other = bytesOf([...header(), ...antennas.flatMap(block)], end)
    for (const size of [1, 100]) t.strictSame(await all(inPieces(other, size)), whole, `${JSON.stringify(end)} ${size}`)
  }
})

t.test('lines without a label cost no turn of the event loop each', async (t) => {
  let isOver = false
  let turns = 0
  const count = () => {
    turns++
    if (!isOver) queueMicrotask(count)
  }
  count()
  const found = await all([bytesOf(header()), Buffer.alloc(100_000, '\n'), bytesOf(block(choke))])
  isOver = true
  t.equal(found.length, 1)
  t.ok(turns < 10_000, `${turns} turns`)
})

t.test('an antenna that contradicts the format is left out, and the others are read', async (t) => {
  const good = block(choke)
  const without = (label: string) => good.filter((text) => text.slice(60) !== label)
  const changed = (label: string, content: string) =>
    good.map((text) => (text.slice(60) === label ? line(content, label) : text))
  for (const [name, lines] of [
    ['no type', without('TYPE / SERIAL NO')],
    ['no offsets', without('NORTH / EAST / UP')],
    ['no end of a frequency', without('END OF FREQUENCY')],
    ['no beginning of a frequency', without('START OF FREQUENCY')],
    ['another end of a frequency', changed('END OF FREQUENCY', '   G09')],
    ['a frequency twice', [...good.slice(0, 12), ...good.slice(7)]],
    ['an unknown system', changed('START OF FREQUENCY', '   X01')],
    ['no number', changed('NORTH / EAST / UP', '      1.00      abc      3.00')],
    ['an empty number', changed('NORTH / EAST / UP', '      1.00                3.00')],
    ['infinite', changed('NORTH / EAST / UP', '      1.00  Infinity      3.00')],
    ['an exponent', changed('NORTH / EAST / UP', '      1.00     1e300      3.00')],
    ['ten metres', changed('NORTH / EAST / UP', '      1.00  10000.00      3.00')],
    ['no beginning', good.slice(1)],
    ['no end', good.slice(0, -1)],
  ] as const) {
    const other = block({ ...choke, model: 'LEIAR25.R4' })
    const found = await all([bytesOf([...header(), ...lines, ...other])])
    t.strictSame(
      found.map(({ type }) => type),
      ['LEIAR25.R4      NONE'],
      name,
    )
  }
  t.strictSame(await all([bytesOf([...header(), ...good]).subarray(0, -30)]), [], 'cut off')
  t.strictSame(await all([]), [])
})

t.test('any bytes give antennas or none', async (t) => {
  const lines = [...header(), ...block(choke)]
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.constantFrom(...lines, line('', '__proto__'), line('', 'constructor')),
          fc.string({ maxLength: 90 }),
        ),
        { maxLength: 60 },
      ),
      fc.integer({ min: 1, max: 200 }),
      async (given, size) => {
        for (const { centres, type } of await all(inPieces(bytesOf(given), size))) {
          if (type === '' || centres.size === 0) throw new Error('an empty antenna')
        }
      },
    ),
    { numRuns: 500 },
  )
  t.pass()
})

t.test('a line without an end, and a file of 30 MB, need little memory', async (t) => {
  const endless = Buffer.alloc(1 << 20, 0x61)
  function* source() {
    yield bytesOf(header())
    for (let i = 0; i < 400; i++) yield endless
    yield bytesOf(['', ...block(choke)])
  }
  const before = process.memoryUsage().heapUsed
  t.equal((await findAntenna(source(), 'TRM57971.00'))?.centres.size, 4)
  t.ok(process.memoryUsage().heapUsed - before < 200e6)

  const many = Array.from({ length: 10 }, (_, at) => bytesOf(block({ ...choke, model: `OTHER${at}` })))
  function* large() {
    yield bytesOf(header())
    for (let bytes = 0, at = 0; bytes < 30e6; at++) {
      const part = many[at % many.length] ?? Buffer.alloc(0)
      bytes += part.length
      yield part
    }
    yield bytesOf(block(choke))
  }
  t.equal((await findAntenna(large(), 'TRM57971.00'))?.centres.get('G01')?.up_mm, 66.73)
})
