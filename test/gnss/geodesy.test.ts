import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  distance,
  ecefToGeodetic,
  enu,
  fromTenthMm,
  geodeticToEcef,
  greatCircle_m,
  joinCm,
  offsetEnu,
  roundEcef,
  sameEcef,
  splitCm,
  toTenthMm,
} from '../../runtime/lib/gnss/geodesy.js'
import { formatTm, gpsToUnix, unixToGps } from '../../runtime/lib/gnss/gnss-time.js'
import { decodeGga, encodeNmea } from '../../runtime/lib/gnss/nmea.js'
import { encodeUbx } from '../../runtime/lib/gnss/ubx.js'

const table: [lat: number, lon: number, alt: number, x: number, y: number, z: number][] = [
  [0, 0, 0, 6378137.0, 0, 0],
  [90, 0, 0, 0, 0, 6356752.3142],
  [0, 90, 0, 0, 6378137.0, 0],
  [45, 45, 0, 3194419.1451, 3194419.1451, 4487348.4089],
  [52, 4, 50, 3925405.8088, 274491.1138, 5002842.746],
  [-33.9, 151.2, 100, -4644018.7619, 2553070.9193, -3537301.1224],
  [47.0983869, -1.2655108, 36.4, 4348645.6918, -96065.5956, 4649244.1758],
  [60.1699, 24.9384, 26.5, 2884146.3257, 1341126.3483, 5509940.3997],
  [37.7749295, -122.4194155, -12.345, -2706169.6928, -4261048.8271, 3885720.516],
]
const degree_m = 111_320

t.test('the table of geodetic and ECEF positions, both ways', async (t) => {
  for (const [lat, lon, alt, x, y, z] of table) {
    t.strictSame(roundEcef(geodeticToEcef({ lat, lon, alt })), { x, y, z })
    const back = ecefToGeodetic({ x, y, z })
    t.ok(Math.abs(back.lat - lat) * degree_m < 2e-4, `latitude ${lat}`)
    t.ok(Math.abs(back.lon - lon) * degree_m < 2e-4, `longitude ${lon}`)
    t.ok(Math.abs(back.alt - alt) < 2e-4, `height ${alt}`)
  }
})

const place = fc.record({
  lat: fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 90, 89.9999999999, 0)),
  lon: fc.double({ min: -180, max: 180, noNaN: true }),
  alt: fc.double({ min: -10_000, max: 30_000_000, noNaN: true }),
})
const offset = fc.double({ min: -100_000, max: 100_000, noNaN: true })

t.test('ECEF → geodetic → ECEF, everywhere from the sea bed to the satellites', async (t) => {
  fc.assert(
    fc.property(place, (place) => {
      const point = geodeticToEcef(place)
      const back = ecefToGeodetic(point)
      assert.ok(distance(geodeticToEcef(back), point) < 1e-7, 'the same point')
      assert.ok(
        Math.abs(back.alt - place.alt) < 1e-7 && Math.abs(back.lat - place.lat) < 1e-11,
        'the same height and latitude',
      )
    }),
  )
  t.match(ecefToGeodetic({ x: 0, y: 0, z: -6356762.314245179 }), { lat: -90, lon: 0 })
  t.ok(Math.abs(ecefToGeodetic({ x: 0, y: 0, z: -6356762.314245179 }).alt - 10) < 1e-8)
})

t.test('local frame', async (t) => {
  const origin = geodeticToEcef({ lat: 52, lon: 4, alt: 0 })
  const near = (got: number, want: number, within: number) => Math.abs(got - want) <= within
  const up = enu(origin, geodeticToEcef({ lat: 52, lon: 4, alt: 10 }))
  t.ok(near(up.up, 10, 1e-7) && near(up.east, 0, 1e-7) && near(up.north, 0, 1e-7), 'height is up')
  const north = enu(origin, geodeticToEcef({ lat: 52.0001, lon: 4, alt: 0 }))
  t.ok(near(north.north, 11.126, 0.01) && near(north.east, 0, 1e-7), 'latitude is north')
  const east = enu(origin, geodeticToEcef({ lat: 52, lon: 4.0001, alt: 0 }))
  t.ok(near(east.east, 6.868, 0.01) && near(east.north, 0, 1e-3), 'longitude is east')
  // By vectors alone, without an angle: up is the gradient of the ellipsoid, east lies in the equatorial plane.
  const [a, b] = [6_378_137, 6_378_137 * (1 - 1 / 298.257223563)]
  const unit = ([x, y, z]: [number, number, number]) => {
    const length = Math.hypot(x, y, z)
    return [x / length, y / length, z / length] as const
  }
  const dot = (p: readonly number[], q: readonly number[]) =>
    p.reduce((sum, value, n) => sum + value * (q[n] as number), 0)
  for (const [lat, lon] of [
    [52, 4],
    [-33.9, 151.2],
    [0, 180],
    [12.5, -97],
    [78, -170],
  ] as const) {
    const origin = geodeticToEcef({ lat, lon, alt: 0 })
    const up = unit([origin.x / a ** 2, origin.y / a ** 2, origin.z / b ** 2])
    const east = unit([-up[1], up[0], 0])
    const north = [
      up[1] * east[2] - up[2] * east[1],
      up[2] * east[0] - up[0] * east[2],
      up[0] * east[1] - up[1] * east[0],
    ]
    const d = [123.25, -45.5, 67.75]
    const got = enu(origin, { x: origin.x + d[0], y: origin.y + d[1], z: origin.z + d[2] })
    t.ok(near(got.east, dot(east, d), 1e-6) && near(got.north, dot(north, d), 1e-6) && near(got.up, dot(up, d), 1e-6))
  }
  const beside = enu({ x: a, y: 0, z: 0 }, { x: a + 1, y: 2, z: 3 })
  t.ok(
    near(beside.east, 2, 1e-9) && near(beside.north, 3, 1e-9) && near(beside.up, 1, 1e-9),
    'where the axes are its own',
  )
  fc.assert(
    fc.property(place, offset, offset, offset, (place, east, north, up) => {
      const origin = geodeticToEcef(place)
      const point = offsetEnu(origin, { east, north, up })
      const back = enu(origin, point)
      assert.ok(near(distance(origin, point), Math.hypot(east, north, up), 1e-6))
      assert.ok(near(back.east, east, 1e-6) && near(back.north, north, 1e-6) && near(back.up, up, 1e-6))
    }),
  )
})

t.test('coordinates to 0.1 mm', async (t) => {
  t.strictSame(splitCm(3925405.8088), { cm: 392540580, hp: 88 })
  t.strictSame(splitCm(-1283141.8523), { cm: -128314185, hp: -23 })
  t.strictSame(splitCm(-0.0099), { cm: 0, hp: -99 })
  t.strictSame(splitCm(-0.00001), { cm: 0, hp: 0 }, 'no negative zero')
  t.equal(joinCm({ cm: 406153610, hp: -14 }), 4061536.0986)
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 37), max: 2 ** 37 - 1 }), (tenthMm) => {
      const metres = fromTenthMm(tenthMm)
      const { cm, hp } = splitCm(metres)
      assert.equal(toTenthMm(metres), tenthMm)
      assert.equal(joinCm({ cm, hp }), metres)
      assert.ok(Math.abs(hp) <= 99 && (hp === 0 || cm === 0 || Math.sign(hp) === Math.sign(cm)))
      assert.equal(JSON.parse(JSON.stringify(metres)), metres, 'and through JSON')
    }),
  )
  t.ok(sameEcef({ x: 1, y: 2, z: 3 }, { x: 1.00004, y: 2, z: 3 }))
  t.notOk(sameEcef({ x: 1, y: 2, z: 3 }, { x: 1.0001, y: 2, z: 3 }))
})

t.test('GPS time', async (t) => {
  t.equal(gpsToUnix({ week: 0, tow_s: 0 }, 0), Date.UTC(1980, 0, 6) / 1000)
  t.equal(gpsToUnix({ week: 2445, tow_s: 518_418 }, 18), Date.UTC(2026, 10, 21) / 1000)
  t.strictSame(unixToGps(Date.UTC(2026, 10, 21) / 1000, 18), { week: 2445, tow_s: 518_418 })
  t.strictSame(unixToGps(gpsToUnix({ week: 2445, tow_s: 0 }, 18) - 1, 18), { week: 2444, tow_s: 604_799 })
  fc.assert(
    fc.property(fc.nat(4000), fc.nat(604_799), fc.nat(40), (week, tow_s, leap_s) => {
      assert.deepEqual(unixToGps(gpsToUnix({ week, tow_s }, leap_s), leap_s), { week, tow_s })
    }),
  )
})

t.test('tm', async (t) => {
  t.equal(formatTm(Date.UTC(2026, 10, 21, 8, 5, 9) / 1000 + 0.999), '2026-11-21_08:05:09')
  t.same([0, -5, Number.NaN].map(formatTm), ['', '', ''], 'an unknown time')
})

t.test('GGA', async (t) => {
  const body = 'GNGGA,123519.00,5200.0000000,N,00400.0000000,E,4,24,0.55,5.432,M,44.568,M,1.0,1234'
  const sentence = encodeNmea(body)
  t.equal(Buffer.from(sentence).toString(), `$${body}*6F\r\n`)
  t.strictSame(decodeGga(sentence), {
    time: '123519.00',
    lat: 52,
    lon: 4,
    quality: 4,
    satellitesUsed: 24,
    hdop: 0.55,
    altMsl_m: 5.432,
    geoidSeparation_m: 44.568,
    correctionAge_s: 1,
    correctionStation: '1234',
  })
  t.match(decodeGga(encodeNmea('GPGGA,,4807.5,S,01130,W,0,00,99.99,,,,,,')), {
    lat: -48.125,
    lon: -11.5,
    quality: 0,
    altMsl_m: undefined,
    geoidSeparation_m: undefined,
    correctionStation: '',
  })
  t.equal(decodeGga(encodeNmea('GNRMC,123519.00,A,5200.0,N,00400.0,E,0.0,,211126,,,R,V,,')), undefined)
  t.equal(decodeGga(encodeNmea('GNGGA,1')), undefined)
  for (const [lat, lon] of [
    ['1e306', '00400.0'],
    ['9100.0', '18100.0'],
    ['-4800.0', 'Infinity'],
    ['0x10', '1 2'],
  ]) {
    const { lat: north, lon: east } = decodeGga(encodeNmea(`GNGGA,1,${lat},N,${lon},E,4,24,1e9,5,M,44,M,1.0,1`)) ?? {}
    t.equal(north, undefined, lat)
    t.equal(east, lon === '00400.0' ? 4 : undefined, lon)
  }
})

t.test('UBX frames', async (t) => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  t.equal(hex(encodeUbx(0x0a, 0x04)), 'b5620a0400000e34')
  t.equal(hex(encodeUbx(0x06, 0x04, Uint8Array.of(0xff, 0xff, 0, 0))), 'b56206040400ffff00000c5d')
  t.equal(
    hex(encodeUbx(0x27, 0x03, Uint8Array.of(2, 0, 0, 0, 0xab, 0xcd, 0xef, 1, 0x23, 0x45))),
    'b56227030a0002000000abcdef0123450622',
  )
})

t.test('places on the axes, over the date line, and in the south', async (t) => {
  const near = (found: number, wanted: number, text: string) =>
    t.ok(Math.abs(found - wanted) < 1e-3, `${text}: ${found}`)
  // On the axes of WGS 84: a and b.
  near(ecefToGeodetic({ x: 0, y: -6_378_137, z: 0 }).lon, -90, 'west')
  near(ecefToGeodetic({ x: 0, y: 0, z: -6_356_752.3142 }).lat, -90, 'south pole')
  near(ecefToGeodetic({ x: 0, y: 0, z: -6_356_752.3142 }).alt, 0, 'its height')
  const east = (one: number, other: number) =>
    enu(geodeticToEcef({ lat: -17, lon: one, alt: 0 }), geodeticToEcef({ lat: -17, lon: other, alt: 0 })).east
  near(east(179.999_99, -179.999_99), 2.13, 'east over the date line')
  const north = (one: number, other: number) =>
    enu(geodeticToEcef({ lat: one, lon: -58.4, alt: 0 }), geodeticToEcef({ lat: other, lon: -58.4, alt: 0 })).north
  near(north(-34.6, -34.6001), -11.094, 'south')
})

t.test('a distance over ground', (t) => {
  const at = (lat: number, lon: number) => ({ lat, lon })
  t.ok(Math.abs(greatCircle_m(at(48, 8), at(49, 8)) - 111_195) < 1, 'a degree of latitude')
  t.ok(Math.abs(greatCircle_m(at(0, 179.5), at(0, -179.5)) - 111_195) < 1, 'over the date line')
  t.equal(greatCircle_m(at(52, 4), at(52, 4)), 0)
  t.ok(Math.abs(greatCircle_m(at(90, 0), at(-90, 77)) - Math.PI * 6_371_009) < 1, 'from pole to pole')
  t.end()
})
