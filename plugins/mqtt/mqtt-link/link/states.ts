import type { MqttLinkState } from 'rtk-base/schemas'

/** The events of the link. */
export type LinkEvent =
  /** `mqtt-en` became 1. */
  | 'enable'
  /** `mqtt-en` became 0. */
  | 'disable'
  /** The broker accepted the session. */
  | 'accepted'
  /** The attempt or the session failed. */
  | 'failed'
  /** The session is up, but the broker does not answer any more: the station gives it up. */
  | 'dead'
  /** The back-off elapsed, or a network came up. */
  | 'due'
  /** The broker or the identity was changed. */
  | 'reconnect'
  /** The DISCONNECT of a planned reconnect was sent. */
  | 'left'
  /** The uplink is about to be cut on purpose. */
  | 'hold'

/** States, events and next states of the link; an event without an entry changes nothing. */
export const linkStates = {
  disabled: { enable: 'connecting' },
  connecting: { accepted: 'up', failed: 'down', reconnect: 'connecting', hold: 'down', disable: 'disabled' },
  up: { failed: 'down', dead: 'renewing', reconnect: 'renewing', hold: 'down', disable: 'disabled' },
  renewing: { left: 'connecting', hold: 'down', disable: 'disabled' },
  down: { due: 'connecting', reconnect: 'connecting', hold: 'down', disable: 'disabled' },
} as const satisfies Record<MqttLinkState, Partial<Record<LinkEvent, MqttLinkState>>>

/** The state after `event`; undefined when it changes nothing. */
export function nextState(state: MqttLinkState, event: LinkEvent): MqttLinkState | undefined {
  return (linkStates[state] as Partial<Record<LinkEvent, MqttLinkState>>)[event]
}
