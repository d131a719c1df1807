import { definePlugin } from 'rtk-base/plugin'
import { integrity, receiver, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { IntegrityMonitor, Snapshot } from './monitor.js'
import { publishMotion } from './motion-status.js'
import { IntegrityOptions } from './options.js'

/** Checks by positions, carrier phases and ranges, and over a restart, that the antenna is at its reference position. */
export default definePlugin({
  name: 'integrity',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [receiver, station],
  provides: [integrity],
  options: IntegrityOptions,

  setup(ctx, options) {
    const { config, info, services } = ctx
    const metres = (name: string, value: number, minimum: number, title: string) =>
      config.define(name, Type.Number({ minimum, maximum: 100_000 }), {
        default: value,
        title: `Start-up check: ${title}`,
      })
    const accuracy = metres('gnss-initial-accuracy', 5, 0.001, 'required accuracy of the first position, m')
    const maxDelta = metres('gnss-initial-max-delta', 15, 0, 'maximum distance to the reference, m')
    const maxDeltaCorr = metres('gnss-initial-max-delta-corr', 0.5, 0, 'maximum distance with RTK corrections, m')
    const limits = () => ({
      accuracy_m: accuracy.get(),
      maxDelta_m: maxDelta.get(),
      maxDeltaCorr_m: maxDeltaCorr.get(),
    })
    info.block('gnss.config.startup', {
      config: () => {
        const { accuracy_m, maxDelta_m, maxDeltaCorr_m } = limits()
        return { accuracy: accuracy_m, delta_max: maxDelta_m, delta_max_corr: maxDeltaCorr_m }
      },
    })
    const monitor = new IntegrityMonitor(ctx, options, limits)
    services.provide(integrity, monitor)
    publishMotion(ctx, monitor)
    return monitor
  },

  start: (ctx, handoff, monitor) => monitor.start(ctx.services.use(receiver), handoff.get('evidence', Snapshot)),

  stop(reason, monitor) {
    const snapshot = reason === 'reload' ? monitor.snapshot() : undefined
    return snapshot ? [['evidence', snapshot]] : []
  },
})
