/** `session` (the one object that the null session may use, reference §2), and the objects of the system. */
import type { Session } from '../device/logins.js'
import { type Call, done, failed, type Objects, ok, text, type UbusObject, ubusStatus } from './object.js'

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

/** Calls allowed to the null session. */
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

/** Restart and factory reset act after that, unless they act at once. */
const delay_ms = 2_000

export const systemObjects: Objects = {
  system: {
    methods: {
      info: (_args, { device }) =>
        ok({
          localtime: device.time_s,
          uptime: device.uptime_s,
          load: [9_184, 12_096, 8_416],
          memory: {
            total: 255_639_552,
            free: 141_897_728,
            shared: 1_187_840,
            buffered: 6_365_184,
            ...(device.firmware.legacy ? {} : { available: 139_804_672, cached: 42_127_360 }),
          },
          swap: { total: 0, free: 0 },
        }),
      board: (_args, { device: { firmware, identity } }) =>
        ok({
          kernel: firmware.legacy ? '3.18.44' : '5.4.147',
          hostname: `Teltonika-${identity.model}`,
          system: 'ARMv7 Processor rev 5 (v7l)',
          model: `${firmware.family} STM32`,
          board_name: `teltonika,${firmware.family.toLowerCase()}`,
          release: {
            distribution: 'OpenWrt',
            version: firmware.legacy ? '15.05' : '21.02.0',
            revision: firmware.legacy ? 'unknown' : 'r16279-5cc0535800',
            target: 'ipq40xx/generic',
            description: 'OpenWrt',
          },
        }),
    },
  },
  'rpc-sys': {
    methods: {
      reboot: (args, { device }) => {
        const rutos = device.firmware.minor >= 13
        // Without `safe` these restart at once: the answer is lost.
        const at_ms = rutos && args.safe !== true ? 0 : delay_ms
        if (at_ms === 0) device.onPower('reboot', device.options.reboot_s)
        else device.delays.after(at_ms, () => device.onPower('reboot', device.options.reboot_s))
        return rutos ? ok({ res: '0' }) : done
      },
      factory: (_args, { device }) => {
        device.delays.after(delay_ms, () => device.onPower('factory', device.options.flash_s))
        return done
      },
    },
  },
  mnfinfo: {
    present: ({ firmware }) => !firmware.legacy,
    methods: {
      get: (_args, { device: { identity } }) => {
        const { mac, macEth, name, serial, hwver, batch, blver } = identity
        return ok({ mnfinfo: { mac, macEth, name, serial, hwver, batch, blver } })
      },
    },
  },
  ip_block: {
    present: ({ firmware }) => !firmware.legacy,
    methods: {
      show: (_args, { device: { loginBlock } }) => ok({ blocked: loginBlock.blocked.map((ip) => ({ ip })) }),
      unblock: (args, { device }) => {
        const ip = text(args, 'ip')
        if (ip === undefined) return failed(ubusStatus.invalidArgument)
        device.loginBlock.unblock(ip)
        return done
      },
    },
  },
}
