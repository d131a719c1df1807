import type { MqttMessage } from 'rtk-base/plugin'
import type { OnlineStatus } from 'rtk-base/schemas'

export type { OnlineStatus } from 'rtk-base/schemas'

/** Values retained on `base/{SN}/online`, described in the schema. */
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
 * Whether the station has to publish `y` again. A broker publishes the will of a connection when it gives that up, which may be
 * after the next connection published `y`. So the station listens to its own status.
 */
export function isStale(message: MqttMessage): boolean {
  return message.payload.toString('latin1') !== onlineStatus.online
}
