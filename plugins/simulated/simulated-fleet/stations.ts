/** The simulated stations of a demonstration, along the coast of the Netherlands. */
import { geodeticToEcef } from 'rtk-base/gnss'

export interface DemoStation {
  readonly serial: string
  readonly name: string
  readonly lat: number
  readonly lon: number
  readonly incident?: 'moved' | 'offline' | 'jammed'
  /** By how much the entered position is too high, metres. */
  readonly tooHigh_m: number
}

const places: readonly (readonly [name: string, lat: number, lon: number])[] = [
  ['Delft', 52.0116, 4.3571],
  ['Gouda', 52.0115, 4.7104],
  ['Leiden', 52.1601, 4.497],
  ['Utrecht', 52.0907, 5.1214],
  ['Haarlem', 52.3874, 4.6462],
  ['Alkmaar', 52.6324, 4.7534],
  ['Hoorn', 52.6424, 5.0602],
  ['Almere', 52.3508, 5.2647],
  ['Amersfoort', 52.1561, 5.3878],
  ['Dordrecht', 51.8133, 4.6901],
]

const incidentOf: Readonly<Record<number, NonNullable<DemoStation['incident']>>> = {
  1: 'moved',
  4: 'offline',
  7: 'jammed',
}

/** Leiden: its neighbours find it, hours later. */
const wrongHeight = { at: 2, tooHigh_m: 0.12 }

/** @param incidents false: every station is as it should be */
export function demoStations(count: number, incidents: boolean): DemoStation[] {
  return Array.from({ length: count }, (_, at) => {
    const [name, lat, lon] = places[at % places.length] as (typeof places)[number]
    const round = Math.floor(at / places.length)
    const incident = incidents && round === 0 ? incidentOf[at] : undefined
    return {
      serial: `DEMO${String(at + 1).padStart(4, '0')}`,
      name: round === 0 ? name : `${name} ${round + 1}`,
      lat: lat + round * 0.05,
      lon,
      tooHigh_m: incidents && at === wrongHeight.at ? wrongHeight.tooHigh_m : 0,
      ...(incident && { incident }),
    }
  })
}

const alt = 50

/** The variant of a station: a position that was entered, so that it is ready at once, and RTCM over MQTT. */
export function variantOf({ serial, name, lat, lon, tooHigh_m }: DemoStation, broker: { host: string; port: number }) {
  const { x, y, z } = geodeticToEcef({ lat, lon, alt: alt + tooHigh_m })
  return {
    name: 'demo-station',
    hardware: 'demo-station',
    serial,
    simulator: true,
    http: { host: '127.0.0.1', port: 0 },
    changes: {
      'station-name': name,
      'gnss-ref-manual-x': Number(x.toFixed(4)),
      'gnss-ref-manual-y': Number(y.toFixed(4)),
      'gnss-ref-manual-z': Number(z.toFixed(4)),
      'gnss-ref-manual-acc': 0.02,
      'gnss-ref-chosen': 'manual',
      'mqtt-host': broker.host,
      'mqtt-port': broker.port,
    },
    plugins: {
      system: {},
      verdict: {},
      'http-api': {},
      gnss: {},
      'simulated-receiver': { boot: 'rover', lat, lon, alt, seed: Number(serial.replace(/\D/g, '')) },
      'gnss-zed': { port: 'simulator' },
      rtcm: {},
      integrity: { initial_s: 10 },
      'survey-in': {},
      'mqtt-api': {},
      'mqtt-link': { insecure: true },
      'mqtt-rtcm': {},
    },
  }
}
