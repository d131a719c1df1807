import { definePlugin } from 'rtk-base/plugin'
import { cellularUplink, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { Access } from './access.js'
import { ApnKeeper } from './apn/keeper.js'
import { addCommands } from './commands.js'
import { addDocument } from './document.js'
import { Jobs } from './jobs.js'
import { OperatorScan, ScanHandoff } from './operator/scan.js'
import { OperatorSelection } from './operator/selection.js'
import { apnText, defineParameters } from './parameters.js'
import { followModem } from './reactions.js'
import { HistoryEntries, SignalHistory, step_ms } from './state/history.js'
import { ModemMetrics } from './state/metrics.js'
import { Readings } from './state/readings.js'
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
    const access = new Access(ctx)
    const readings = new Readings(access)
    const history = new SignalHistory(ctx.clock)
    const metrics = new ModemMetrics(ctx, readings)
    const jobs = new Jobs(ctx, access)
    const scan = new OperatorScan(ctx, { access, jobs, readings, metrics })
    const scanned = () => scan.networks
    const selection = new OperatorSelection(ctx, parameters.operator, { access, jobs, readings, scanned })
    const apn = new ApnKeeper(ctx, { access, jobs, readings, carriers: carriers ?? {}, own: parameters.ownApn })
    const uplinkRead = provideUplink(ctx, readings, jobs)
    const block = addDocument(ctx, { readings, jobs, history, scan, apn })
    addCommands(ctx, { access, jobs, scan })
    ctx.on(jobs.onChange, () => block.changed())
    ctx.config.onChange([parameters.operator.name], (_changed, source) => selection.onChange(source))
    ctx.config.onChange(parameters.apnNames, () => apn.onChange())
    return { apn, block, history, metrics, readings, scan, selection, uplinkRead }
  },

  async start(ctx, handoff, made) {
    const { apn, history, readings, scan, selection } = made
    history.restore(handoff.get('history', HistoryEntries) ?? [])
    const scanBefore = handoff.get('scan', ScanHandoff)
    if (scanBefore) scan.restore(scanBefore)
    await apn.start()
    await selection.start(handoff.get('reached', Type.Boolean()) ?? false)
    ctx.timers.every(step_ms, () => history.note(readings.get('signal')))
    followModem(ctx, made)
  },

  stop: (_reason, { history, scan, selection }) => [
    ['history', history.entries],
    ['scan', scan.handoff],
    ['reached', selection.reached],
  ],
})
