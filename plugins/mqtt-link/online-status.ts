import type { MqttMessage } from 'rtk-base/plugin'

/** What stands retained on `base/{SN}/online`: lower case from the device, upper case from the broker. */
export const onlineStatus = {
  online: 'y',
  /** A planned reconnect; `y` follows within about 5 s. */
  restarting: 'r',
  /** A graceful stop. */
  quitting: 'q',
  /** The last will: the broker publishes it when the connection ends without a DISCONNECT. */
  lost: 'L',
} as const

export type OnlineStatus = (typeof onlineStatus)[keyof typeof onlineStatus]

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
