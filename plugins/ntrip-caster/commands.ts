import { unseenRefused } from 'rtk-base/ntrip'
import { badValue, type PluginContext } from 'rtk-base/plugin'
import type { Caster } from './caster.js'
import type { Logins } from './logins.js'
import { deleteUser, setUser, userName, userPassword } from './users.js'

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
  const endedText = (connections: number) => {
    if (connections === 0) return ''
    return `, ${connections} ${connections === 1 ? 'connection' : 'connections'} ended`
  }
  ctx.commands.add(
    'ntrip-user',
    'ntrip-user=NAME:PASSWORD[:MOUNT,MOUNT][:CONNECTIONS] sets a rover’s login, ntrip-user=NAME deletes it',
    async ({ arg }) => {
      const [name = '', password, mounts = '', most = '4'] = (arg ?? '').split(':')
      const isName = userName.test(name)
      if (isName && password === undefined) {
        const deleted = await deleteUser(caster, users, name)
        return deleted ? `user ${name} deleted${endedText(deleted.ended)}` : `there is no user ${name}`
      }
      if (!isName || password === undefined || !userPassword.test(password) || !/^[1-9]\d{0,3}$/.test(most))
        throw badValue(
          `ntrip-user=NAME:PASSWORD[:MOUNT,MOUNT][:CONNECTIONS], a password of 4 to 64 printable characters without a colon; ${unseenRefused}`,
        )
      const named = mounts.split(',').filter(Boolean)
      const { ended, unknown } = await setUser(caster, users, { name, password, mounts: named, most: Number(most) })
      const warning = `; unknown mountpoint ${unknown.join(', ')}, available: ${caster.mountNames.join(', ')}`
      return `user ${name} set${endedText(ended)}${unknown.length > 0 ? warning : ''}`
    },
  )
  ctx.commands.add(
    'ntrip-users',
    'lists the rovers’ logins',
    () => {
      const lines = users
        .list()
        .map(
          ({ name, mounts, most }) => `${name}: ${mounts.join(', ') || 'every mountpoint'}, at most ${most} at a time`,
        )
      return lines.join('\n') || 'no users'
    },
    { value: false },
  )
}

/** The mountpoints that other bases may push to. */
function addBaseCommands(ctx: PluginContext, { caster, bases }: Owners): void {
  ctx.commands.add(
    'ntrip-base',
    'ntrip-base=MOUNT:PASSWORD lets another base push to this mountpoint, ntrip-base=MOUNT deletes the mountpoint',
    async ({ arg }) => {
      const [, mount = '', password] = /^([^:]*)(?::(.*))?$/s.exec(arg ?? '') ?? []
      const isName = /^[A-Za-z0-9_.-]{1,32}$/.test(mount)
      if (isName && password === undefined) {
        const isGone = await bases.delete(mount)
        caster.basesChanged()
        return isGone ? `mountpoint ${mount} deleted` : `no base may push to ${mount}`
      }
      if (!isName || !userPassword.test(password ?? ''))
        throw badValue(
          `ntrip-base=MOUNT:PASSWORD, a password of 4 to 64 printable characters without a space; ${unseenRefused}`,
        )
      if (caster.isOwn(mount)) throw badValue(`${mount} is a mountpoint of the station itself: choose another name`)
      await bases.set(mount, password as string, [mount], 1)
      caster.basePasswordChanged(mount)
      return `a base can now push to ${mount}`
    },
  )
  ctx.commands.add(
    'ntrip-bases',
    'lists the mountpoints that other bases may push to',
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
  ctx.commands.add(
    'ntrip-kick',
    'ntrip-kick=ID ends the connection of a rover (the IDs are in ntrip.caster.rovers of the status document)',
    ({ arg }) => {
      if (arg === undefined || !/^\d{1,12}$/.test(arg)) throw badValue('ntrip-kick=ID')
      return caster.rovers.kick(Number(arg)) ? `rover ${arg} is disconnected` : `there is no rover ${arg}`
    },
  )
}
