import { selectionTrouble } from 'rtk-base/ntrip'
import { definePlugin, RtkError } from 'rtk-base/plugin'
import { device, localNetwork } from 'rtk-base/services'
import { Type } from 'typebox'
import { Caster } from './caster.js'
import { addCommands } from './commands.js'
import { StoredLogins } from './logins/stored.js'
import { CasterOptions } from './options.js'
import { userRoutes } from './routes.js'

/** Mountpoints that foreign bases may push to. */
const mostBases = 8
const flag = Type.Integer({ minimum: 0, maximum: 1 })

/** An NTRIP caster in the station: rovers of the local network, or of the world, take the gated stream from it. */
export default definePlugin({
  name: 'ntrip-caster',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [localNetwork, device],
  options: CasterOptions,

  setup(ctx, options) {
    for (const mount of options.mounts ?? []) {
      const trouble = selectionTrouble(mount)
      if (trouble) throw new RtkError('RTK_ERR_PLUGIN_OPTIONS', `ntrip-caster: mountpoint ${mount.name} ${trouble}`)
    }
    const enabled = ctx.config.define('ntrip-caster-en', flag, { default: 1, title: 'NTRIP caster' })
    const port = ctx.config.define(
      'ntrip-caster-port',
      Type.Integer({ minimum: 0, maximum: 65_535, description: '0: any free port' }),
      {
        default: 2101,
        title: 'NTRIP caster: port',
      },
    )
    const anonymousFlag = Type.Integer({
      minimum: 0,
      maximum: 1,
      description: 'On: rovers in the local network need no login, even if logins are set',
    })
    const anonymous = ctx.config.define('ntrip-caster-anonymous', anonymousFlag, {
      default: 0,
      title: 'NTRIP caster: rovers need no login',
    })
    const users = new StoredLogins(ctx, 'users')
    const bases = new StoredLogins(ctx, 'bases', mostBases)
    const caster = new Caster(ctx, options, { users, bases, anonymous: () => anonymous.get() === 1 })
    ctx.config.onChange([enabled.name, port.name], async () => {
      if (enabled.get() === 0) caster.close()
      else await caster.move(port.get())
    })
    ctx.info.block('ntrip.caster', () => caster.block(enabled.get() === 1))
    ctx.banner('NTRIP', () => {
      const { address } = caster
      const own = caster.mounts.names.find((name) => caster.mounts.isOwn(name))
      return address ? `port ${address.port}${own ? `, mountpoint ${own}` : ''}` : ''
    })

    addCommands(ctx, { caster, users, bases })
    userRoutes(ctx, { caster, users, anonymous: () => anonymous.get() === 1 })
    ctx.metrics.gauge({
      name: 'ntrip_caster_rovers',
      help: 'Rovers connected.',
      collect: (gauge) => gauge.set(caster.rovers.size),
    })
    return { caster, users, bases, enabled, port }
  },

  async start(_ctx, _handoff, { caster, users, bases, enabled, port }) {
    await users.load()
    await bases.load()
    caster.start(port.get(), enabled.get() === 1)
  },
})
