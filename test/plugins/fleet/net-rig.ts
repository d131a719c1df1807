/** A net of bases on simulated edges: streams of one sky, and instances of the real plugin over one database. */
import type { PGlite } from '@electric-sql/pglite'
import type { Test } from 'tap'
import fleetNetPlugin from '../../../plugins/fleet/fleet-net/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import {
  ecefToGeodetic,
  type Geodetic,
  gpsEpoch_unix_s,
  isEphemeris,
  knownLeap_s,
  messageNumber,
  offsetEnu,
  roundEcef,
} from '../../../runtime/lib/gnss/index.js'
import { referenceFrame } from '../../../runtime/lib/simulation/rtcm.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { type Ecef, type Enu, type FleetNet, fleetNet } from '../../../schemas/services.js'
import { NetStreams, type NetStreamsOptions, roughness } from '../../harness/baseline-streams.js'
import { drive, settled } from '../../harness/drive.js'
import { createTestStation, probe } from '../../harness/index.js'
import { FakeFleet } from './caster-rig.js'
import { fleetStation } from './stations.js'

const step_ms = 30_000
/** The satellites of a test are those of this moment, not of the day on which it runs: some skies fix fewer ambiguities. */
const sky_ms = Date.UTC(2026, 10, 21, 12)

export interface NetRigOptions {
  readonly places: readonly Geodetic[]
  /** Announced minus true position of a base, by its index. */
  readonly errors?: Readonly<Record<number, Enu>>
  readonly clocks?: NetStreamsOptions['clocks']
}

/** Bases B0, B1, … */
export class NetRig {
  readonly shared: FakeFleet
  readonly streams: NetStreams
  /** Announced positions. */
  readonly arps: Ecef[]
  /** In place of the publication of a base; undefined: it publishes nothing. */
  readonly instead = new Map<string, (payload: Buffer) => readonly Buffer[]>()
  readonly database: PGlite
  readonly #newest = new Map<string, Buffer>()

  constructor(database: PGlite, { places, errors = {}, clocks }: NetRigOptions) {
    this.database = database
    this.shared = new FakeFleet(database, sky_ms)
    this.streams = new NetStreams({ seed: 7, places, roughness: roughness.calm, ...(clocks && { clocks }) })
    this.arps = this.streams.truths.map((truth, n) =>
      roundEcef(offsetEnu(truth, errors[n] ?? { east: 0, north: 0, up: 0 })),
    )
    for (const n of this.arps.keys()) this.announce(n)
  }

  announce(n: number, arp = this.arps[n] as Ecef): void {
    this.arps[n] = arp
    const serial = `B${n}`
    const reference = `${arp.x} ${arp.z}`
    this.shared.set(serial, fleetStation(serial, { arp, place: ecefToGeodetic(arp), reference, name: `Base ${n}` }))
  }

  /** An epoch each half minute, in which all publish. */
  async minutes(count: number): Promise<void> {
    const { clock } = this.shared
    for (let n = 0; n < 2 * count; n++) {
      const gps_ms = clock.now() - 1_000 * (gpsEpoch_unix_s - knownLeap_s)
      await clock.advance(step_ms - (gps_ms % step_ms))
      const { stations } = this.streams.epoch(clock.now(), step_ms / 1_000)
      for (const [n, frames] of stations.entries()) {
        const arp = this.arps[n] as Ecef
        const reference = referenceFrame(n + 1, arp)
        const isOrbit = (frame: Uint8Array) => isEphemeris(messageNumber(frame))
        const orbits = frames.filter(isOrbit)
        if (orbits.length > 0) this.shared.publish(`base/B${n}/drtk/eph`, Buffer.concat(orbits))
        const payload = Buffer.concat([reference, ...frames.filter((frame) => !isOrbit(frame))])
        this.#newest.set(`B${n}`, payload)
        const some = this.instead.get(`B${n}`)?.(payload) ?? [payload]
        for (const one of some) this.shared.publish(`base/B${n}/drtk`, one)
      }
      await settled()
    }
  }

  /** The newest publication of a base. */
  streamOf(serial: string): Buffer {
    return this.#newest.get(serial) ?? Buffer.alloc(0)
  }

  async rows<R extends object>(sql: string, values: unknown[] = []): Promise<R[]> {
    return (await this.database.query<R>(sql, values)).rows
  }

  /** What is under way is done, in real time: of the simulated time hardly any passes. */
  settles(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    return this.passes(condition, what, 100)
  }

  /** Time passes until it is so, but not while vectors are computed or the database works. Nobody publishes. */
  async passes(condition: () => boolean | Promise<boolean>, what: string, step_ms = 5_000): Promise<void> {
    await drive(this.shared.clock, condition, what, step_ms)
  }
}

export async function startNet(
  t: Test,
  { shared }: NetRig,
  { leads = true, ...options }: Record<string, unknown> & { leads?: boolean } = {},
) {
  let net: FleetNet | undefined
  const ears = probe([fleetNet], (ctx) => {
    net = ctx.services.use(fleetNet)
  })
  const station = await createTestStation({
    clock: shared.clock,
    plugins: {
      'fake-fleet': shared.plugin({ leads }),
      probe: ears,
      'http-api': httpApi as AnyPlugin,
      'fleet-net': [fleetNetPlugin as AnyPlugin, { window_min: 30, every_min: 30, ...options }],
    },
  })
  t.teardown(() => station.stop())
  const json = async (method: string, path: string, body?: object, more: Record<string, string> = {}) => {
    const headers = { ...(body && { 'content-type': 'application/json' }), ...more }
    const answer = await station.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer that it asks for
    return { status: answer.status, body: answer.json() as any }
  }
  /** By the metric. */
  const contradicted = async () =>
    /fleet_net_stations\{state="contradicts"\} (\d+)/.exec((await station.request('/metrics')).text)?.[1]
  return { station, json, contradicted, judgement: (serial: string) => net?.judgement(serial) }
}
