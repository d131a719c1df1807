import { createHash } from 'node:crypto'
import { receiverStatus } from 'rtk-base/gnss'
import { definePlugin, unavailable } from 'rtk-base/plugin'
import { correctionStatus, procedureStatus, receiver, receiverSettings, reception, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { posBlock, receiverBlock, standInSettings, standIns, stateBlock } from './document.js'
import { receptionMetrics } from './metrics.js'
import { Observed } from './observed.js'
import { GnssOptions } from './options.js'
import { defineOutput, outputRoute } from './output-settings.js'
import { watchTrouble } from './trouble.js'

/** The station's view of any receiver: the `gnss` blocks, errors, metrics and settings. */
export default definePlugin({
  name: 'gnss',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [station],
  provides: [reception, receiverSettings],
  options: GnssOptions,

  setup(ctx, options) {
    const { config, info, services } = ctx
    const maxAge = config.define('gnss-recvrtcm-max-age', Type.Integer({ minimum: 1, maximum: 86_400 }), {
      default: 30,
      title: 'Corrections: maximum age, s',
    })
    const stationId = config.define('gnss-station-id', Type.Integer({ minimum: 0, maximum: 4095 }), {
      // A station that was there before IDs were drawn keeps its 0.
      default: options.stationId ?? drawnStationId(ctx.serial),
      title: 'Station ID in RTCM',
    })
    const output = defineOutput(ctx)
    const observed = new Observed(ctx, options)
    const settingsChanged = ctx.event<void>()
    config.onChange([maxAge.name, stationId.name, ...output.names], () => settingsChanged.emit())
    services.provide(reception, observed)
    services.provide(receiverSettings, {
      get stationId() {
        return stationId.get()
      },
      get correctionMaxAge_s() {
        return maxAge.get()
      },
      get output() {
        return output.chosen()
      },
      onChange: settingsChanged.on,
    })

    const status = () =>
      services.find(procedureStatus)?.status ??
      (observed.receiver ? receiverStatus(observed.receiver, observed.rtcmFlows) : 'offline')
    const identity = info.block('gnss.receiver', {
      static: () => receiverBlock(observed),
      runtime: () => ({ rejected: [...(observed.receiver?.rejected ?? [])] }),
    })
    info.block('gnss.state', () => stateBlock(observed, status()))
    info.block('gnss.pos', () => posBlock(observed))
    info.block('gnss.config.recvrtcm', { config: () => ({ max_age: maxAge.get() }) })
    info.block('gnss.config.station', {
      config: () => ({ id: observed.receiver?.stationId ?? stationId.get() }),
    })
    info.block('gnss', {
      fallback: {
        runtime: () =>
          standIns(observed, maxAge.get(), services.find(procedureStatus), services.find(correctionStatus)?.input),
        config: () => standInSettings(observed),
      },
    })
    receptionMetrics(ctx, observed)
    outputRoute(ctx, output)
    const restart = async () => {
      const present = services.find(receiver)
      if (!present) throw unavailable('there is no receiver')
      if (!present.restart) throw unavailable('this receiver cannot be restarted by the station')
      await present.restart()
      return 'the receiver restarts'
    }
    ctx.action({
      name: 'reboot-receiver',
      summary: 'restarts the receiver, whatever its make',
      caution: 'RTCM stops for about half a minute.',
      run: restart,
    })
    return { observed, identity, status }
  },

  start(ctx, handoff, { observed, identity, status }) {
    observed.follow(handoff)
    watchTrouble(ctx, observed)
    const report = () => ctx.status(status())
    ctx.on(observed.onState, () => {
      identity.changed()
      report()
    })
    ctx.timers.every(1_000, report)
    ctx.services.watch(procedureStatus, (procedure) => {
      report()
      return procedure && ctx.on(procedure.onState, report)
    })
  },

  stop: (_reason, { observed }) => observed.handOver(),
})

/**
 * The station ID of a new station, 1–4095, drawn from its serial number. Neighbouring stations without a configured ID hardly ever share it, so
 * rovers and `rtcm-in` can tell them apart. 0 is the ID of stations that were never configured.
 */
export function drawnStationId(serial: string): number {
  return 1 + (createHash('sha256').update(serial).digest().readUInt32BE() % 4095)
}
