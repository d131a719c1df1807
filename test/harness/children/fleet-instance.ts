/**
 * Run as a child: an instance of a fleet with the real plugins on a real broker and database, whose clock is faster than that of the
 * machine. Its arguments: URL of the broker, URL of the database, speed, and `caster` if it has one. Its URL goes to the parent, and the
 * port of its caster.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fleet from '../../../plugins/fleet/fleet/index.js'
import fleetCaster from '../../../plugins/fleet/fleet-caster/index.js'
import fleetRegistry from '../../../plugins/fleet/fleet-registry/index.js'
import fleetRollout from '../../../plugins/fleet/fleet-rollout/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import ntripCaster from '../../../plugins/rtcm/ntrip-caster/index.js'
import { createRuntime } from '../../../runtime/index.js'
import { createLogger } from '../../../runtime/platform/log/log.js'
import { type Clock, systemClock } from '../../../runtime/platform/ports/clock.js'
import { SimulatedMachine } from '../../../runtime/platform/ports/machine.js'
import type { PluginDefinition } from '../../../runtime/plugin.js'
import { removedAtExit } from '../at-exit.js'
import { MemoryStore } from '../memory-store.js'

const [broker = '', database = '', speed = '1', caster] = process.argv.slice(2)
const factor = Number(speed)
const started_ms = Date.now()
const clock: Clock = {
  now: () => started_ms + (Date.now() - started_ms) * factor,
  monotonic: () => performance.now() * factor,
  timer: (delay_ms, fn) => systemClock.timer(delay_ms / factor, fn),
}
const data = removedAtExit(mkdtempSync(join(tmpdir(), 'rtk-base-fleet-')))
const definitions = {
  ...{ fleet, 'fleet-registry': fleetRegistry, 'fleet-rollout': fleetRollout, 'http-api': httpApi },
  ...{ 'ntrip-caster': ntripCaster, 'fleet-caster': fleetCaster },
}
const casters = { 'ntrip-caster': { host: '127.0.0.1' }, 'fleet-caster': { anonymous: true } }
const { address, station } = await createRuntime({
  base: process.cwd(),
  machine: new SimulatedMachine(() => {}),
  release: { version: '0.0.0-test', sha256: '0'.repeat(64), built: '2026-01-01T00:00:00.000Z' },
  ...{ data, clock },
  store: new MemoryStore(),
  log: createLogger({ level: process.env.FLEET_LOG ?? 'error' }),
  definitions: definitions as unknown as Record<string, PluginDefinition>,
  variant: {
    name: 'test',
    hardware: 'fleet',
    serial: 'FLEET',
    simulator: true,
    http: { host: '127.0.0.1', port: 0 },
    changes: caster ? { 'ntrip-caster-port': 0 } : {},
    plugins: {
      ...{ 'http-api': {}, fleet: { broker, database }, 'fleet-registry': {}, 'fleet-rollout': {} },
      ...(caster && casters),
    },
  },
})
const portOf = () => (station.document() as { ntrip?: { caster?: { port: number } } }).ntrip?.caster?.port ?? 0
const look = setInterval(() => {
  if (caster && portOf() === 0) return
  clearInterval(look)
  process.send?.({ url: `http://127.0.0.1:${address.port}`, port: portOf() })
}, 20)
process.once('disconnect', () => process.exit(0))
