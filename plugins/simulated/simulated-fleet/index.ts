import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { definePlugin, type PluginContext } from 'rtk-base/plugin'
import { embeddedBroker, type Fleet, fleet } from 'rtk-base/services'
import { Type } from 'typebox'
import { type DemoStation, demoStations, variantOf } from './stations.js'

const Options = Type.Object(
  {
    stations: Type.Integer({ default: 10, minimum: 1, maximum: 20, description: 'Simulated stations, each a process' }),
    incidents: Type.Boolean({
      default: true,
      description: 'One station is moved, one goes offline, one is jammed, and one announces a wrong height',
    }),
  },
  { additionalProperties: false },
)

/** Two stations never start in the same moment: each takes a core for a second. */
const apart_ms = 400
const look_ms = 1_000
const brokerLook_ms = 200
const outputLimit_bytes = 64 << 20
const forever_ms = 2 ** 31 - 1

/** Simulated stations for a fleet at a desk: whole stations with a simulated receiver, each a process of its own. */
export default definePlugin({
  name: 'simulated-fleet',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [fleet, embeddedBroker],
  options: Options,

  setup: (_ctx, options) => options,

  start(ctx, _handoff, { stations, incidents }) {
    const all = demoStations(stations, incidents)
    const offline = new AbortController()
    ctx.defer(() => offline.abort())
    const begin = () => {
      const { address } = ctx.services.use(embeddedBroker)
      if (!address) {
        ctx.timers.after(brokerLook_ms, begin)
        return
      }
      for (const [at, station] of all.entries()) {
        const signal = station.incident === 'offline' ? offline.signal : ctx.signal
        ctx.timers.after(at * apart_ms, () => void run(ctx, station, address, signal))
      }
    }
    begin()
    const waiting = new Set(all.filter(({ incident }) => incident !== undefined))
    ctx.timers.every(look_ms, () => {
      const known = ctx.services.use(fleet)
      for (const station of waiting) {
        if (known.station(station.serial)?.verdict !== 'fit') continue
        waiting.delete(station)
        happen(ctx, station, known, offline)
      }
    })
  },
})

async function run(
  ctx: PluginContext,
  station: DemoStation,
  broker: { host: string; port: number },
  signal: AbortSignal,
): Promise<void> {
  const folder = join(ctx.dataDir('stations').path, station.serial)
  mkdirSync(folder, { recursive: true })
  const variant = join(folder, 'variant.json')
  writeFileSync(variant, JSON.stringify(variantOf(station, broker)))
  const args = [process.argv[1] ?? '', 'run', variant, '--data', join(folder, 'data'), '--log', 'error']
  try {
    const options = { timeout_ms: forever_ms, maxOutput_bytes: outputLimit_bytes, signal }
    const { code, stderr } = await ctx.process.execFile(process.execPath, args, options)
    if (!ctx.signal.aborted && code !== 0)
      ctx.log.warn({ serial: station.serial, code, text: stderr.slice(-500) }, 'a simulated station ended')
  } catch (error) {
    if (!signal.aborted) ctx.log.warn({ serial: station.serial, err: error }, 'a simulated station could not run')
  }
}

/** Begins the incident of a station, once it is fit. */
function happen(ctx: PluginContext, { serial, incident }: DemoStation, known: Fleet, offline: AbortController): void {
  ctx.log.info({ serial, incident }, 'an incident begins at a simulated station')
  if (incident === 'offline') {
    offline.abort()
    return
  }
  const command = incident === 'moved' ? 'sim=move 6 6 0' : 'sim=jam 30'
  known
    .command(serial, command, 'simulated-fleet')
    .catch((error: Error) => ctx.log.warn({ serial, err: error }, 'an incident could not be begun'))
}
