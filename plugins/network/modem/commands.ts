import { pause } from 'rtk-base/link'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { type Access, reasonOf } from './access.js'
import type { Jobs } from './jobs.js'
import type { OperatorScan } from './operator/scan.js'

/** A modem has started again by then. */
const boot_ms = 30_000

interface Work {
  readonly access: Access
  readonly jobs: Jobs
  readonly scan: OperatorScan
}

/** The scan for operators, and the restart of the modem. */
export function addCommands(ctx: PluginContext, { access, jobs, scan }: Work): void {
  const reboot = async () => {
    try {
      await access.modem.reboot(ctx.signal)
      await pause(ctx.timers, boot_ms)
    } catch (error) {
      ctx.errors.while('modem-reboot', { reason: reasonOf(error) })
    }
  }
  ctx.action({
    name: 'mobile-scan',
    summary: 'starts a scan for mobile operators, which takes about 200 s',
    caution: 'The mobile connection is lost for about 200 s.',
    run: () => {
      scan.request()
      return 'the scan has started: it takes about 200 s, the mobile connection is lost meanwhile'
    },
  })
  ctx.action({
    name: 'reboot-modem',
    summary: 'restarts the modem of the router',
    caution: 'The mobile connection is lost for about a minute.',
    run: () => {
      if (jobs.has('scan')) throw unavailable('the modem is not restarted: it scans for operators')
      if (access.absence !== '') throw unavailable(`the modem is not restarted: ${access.absence}`)
      ctx.errors.while('modem-reboot', false)
      jobs.begin('reboot', 'the modem restarts', reboot)
      return 'the modem restarts'
    },
  })
}
