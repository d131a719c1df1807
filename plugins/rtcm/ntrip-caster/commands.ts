import { unseenRefused } from 'rtk-base/ntrip'
import { badValue, type PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'
import type { Caster } from './caster.js'
import type { StoredLogins } from './logins/stored.js'
import { deleteUser, setUser, userName, userPassword } from './users.js'

/** Rovers that the command lists. */
const mostListed = 500

interface Owners {
  readonly caster: Caster
  readonly users: StoredLogins
  readonly bases: StoredLogins
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
  const usage = `ntrip-user=NAME:PASSWORD[:MOUNT,MOUNT][:CONNECTIONS], a password of 4 to 64 printable characters without a colon; ${unseenRefused}`
  ctx.action({
    name: 'ntrip-user',
    summary: 'ntrip-user=NAME:PASSWORD[:MOUNT,MOUNT][:CONNECTIONS] sets a rover’s login, ntrip-user=NAME deletes it',
    input: { login: Type.String({ writeOnly: true }) },
    usage,
    run: async ({ input }) => {
      const [name = '', password, mounts = '', most = '4'] = input.login.split(':')
      const isName = userName.test(name)
      if (isName && password === undefined) {
        const deleted = await deleteUser(caster, users, name)
        return deleted ? `user ${name} deleted${endedText(deleted.ended)}` : `there is no user ${name}`
      }
      if (!isName || password === undefined || !userPassword.test(password) || !/^[1-9]\d{0,3}$/.test(most))
        throw badValue(usage)
      const named = mounts.split(',').filter(Boolean)
      const { ended, unknown } = await setUser(caster, users, { name, password, mounts: named, most: Number(most) })
      const warning = `; unknown mountpoint ${unknown.join(', ')}, available: ${caster.mounts.names.join(', ')}`
      return `user ${name} set${endedText(ended)}${unknown.length > 0 ? warning : ''}`
    },
  })
  ctx.action({
    name: 'ntrip-users',
    summary: 'lists the rovers’ logins',
    run: () => {
      const lines = users
        .list()
        .map(
          ({ name, mounts, most }) => `${name}: ${mounts.join(', ') || 'every mountpoint'}, at most ${most} at a time`,
        )
      return lines.join('\n') || 'no users'
    },
  })
}

/** The mountpoints that other bases may push to. */
function addBaseCommands(ctx: PluginContext, { caster, bases }: Owners): void {
  const usage = `ntrip-base=MOUNT:PASSWORD, a password of 4 to 64 printable characters without a space; ${unseenRefused}`
  ctx.action({
    name: 'ntrip-base',
    summary:
      'ntrip-base=MOUNT:PASSWORD lets another base push to this mountpoint, ntrip-base=MOUNT deletes the mountpoint',
    input: { login: Type.String({ writeOnly: true }) },
    usage,
    run: async ({ input }) => {
      const [, mount = '', password] = /^([^:]*)(?::(.*))?$/s.exec(input.login) ?? []
      const isName = /^[A-Za-z0-9_.-]{1,32}$/.test(mount)
      if (isName && password === undefined) {
        const isGone = await bases.delete(mount)
        caster.mounts.basesChanged()
        return isGone ? `mountpoint ${mount} deleted` : `no base may push to ${mount}`
      }
      if (!isName || !userPassword.test(password ?? '')) throw badValue(usage)
      if (caster.mounts.isOwn(mount))
        throw badValue(`${mount} is a mountpoint of the station itself: choose another name`)
      await bases.set(mount, password as string, [mount], 1)
      caster.mounts.basePasswordChanged(mount)
      return `a base can now push to ${mount}`
    },
  })
  ctx.action({
    name: 'ntrip-bases',
    summary: 'lists the mountpoints that other bases may push to',
    run: () =>
      bases
        .list()
        .map(({ name }) => name)
        .join('\n') || 'none',
  })
}

function addRoverCommands(ctx: PluginContext, { caster }: Owners): void {
  ctx.action({
    name: 'ntrip-rovers',
    summary: 'lists the rovers that are connected',
    run: () => caster.rovers.list().slice(-mostListed).join('\n') || 'none',
  })
  ctx.action({
    name: 'ntrip-kick',
    summary: 'ntrip-kick=ID ends the connection of a rover (the IDs are in ntrip.caster.rovers of the status document)',
    input: { id: Type.Integer({ minimum: 0, maximum: 999_999_999_999 }) },
    usage: 'ntrip-kick=ID',
    run: ({ input: { id } }) => (caster.rovers.kick(id) ? `rover ${id} is disconnected` : `there is no rover ${id}`),
  })
}
