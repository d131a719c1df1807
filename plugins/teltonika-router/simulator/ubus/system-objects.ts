/** `system`, `rpc-sys`, `mnfinfo`, `ip_block`: the router itself (reference §3.1, §3.2, §4.2). */
import { done, failed, type Objects, ok, text, ubusStatus } from './object.js'

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
