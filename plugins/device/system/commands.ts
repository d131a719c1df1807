import { type PluginContext, type Source, unavailable } from 'rtk-base/plugin'
import { device, station } from 'rtk-base/services'
import { Type } from 'typebox'
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
  const reboot = () => {
    const begun = ctx.services.use(device).reboot(answer_ms)
    void begun.catch(({ message: reason }: Error) => ctx.errors.while('reboot', { reason }))
    return 'restarting'
  }
  const shutdown = ({ source }: { source: Source }) => {
    // From afar nobody could switch it on again.
    if (source === 'mqtt') throw unavailable('a station is switched off on its page or over HTTP only, not over MQTT')
    const begun = ctx.services.use(device).shutDown(answer_ms)
    void begun.catch(({ message: reason }: Error) => ctx.errors.while('shutdown', { reason }))
    return 'switching off'
  }
  const factory = async () => {
    await ctx.services.use(device).factory()
    return 'settings cleared, restarting'
  }
  ctx.action({
    name: 'reboot',
    summary: 'restarts the device',
    caution: 'RTCM stops for a minute.',
    run: reboot,
  })
  ctx.action({
    name: 'shutdown',
    summary: 'switches the device off',
    caution: 'RTCM stops. To start it again, somebody has to switch the power off and on.',
    run: shutdown,
  })
  ctx.action({
    name: 'factory',
    summary: 'clears settings, references and logs, but not the protected store, then restarts',
    caution: 'All settings, positions and logs are permanently deleted. The station may not be reachable afterwards.',
    run: factory,
  })
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
  ctx.action({ name: 'confirm-change', summary: 'keeps the provisional change', run: keep })
  ctx.action({ name: 'undo-change', summary: 'reverts the provisional change', run: undo })
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
  for (const [name, kind, summary] of tests) ctx.action({ name, summary, run: () => test.run(kind) })
  ctx.action({
    name: 'prodflag',
    summary: 'prodflag=<number> stores a number for your production line',
    input: { number: Type.Integer({ minimum: -999_999_999, maximum: 999_999_999 }) },
    usage: 'prodflag=<whole number>',
    async run({ input }) {
      await record.setProductionFlag(input.number)
      changed()
      return `prodflag=${record.fields.productionflag}`
    },
  })
}
