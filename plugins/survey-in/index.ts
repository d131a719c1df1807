import { roundTo } from 'rtk-base/gnss'
import { type CommandCall, definePlugin, unavailable } from 'rtk-base/plugin'
import { correctionStatus, procedureStatus, receiver, rtcmGate, station } from 'rtk-base/services'
import { configRef, runtimeRef } from './document.js'
import { motionFigures } from './figures.js'
import { historyRoutes } from './history.js'
import { SurveyInOptions } from './options.js'
import { defineParameters } from './parameters.js'
import { Conductor } from './procedure/conductor.js'
import { procedureRoute } from './procedure/route.js'
import type { Snapshot } from './procedure/run.js'

/** The reference position: the GNSS procedure, the survey-in, and whether what the base sends can be trusted. */
export default definePlugin({
  name: 'survey-in',
  version: '1.0.0',
  api: '^1.0.0',
  options: SurveyInOptions,
  needs: [receiver, rtcmGate, station],
  provides: [procedureStatus],

  setup(ctx, options) {
    const parameters = defineParameters(ctx, () => void startSurvey('plugin'))
    const conductor = new Conductor(ctx, options, parameters)
    const whereItApplies = () => {
      if (conductor.listening) throw unavailable('the receiver is only listened to: someone else set its reference')
    }
    const startSurvey = (by: string) => {
      whereItApplies()
      return conductor.askForSurvey(by)
    }
    ctx.services.provide(procedureStatus, conductor)

    const reference = ctx.info.block('gnss.ref', {
      runtime: () => (conductor.listening ? undefined : runtimeRef(conductor)),
      config: () => configRef(conductor, parameters),
    })
    ctx.info.block('gnss.config.startup', {
      config: () => {
        const { accuracy_m, maxDelta_m, maxDeltaCorr_m } = parameters.start()
        return { accuracy: accuracy_m, delta_max: maxDelta_m, delta_max_corr: maxDeltaCorr_m }
      },
    })
    // `rtcmin=1` and `rtcmin=0` say so whatever the procedure wants.
    const input = () => ctx.services.find(correctionStatus)?.input
    const wantsCorrections = () => input() === 'on' || (input() !== 'off' && conductor.wantsCorrections)
    ctx.info.block('gnss.state.want_corr', () => (wantsCorrections() ? 1 : 0))
    motionFigures(ctx, conductor)
    ctx.info.block('gnss.pos.delta', () => roundTo(conductor.delta_m ?? 0, 3))

    const start = ({ source }: CommandCall) => {
      const answer = startSurvey(source)
      reference.changed()
      return answer
    }
    const accept = () => {
      whereItApplies()
      const problem = conductor.useIncomplete()
      if (problem) throw unavailable(problem)
      reference.changed()
      return 'the incomplete survey-in is the surveyed reference'
    }
    ctx.commands.add('start-survey-in', 'starts a survey-in', start, {
      value: false,
      caution: 'RTCM stops until the survey-in is complete.',
    })
    ctx.commands.add('use-incomplete-survey-in', 'accepts a survey-in that missed its accuracy target', accept, {
      value: false,
      caution: 'Every position of a rover will be off by the error of this one.',
    })
    const stop = () => {
      whereItApplies()
      const { problem, answer = '' } = conductor.stopSurvey()
      if (problem) throw unavailable(problem)
      reference.changed()
      return answer
    }
    ctx.commands.add('stop-survey-in', 'ends a survey-in; the station returns to the reference that it had', stop, {
      value: false,
      caution: 'What was averaged so far is lost.',
    })
    ctx.config.onChange(parameters.reference, (_changed, source) => conductor.changed(source))
    ctx.config.onChange(parameters.datum.corrections, () => conductor.compareFrames())
    historyRoutes(ctx, conductor)
    procedureRoute(ctx, conductor)
    return conductor
  },

  start: (ctx, handoff, conductor) =>
    conductor.start(
      ctx.services.use(receiver),
      ctx.services.use(rtcmGate),
      handoff.get('procedure') as Snapshot | undefined,
    ),

  async stop(reason, conductor) {
    const snapshot = await conductor.stop(reason)
    return snapshot ? [['procedure', snapshot]] : []
  },
})
