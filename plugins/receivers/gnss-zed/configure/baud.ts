/**
 * Raises the rate of the receiver's UART, in RAM. The ACK is sent at the old rate while the port switches to the new one, so
 * only the answer to a poll at the new rate counts. Without it everything is restored.
 */
import { type Edges, pause } from 'rtk-base/link'
import type { UbxDialog } from '../link/ubx-dialog.js'
import * as ubx from '../ubx/index.js'

/** The part of the line that a change of the rate needs. */
export interface RateLine {
  /** 0 where the line has none. */
  readonly baud: number
  setBaud(baud: number): Promise<void>
  /** Hands bytes over without waiting for an answer. */
  write(bytes: Uint8Array): boolean
}

/** Time in which the last bytes arrive at the lowest usual rate, and the receiver sets its UART. */
const drain_ms = 150
/** Polls after a change: together they take less time than a link needs to count as silent. */
const polls = 2

export type RateChange = 'raised' | 'refused' | 'lost'

/**
 * @returns `refused`: the old rate is in use again, e.g. because the line can't carry the new one; `lost`: the receiver
 * answers at neither rate, the link has to look for it
 */
export async function raiseRate(
  dialog: UbxDialog,
  line: RateLine,
  timers: Edges['timers'],
  port: 'UART1' | 'UART2',
  baud: number,
): Promise<RateChange> {
  const before = line.baud
  const key = ubx.keyId(`CFG-${port}-BAUDRATE`)
  const order = (rate: number) => line.write(ubx.valset([[key, rate]], ubx.layerBit.ram))
  const answers = async () => (await dialog.poll(ubx.monVer, polls)) !== undefined
  order(baud)
  await pause(timers, drain_ms)
  await line.setBaud(baud)
  if (await answers()) return 'raised'
  // The receiver may have taken the new rate although its answers do not arrive: sends it back to the old one.
  order(before)
  await pause(timers, drain_ms)
  await line.setBaud(before)
  return (await answers()) ? 'refused' : 'lost'
}
