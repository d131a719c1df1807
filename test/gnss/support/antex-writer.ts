/** Writes ANTEX by the columns of version 1.4. */
export const line = (content: string, label: string) => `${content.padEnd(60)}${label.padEnd(20)}`.trimEnd()
export const header = (kind = 'A') => [
  line('     1.4            M', 'ANTEX VERSION / SYST'),
  line(kind.padEnd(20), 'PCV TYPE / REFANT'),
  line('NORTH / EAST / UP  G01', 'COMMENT'),
  line('', 'END OF HEADER'),
]

type Centre = readonly [frequency: string, north: number, east: number, up: number]
export interface Antenna {
  readonly model: string
  readonly radome?: string
  readonly serial?: string
  readonly method?: string
  readonly centres: readonly Centre[]
}

/** F10.2 */
const f10 = (value: number) => value.toFixed(2).padStart(10)
const numbersOf = ([, north, east, up]: Centre) => [north, east, up].map(f10).join('')

export function block({ centres, method = 'ROBOT', model, radome = 'NONE', serial = '' }: Antenna): string[] {
  return [
    line('', 'START OF ANTENNA'),
    line(`${model.padEnd(16)}${radome}${serial.padEnd(20)}`, 'TYPE / SERIAL NO'),
    line(`${method.padEnd(20)}${'Geo++ GmbH'.padEnd(20)}${'5'.padStart(6)}    02-OCT-23`, 'METH / BY / # / DATE'),
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

export const choke: Antenna = {
  model: 'TRM57971.00',
  centres: [
    ['G01', 1.33, -0.24, 66.73],
    ['G02', -0.3, 0.44, 57.35],
    ['R01', 0.95, 0.1, 66.2],
    ['E05', -1234.56, 0, 0.01],
  ],
}
export const bytesOf = (lines: readonly string[], end = '\n') => Buffer.from(lines.join(end) + end, 'latin1')
