import type { MqttLink } from 'rtk-base/services'
import type { Link } from './link.js'
import type { LinkSettings } from './settings.js'
import { Signer } from './signer.js'

/** What other plugins may do with the link. */
export function linkService(link: Link, settings: () => LinkSettings): MqttLink {
  let signer: Signer | undefined
  return {
    get enabled() {
      return settings().enabled
    },
    get up() {
      return link.state.link === 'up'
    },
    get version() {
      return link.version
    },
    get certificate() {
      return link.identity?.cert
    },
    async sign(data) {
      const { identity } = link
      if (identity === undefined) throw new Error('the certificate was not read yet')
      if (signer?.identity !== identity) signer = new Signer(identity)
      return signer.sign(data)
    },
    networkUp: () => link.networkUp(),
    hold: (reason) => link.hold(reason),
  }
}
