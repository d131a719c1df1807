/** Antenna calibrations: a file written here by the columns of ANTEX 1.4, in pieces, damaged, and as large as that of the IGS. */
import fc from 'fast-check'
import t from 'tap'
import { type AntennaCalibration, findAntenna, readAntex } from '../../runtime/rinex/index.js'

const line = (content: string, label: string) => `${content.padEnd(60)}${label.padEnd(20)}`.trimEnd()
const header = (kind = 'A') => [
  line('     1.4            M', 'ANTEX VERSION / SYST'),
  line(kind.padEnd(20), 'PCV TYPE / REFANT'),
  line('NORTH / EAST / UP  G01', 'COMMENT'),
  line('', 'END OF HEADER'),
]

type Centre = readonly [frequency: string, north: number, east: number, up: number]
interface Antenna {
  readonly model: string
  readonly radome?: string
  readonly serial?: string
  readonly centres: readonly Centre[]
}

/** F10.2 */
const f10 = (value: number) => value.toFixed(2).padStart(10)
const numbersOf = ([, north, east, up]: Centre) => [north, east, up].map(f10).join('')

function block({ centres, model, radome = 'NONE', serial = '' }: Antenna): string[] {
  return [
    line('', 'START OF ANTENNA'),
    line(`${model.padEnd(16)}${radome}${serial.padEnd(20)}`, 'TYPE / SERIAL NO'),
    line(`${'ROBOT'.padEnd(20)}${'Geo++ GmbH'.padEnd(20)}${'5'.padStart(6)}    02-OCT-23`, 'METH / BY / # / DATE'),
    line('     5.0', 'DAZI'),
    line('     0.0  90.0   5.0', 'ZEN1 / ZEN2 / DZEN'),
    line(String(centres.length).padStart(6), '# OF FREQUENCIES'),
    line('IGS20_2283', 'SINEX CODE'),
    ...centres.flatMap((centre) => [
      line(`   ${centre[0]}`, 'START OF FREQUENCY'),
      line(numbersOf(centre), 'NORTH / EAST / UP'),
      `   NOAZI${Array.from({ length: 19 }, (_, at) => (-at / 3).toFixed(2).padStart(8)).join('')}`,
      ...Array.from({ length: 3 }, (_, azimuth) => `${(azimuth * 5).toFixed(1).padStart(8)}${'   -0.12'.repeat(19)}`),
      line(`   ${centre[0]}`, 'END OF FREQUENCY'),
    ]),
    ...centres.flatMap((centre) => [
      line(`   ${centre[0]}`, 'START OF FREQ RMS'),
      line(numbersOf(['', 0.1, 0.2, 0.3]), 'NORTH / EAST / UP'),
      line(`   ${centre[0]}`, 'END OF FREQ RMS'),
    ]),
    line('', 'END OF ANTENNA'),
  ]
}

const choke: Antenna = {
  model: 'TRM57971.00',
  centres: [
    ['G01', 1.33, -0.24, 66.73],
    ['G02', -0.3, 0.44, 57.35],
    ['R01', 0.95, 0.1, 66.2],
    ['E05', -1234.56, 0, 0.01],
  ],
}
const antennas: readonly Antenna[] = [
  { model: 'BLOCK IIA', radome: '    ', serial: 'G01', centres: [['G01', 279, 0, 2319.5]] },
  choke,
  { ...choke, radome: 'TZGD', centres: [['G01', 9, 9, 9]] },
  { ...choke, serial: '1440911917', centres: [['G01', 5, 6, 7]] },
]
const bytesOf = (lines: readonly string[], end = '\n') => Buffer.from(lines.join(end) + end, 'latin1')
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

t.test('in pieces of any size, and with any ends of lines', async (t) => {
  const whole = await all([file])
  t.equal(whole.length, 4)
  for (const size of [1, 7, 81, 4096]) t.strictSame(await all(inPieces(file, size)), whole, `${size}`)
  for (const end of ['\r\n', '\r']) {
    const other = bytesOf([...header(), ...antennas.flatMap(block)], end)
    for (const size of [1, 100]) t.strictSame(await all(inPieces(other, size)), whole, `${JSON.stringify(end)} ${size}`)
  }
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
