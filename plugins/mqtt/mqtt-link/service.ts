import type { MqttLink } from 'rtk-base/services'
import type { BrokerLink } from './link/link.js'
import type { LinkSettings } from './settings.js'

/** The service `mqtt-link` for other plugins. */
export function linkService(link: BrokerLink, settings: () => LinkSettings): MqttLink {
  return {
    get enabled() {
      return settings().enabled
    },
    get up() {
      return link.session !== undefined
    },
    get broker() {
      const { host, port } = settings()
      return host === '' ? undefined : { host, port, tls: link.usesTls }
    },
    get state() {
      return link.state.link
    },
    get failure() {
      return link.state.error
    },
    get certificateUntil_s() {
      return link.state.cert.until
    },
    get version() {
      return link.session?.version
    },
    get session() {
      return link.sessionName
    },
    get via() {
      return link.via
    },
    get brokerAddress() {
      return link.session?.remoteAddress ?? ''
    },
    hasRoom: (bytes) => link.session?.up === true && link.session.hasRoom(bytes),
    largestPayload: (topic) => link.session?.largestPayload(topic) ?? Number.POSITIVE_INFINITY,
    get certificate() {
      return link.identity?.cert
    },
    async sign(data) {
      if (link.identity === undefined) throw new Error('the certificate is not read yet')
      return link.identity.sign(data)
    },
    networkUp: () => link.networkUp(),
    hold: (reason) => link.hold(reason),
  }
}
