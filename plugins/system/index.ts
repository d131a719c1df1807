import { badValue, definePlugin, unavailable } from 'rtk-base/plugin'
import { type Device, device as deviceToken, firmwareInstaller, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { BootRecord } from './boot-record.js'
import { SystemClock } from './clock.js'
import { machineMemory, processMemory } from './memory.js'
import { SelfTest } from './self-test/index.js'
import { TimeServer } from './time-server.js'

/** Until a restart: the answer to whoever asked for it has to leave. */
const answer_ms = 200

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

/** The controller itself: `esp`, what is wrong with it, restarts, the production flag, the system clock. */
export default definePlugin({
  name: 'system',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [deviceToken, station],
  options: Options,

  setup(ctx, options) {
    const device = (): Device => ctx.services.use(deviceToken)
    const record = new BootRecord(ctx)

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
    ctx.info.block('base.state.errors', () =>
      device()
        .errors()
        .map(({ code, text, t }) => ({ code, text, t })),
    )
    ctx.info.block('base.state.trial', () => ctx.services.use(station).trial)
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

    const reboot = () => {
      void device()
        .reboot(answer_ms)
        .catch((error: Error) => {
          const text = `the machine could not be restarted: ${error.message}`
          ctx.errors.raise('reboot', { text, advice: 'check that the service is permitted to' })
        })
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
    return { record, esp, keepTime }
  },

  async start(ctx, handoff, { record, esp, keepTime }) {
    ctx.services.watch(firmwareInstaller, (installer) => installer && ctx.on(installer.onState, () => esp.changed()))
    await record.load(handoff.has('counted'))
    keepTime()
  },

  stop: () => [['counted', true]],
})
