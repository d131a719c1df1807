import { definePlugin } from 'rtk-base/plugin'
import { cellularModem, cellularUplink, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { Access } from './access.js'
import { ApnKeeper } from './apn/keeper.js'
import { addCommands } from './commands.js'
import { addDocument } from './document.js'
import { Jobs } from './jobs.js'
import { OperatorScan, ScanHandoff } from './operator/scan.js'
import { OperatorSelection } from './operator/selection.js'
import { apnText, defineParameters } from './parameters.js'
import { HistoryEntries, SignalHistory, step_ms } from './state/history.js'
import { ModemMetrics } from './state/metrics.js'
import { Polling } from './state/polling.js'
import { Readings } from './state/readings.js'
import { readingTasks } from './tasks.js'
import { provideUplink } from './uplink.js'

/** The modem in the cellular router: `modem`, the operator, the APN of the SIM. */
export default definePlugin({
  name: 'modem',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['reboot-modem', 'mobile-scan'],
  needs: [station],
  provides: [cellularUplink],
  options: Type.Object(
    {
      carriers: Type.Record(
        Type.String({ pattern: '^\\d{3,20}$', description: '3 to 20 digits' }),
        Type.Object({
          apn: Type.String({ minLength: 1, maxLength: 100, pattern: '^[!-~]*$', description: apnText }),
          user: Type.Optional(Type.String({ maxLength: 64 })),
          pswd: Type.Optional(Type.String({ maxLength: 64 })),
          auth: Type.Optional(Type.Union([Type.Literal('pap'), Type.Literal('chap')])),
        }),
        { default: {}, description: 'APNs by the first digits of the IMSI or the ICCID; they go before the table' },
      ),
    },
    { additionalProperties: false },
  ),

  setup(ctx, { carriers }) {
    const parameters = defineParameters(ctx)
    const readings = new Readings(() => ctx.clock.monotonic())
    const history = new SignalHistory(ctx.clock)
    const metrics = new ModemMetrics(ctx, readings)
    const access = new Access(ctx)
    const polling = new Polling(ctx, access)
    const jobs = new Jobs(ctx, access, polling)
    const scan = new OperatorScan(ctx, { access, jobs, readings, metrics })
    const scanned = () => scan.networks
    const selection = new OperatorSelection(ctx, parameters.operator, { access, jobs, readings, scanned })
    const apn = new ApnKeeper(ctx, { access, jobs, readings, carriers: carriers ?? {}, own: parameters.ownApn })
    const uplinkRead = provideUplink(ctx, readings, jobs)
    const block = addDocument(ctx, { readings, jobs, history, scan, apn })
    const identified = () => block.changed()
    const tasks = readingTasks(ctx, { access, polling, readings, metrics, selection, apn, identified, uplinkRead })
    addCommands(ctx, { access, jobs, scan })
    ctx.on(jobs.onChange, () => block.changed())
    ctx.config.onChange([parameters.operator.name], (_changed, source) => selection.onChange(source))
    ctx.config.onChange(parameters.apnNames, () => apn.onChange())
    return { access, apn, history, polling, readings, scan, selection, tasks }
  },

  async start(ctx, handoff, { access, apn, history, polling, readings, scan, selection, tasks }) {
    history.restore(handoff.get('history', HistoryEntries) ?? [])
    const scanBefore = handoff.get('scan', ScanHandoff)
    if (scanBefore) scan.restore(scanBefore)
    await apn.start()
    await selection.start(handoff.get('reached', Type.Boolean()) ?? false)
    ctx.timers.every(step_ms, () => history.note(readings.signal.value))
    access.follow(() => polling.soon())
    ctx.services.watch(
      cellularModem,
      (modem) => modem?.onPingHost && ctx.on(modem.onPingHost, () => polling.soon('ping host')),
    )
    polling.start(tasks)
  },

  stop: (_reason, { history, scan, selection }) => [
    ['history', history.entries],
    ['scan', scan.handoff],
    ['reached', selection.reached],
  ],
})
