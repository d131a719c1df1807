import { definePlugin } from 'rtk-base/plugin'
import { type Device, device as deviceToken, firmwareInstaller, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { BootRecord } from './boot-record.js'
import { SystemClock } from './clock.js'
import { addCommands } from './commands.js'
import { MachineHealth } from './machine.js'
import { machineMemory, processMemory } from './memory.js'
import { TimeServer } from './time-server.js'

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

const StationName = Type.String({
  maxLength: 64,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'Shown on the page, in Home Assistant, and when the station is announced in the network',
})

/** The controller itself: `esp`, its errors, restarts, the production flag, the system clock. */
export default definePlugin({
  name: 'system',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['reboot', 'factory', 'start-production-test', 'start-hardware-test', 'prodflag'],
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
    const name = ctx.config.define('station-name', StationName, { default: '', title: 'Name of the station' })
    ctx.info.block('base.name', () => name.get())
    ctx.info.block('esp.state', () => ({ uptime: Math.floor(device().uptime_ms() / 1000) }))
    ctx.info.block('base.state.errors', () =>
      device()
        .errors()
        .map(({ code, text, values, t }) => ({ code, text, ...(values && { values }), t })),
    )
    const machine = new MachineHealth(ctx)
    ctx.info.block('base.machine', { runtime: () => machine.fields })
    ctx.info.block('base.state.trial', () => ctx.services.use(station).trial)
    let clock: SystemClock | undefined
    let time: TimeServer | undefined
    ctx.info.block('base.clock', () => ({
      ...(clock?.fields ?? { kept: 'unknown' as const, offset: 0 }),
      served: time?.knows ? time.port : 0,
    }))
    const keepTime = async () => {
      clock = new SystemClock(ctx, device())
      clock.start()
      if (options.ntpPort === 0) return
      time = new TimeServer(ctx, device())
      await time.start(options.ntpPort)
    }

    addCommands(ctx, record, () => esp.changed())
    return { record, esp, keepTime, machine }
  },

  async start(ctx, handoff, { record, esp, keepTime, machine }) {
    ctx.services.watch(firmwareInstaller, (installer) => installer && ctx.on(installer.onState, () => esp.changed()))
    await record.load(handoff.has('counted'))
    await keepTime()
    await machine.read()
  },

  stop: () => [['counted', true]],
})
