import { type Frame, Framer } from 'rtk-base/gnss'
import { type BytePort, type Edges, pause } from 'rtk-base/link'
import { bauds, type Family, families, framings } from './families.js'

/** A receiver that sends by itself is recognised without a question. */
const listen_ms = 400
/** After the questions; the slowest answer recorded took 0.3 s. */
const answer_ms = 900

export interface FoundReceiver {
  readonly family: Family
  readonly port: string
  /** 0: a port without a rate. */
  readonly baud: number
}

/**
 * Looks for a receiver at a port, at one rate after the other. It listens first, and then asks every family for its version: nothing
 * is configured.
 * @param isWanted false: stop looking
 * @returns undefined: nothing there is a receiver that is known
 * @throws why the port cannot be opened
 */
export async function probe(port: BytePort, edges: Edges, isWanted: () => boolean): Promise<FoundReceiver | undefined> {
  for (const baud of port.hasBaud ? bauds : [0]) {
    if (!isWanted()) return undefined
    const family = await probeAt(port, baud, edges)
    if (family) return { family, port: port.name, baud }
  }
  return undefined
}

/** A modem, a terminal or a loop-back plug sends a question back: that is no answer. */
const isEcho = ({ bytes }: Frame) => families.some(({ question }) => Buffer.from(question).includes(Buffer.from(bytes)))

async function probeAt(port: BytePort, baud: number, { clock, timers }: Edges): Promise<Family | undefined> {
  const seen = new Map<Family, number>()
  let notice = () => {}
  const onFrame = (frame: Frame) => {
    if (isEcho(frame)) return
    const family = families.find(({ shows }) => shows(frame))
    if (!family) return
    seen.set(family, (seen.get(family) ?? 0) + 1)
    notice()
  }
  const framer = new Framer({ framings, onFrame, ...(baud > 0 && { baud }) })
  const shown = new Promise<void>((resolve) => {
    notice = resolve
  })
  await port.open(baud, { data: (chunk) => framer.push(chunk, clock.monotonic()), closed: () => {} })
  try {
    await Promise.race([shown, pause(timers, listen_ms)])
    framer.expire(clock.monotonic())
    if (seen.size === 0) {
      for (const { question } of families) port.write(question)
      await Promise.race([shown, pause(timers, answer_ms)])
    }
  } finally {
    await port.close()
  }
  // A frame of one kind may hold the beginning of another: the family that was shown most often counts.
  const [most] = [...seen].sort(([, one], [, other]) => other - one)
  return most?.[0]
}
