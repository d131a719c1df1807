import { readRecordSync } from 'rtk-base/files'
import { definePlugin, RtkError } from 'rtk-base/plugin'
import { device, fleet, fleetAccess, fleetBroker, fleetDatabase, fleetRovers, mountSource } from 'rtk-base/services'
import { Type } from 'typebox'
import { Accounts } from './accounts/accounts.js'
import { Connections } from './accounts/connections.js'
import { accountRoutes } from './accounts/routes.js'
import { BaseRovers } from './bases/base-rovers.js'
import { Bases } from './bases/bases.js'
import { Signatures } from './bases/signatures.js'
import { Delivery } from './delivery.js'
import { addMetrics } from './metrics.js'
import { Near } from './near/near.js'
import { FleetCasterOptions } from './options.js'
import { FleetMounts } from './source.js'
import { deliveryRoute, Upkeep } from './upkeep.js'

const HandedSigners = Type.Array(Type.Object({ serial: Type.String(), sequence: Type.Number() }))

/** The mountpoints and accounts of a fleet, for ntrip-caster: every fit station by its name, and the nearest one. */
export default definePlugin({
  name: 'fleet-caster',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [fleetBroker, fleetDatabase, fleet, fleetAccess, device],
  provides: [mountSource, fleetRovers],
  options: FleetCasterOptions,

  setup(ctx, settings) {
    const utc_ms = () => ctx.services.use(device).utc_ms()
    const signatures = new Signatures(authoritiesOf(settings.authorities), settings.maxAge_s, utc_ms)
    const delivery = new Delivery(() => ctx.services.use(fleetDatabase))
    const connections = new Connections(ctx)
    const accounts = new Accounts(ctx, utc_ms, () => connections.accounts())
    const metrics = addMetrics(ctx)
    const bases = new Bases(ctx, settings, {
      ...{ ctx, settings, signatures, utc_ms },
      ...{ refused: metrics.refused, garbage: metrics.garbage, relayed: metrics.relayed },
      record: (serial, kind, text) => {
        const isNew = ctx.services.use(fleet).recordRarely({ serial, kind: 'caster', text, by: '' }, kind)
        if (isNew) ctx.log.warn({ base: serial, kind }, `RTCM of a base is refused: ${text}`)
      },
      delivery: (serial) => delivery.of(serial),
    })
    const near = new Near(ctx, settings, bases, metrics.moved)
    const mounts = new FleetMounts(settings.anonymous, bases, near, accounts, connections)
    metrics.watch({ subscribed: () => bases.subscribed, rovers: () => mounts.rovers })
    const rovers = new BaseRovers(ctx, () => bases.rovers())
    const upkeep = new Upkeep(ctx, { delivery, signatures, connections, rovers, days: settings.deliveryDays, utc_ms })

    ctx.services.provide(mountSource, mounts)
    ctx.services.provide(fleetRovers, rovers)
    accountRoutes(ctx, {
      accounts,
      near: () => near.rovers(),
      connections: () => mounts.list(),
      why: (mount) => mounts.why(mount),
    })
    deliveryRoute(ctx, delivery, utc_ms)
    return { signatures, accounts, connections, bases, rovers, near, upkeep }
  },

  start(_ctx, handoff, { signatures, accounts, connections, bases, rovers, near, upkeep }) {
    const handed = handoff.get('signers', HandedSigners)
    if (handed) signatures.begin(handed)
    accounts.start()
    connections.start(handoff.get('instance', Type.String()))
    bases.start()
    rovers.start()
    near.start()
    upkeep.start()
  },

  async stop(reason, { signatures, connections, bases, rovers, upkeep }) {
    bases.stop()
    await upkeep.store()
    await rovers.stop()
    if (reason !== 'reload') await connections.stop()
    return [
      ['signers', signatures.all()],
      ['instance', connections.instance],
    ]
  },
})

function authoritiesOf(file: string): string {
  if (!file) return ''
  try {
    return readRecordSync(file)
  } catch (error) {
    throw new RtkError('RTK_ERR_PLUGIN_OPTIONS', `fleet-caster.authorities: ${(error as Error).message}`)
  }
}
