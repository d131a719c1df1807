/**
 * Raises the rate of the receiver's UART, in RAM. The ACK is sent at the old rate while the port switches to the new one, so
 * only the answer to a poll at the new rate counts. Without it everything is restored.
 */
import { type Edges, pause } from 'rtk-base/link'
import type { UbxDialog } from '../link/ubx-dialog.js'
import * as ubx from '../ubx/index.js'

/** The line as far as its rate goes. */
export interface RateLine {
  /** 0 where the line has none. */
  readonly baud: number
  setBaud(baud: number): Promise<void>
  /** Hands bytes over without waiting for an answer. */
  write(bytes: Uint8Array): boolean
}

/** So long the last bytes are on their way at the lowest usual rate, and the receiver sets its UART. */
const drain_ms = 150
/** In less time than it takes a link to count as silent. */
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
  // It may hear what we don't: back, in case it went there.
  order(before)
  await pause(timers, drain_ms)
  await line.setBaud(before)
  return (await answers()) ? 'refused' : 'lost'
}
