/** Transformations between frames against PROJ (`cct`), by pipelines that are written from the published parameters. */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { type FrameName, frameNames, type PlateName, transformed } from '../../runtime/lib/gnss/datum/index.js'
import { frameVelocity } from '../../runtime/lib/gnss/datum/transform.js'
import { geodeticToEcef } from '../../runtime/lib/gnss/index.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('cct')

/** PROJ: metres, arc seconds, ppm, and their yearly changes. Written from EPSG's and the agencies' tables, not from ours. */
const helmert: Readonly<Record<string, string>> = {
  'ITRF2014>ITRF2020':
    '+x=0.0014 +y=0.0009 +z=-0.0014 +s=0.00042 +dy=0.0001 +dz=-0.0002 +t_epoch=2015 +convention=position_vector',
  'ITRF2020>ETRF2020': '+drx=0.000086 +dry=0.000519 +drz=-0.000753 +t_epoch=1989 +convention=position_vector',
  'ITRF2020>ETRF2014':
    '+x=-0.0014 +y=-0.0009 +z=0.0014 +rx=0.00221 +ry=0.013806 +rz=-0.02002 +s=-0.00042 +dy=-0.0001 +dz=0.0002 +drx=0.000085 +dry=0.000531 +drz=-0.00077 +t_epoch=2015 +convention=position_vector',
  'ITRF2014>ETRF2000':
    '+x=0.0547 +y=0.0522 +z=-0.0741 +rx=0.001701 +ry=0.01029 +rz=-0.016632 +s=0.00212 +dx=0.0001 +dy=0.0001 +dz=-0.0019 +drx=0.000081 +dry=0.00049 +drz=-0.000792 +ds=0.00011 +t_epoch=2010 +convention=position_vector',
  'ITRF2014>GDA2020': '+drx=0.00150379 +dry=0.00118346 +drz=0.00120716 +t_epoch=2020 +convention=coordinate_frame',
  'ITRF2014>NAD83(2011)':
    '+x=1.0053 +y=-1.90921 +z=-0.54157 +rx=-0.02678138 +ry=0.00042027 +rz=-0.01093206 +s=0.00036891 +dx=0.00079 +dy=-0.0006 +dz=-0.00144 +drx=-0.00006667 +dry=0.00075744 +drz=0.00005133 +ds=-0.00007201 +t_epoch=2010 +convention=position_vector',
  'ITRF2020>NAD83(CSRS)':
    '+x=1.0039 +y=-1.90961 +z=-0.54117 +rx=-0.02678138 +ry=0.00042027 +rz=-0.01093206 +s=-0.00005109 +dx=0.00079 +dy=-0.0007 +dz=-0.00124 +drx=-0.00006667 +dry=0.00075744 +drz=0.00005133 +ds=-0.00007201 +t_epoch=2010 +convention=position_vector',
}
const from2020: Readonly<Record<FrameName, readonly string[]>> = {
  ITRF2020: [],
  ITRF2014: ['-ITRF2014>ITRF2020'],
  ETRF2020: ['ITRF2020>ETRF2020'],
  ETRF2014: ['ITRF2020>ETRF2014'],
  ETRF2000: ['-ITRF2014>ITRF2020', 'ITRF2014>ETRF2000'],
  GDA2020: ['-ITRF2014>ITRF2020', 'ITRF2014>GDA2020'],
  'NAD83(2011)': ['-ITRF2014>ITRF2020', 'ITRF2014>NAD83(2011)'],
  'NAD83(CSRS)': ['ITRF2020>NAD83(CSRS)'],
}
const step = (name: string) =>
  `+step ${name.startsWith('-') ? '+inv ' : ''}+proj=helmert ${helmert[name.replace(/^-/, '')]}`
const opposite = (name: string) => (name.startsWith('-') ? name.slice(1) : `-${name}`)

const sites: readonly (readonly [string, PlateName, number, number])[] = [
  ['Berlin', 'EURA', 52.5, 13.4],
  ['Ottawa', 'NOAM', 45.4, -75.7],
  ['Canberra', 'AUST', -35.3, 149.1],
  ['Nairobi', 'SOMA', -1.3, 36.8],
  ['Sao Paulo', 'SOAM', -23.5, -46.6],
]
const epochs = [1997, 2010.5, 2026.9]

t.test('all pairs of frames, three epochs, five continents', { skip }, async (t) => {
  const points = sites.map(([, , lat, lon]) => geodeticToEcef({ lat, lon, alt: 100 }))
  let worst_m = 0
  for (const from of frameNames) {
    for (const to of frameNames) {
      if (from === to) continue
      const steps = [...[...from2020[from]].reverse().map(opposite), ...from2020[to]].map(step)
      const pipeline = `+proj=pipeline ${steps.join(' ')}`.split(' ')
      const input = epochs.flatMap((epoch) => points.map(({ x, y, z }) => `${x} ${y} ${z} ${epoch}`)).join('\n')
      const output = execFileSync('cct', ['-d', '6', ...pipeline], { input: `${input}\n`, encoding: 'utf8' })
      const rows = output
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number))
      t.equal(rows.length, epochs.length * points.length)
      const differences = rows.map(([x = 0, y = 0, z = 0], at) => {
        const epoch = epochs[Math.floor(at / points.length)] ?? 0
        const position = points[at % points.length]
        if (!position) throw new Error('no point')
        const own = transformed({ position, frame: from, epoch }, { frame: to, epoch }).position
        return Math.hypot(own.x - x, own.y - y, own.z - z)
      })
      const most = Math.max(...differences)
      worst_m = Math.max(worst_m, most)
      t.ok(most < 0.0001, `${from} → ${to}: ${(most * 1000).toFixed(4)} mm`)
    }
  }
  t.comment(`worst ${(worst_m * 1000).toFixed(4)} mm`)
})

t.test('forth and back, also over years', async (t) => {
  for (const [name, plate, lat, lon] of sites) {
    const position = geodeticToEcef({ lat, lon, alt: 300 })
    for (const frame of frameNames) {
      const at = { position, frame: 'ITRF2020', epoch: 2026.9 } as const
      const there = transformed(at, { frame, epoch: 2010 }, plate)
      const back = transformed(there, at, plate)
      const off_m = Math.hypot(back.position.x - position.x, back.position.y - position.y, back.position.z - position.z)
      // The plate turns the point of the other epoch: 10⁻⁸ of its way.
      t.ok(off_m < 1e-5, `${name} ${frame}: ${off_m}`)
    }
  }
})

t.test('magnitudes that everybody knows', async (t) => {
  const speed = (frame: FrameName, plate: PlateName, lat: number, lon: number) => {
    const { x, y, z } = frameVelocity({ position: geodeticToEcef({ lat, lon, alt: 0 }), frame, epoch: 2026 }, plate)
    return Math.hypot(x, y, z) * 1000
  }
  const isBetween = (value: number, low: number, high: number, text: string) =>
    t.ok(value > low && value < high, `${text}: ${value.toFixed(1)} mm a year`)
  isBetween(speed('ITRF2020', 'EURA', 52.5, 13.4), 22, 28, 'Europe in ITRF2020')
  isBetween(speed('ETRF2020', 'EURA', 52.5, 13.4), -1, 0.5, 'Europe in ETRF2020')
  isBetween(speed('ITRF2020', 'AUST', -35.3, 149.1), 55, 70, 'Australia in ITRF2020')
  isBetween(speed('GDA2020', 'AUST', -35.3, 149.1), -1, 1, 'Australia in GDA2020')
  isBetween(speed('NAD83(CSRS)', 'NOAM', 45.4, -75.7), -1, 5, 'Canada in NAD83(CSRS)')
  const berlin = geodeticToEcef({ lat: 52.5, lon: 13.4, alt: 0 })
  const etrf = transformed({ position: berlin, frame: 'ITRF2020', epoch: 2026 }, { frame: 'ETRF2000', epoch: 2026 })
  const off_m = Math.hypot(etrf.position.x - berlin.x, etrf.position.y - berlin.y, etrf.position.z - berlin.z)
  t.ok(off_m > 0.8 && off_m < 1.0, `ETRF2000 is ${off_m.toFixed(2)} m from ITRF2020 in Berlin`)
})
