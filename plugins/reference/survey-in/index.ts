import { roundTo } from 'rtk-base/gnss'
import { type Action, type ActionReturn, definePlugin, type Source } from 'rtk-base/plugin'
import {
  correctionStatus,
  integrity,
  procedureStatus,
  receiver,
  rtcmGate,
  rtcmStream,
  station,
} from 'rtk-base/services'
import { configRef, runtimeRef } from './document.js'
import { SurveyInOptions } from './options.js'
import { defineParameters } from './parameters.js'
import { ReferenceStation, Snapshot } from './reference-station.js'
import { positionRoutes, procedureRoute } from './routes.js'

/** The reference position: the GNSS procedure, the survey-in, and the list of positions. */
export default definePlugin({
  name: 'survey-in',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['start-survey-in', 'use-incomplete-survey-in'],
  options: SurveyInOptions,
  needs: [receiver, rtcmGate, rtcmStream, integrity, station],
  provides: [procedureStatus],

  setup(ctx, options) {
    const parameters = defineParameters(ctx)
    const base = new ReferenceStation(ctx, options, parameters)
    ctx.services.provide(procedureStatus, base)

    const reference = ctx.info.block('gnss.ref', {
      runtime: () => (base.listening ? undefined : runtimeRef(base)),
      config: () => configRef(base, parameters),
    })
    // `rtcmin=1` and `rtcmin=0` override the procedure.
    const input = () => ctx.services.find(correctionStatus)?.input
    const wantsCorrections = () => input() === 'on' || (input() !== 'off' && base.wantsCorrections)
    ctx.info.block('gnss.state.want_corr', () => (wantsCorrections() ? 1 : 0))
    ctx.info.block('gnss.pos.delta', () => roundTo(base.delta_m ?? 0, 3))
    ctx.metrics.gauge({
      name: 'antenna_reference_distance_meters',
      help: 'Distance of the antenna to its reference, by evidence other than the position a base repeats.',
      collect(gauge) {
        if (base.delta_m !== undefined) gauge.set(base.delta_m)
      },
    })

    const action = (
      row: Omit<Action<Record<never, never>>, 'run'>,
      run: (source: Source) => ActionReturn | Promise<ActionReturn>,
    ) =>
      ctx.action({
        ...row,
        run: async ({ source }) => {
          const answer = await run(source)
          reference.changed()
          return answer
        },
      })
    action(
      {
        name: 'start-survey-in',
        summary: 'starts a survey-in',
        caution: 'RTCM stops until the survey-in is complete.',
        parameter: 'trigger-gnss-survey',
      },
      (source) => base.askForSurvey(source),
    )
    action(
      {
        name: 'use-incomplete-survey-in',
        summary: 'accepts a survey-in that has not reached its required accuracy',
        caution: 'All rover positions will be off by the error of this reference.',
      },
      () => base.useIncomplete(),
    )
    action(
      {
        name: 'stop-survey-in',
        summary: 'ends a survey-in; the station returns to its previous reference, if it has one',
        caution: 'The average so far is lost.',
      },
      () => base.stopSurvey(),
    )
    action(
      {
        name: 'confirm-position',
        summary: 'confirms that the antenna has not moved; the station uses the same reference again',
        caution: 'If the antenna did move, all rover positions will be off by as much.',
      },
      (source) => base.confirmPosition(source),
    )
    ctx.config.rule([parameters.choice], (get) => ({
      store: base.writes(get(parameters.choice) as 'survey' | 'manual'),
    }))
    ctx.config.onChange(parameters.reference, (changed, source) => base.changed(source, changed.has(parameters.choice)))
    ctx.config.onChange(parameters.corrections, () => base.compareFrames())
    positionRoutes(ctx, base)
    procedureRoute(ctx, base)
    return base
  },

  start: ({ services }, handoff, base) =>
    base.start(
      services.use(receiver),
      services.use(integrity),
      services.use(rtcmGate),
      handoff.get('procedure', Snapshot),
    ),

  async stop(reason, base) {
    const snapshot = await base.stop(reason)
    return snapshot ? [['procedure', snapshot]] : []
  },
})
