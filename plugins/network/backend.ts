import type { Network } from 'rtk-base/services'

/** Who does the work behind the service `network`. */
export interface Backend extends Network {
  start(): Promise<void>
  stop(): Promise<void>
}
