/** No call of the daemon is waited for longer: an owner of a change parameter has 10 s in all. */
export const callLimit_ms = 4_000
/** An access point that starts, a network that is joined. */
export const activationLimit_ms = 60_000
export const scanLimit_ms = 15_000
/** The state is waited for at the start. */
export const startLimit_ms = 2_000
/** Metric of the default route of an interface that was given it: lower than what the daemon gives any (Ethernet 100, WiFi 600). */
export const preferredMetric = 1
