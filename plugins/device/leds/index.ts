import { definePlugin } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { Type } from 'typebox'
import { Leds } from './leds.js'
import { ledNames } from './patterns.js'

const name = (colour: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9:_.-]*$',
      maxLength: 64,
      description: `Name of the ${colour} LED in the folder; default: the first one with that colour in its name`,
    }),
  )
const Options = Type.Object(
  {
    folder: Type.String({
      default: '/sys/class/leds',
      description: 'Where the kernel has its LEDs; simulator: those of the plugin simulated-machine',
    }),
    red: name('red'),
    green: name('green'),
    rgb: name('multicolour'),
  },
  { additionalProperties: false },
)

/** `base.leds`: the state of the station as patterns for the available LEDs. */
export default definePlugin({
  name: 'leds',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device],
  // It writes below /sys.
  system: { unit: ['ProtectKernelTunables=no'] },
  options: Options,

  setup(ctx, { folder = '/sys/class/leds', ...given }) {
    const leds = new Leds(ctx, folder, given)
    for (const led of ledNames) ctx.info.block(`base.leds.${led}`, () => ({ pattern: leds.patternOf(led) }))
    return leds
  },

  start: (_ctx, _handoff, leds) => leds.start(),
})
