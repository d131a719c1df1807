import { badValue, definePlugin } from 'rtk-base/plugin'
import { device, localNetwork, rtcmStream } from 'rtk-base/services'
import { Type } from 'typebox'
import { Caster } from './caster.js'
import { Logins } from './logins.js'
import { CasterOptions } from './options.js'

/** Mount points that foreign bases may push to. */
const mostBases = 8
/** Rovers that the command lists. */
const mostListed = 500
const flag = Type.Integer({ minimum: 0, maximum: 1 })

/** An NTRIP caster in the station: rovers of the local network, or of the world, take the gated stream from it. */
export default definePlugin({
  name: 'ntrip-caster',
  version: '1.0.0',
  api: '^1.1.0',
  needs: [rtcmStream, localNetwork, device],
  options: CasterOptions,

  setup(ctx, options) {
    const enabled = ctx.config.define('ntrip-caster-en', flag, { default: 1, title: 'NTRIP caster' })
    const port = ctx.config.define('ntrip-caster-port', Type.Integer({ minimum: 0, maximum: 65_535 }), {
      default: 2101,
      title: 'NTRIP caster: port',
    })
    const anonymous = ctx.config.define('ntrip-caster-anonymous', flag, {
      default: 0,
      title: 'NTRIP caster: rovers need no login',
    })
    const users = new Logins(ctx, 'users')
    const bases = new Logins(ctx, 'bases', mostBases)
    const caster = new Caster(ctx, options, { users, bases, anonymous: () => anonymous.get() === 1 })
    ctx.config.onChange([enabled.name, port.name], async () => {
      if (enabled.get() === 0) caster.close()
      else await caster.move(port.get())
    })
    ctx.info.block('ntrip.caster', () => caster.block(enabled.get() === 1))
    ctx.banner('NTRIP', () => {
      const { address } = caster
      return address ? `port ${address.port}, mount point ${options.mounts?.[0]?.name ?? ctx.serial}` : ''
    })

    /** A login that was changed or deleted counts at once: who has connected with it has to log in again. */
    const ended = (user: string) => {
      const connections = caster.rovers.endUser(user)
      if (connections === 0) return ''
      return `, ${connections} ${connections === 1 ? 'connection' : 'connections'} ended`
    }
    ctx.commands.add(
      'ntrip-user',
      'ntrip-user=NAME:PASSWORD[:MOUNT,MOUNT][:CONNECTIONS] sets a rover’s login, ntrip-user=NAME deletes it',
      async ({ arg }) => {
        const [name = '', password, mounts = '', most = '4'] = (arg ?? '').split(':')
        const isName = /^[A-Za-z0-9_.@-]{1,64}$/.test(name)
        if (isName && password === undefined)
          return (await users.delete(name)) ? `user ${name} deleted${ended(name)}` : `there is no user ${name}`
        if (!isName || password === undefined || !/^[!-~]{4,64}$/.test(password) || !/^[1-9]\d{0,3}$/.test(most))
          throw badValue(
            'ntrip-user=NAME:PASSWORD[:MOUNT,MOUNT][:CONNECTIONS], a password of 4 to 64 printable characters without a colon',
          )
        const named = mounts.split(',').filter(Boolean)
        await users.set(name, password, named, Number(most))
        // Mount points may come later: of another base, or with the next version of the variant.
        const { mountNames } = caster
        const absent = named.filter((mount) => !mountNames.includes(mount))
        const warning = `; there is no mount point ${absent.join(', ')} now, only ${mountNames.join(', ')}`
        return `user ${name} set${ended(name)}${absent.length > 0 ? warning : ''}`
      },
    )
    ctx.commands.add(
      'ntrip-users',
      'lists the rovers’ logins',
      () => {
        const lines = users
          .list()
          .map(
            ({ name, mounts, most }) =>
              `${name}: ${mounts.join(', ') || 'every mount point'}, at most ${most} at a time`,
          )
        return lines.join('\n') || 'no users'
      },
      { value: false },
    )
    ctx.commands.add(
      'ntrip-base',
      'ntrip-base=MOUNT:PASSWORD lets another base push to a mount point of its own, ntrip-base=MOUNT deletes that',
      async ({ arg }) => {
        const [, mount = '', password] = /^([^:]*)(?::(.*))?$/s.exec(arg ?? '') ?? []
        const isName = /^[A-Za-z0-9_.-]{1,32}$/.test(mount)
        if (isName && password === undefined) {
          const isGone = await bases.delete(mount)
          caster.basesChanged()
          return isGone ? `mount point ${mount} deleted` : `no base may push to ${mount}`
        }
        if (!isName || !/^[!-~]{4,64}$/.test(password ?? ''))
          throw badValue('ntrip-base=MOUNT:PASSWORD, a password of 4 to 64 printable characters without a space')
        if (caster.isOwn(mount)) throw badValue(`${mount} is a mount point of the station itself: choose another name`)
        await bases.set(mount, password as string, [mount], 1)
        caster.basePasswordChanged(mount)
        return `a base may push to ${mount}`
      },
    )
    ctx.commands.add(
      'ntrip-bases',
      'lists the mount points that other bases may push to',
      () =>
        bases
          .list()
          .map(({ name }) => name)
          .join('\n') || 'none',
      { value: false },
    )
    ctx.commands.add(
      'ntrip-rovers',
      'lists the rovers that are connected',
      () => caster.rovers.list().slice(-mostListed).join('\n') || 'none',
      { value: false },
    )
    ctx.commands.add('ntrip-kick', 'ntrip-kick=ID ends the connection of a rover (ntrip.caster.rovers)', ({ arg }) => {
      if (arg === undefined || !/^\d{1,12}$/.test(arg)) throw badValue('ntrip-kick=ID')
      return caster.rovers.kick(Number(arg)) ? `rover ${arg} is disconnected` : `there is no rover ${arg}`
    })
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
