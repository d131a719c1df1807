import { definePlugin, type PluginContext, unavailable } from 'rtk-base/plugin'
import { simulatedRouter } from 'rtk-base/services'
import { Type } from 'typebox'
import { RouterOptions } from './options.js'
import { SimulatedTeltonika } from './router.js'

/** The router answers at the same address after a reload. */
const Port = Type.Integer({ minimum: 1, maximum: 65_535 })
const PortsSchema = Type.Object({ plain: Port, tls: Type.Optional(Port) })

/** A Teltonika router of either generation behind a real HTTP server on the loopback. */
export default definePlugin({
  name: 'simulated-router',
  version: '1.0.0',
  api: '^1.0.0',
  options: RouterOptions,
  provides: [simulatedRouter],

  setup(ctx, options) {
    const holder: { router?: SimulatedTeltonika } = {}
    const running = () => {
      if (holder.router) return holder.router
      throw unavailable('the simulated router is not running yet')
    }
    ctx.services.provide(simulatedRouter, {
      get url() {
        return running().url
      },
      get credentials() {
        return running().credentials
      },
      command: (line) => running().command(line),
      describe: () => running().describe(),
    })
    ctx.action({
      name: 'sim-router',
      summary: 'sim-router=LINE controls the simulated router (help lists the lines)',
      input: { line: Type.Optional(Type.String()) },
      run: ({ input }) => running().command(input.line ?? ''),
    })
    return { holder, options }
  },

  async start(ctx, handoff, { holder, options }) {
    const ports = handoff.get('ports', PortsSchema)
    holder.router = await SimulatedTeltonika.start({
      ...options,
      clock: clockOf(ctx),
      network: ctx.net,
      ...(ports && { ports }),
    })
    ctx.status(`listens at ${holder.router.url}`)
  },

  async stop(_reason, { holder: { router } }) {
    if (!router) return []
    const { ports } = router
    await router.close()
    return [['ports', ports]]
  },
})

const clockOf = ({ clock, timers }: PluginContext) => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  after: (ms: number, fn: () => void) => timers.after(ms, fn),
})
