/** A simulated receiver in this process, for a station in another one. */
import { constants, openSync } from 'node:fs'
import { ReadStream, WriteStream } from 'node:tty'
import type { ReceiverOptions } from '../../plugins/simulated/simulated-receiver/options.js'
import { SimulatedZed } from '../../plugins/simulated/simulated-receiver/receiver.js'
import { ReceiverLine } from '../../runtime/lib/simulation/index.js'
import { systemClock } from '../../runtime/platform/ports/clock.js'

const terminal = constants.O_RDWR | constants.O_NOCTTY
const receiverOptions: ReceiverOptions = {
  ...{ boot: 'rover', module: 'ZED-F9P', wiring: 'USB', uniqueId: '5A45440001', nmea: false },
  ...{ lat: 52.1, lon: 4.3, alt: 60, geoidSeparation_m: 47, seed: 1 },
}

export type Undo = () => unknown

/** Whatever the work adds to `undo` is called at its end, the last first. */
export async function withUndo<T>(work: (undo: Undo[]) => Promise<T>): Promise<T> {
  const undo: Undo[] = []
  try {
    return await work(undo)
  } finally {
    for (const one of undo.reverse()) await one()
  }
}

/** The simulated receiver, with its power on, at the far end of the line. */
export async function receiverOn(line: string, undo: Undo[]): Promise<void> {
  const edges = { clock: systemClock, timers: timers() }
  const port = new ReceiverLine(new SimulatedZed(receiverOptions, edges), edges)
  undo.push(() => port.device.powerOff())
  // Not as files: a read that waits in a thread would hold up the end of the process, and with it what was measured.
  const heard = new ReadStream(openSync(line, terminal))
  const far = new WriteStream(openSync(line, terminal))
  // Its other end goes.
  for (const end of [heard, far]) end.on('error', () => {})
  undo.push(() => [far.destroy(), heard.destroy()])
  await port.open(115_200, { data: (chunk) => void far.write(Buffer.from(chunk)), closed: () => {} })
  heard.on('data', (chunk) => void port.write(chunk as Buffer))
  port.device.powerOn()
}

/** As a plugin has them. */
function timers() {
  const ignored = (fn: () => unknown) => () => void fn()
  return {
    after: (ms: number, fn: () => unknown) => {
      const timer = setTimeout(ignored(fn), ms)
      return () => clearTimeout(timer)
    },
    every: (ms: number, fn: () => unknown) => {
      const timer = setInterval(ignored(fn), ms)
      return () => clearInterval(timer)
    },
  }
}
