import type { MqttLinkState } from 'rtk-base/schemas'

/** What moves the link. */
export type LinkEvent =
  /** `mqtt-en` became 1. */
  | 'enable'
  /** `mqtt-en` became 0. */
  | 'disable'
  /** The broker accepted the session. */
  | 'accepted'
  /** The attempt or the session ended by itself. */
  | 'failed'
  /** The session is up, but nobody answers any more: given up by the station. */
  | 'dead'
  /** The back-off is over, or a network came up. */
  | 'due'
  /** Another broker, another identity. */
  | 'reconnect'
  /** The DISCONNECT of a planned reconnect is out. */
  | 'left'
  /** Somebody is about to cut the uplink on purpose. */
  | 'hold'

/** The link's states and what moves it between them; an event that has no entry changes nothing. */
export const linkStates = {
  disabled: { enable: 'connecting' },
  connecting: { accepted: 'up', failed: 'down', reconnect: 'connecting', hold: 'down', disable: 'disabled' },
  up: { failed: 'down', dead: 'renewing', reconnect: 'renewing', hold: 'down', disable: 'disabled' },
  renewing: { left: 'connecting', hold: 'down', disable: 'disabled' },
  down: { due: 'connecting', reconnect: 'connecting', hold: 'down', disable: 'disabled' },
} as const satisfies Record<MqttLinkState, Partial<Record<LinkEvent, MqttLinkState>>>

/** The state behind `event`; undefined when it changes nothing. */
export function nextState(state: MqttLinkState, event: LinkEvent): MqttLinkState | undefined {
  return (linkStates[state] as Partial<Record<LinkEvent, MqttLinkState>>)[event]
}
