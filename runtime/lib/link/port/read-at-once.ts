import { readSync } from 'node:fs'
import type { SerialPort } from 'serialport'

/** The parts of serialport's binding for POSIX systems in use. */
interface Binding {
  /** Does not block; null once the port is closed. */
  readonly fd: number | null
  readonly poller?: { once(event: 'readable', listener: (error: Error | null) => void): unknown }
  read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number; buffer: Buffer }>
}

/** The system has nothing to read after all. */
const isNothing = (error: unknown) => /^(EAGAIN|EINTR)$/.test((error as NodeJS.ErrnoException).code ?? '')

/**
 * Makes an open port read in the event loop, as soon as data arrives. By default serialport reads each piece in another
 * thread and wakes it twice: on a small machine that is a good part of a correction's latency.
 */
export function readAtOnce(port: SerialPort): void {
  const binding = port.port as unknown as Binding
  const read = binding.read.bind(binding)
  binding.read = async (buffer, offset, length) => {
    // Each read waits for the poller, so that a flood leaves the event loop to others.
    while (binding.fd !== null && binding.poller) {
      const { poller } = binding
      await new Promise<void>((resolve, reject) => {
        poller.once('readable', (error) => (error ? reject(error) : resolve()))
      })
      if (binding.fd === null) break
      try {
        const bytesRead = readSync(binding.fd, buffer, offset, length, null)
        if (bytesRead > 0) return { bytesRead, buffer }
        break
      } catch (error) {
        if (!isNothing(error)) break
      }
    }
    // The end of the input, and errors: serialport has its own words for them.
    return read(buffer, offset, length)
  }
}
