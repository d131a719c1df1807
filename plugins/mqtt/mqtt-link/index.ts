import { OptionalHost } from 'rtk-base/link'
import { definePlugin } from 'rtk-base/plugin'
import { topics } from 'rtk-base/schemas'
import { device, mqttBus, mqttLink, station } from 'rtk-base/services'
import Type from 'typebox'
import { BrokerChoice, tlsPort } from './broker.js'
import { Renewal } from './identity/renewal.js'
import { StationIdentity } from './identity/station-identity.js'
import { BrokerLink, LinkHandoff } from './link/link.js'
import { isStale, onlineStatus } from './session/client.js'

/** The link to the broker: identity, sessions, online status. Its messages belong to other plugins. */
export default definePlugin({
  name: 'mqtt-link',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['mqtt-renew'],
  options: Type.Object({
    clientId: Type.Optional(Type.String({ minLength: 1, description: '{SN} when left out' })),
    protocol: Type.Union([Type.Literal('auto'), Type.Literal('4'), Type.Literal('5')], {
      default: 'auto',
      description: '4: MQTT 3.1.1; auto: MQTT 5, or 3.1.1 where the broker has no 5',
    }),
    insecure: Type.Boolean({ default: false, description: 'plain TCP, for tests; an identity still enables TLS' }),
    ca: Type.Optional(Type.String({ description: "PEM file of the broker's authority" })),
    cert: Type.Optional(Type.String({ description: "PEM file of the station's certificate, followed by its chain" })),
    key: Type.Optional(Type.String({ description: "PEM file of the station's private key" })),
    adopt: Type.Boolean({ default: false, description: 'copy the files into the protected store' }),
    est: Type.Optional(
      Type.String({ pattern: '^https://', description: 'https://HOST[:PORT]/.well-known/est[/LABEL]' }),
    ),
    estCa: Type.Optional(Type.String({ description: "PEM file of the EST server's authority; ca when left out" })),
    brokerTrial: Type.Integer({ default: 60, minimum: 0, maximum: 3_600, description: 'seconds; 0: no trial' }),
  }),
  needs: [mqttBus, station, device],
  provides: [mqttLink],

  setup(ctx, options) {
    const enabled = ctx.config.define('mqtt-en', switchSchema, { default: 1, endsLink: true, title: 'MQTT' })
    const host = ctx.config.define('mqtt-host', hostSchema, { default: '', endsLink: true, title: 'MQTT: broker' })
    const port = ctx.config.define('mqtt-port', portSchema, {
      default: tlsPort,
      endsLink: true,
      title: 'MQTT: port of the broker',
    })
    const broker = new BrokerChoice(ctx, { enabled, host, port }, options.brokerTrial ?? 60)
    const identity = new StationIdentity(ctx, options)
    const link = new BrokerLink(
      ctx,
      {
        clientId: options.clientId ?? ctx.serial,
        protocol: options.protocol ?? 'auto',
        insecure: options.insecure ?? false,
      },
      broker,
      identity,
      {
        message: (message) => ctx.services.use(mqttBus).deliver(message),
        alive: (address) => ctx.services.use(mqttBus).alive(address),
        settled: () => void renewal.watch(),
        up: (session) => {
          void broker.accepted()
          void ctx.services.use(mqttBus).connected(session)
        },
      },
    )
    const renewal = new Renewal(ctx, options, identity, () => link.reconnect())
    ctx.services.provide(mqttLink, link)

    ctx.info.block('mqtt', {
      config: () => broker.current,
      runtime: () => link.fields,
      detail: { runtime: () => ({ stat: { sessions: link.sessions } }) },
    })
    ctx.action({ name: 'mqtt-renew', summary: 'renews the MQTT certificate', run: () => renewal.renew() })

    ctx.mqtt.describe(topics.online)
    ctx.mqtt.on(topics.online.address, (message) => {
      if (isStale(message)) link.driver.sayOnline()
    })
    ctx.config.rule([host.name, port.name], (get, _changed, source) => {
      const next = { host: get(host.name) as string, port: get(port.name) as number }
      return { store: broker.writes(next, { source, wasUp: link.up }) }
    })
    ctx.config.onChange([enabled.name, host.name, port.name], async () => {
      // Before the link: the broker on trial may accept the station at once.
      await broker.changed()
      link.apply()
    })
    ctx.banner('MQTT', () => {
      const { host, port } = broker.current
      return broker.enabled && host ? `${host}:${port}, topics base/${ctx.serial}/#` : ''
    })
    return { link, renewal, identity, broker, adopt: options.adopt ?? false }
  },

  async start(ctx, handoff, { link, renewal, identity, broker, adopt }) {
    if (adopt) await identity.adopt().catch(({ message: reason }: Error) => ctx.errors.while('mqtt-adopt', { reason }))
    // Before the link: the broker on trial may accept the station at once.
    await broker.start()
    ctx.defer(ctx.services.use(mqttBus).attach(link.driver))
    broker.watch(() => link.apply())
    link.start(handoff.get('link', LinkHandoff))
    renewal.start()
  },

  async stop(reason, { link }) {
    await link.stop(reason === 'reload' ? onlineStatus.restarting : onlineStatus.quitting)
    return [['link', link.handoff]]
  },
})

const switchSchema = Type.Integer({ minimum: 0, maximum: 1 })
const portSchema = Type.Integer({ minimum: 1, maximum: 65_535 })
const hostSchema = {
  ...OptionalHost,
  description: 'a name or an IP address; empty: the embedded broker, or none',
}
