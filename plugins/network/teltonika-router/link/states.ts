import type { RouterLinkState } from 'rtk-base/schemas'

/** The events of the link to the router. */
export type LinkEvent =
  /** Logged in, and its generation is known. */
  | 'loggedIn'
  /** No answer, or not from a router. */
  | 'silent'
  /** No answer, and the router has had more time than a restart takes. */
  | 'overdue'
  /** The router rejects every login that may be tried now. */
  | 'rejected'
  /** The router's certificate is another one than the pinned one. */
  | 'otherCertificate'
  /** The router accepted a restart. */
  | 'restart'

/** States, events and next states; an event without an entry changes nothing. */
export const linkStates = {
  searching: { loggedIn: 'online', rejected: 'locked', otherCertificate: 'certificate' },
  offline: { loggedIn: 'online', rejected: 'locked', otherCertificate: 'certificate' },
  locked: { loggedIn: 'online', silent: 'offline', overdue: 'offline', otherCertificate: 'certificate' },
  certificate: { loggedIn: 'online', silent: 'offline', overdue: 'offline', rejected: 'locked' },
  restarting: { loggedIn: 'online', overdue: 'offline', rejected: 'locked', otherCertificate: 'certificate' },
  online: {
    silent: 'offline',
    overdue: 'offline',
    rejected: 'locked',
    otherCertificate: 'certificate',
    restart: 'restarting',
  },
} as const satisfies Record<RouterLinkState, Partial<Record<LinkEvent, RouterLinkState>>>

/** The state after `event`. */
export function nextState(state: RouterLinkState, event: LinkEvent): RouterLinkState {
  return (linkStates[state] as Partial<Record<LinkEvent, RouterLinkState>>)[event] ?? state
}
