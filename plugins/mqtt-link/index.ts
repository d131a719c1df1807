import { definePlugin } from 'rtk-base/plugin'
import { mqttBus, station } from 'rtk-base/services'
import Type from 'typebox'
import { Link } from './link.js'
import { isStale, onlineStatus } from './online-status.js'
import { Publications } from './publications.js'
import { Requests } from './requests.js'

/** The link to the broker, the online status, and the requests that come over it. */
export default definePlugin({
  name: 'mqtt-link',
  version: '1.0.0',
  api: '^1.0.0',
  options: Type.Object({
    clientId: Type.Optional(Type.String({ minLength: 1, description: '{SN} when left out' })),
    protocol: Type.Union([Type.Literal('auto'), Type.Literal('4'), Type.Literal('5')], { default: 'auto' }),
    insecure: Type.Boolean({
      default: false,
      description: 'plain TCP, for the simulator; an identity turns TLS on again',
    }),
    ca: Type.Optional(Type.String({ description: 'PEM file of the authority of the broker' })),
    cert: Type.Optional(Type.String({ description: 'PEM file of the device' })),
    key: Type.Optional(Type.String({ description: 'PEM file of the device' })),
  }),
  needs: [mqttBus, station],

  setup(ctx, options) {
    const enabled = ctx.config.define('mqtt-en', Type.Integer({ minimum: 0, maximum: 1 }), {
      default: 1,
      endsLink: true,
    })
    const host = ctx.config.define('mqtt-host', hostSchema, { default: '', endsLink: true })
    const port = ctx.config.define('mqtt-port', Type.Integer({ minimum: 1, maximum: 65_535 }), {
      default: 8_883,
      endsLink: true,
    })

    const publications = new Publications(ctx)
    const requests = new Requests(ctx)
    const makeLink = (oldBrokers: Iterable<readonly [string, number]>) =>
      new Link(
        ctx,
        {
          ...options,
          clientId: options.clientId ?? ctx.serial,
          protocol: options.protocol ?? 'auto',
          insecure: options.insecure ?? false,
        },
        () => ({ enabled: enabled.get() === 1, host: host.get(), port: port.get() }),
        {
          message: (message) => ctx.services.use(mqttBus).deliver(message),
          up: (session) => {
            publications.onConnect()
            void ctx.services.use(mqttBus).connected(session)
          },
        },
        oldBrokers,
      )
    const state = { link: makeLink([]), makeLink }

    ctx.info.block('mqtt', {
      config: () => ({ host: host.get(), port: port.get() }),
      runtime: () => ({ via: state.link.via, state: state.link.state }),
    })
    ctx.mqtt.on('base/{SN}/online', (message) => {
      if (isStale(message)) state.link.sayOnline()
    })
    ctx.mqtt.on(
      'base/{SN}/info/get',
      requests.live(() => publications.onDemand()),
    )
    ctx.mqtt.on(
      'base/{SN}/cmd',
      requests.live((message) => requests.command(message)),
    )
    ctx.mqtt.on(
      'base/{SN}/change/post',
      requests.live((message) => requests.change(message)),
    )
    // Once per change, after all of its values are in force.
    ctx.hooks.onChange.tap(({ values }) => {
      if (['mqtt-en', 'mqtt-host', 'mqtt-port'].some((name) => values.has(name))) state.link.apply()
    })
    return state
  },

  start(ctx, handoff, state) {
    state.link = state.makeLink((handoff.get('oldBrokers') as [string, number][] | undefined) ?? [])
    ctx.defer(ctx.services.use(mqttBus).attach(state.link))
    state.link.start()
  },

  async stop(reason, { link }) {
    await link.stop(reason === 'reload' ? onlineStatus.restarting : onlineStatus.quitting)
    return [['oldBrokers', link.oldBrokers]]
  },
})

const hostSchema = Type.String({
  maxLength: 253,
  pattern: '^[A-Za-z0-9._:-]*$',
  description: 'name or address; empty: no broker',
})
