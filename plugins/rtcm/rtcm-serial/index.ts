import { feed } from 'rtk-base/ntrip'
import { definePlugin } from 'rtk-base/plugin'
import { rtcmStream } from 'rtk-base/services'
import { budgetOf, Line, SerialOutput } from './output.js'

/** The gated stream on a serial port, for a radio modem: thinned until it fits. */
export default definePlugin({
  name: 'rtcm-serial',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [rtcmStream],

  setup(ctx) {
    const line = ctx.config.define('rtcm-serial', Line, {
      default: { port: '' },
      title: 'Radio modem on a serial port',
    })
    let output: SerialOutput | undefined
    const apply = async () => {
      await output?.stop()
      output = undefined
      if (line.get().port === '') return ctx.status('no port is set')
      output = new SerialOutput(ctx, ctx.services.use(rtcmStream), line.get())
      output.start()
    }
    ctx.config.onChange([line.name], apply)
    ctx.info.block('rtcm_serial', () => {
      if (output) return output.block()
      const { port, baud = 57_600 } = line.get()
      const budget = budgetOf(line.get())
      return { port, baud, budget, state: 'off', text: '', sends: '', sent: 0, dropped: 0 }
    })
    return { apply, outputs: () => (output ? [output] : []) }
  },

  async start(ctx, _handoff, { apply, outputs }) {
    feed(ctx, ctx.services.use(rtcmStream), outputs)
    await apply()
  },

  async stop(_reason, { outputs }) {
    for (const output of outputs()) await output.stop()
  },
})
