import { portFrom, SimulatedLine } from 'rtk-base/link'
import { definePlugin } from 'rtk-base/plugin'
import { type ReceiverSettings, receiver, receiverSettings, simulatedReceiver, station } from 'rtk-base/services'
import { rebootZed, resetZed } from './commands.js'
import { baudsToTry, ZedOptions } from './options.js'
import { receiverService } from './receiver-service.js'
import { ZedReceiver, ZedSnapshot } from './zed.js'

/** The u-blox ZED-F9P and its kind as the station's receiver: link, configuration, and all that it reports. */
export default definePlugin({
  name: 'gnss-zed',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['reboot-zed', 'reset-zed'],
  needs: [station],
  options: ZedOptions,
  provides: [receiver],

  setup(ctx, options) {
    // The last that were known, also while the plugin that has them is reloaded.
    let settings: Pick<ReceiverSettings, 'stationId' | 'correctionMaxAge_s'> = { stationId: 0, correctionMaxAge_s: 30 }
    const isSimulated = options.port === 'simulator'
    const port = isSimulated ? new SimulatedLine(ctx) : portFrom(options.port, options, ctx)
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
    ctx.action({
      name: 'reboot-zed',
      summary: 'restarts the u-blox receiver, like reboot-receiver',
      caution: 'RTCM stops for about half a minute.',
      run: () => rebootZed(zed),
    })
    ctx.action({
      name: 'reset-zed',
      summary: 'deletes the stored configuration of the u-blox receiver and restarts the receiver',
      caution: 'RTCM stops for some minutes, until the receiver has found the satellites again.',
      run: () => resetZed(zed),
    })

    ctx.on(zed.events.state.on, () => {
      identity.changed()
      ctx.status(`${zed.link}; ${zed.portName}: ${zed.linkReason}`)
    })
    /** @returns whether one of them changed */
    const take = ({ stationId, correctionMaxAge_s }: ReceiverSettings) => {
      const isSame = stationId === settings.stationId && correctionMaxAge_s === settings.correctionMaxAge_s
      settings = { stationId, correctionMaxAge_s }
      return !isSame
    }
    return { zed, isSimulated, take }
  },

  async start(ctx, handoff, { zed, isSimulated, take }) {
    if (isSimulated) {
      ctx.services.watch(simulatedReceiver, (there) => {
        ctx.errors.while('receiver-simulator', !there)
      })
    }
    ctx.services.watch(receiverSettings, (now) => {
      if (!now) return undefined
      take(now)
      return ctx.on(now.onChange, () => {
        // Satellites and messages come with the next `configure`.
        if (!take(now)) return
        // Notify the verifying plugin first: frames carry the new ID as soon as it is written.
        zed.events.state.emit()
        zed.upkeep.settingsChanged()
      })
    })
    const before = handoff.get('zed', ZedSnapshot)
    if (before) zed.restore(before)
    await zed.start()
    ctx.on(ctx.services.use(station).onCountersReset, () => zed.resetCounters())
  },

  async stop(_reason, { zed }) {
    return [['zed', await zed.stop()]]
  },
})

function zedBlock({ facts: { identity } }: ZedReceiver) {
  const { module, firmware, hardware, software, serial } = identity
  return { module, vfirmware: firmware, vhardware: hardware, vsoftware: software, serial }
}
