/** Run as a child: the caster of a fleet over a real broker, with stations that are only known, not run. Its port goes to the parent. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BrokerLink } from '../../plugins/fleet/fleet/broker/broker-link.js'
import fleetCaster from '../../plugins/fleet/fleet-caster/index.js'
import ntripCaster from '../../plugins/rtcm/ntrip-caster/index.js'
import { createRuntime } from '../../runtime/index.js'
import { createLogger } from '../../runtime/platform/log/log.js'
import { SimulatedMachine } from '../../runtime/platform/ports/machine.js'
import { definePlugin, type PluginDefinition } from '../../runtime/plugin.js'
import { type FleetStation, fleet, fleetAccess, fleetBroker, fleetDatabase } from '../../schemas/services.js'
import { MemoryStore } from '../harness/memory-store.js'
import { fleetStation } from '../plugins/fleet/stations.js'
import { benchArp, benchSerial } from './fleet-caster.js'

const [broker = 0, count = 0, port = 0] = process.argv.slice(2).map(Number)
const stations = new Map<string, FleetStation>(
  Array.from({ length: count }, (_, n) => [benchSerial(n), fleetStation(benchSerial(n), { arp: benchArp })]),
)
const edges = definePlugin({
  name: 'edges',
  version: '1.0.0',
  api: '^1.0.0',
  provides: [fleetBroker, fleetDatabase, fleet, fleetAccess],
  setup(ctx) {
    const link = new BrokerLink(ctx, () => ({ url: `mqtt://127.0.0.1:${broker}` }))
    const never = ctx.event<never>().on
    ctx.services.provide(fleetBroker, link)
    ctx.services.provide(fleetDatabase, {
      ...{ connected: true, leads: false, onLeads: never, query: async () => [], migrate: async () => {} },
      ...{
        transaction: (work) => work(async () => []),
        listen: () => () => {},
        notify: async () => {},
        now_s: async () => 0,
      },
    })
    ctx.services.provide(fleet, {
      ...{ size: count, onStation: never, onRecord: never, record() {}, recordRarely: () => false, ask() {} },
      ...{ stations: () => stations.values(), station: (serial) => stations.get(serial) },
      ...{
        change: async () => ({ result: 'ok', leftover: {} }),
        command: async () => '',
        document: async () => undefined,
        settings: () => Promise.reject(new Error('none')),
      },
    })
    ctx.services.provide(fleetAccess, { demand: () => 'bench', may: () => true })
    return link
  },
  start: (_ctx, _handoff, link) => link.start(),
  stop: (_reason, link) => link.stop(),
})

const runtime = await createRuntime({
  base: process.cwd(),
  machine: new SimulatedMachine(() => {}),
  release: { version: '0.0.0-bench', sha256: '0'.repeat(64), built: '2020-01-01T00:00:00.000Z' },
  data: mkdtempSync(join(tmpdir(), 'rtk-base-fleet-caster-')),
  store: new MemoryStore(),
  log: createLogger({ level: 'warn' }),
  definitions: {
    edges: edges as unknown as PluginDefinition,
    'ntrip-caster': ntripCaster as unknown as PluginDefinition,
    'fleet-caster': fleetCaster as unknown as PluginDefinition,
  },
  variant: {
    name: 'bench',
    hardware: 'bench',
    serial: 'BENCH',
    simulator: true,
    http: { host: '127.0.0.1', port: 0 },
    changes: { 'ntrip-caster-port': port },
    plugins: {
      edges: {},
      'ntrip-caster': { host: '127.0.0.1', maxClients: 10_000 },
      'fleet-caster': { anonymous: true },
    },
  },
})
const look = setInterval(() => {
  const { ntrip } = runtime.station.document() as { ntrip?: { caster?: { port: number } } }
  if (!ntrip?.caster?.port) return
  clearInterval(look)
  process.send?.(ntrip.caster.port)
}, 50)
process.once('disconnect', () => process.exit(0))
