import { portFrom } from 'rtk-base/link'
import { definePlugin, handedOver } from 'rtk-base/plugin'
import { type ReceiverSettings, receiver, receiverSettings, simulatedReceiver, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { rebootZed, resetZed } from './commands.js'
import { baudsToTry, ZedOptions } from './options.js'
import { receiverService } from './receiver-service.js'
import {
  RecordPlayer,
  runSimCommand,
  SimulatedPort,
  type SimulatorSnapshot,
  simHelp,
  simulatorControl,
} from './simulator/index.js'
import { ZedReceiver, type ZedSnapshot } from './zed.js'

const Played = Type.Object({ begun_ms: Type.Number(), at: Type.Integer() })

/** The u-blox ZED-F9P and its kind as the station's receiver: link, configuration, and all that it reports. */
export default definePlugin({
  name: 'gnss-zed',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [station],
  options: ZedOptions,
  provides: [receiver, simulatedReceiver],

  setup(ctx, options) {
    // The last that were known, also while the plugin that has them is reloaded.
    let settings: Pick<ReceiverSettings, 'stationId' | 'correctionMaxAge_s'> = { stationId: 0, correctionMaxAge_s: 30 }
    const simulator = options.port === 'simulator' ? new SimulatedPort(options.simulator, ctx) : undefined
    const port = simulator ?? portFrom(options.port, options, ctx)
    const zed = new ZedReceiver(ctx, port, {
      ...options,
      bauds: baudsToTry(options.baud),
      correctionMaxAge_s: () => settings.correctionMaxAge_s,
      get stationId() {
        return settings.stationId
      },
    })
    ctx.services.provide(receiver, receiverService(zed))
    const identity = ctx.info.block('gnss.zed', { static: () => zedBlock(zed) })
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

    ctx.on(zed.events.state.on, () => {
      identity.changed()
      ctx.status(`${zed.link}; ${zed.portName}: ${zed.linkReason}`)
    })
    const take = (now: ReceiverSettings) => {
      settings = { stationId: now.stationId, correctionMaxAge_s: now.correctionMaxAge_s }
    }
    return { zed, simulator, player, take }
  },

  async start(ctx, handoff, { zed, simulator, player, take }) {
    ctx.services.watch(receiverSettings, (now) => {
      if (!now) return undefined
      take(now)
      return ctx.on(now.onChange, () => {
        take(now)
        // First whoever trusts the frames: they carry another ID as soon as it is written.
        zed.events.state.emit()
        zed.upkeep.settingsChanged()
      })
    })
    const before = handoff.get('zed') as ZedSnapshot | undefined
    if (before) zed.restore(before)
    const simulated = handoff.get('simulator') as SimulatorSnapshot | undefined
    if (simulated) simulator?.zed.restore(simulated)
    simulator?.zed.powerOn()
    await zed.start()
    await player?.start(handedOver(handoff, 'player', Played))
    ctx.on(ctx.services.use(station).onCountersReset, () => zed.resetCounters())
  },

  async stop(_reason, { zed, simulator, player }) {
    const handoff: [string, unknown][] = [['zed', await zed.stop()]]
    if (simulator) handoff.push(['simulator', simulator.zed.snapshot()])
    if (player) handoff.push(['player', player.handoff])
    return handoff
  },
})

function zedBlock({ facts: { identity } }: ZedReceiver) {
  const { module, firmware, hardware, software, serial } = identity
  return { module, vfirmware: firmware, vhardware: hardware, vsoftware: software, serial }
}
