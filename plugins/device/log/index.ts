import { definePlugin } from 'rtk-base/plugin'
import { device, logs, metrics, type RunEnd, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { LogFiles } from './files.js'
import { LogKeeper } from './keeper.js'
import { levelForm, setLevel } from './levels.js'
import { LogRing } from './ring.js'
import { addSavedLogs } from './saved-logs.js'

const Options = Type.Object(
  {
    ring_kb: Type.Integer({
      default: 256,
      minimum: 16,
      maximum: 4_096,
      description: 'Newest lines kept in memory, and in one saved file',
    }),
    runs: Type.Integer({ default: 4, minimum: 1, maximum: 32, description: 'Number of runs whose logs are kept' }),
  },
  { additionalProperties: false },
)

/** How the run before ended, as a level of its line. */
const weight: Readonly<Record<RunEnd['how'], 'info' | 'warn' | 'error'>> = {
  first: 'info',
  stopped: 'info',
  power: 'warn',
  killed: 'error',
  failed: 'error',
  blocked: 'error',
}

/** The log: level commands, a ring in memory, saved files that survive what ended the run. */
export default definePlugin({
  name: 'log',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['log', 'logsavenvs', 'logclearnvs', 'reset-debug'],
  needs: [logs, device, station, metrics],
  options: Options,

  setup(ctx, options) {
    const period = ctx.config.define(
      'log-save-period',
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'Seconds between two saves of the log; 0: only when the service ends',
      }),
      { default: 3_600, title: 'Interval of saving the log, s' },
    )
    const ring = new LogRing((options.ring_kb ?? 256) * 1_024)
    const files = new LogFiles(() => ctx.dataDir('saved').path, options.runs ?? 4)
    const keeper = new LogKeeper(ctx, ring, files)
    ctx.info.block('base.log', { config: () => ({ save_period: period.get() }) })
    ctx.config.onChange([period.name], () => keeper.every(period.get()))

    ctx.action({
      name: 'log',
      summary:
        'log=n|e|w|i|d|v (none, error, warn, info, debug, all) sets the level of the log, log=PLUGIN:LEVEL that of one plugin',
      input: { level: Type.String({ pattern: levelForm.source }) },
      usage: 'log=n|e|w|i|d|v (none, error, warn, info, debug, all), or log=PLUGIN:d',
      run: ({ input }) => setLevel(ctx, input.level),
    })
    ctx.action({
      name: 'logsavenvs',
      summary: 'saves the log now',
      run: () => {
        keeper.save()
        return 'log saved'
      },
    })
    ctx.action({
      name: 'logclearnvs',
      summary: 'deletes the saved logs',
      caution: 'The saved logs are permanently deleted.',
      run: () => {
        files.clear()
        ring.clear()
        return 'saved logs deleted'
      },
    })
    ctx.action({
      name: 'reset-debug',
      summary: 'resets the counters of every plugin to 0',
      run: () => {
        ctx.services.use(metrics).reset()
        ctx.services.use(station).resetCounters()
        return 'counters set back'
      },
    })

    addSavedLogs(ctx, files)
    return { keeper, period }
  },

  start(ctx, handoff, { keeper, period }) {
    keeper.start(handoff.get('lines', Type.String()) ?? '')
    keeper.every(period.get())
    if (handoff.has('lines')) return
    const { lastEnd } = ctx.services.use(device)
    if (!lastEnd) return
    const { how, text, stack } = lastEnd
    ctx.log[weight[how]](
      { how, ...(stack.length > 0 && { stack }) },
      `the run before ended: ${text}${stack.map((frame) => `\n    ${frame}`).join('')}`,
    )
  },

  stop: (_reason, { keeper }) => keeper.stop(),

  report(folder, running) {
    // The newest lines are in memory.
    running?.keeper.tryToSave()
    const lines = new LogFiles(() => folder('saved')).read()
    return { 'log.jsonl': lines.map((line) => `${line}\n`).join('') }
  },
})
