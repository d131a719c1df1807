import { portFrom } from 'rtk-base/link'
import { definePlugin, handedOver } from 'rtk-base/plugin'
import {
  correctionStatus,
  procedureStatus,
  receiver,
  receiverLimits,
  simulatedReceiver,
  station,
} from 'rtk-base/services'
import { Type } from 'typebox'
import { rebootZed, resetZed } from './commands.js'
import { posBlock, standInSettings, standIns, stateBlock, statusOf, zedBlock } from './document/index.js'
import { receivedFigures } from './figures.js'
import { baudsToTry, drawnStationId, ZedOptions } from './options.js'
import { receiverService } from './receiver-service.js'
import {
  RecordPlayer,
  runSimCommand,
  SimulatedPort,
  type SimulatorSnapshot,
  simHelp,
  simulatorControl,
} from './simulator/index.js'
import { watchTrouble } from './trouble.js'
import { ZedReceiver, type ZedSnapshot } from './zed.js'

const Played = Type.Object({ begun_ms: Type.Number(), at: Type.Integer() })

/** The u-blox ZED-F9P: its serial link, identity, position, antenna and time, and its RTCM for the gate. */
export default definePlugin({
  name: 'gnss-zed',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [station],
  options: ZedOptions,
  provides: [receiver, receiverLimits, simulatedReceiver],

  setup(ctx, options) {
    const maxAge = ctx.config.define('gnss-recvrtcm-max-age', Type.Integer({ minimum: 1, maximum: 86_400 }), {
      default: 30,
      title: 'Corrections: oldest that count, s',
    })

    const stationId = ctx.config.define('gnss-station-id', Type.Integer({ minimum: 0, maximum: 4095 }), {
      // A station that was there before IDs were drawn keeps its 0.
      default: options.stationId ?? (ctx.since ? drawnStationId(ctx.serial) : 0),
      title: 'Station ID in RTCM',
    })

    const simulator = options.port === 'simulator' ? new SimulatedPort(options.simulator, ctx) : undefined
    const port = simulator ?? portFrom(options.port, options, ctx)
    const zed = new ZedReceiver(ctx, port, {
      ...options,
      bauds: baudsToTry(options.baud),
      correctionMaxAge_s: maxAge.get,
      get stationId() {
        return stationId.get()
      },
    })
    const service = receiverService(zed)
    ctx.config.onChange(['gnss-recvrtcm-max-age'], () => zed.upkeep.settingsChanged())
    const procedure = () => ctx.services.find(procedureStatus)
    ctx.services.provide(receiver, service)
    ctx.services.provide(receiverLimits, { correctionMaxAge_s: maxAge.get })

    const identity = ctx.info.block('gnss.zed', { static: () => zedBlock(zed) })
    ctx.info.block('gnss.state', () => stateBlock(zed, procedure()?.status ?? statusOf(zed)))
    ctx.info.block('gnss.config.recvrtcm', { config: () => ({ max_age: maxAge.get() }) })
    ctx.info.block('gnss.config.station', { config: () => ({ id: service.stationId }) })
    ctx.config.onChange([stationId.name], () => {
      // First whoever trusts the frames: they carry another ID as soon as it is written.
      zed.events.state.emit()
      zed.upkeep.settingsChanged()
    })
    ctx.info.block('gnss.pos', () => posBlock(zed))
    receivedFigures(ctx, zed)
    ctx.info.block('gnss', {
      fallback: {
        runtime: () => standIns(zed, maxAge.get(), procedure(), ctx.services.find(correctionStatus)?.input),
        config: () => standInSettings(zed),
      },
    })

    ctx.commands.add('reboot-zed', 'restarts the receiver', () => rebootZed(zed), {
      value: false,
      caution: 'RTCM stops for about half a minute.',
    })
    ctx.commands.add('reset-zed', 'deletes what the receiver has stored and restarts it', () => resetZed(zed), {
      value: false,
      caution: 'RTCM stops for some minutes, until the receiver has found the satellites again.',
    })

    const control = simulatorControl(ctx, simulator)
    ctx.services.provide(simulatedReceiver, control)
    if (simulator) ctx.commands.add('sim', simHelp, ({ arg }) => runSimCommand(control, arg))

    const { record, recordDelay_s = 120 } = options.simulator
    const player =
      simulator && record
        ? new RecordPlayer(ctx, record, recordDelay_s, (line) => runSimCommand(control, line))
        : undefined

    const report = () => ctx.status(`${procedure()?.status ?? statusOf(zed)}; ${zed.portName}: ${zed.linkReason}`)
    ctx.on(zed.events.state.on, () => {
      identity.changed()
      report()
    })
    return { zed, simulator, player, report }
  },

  async start(ctx, handoff, { zed, simulator, player, report }) {
    const before = handoff.get('zed') as ZedSnapshot | undefined
    if (before) zed.restore(before)
    const simulated = handoff.get('simulator') as SimulatorSnapshot | undefined
    if (simulated) simulator?.zed.restore(simulated)
    simulator?.zed.powerOn()
    await zed.start()
    await player?.start(handedOver(handoff, 'player', Played))
    ctx.on(ctx.services.use(station).onCountersReset, () => zed.resetCounters())
    watchTrouble(ctx, zed)
    ctx.services.watch(procedureStatus, (procedure) => {
      report()
      return procedure && ctx.on(procedure.onState, report)
    })
  },

  async stop(_reason, { zed, simulator, player }) {
    const handoff: [string, unknown][] = [['zed', await zed.stop()]]
    if (simulator) handoff.push(['simulator', simulator.zed.snapshot()])
    if (player) handoff.push(['player', player.handoff])
    return handoff
  },
})
