import { definePlugin } from 'rtk-base/plugin'
import { device, mqttBus, mqttLink, station } from 'rtk-base/services'
import Type from 'typebox'
import { BrokerTrial } from './broker-trial.js'
import { Identities } from './identity.js'
import { IdentityChoice } from './identity-choice.js'
import { Link } from './link.js'
import { isStale, onlineStatus } from './online-status.js'
import { Publications } from './publications.js'
import { Renewal } from './renewal.js'
import { Requests } from './requests.js'
import { linkService } from './service.js'

/** The link to the broker: identity, online status, the information document, and the requests that come over it. */
export default definePlugin({
  name: 'mqtt-link',
  version: '1.0.0',
  api: '^1.0.0',
  options: Type.Object({
    clientId: Type.Optional(Type.String({ minLength: 1, description: '{SN} when left out' })),
    protocol: Type.Union([Type.Literal('auto'), Type.Literal('4'), Type.Literal('5')], { default: 'auto' }),
    insecure: Type.Boolean({ default: false, description: 'plain TCP, for a desk; an identity turns TLS on again' }),
    ca: Type.Optional(Type.String({ description: 'PEM file of the authority of the broker' })),
    cert: Type.Optional(Type.String({ description: 'PEM file of the device, its chain behind it' })),
    key: Type.Optional(Type.String({ description: 'PEM file of the device' })),
    adopt: Type.Boolean({ default: false, description: 'copy the files into the protected store' }),
    est: Type.Optional(
      Type.String({ pattern: '^https://', description: 'https://HOST[:PORT]/.well-known/est[/LABEL]' }),
    ),
    estCa: Type.Optional(Type.String({ description: 'PEM file of the authority of the EST server; ca when left out' })),
    brokerTrial: Type.Integer({ default: 60, minimum: 0, maximum: 3_600, description: 'seconds; 0: no trial' }),
  }),
  needs: [mqttBus, station, device],
  provides: [mqttLink],

  setup(ctx, options) {
    const enabled = ctx.config.define('mqtt-en', switchSchema, { default: 1, endsLink: true })
    const host = ctx.config.define('mqtt-host', hostSchema, { default: '', endsLink: true })
    const port = ctx.config.define('mqtt-port', portSchema, { default: 8_883, endsLink: true })
    const settings = () => ({ enabled: enabled.get() === 1, host: host.get(), port: port.get() })

    const identities = new Identities(ctx, options)
    const requests = new Requests(ctx)
    const trial = new BrokerTrial(ctx, options.brokerTrial ?? 60)
    const link = new Link(
      ctx,
      {
        clientId: options.clientId ?? ctx.serial,
        protocol: options.protocol ?? 'auto',
        insecure: options.insecure ?? false,
      },
      settings,
      new IdentityChoice(ctx, identities),
      {
        message: (message) => ctx.services.use(mqttBus).deliver(message),
        settled: () => void renewal.watch(),
        up: (session) => {
          publications.onConnect()
          void trial.accepted()
          void ctx.services.use(mqttBus).connected(session)
        },
      },
    )
    const publications = new Publications(ctx, link)
    const renewal = new Renewal(ctx, options, identities, () => link.reconnect())
    ctx.services.provide(mqttLink, linkService(link, settings))

    ctx.info.block('mqtt', {
      config: () => ({ host: host.get(), port: port.get() }),
      runtime: () => ({ via: link.via, state: link.state }),
      detail: { runtime: () => ({ stat: statOf(link, publications, requests) }) },
    })
    ctx.commands.add('mqtt-renew', 'renews the MQTT certificate', () => renewal.renew())

    ctx.mqtt.on('base/{SN}/online', (message) => {
      if (isStale(message)) link.sayOnline()
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
      if (!['mqtt-en', 'mqtt-host', 'mqtt-port'].some((name) => values.has(name))) return
      void trial.changed(settings())
      link.apply()
    })
    return { link, publications, renewal, trial, identities, settings, adopt: options.adopt ?? false }
  },

  async start(ctx, handoff, { link, publications, renewal, trial, identities, settings, adopt }) {
    if (adopt) await identities.adopt().catch((error: Error) => ctx.errors.raise('mqtt-adopt', notAdopted(error)))
    // Before the link: the broker on trial may accept the station at once.
    await trial.start(settings())
    ctx.defer(ctx.services.use(mqttBus).attach(link))
    publications.start(handoff.get('publications') as Publications['handoff'] | undefined)
    link.start(handoff.get('link') as Link['handoff'] | undefined)
    renewal.start()
  },

  async stop(reason, { link, publications }) {
    await link.stop(reason === 'reload' ? onlineStatus.restarting : onlineStatus.quitting)
    return [
      ['link', link.handoff],
      ['publications', publications.handoff],
    ]
  },
})

const switchSchema = Type.Integer({ minimum: 0, maximum: 1 })
const portSchema = Type.Integer({ minimum: 1, maximum: 65_535 })
const hostSchema = Type.String({
  maxLength: 253,
  pattern: '^[A-Za-z0-9._:-]*$',
  description: 'name or address; empty: no broker',
})

const notAdopted = ({ message }: Error) => `the identity could not be copied into the protected store: ${message}`

const statOf = (link: Link, publications: Publications, requests: Requests) => ({
  sessions: link.sessions,
  missed: publications.missed,
  retained: requests.retained,
  malformed: requests.malformed,
})
