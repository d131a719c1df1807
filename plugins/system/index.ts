import { badValue, definePlugin, type PluginContext, unavailable } from 'rtk-base/plugin'
import { type Device, device as deviceToken, firmwareInstaller, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { BaseState } from './base-state.js'
import { BootRecord } from './boot-record.js'
import { SystemClock } from './clock.js'
import { machineMemory, processMemory } from './memory.js'
import { SelfTest } from './self-test/index.js'
import { TimeServer } from './time-server.js'
import { VerdictWatch } from './verdict-watch.js'

const Options = Type.Object(
  {
    ntpPort: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 65_535,
      description: 'UDP port of 127.0.0.1 on which the time of the receiver is served for chrony; 0: it is not',
    }),
  },
  { additionalProperties: false },
)

/** The controller itself: `esp`, `base.state`, restarts, the production flag, the system clock. */
export default definePlugin({
  name: 'system',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [deviceToken, station],
  options: Options,

  setup(ctx, options) {
    const device = (): Device => ctx.services.use(deviceToken)
    const record = new BootRecord(ctx)
    const base = new BaseState(ctx)

    const esp = ctx.info.block('esp', {
      static: () => {
        const { version, sha256, built, hardware, partition } = device()
        const running = ctx.services.find(firmwareInstaller)?.running
        return {
          version,
          sha256,
          idf: `node ${process.version}`,
          built,
          serial: ctx.serial,
          hardware,
          partition: running || partition,
          ...record.fields,
        }
      },
      detail: { runtime: () => ({ mem: { internal: processMemory(), spiram: machineMemory() } }) },
    })
    ctx.info.block('esp.state', () => ({ uptime: Math.floor(device().uptime_ms() / 1000) }))
    // The state comes first: its reason is one of the errors.
    const state = ctx.info.block('base.state', () => {
      const { trial } = ctx.services.use(station)
      return { base: base.look(), verdict: verdict.verdict, errors: device().errors(), ...(trial && { trial }) }
    })
    let clock: SystemClock | undefined
    let time: TimeServer | undefined
    ctx.info.block('base.clock', () => ({
      ...(clock?.fields ?? { kept: 'unknown' as const, offset: 0 }),
      served: time?.knows ? time.port : 0,
    }))
    const keepTime = () => {
      clock = new SystemClock(ctx, device())
      clock.start()
      if (options.ntpPort === 0) return
      time = new TimeServer(ctx, device())
      time.start(options.ntpPort)
    }
    const verdict = new VerdictWatch(
      ctx,
      () => base.sending,
      () => state.changed(),
    )

    const reboot = () => {
      restartSoon(ctx, device(), base)
      return 'restarting'
    }
    const factory = async () => {
      await device().factory()
      return 'settings cleared, restarting'
    }
    ctx.commands.add('reboot', 'restarts the device', reboot, { value: false, caution: 'RTCM stops for a minute.' })
    const caution = 'All settings, positions and logs are gone for good. The station may not be reachable afterwards.'
    ctx.commands.add('factory', 'clears settings, references and logs, then restarts', factory, {
      value: false,
      caution,
    })
    const nothing = unavailable('no change is on trial')
    const keep = async () => {
      if (!(await ctx.services.use(station).confirmChange())) throw nothing
      return 'the change is kept'
    }
    const undo = async () => {
      if (!(await ctx.services.use(station).undoChange())) throw nothing
      return 'the values before the change are back'
    }
    ctx.commands.add('confirm-change', 'keeps a change that would be set back', keep, { value: false })
    ctx.commands.add('undo-change', 'sets back a change that waits to be confirmed', undo, { value: false })
    const test = new SelfTest(ctx)
    const tests = { 'start-hardware-test': 'hardware', 'start-production-test': 'production' } as const
    for (const [command, kind] of Object.entries(tests))
      ctx.commands.add(command, `checks everything that the device has (${kind})`, () => test.run(kind), {
        value: false,
      })
    ctx.commands.add('prodflag', 'prodflag=<number> sets the production flag', async ({ arg }) => {
      if (arg === undefined || !/^-?\d{1,9}$/.test(arg)) throw badValue('prodflag=<whole number>')
      await record.setProductionFlag(Number(arg))
      esp.changed()
      return `prodflag=${record.fields.productionflag}`
    })
    return { record, base, esp, verdict, keepTime }
  },

  async start(ctx, handoff, { record, base, esp, verdict, keepTime }) {
    ctx.services.watch(firmwareInstaller, (installer) => installer && ctx.on(installer.onState, () => esp.changed()))
    await record.load(handoff.has('counted'))
    base.watch()
    verdict.watch()
    keepTime()
  },

  stop: () => [['counted', true]],
})

/** The answer goes out first. */
function restartSoon(ctx: PluginContext, device: Device, base: BaseState): void {
  base.stopping = true
  ctx.timers.after(200, async () => {
    try {
      await device.reboot()
    } catch (error) {
      base.stopping = false
      ctx.errors.raise(
        'reboot',
        `the machine could not be restarted: ${(error as Error).message}; check that the service is permitted to`,
      )
    }
  })
}
