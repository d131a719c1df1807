import type { MqttMessage } from 'rtk-base/plugin'
import type { OnlineStatus } from 'rtk-base/schemas'

export type { OnlineStatus } from 'rtk-base/schemas'

/** What stands retained on `base/{SN}/online`; the meanings are in the schema. */
export const onlineStatus = {
  online: 'y',
  restarting: 'r',
  quitting: 'q',
  lost: 'L',
} as const satisfies Record<string, OnlineStatus>

export const onlineTopic = (serial: string) => `base/${serial}/online`

/** Registered before every connection attempt. */
export const lastWill = (serial: string) => ({
  topic: onlineTopic(serial),
  payload: Buffer.from(onlineStatus.lost),
  qos: 0 as const,
  retain: true,
})

/**
 * The broker publishes the will of a connection that it gave up late, which may be after the next connection said `y`.
 * So the device listens to its own status, and says `y` again when it reads anything else there.
 */
export function isStale(message: MqttMessage): boolean {
  return message.payload.toString('latin1') !== onlineStatus.online
}
