/** `session`: the one object that the null session may use (reference §2). */
import type { Session } from '../device/sessions.js'
import { type Call, done, failed, ok, text, type UbusObject, ubusStatus } from './object.js'

const acls = {
  'access-group': { superuser: ['read', 'write'], unauthenticated: ['read'] },
  ubus: { '*': ['*'], session: ['access', 'login'] },
  uci: { '*': ['read', 'write'] },
  file: { '*': ['read', 'write', 'exec'] },
}

const shown = ({ id, user, life_s, usedAt_ms }: Session, { device }: Call) => ({
  ubus_rpc_session: id,
  timeout: life_s,
  expires: life_s === 0 ? 0 : Math.max(0, Math.round(life_s - (device.clock.monotonic() - usedAt_ms) / 1000)),
  acls,
  data: { username: user, ...(device.firmware.legacy ? {} : { group: 'root' }) },
})

/** What the null session may call. */
export const isFree = (object: string, method: string) =>
  object === 'session' && (method === 'access' || method === 'login')

export const sessionObject: UbusObject = {
  methods: {
    login: (args, call) => {
      const [user, pswd] = [text(args, 'username'), text(args, 'password')]
      if (user === undefined || pswd === undefined) return failed(ubusStatus.invalidArgument)
      const { device, address } = call
      if (!device.login(user, pswd, address)) return failed(ubusStatus.permissionDenied)
      const life_s = typeof args.timeout === 'number' && args.timeout >= 0 ? args.timeout : device.options.sessionLife_s
      return ok(shown(device.sessions.create(user, life_s), call))
    },
    access: (args, { session }) => {
      const [scope, object, method] = [text(args, 'scope'), text(args, 'object'), text(args, 'function')]
      if (scope === undefined || object === undefined || method === undefined) return ok(session ? { ...acls } : {})
      return ok({ access: session !== undefined || (scope === 'ubus' && isFree(object, method)) })
    },
    list: (_args, call) => (call.session ? ok(shown(call.session, call)) : failed(ubusStatus.notFound)),
    destroy: (_args, { device, sid }) => (device.sessions.end(sid) ? done : failed(ubusStatus.notFound)),
  },
}
