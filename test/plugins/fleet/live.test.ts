/** What the pages of a fleet are told: the list of the stations in pages, and changes as fast as each page reads. */
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { liveRoute } from '../../../plugins/fleet/fleet-registry/live.js'
import { stationRoutes } from '../../../plugins/fleet/fleet-registry/routes.js'
import type { Registry } from '../../../plugins/fleet/fleet-registry/stations/registry.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import { type AnyPlugin, definePlugin } from '../../../runtime/plugin.js'
import type { FleetEvent } from '../../../schemas/services.js'
import { drive } from '../../harness/drive.js'
import { createTestStation, ManualClock, until } from '../../harness/index.js'
import { openDatabase } from '../../harness/peers/embedded-database.js'
import { FakeFleet } from './caster-rig.js'
import { fleetStation } from './stations.js'

interface Row {
  serial: string
  rovers: number
}

const count = 2_500
const serials = Array.from({ length: count }, (_, n) => `S${String(n).padStart(4, '0')}`)

async function setUp(t: Test) {
  const database = await openDatabase()
  const shared = new FakeFleet(database)
  let tell: (event: FleetEvent) => void = () => {}
  const routes = definePlugin({
    name: 'routes',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      const changes = ctx.event<{ serial: string }>()
      shared.changes.add(changes as never)
      const records = ctx.event<FleetEvent>()
      tell = (event) => records.emit(event)
      const registry = {
        stations: () => shared.stations.values(),
        station: (serial: string) => shared.stations.get(serial),
        onStation: changes.on,
        onRecord: records.on,
      } as unknown as Registry
      stationRoutes(ctx, registry)
      liveRoute(ctx, registry)
    },
  })
  const clock = new ManualClock()
  const station = await createTestStation({
    clock,
    plugins: { 'fake-fleet': shared.plugin(), 'http-api': httpApi as AnyPlugin, routes: routes as AnyPlugin },
  })
  t.teardown(async () => {
    await station.stop()
    await database.close()
  })
  for (const serial of [...serials].reverse()) shared.set(serial, fleetStation(serial))
  return { station, clock, shared, tell: (event: FleetEvent) => tell(event) }
}

t.test('F14: the list comes in pages, in order of the serial numbers', async (t) => {
  const { station, shared } = await setUp(t)
  const found: string[] = []
  let after = ''
  do {
    const { stations, next } = (await station.request(`/fleet/stations?after=${after}`)).json() as {
      stations: Row[]
      next: string
    }
    t.ok(stations.length <= 1_000)
    found.push(...stations.map(({ serial }) => serial))
    // One that comes or goes meanwhile moves no other out of sight.
    if (after === '') shared.set('S0000', undefined)
    after = next
  } while (after !== '')
  t.strictSame(found, serials)
})

t.test('F14: a page that reads slowly is not cut off, and gets the newest state of each station', async (t) => {
  const { station, clock, shared, tell } = await setUp(t)
  const socket = connect(station.device.http?.port ?? 0, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write('GET /fleet/live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  let isClosed = false
  socket.on('close', () => {
    isClosed = true
  })
  await until(() => text.includes(': connected'), 'the stream')
  socket.pause()
  const rounds = 40
  for (let round = 1; round <= rounds; round++) {
    for (const serial of serials) shared.update(serial, { rovers: round })
    for (let n = 0; n < 50; n++)
      tell({ t_s: round, serial: 'S0001', kind: 'contact', text: `entry ${round} ${n}`, by: '' })
    await clock.advance(1_000)
  }
  socket.resume()
  /** Events, without the frames of HTTP's chunks. */
  const data = (kind: string) =>
    [...text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '').matchAll(new RegExp(`event: ${kind}\ndata: (.*)\n\n`, 'g'))].flatMap(
      ([, rows]) => JSON.parse(rows ?? '[]') as (Row & { text: string })[],
    )
  const newest = () => new Map(data('stations').map(({ serial, rovers }) => [serial, rovers]))
  await drive(clock, () => [...newest().values()].filter((rovers) => rovers === rounds).length === count, 'the newest')
  await drive(clock, () => data('record').some(({ text }) => text === `entry ${rounds} 49`), 'the newest entry')
  t.notOk(isClosed)
  t.ok(data('stations').length < rounds * count, 'changes of one station wait as one')
})
