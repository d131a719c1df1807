import { definePlugin, type PluginContext } from 'rtk-base/plugin'
import { cellularModem, cellularUplink, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { Access, reasonOf } from './access.js'
import { ApnKeeper } from './apn/keeper.js'
import { addCommands } from './commands.js'
import { configBlock, identityBlock, simBlock, stateBlock } from './document.js'
import { Jobs } from './jobs.js'
import { OperatorScan, ScanHandoff } from './operator/scan.js'
import { OperatorSelection } from './operator/selection.js'
import { apnText, defineParameters } from './parameters.js'
import { HistoryEntries, SignalHistory, step_ms } from './state/history.js'
import { ModemMetrics } from './state/metrics.js'
import { Polling } from './state/polling.js'
import { Readings } from './state/readings.js'
import { readingTasks, reportSim } from './tasks.js'

const readLimit_ms = 60_000

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
    const access = new Access(ctx)
    const history = new SignalHistory(ctx.clock)
    const metrics = new ModemMetrics(ctx, readings)
    const changed = () => block.changed()
    const jobs = new Jobs(ctx, access, () => {
      changed()
      polling.soon('registration', 'signal')
    })
    const scan = new OperatorScan(ctx, { access, jobs, readings, metrics, changed })
    const scanned = () => scan.networks
    const selection = new OperatorSelection(ctx, parameters.operator, { access, jobs, readings, scanned, changed })
    const apn = new ApnKeeper(ctx, {
      access,
      jobs,
      readings,
      carriers: carriers ?? {},
      own: parameters.ownApn,
      changed,
    })
    const polling = new Polling(
      ctx,
      access,
      readingTasks(access, readings, {
        identified: changed,
        async registered() {
          uplinkRead()
          const { value } = readings.registration
          if (value) metrics.observe(value, readings.registered === true && readings.connected !== false)
          selection.observe()
          await apn.observe()
        },
        async simRead() {
          reportSim(ctx.errors, readings.sim.value?.state)
          if (apn.isOtherSim) await readForSim()
          await apn.settle()
        },
        apnRead: () => apn.settle(),
        operatorRead: () => selection.settle(),
      }),
    )

    const block = ctx.info.block('modem', {
      static: () => identityBlock(readings),
      runtime: () => ({
        state: stateBlock(readings, jobs.pending),
        sim: simBlock(readings),
        stats: readings.traffic.value ?? { sent: 0, recvd: 0 },
        scan: scan.shown,
      }),
      config: () => ({ cfg: { ...configBlock(readings), apn_choice: apn.choice } }),
      detail: { runtime: () => ({ history: history.block }) },
    })
    const uplinkRead = provideUplink(ctx, readings, jobs)

    /** Values read with the previous SIM do not apply to the new one, which may have its own settings in another slot. */
    const readForSim = async () => {
      readings.registration.clear()
      readings.apn.clear()
      try {
        readings.registration.set(await access.call(readLimit_ms, (modem, signal) => modem.registration(signal)))
        readings.apn.set(await access.call(readLimit_ms, (modem, signal) => modem.apn(signal)))
      } catch (error) {
        ctx.log.debug(`the values of the new SIM could not be read, retrying: ${reasonOf(error)}`)
        polling.soon('apn')
      }
    }
    addCommands(ctx, { access, jobs, scan })
    ctx.config.onChange([parameters.operator.name], (_changed, source) => selection.onChange(source))
    ctx.config.onChange(parameters.apnNames, () => apn.onChange())
    return { access, apn, history, polling, readings, scan, selection }
  },

  async start(ctx, handoff, { access, apn, history, polling, readings, scan, selection }) {
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
    polling.start()
  },

  stop: (_reason, { history, scan, selection }) => [
    ['history', history.entries],
    ['scan', scan.handoff],
    ['reached', selection.reached],
  ],
})

/** The service `cellularUplink`. @returns to be called when the registration was read */
function provideUplink(ctx: PluginContext, readings: Readings, jobs: Jobs): () => void {
  const changed = ctx.event<void>()
  let wasConnected: boolean | undefined
  ctx.services.provide(cellularUplink, {
    get connected() {
      return readings.connected
    },
    get pending() {
      return jobs.pending
    },
    onChange: changed.on,
  })
  return () => {
    const { connected } = readings
    if (connected === undefined || connected === wasConnected) return
    wasConnected = connected
    changed.emit()
  }
}
