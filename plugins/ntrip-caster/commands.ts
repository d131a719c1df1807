import { badValue, type PluginContext } from 'rtk-base/plugin'
import type { Caster } from './caster.js'
import type { Logins } from './logins.js'

/** Rovers that the command lists. */
const mostListed = 500

interface Owners {
  readonly caster: Caster
  readonly users: Logins
  readonly bases: Logins
}

export function addCommands(ctx: PluginContext, owners: Owners): void {
  addUserCommands(ctx, owners)
  addBaseCommands(ctx, owners)
  addRoverCommands(ctx, owners)
}

/** The logins of rovers. */
function addUserCommands(ctx: PluginContext, { caster, users }: Owners): void {
  /** A changed or deleted login takes effect at once: its clients must log in again. */
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
      const warning = `; unknown mount point ${absent.join(', ')}, available: ${mountNames.join(', ')}`
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
          ({ name, mounts, most }) => `${name}: ${mounts.join(', ') || 'every mount point'}, at most ${most} at a time`,
        )
      return lines.join('\n') || 'no users'
    },
    { value: false },
  )
}

/** The mount points that other bases may push to. */
function addBaseCommands(ctx: PluginContext, { caster, bases }: Owners): void {
  ctx.commands.add(
    'ntrip-base',
    'ntrip-base=MOUNT:PASSWORD lets another base push to this mount point, ntrip-base=MOUNT deletes the mount point',
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
      return `a base can now push to ${mount}`
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
}

function addRoverCommands(ctx: PluginContext, { caster }: Owners): void {
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
}
