/** A fleet for tests: the real plugins on the embedded broker and the embedded database, with stations of the specification. */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTestStation, type TestStation, type TestStationOptions, until } from 'rtk-base/testing'
import type { Test } from 'tap'
import {
  type Device,
  device,
  type EmbeddedBroker,
  embeddedBroker,
  type FleetBroker,
  type FleetDatabase,
  fleetBroker,
  fleetDatabase,
} from '../../../schemas/services.js'
import { removedAtExit } from '../../harness/at-exit.js'
import { drive } from '../../harness/drive.js'
import { databaseFolder, openDatabase } from '../../harness/peers/embedded-database.js'
import { SpecStation, type SpecStationOptions } from '../../harness/peers/spec-station.js'
import { probe } from '../../harness/probe.js'

/** To make a database takes seconds: it is made once for all tests of a process, and copied. */
let template: string | undefined
const placeOfDatabase = join('files', 'fleet', 'database')

export interface FleetRig {
  readonly fleet: TestStation
  readonly url: string
  readonly database: FleetDatabase
  /** To the broker of the stations, as the fleet's plugins use it. */
  readonly link: FleetBroker
  /** Codes of the present errors of the fleet itself. */
  errors(): string[]
  station(serial: string, options?: Partial<SpecStationOptions>): Promise<SpecStation>
  /** Time passes until it is so. */
  passes(condition: () => boolean | Promise<boolean>, what: string | (() => string), step_ms?: number): Promise<void>
  get<T>(path: string): Promise<T>
  send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown> }>
}

async function makeTemplate(): Promise<string> {
  const data = removedAtExit(databaseFolder('rtk-base-fleet-template-'))
  const folder = join(data, placeOfDatabase)
  mkdirSync(dirname(folder), { recursive: true })
  await (await openDatabase(folder)).close()
  const fleet = await createTestStation({ data, sources: { 'mqtt-broker': { port: 0 }, fleet: {} } })
  await until(() => fleet.lines.some(({ msg }) => msg.startsWith('connected to the database')), 'the database')
  await fleet.stop()
  return folder
}

export async function fleetRig(t: Test, options: TestStationOptions = {}): Promise<FleetRig> {
  template ??= await makeTemplate()
  const data = databaseFolder('rtk-base-fleet-')
  mkdirSync(join(data, 'files', 'fleet'), { recursive: true })
  cpSync(template, join(data, placeOfDatabase), { recursive: true })
  const broker: { found: EmbeddedBroker | undefined } = { found: undefined }
  const database: { found: FleetDatabase | undefined } = { found: undefined }
  const link: { found: FleetBroker | undefined } = { found: undefined }
  const service: { found: Device | undefined } = { found: undefined }
  const ears = probe([embeddedBroker, fleetDatabase, fleetBroker, device], (ctx) => {
    link.found = ctx.services.use(fleetBroker)
    service.found = ctx.services.use(device)
    database.found = ctx.services.use(fleetDatabase)
    broker.found = ctx.services.use(embeddedBroker)
  })
  const fleet = await createTestStation({
    data,
    ...options,
    plugins: { probe: ears, ...options.plugins },
    sources: {
      'http-api': {},
      'mqtt-broker': { port: 0 },
      fleet: {},
      'fleet-registry': {},
      'fleet-rollout': {},
      ...options.sources,
    },
  })
  const stations: SpecStation[] = []
  t.teardown(async () => {
    for (const station of stations) await station.stop()
    await fleet.stop()
    rmSync(data, { recursive: true, force: true })
  })
  const passes: FleetRig['passes'] = async (condition, what, step_ms = 500) => {
    await drive(fleet.clock, condition, what, step_ms)
  }
  const get = async <T>(path: string) => {
    const { status, json, text } = await fleet.request(path)
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    return json() as T
  }
  await passes(async () => (await fleet.request('/fleet/stations')).status === 200, 'the database')
  await passes(() => broker.found?.address !== undefined, 'the broker')
  const url = `mqtt://127.0.0.1:${broker.found?.address?.port}`
  await passes(
    () => fleet.lines.some(({ msg }) => msg.startsWith('connected to the broker')),
    'the fleet at the broker',
  )
  return {
    fleet,
    url,
    database: database.found as FleetDatabase,
    link: link.found as FleetBroker,
    errors: () => (service.found?.errors() ?? []).map(({ code }) => code),
    passes,
    get,
    async station(serial, given) {
      const station = await SpecStation.start({ url, serial, ...given })
      stations.push(station)
      return station
    },
    async send(method, path, body, headers = {}) {
      const { status, text } = await fleet.request(path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status, body: text ? (JSON.parse(text) as Record<string, unknown>) : {} }
    },
  }
}

/** The document of a station of another make that is a base. */
export const foreignDocument = (serial: string, given: Record<string, unknown> = {}) => ({
  esp: { version: '9.1', serial, hardware: 'other' },
  gnss: {
    state: { status: 'fixed' },
    ref: { chosen: 'survey', survey: { x: 3_925_405, y: 274_491, z: 5_002_842 } },
    rtcm: { subscribers: [] },
  },
  base: { state: { base: 'ready', errors: [] } },
  mqtt: { via: 'eth', rtcm: { rate: 1, sign: false } },
  wap: { pwd: 'geheim' },
  ...given,
})
