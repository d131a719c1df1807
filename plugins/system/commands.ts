import { badValue, type CommandCall, type PluginContext, unavailable } from 'rtk-base/plugin'
import { device, station } from 'rtk-base/services'
import type { BootRecord } from './boot-record.js'
import { SelfTest } from './self-test/index.js'

/** Delay before a restart, so that the answer can be sent. */
const answer_ms = 200

/** @param changed the record was changed */
export function addCommands(ctx: PluginContext, record: BootRecord, changed: () => void): void {
  addRestarts(ctx)
  addTrialCommands(ctx)
  addChecks(ctx, record, changed)
}

function addRestarts(ctx: PluginContext): void {
  const refused = (what: string, { message: reason }: Error) => ({
    text: `the machine could not be ${what}: ${reason}`,
    advice: 'check that the service is permitted to',
    values: { reason },
  })
  const reboot = () => {
    const begun = ctx.services.use(device).reboot(answer_ms)
    void begun.catch((error: Error) => ctx.errors.raise('reboot', refused('restarted', error)))
    return 'restarting'
  }
  const shutdown = ({ source }: CommandCall) => {
    // From afar nobody could switch it on again.
    if (source === 'mqtt') throw unavailable('a station is switched off on its page or over HTTP only, not over MQTT')
    const begun = ctx.services.use(device).shutDown(answer_ms)
    void begun.catch((error: Error) => ctx.errors.raise('shutdown', refused('switched off', error)))
    return 'switching off'
  }
  const factory = async () => {
    await ctx.services.use(device).factory()
    return 'settings cleared, restarting'
  }
  ctx.commands.add('reboot', 'restarts the device', reboot, { value: false, caution: 'RTCM stops for a minute.' })
  ctx.commands.add('shutdown', 'switches the device off', shutdown, {
    value: false,
    caution: 'RTCM stops. To start it again, somebody has to switch the power off and on.',
  })
  const caution =
    'All settings, positions and logs are permanently deleted. The station may not be reachable afterwards.'
  ctx.commands.add(
    'factory',
    'clears settings, references and logs, but not the protected store, then restarts',
    factory,
    { value: false, caution },
  )
}

/** Commands that end a provisional change. */
function addTrialCommands(ctx: PluginContext): void {
  const nothing = unavailable('no change is on trial')
  const keep = async () => {
    if (!(await ctx.services.use(station).confirmChange())) throw nothing
    return 'the change is kept'
  }
  const undo = async () => {
    if (!(await ctx.services.use(station).undoChange())) throw nothing
    return 'the values before the change are back'
  }
  ctx.commands.add('confirm-change', 'keeps the provisional change', keep, { value: false })
  ctx.commands.add('undo-change', 'reverts the provisional change', undo, { value: false })
}

function addChecks(ctx: PluginContext, record: BootRecord, changed: () => void): void {
  const test = new SelfTest(ctx)
  const tests = [
    ['start-hardware-test', 'hardware', 'checks all hardware; missing parts are skipped'],
    [
      'start-production-test',
      'production',
      'makes the same checks for a production line: a missing receiver, RTCM, reference, clock or broker fails',
    ],
  ] as const
  for (const [command, kind, text] of tests) ctx.commands.add(command, text, () => test.run(kind), { value: false })
  ctx.commands.add('prodflag', 'prodflag=<number> stores a number for your production line', async ({ arg }) => {
    if (arg === undefined || !/^-?\d{1,9}$/.test(arg)) throw badValue('prodflag=<whole number>')
    await record.setProductionFlag(Number(arg))
    changed()
    return `prodflag=${record.fields.productionflag}`
  })
}
