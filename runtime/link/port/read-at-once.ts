import { readSync } from 'node:fs'
import type { SerialPort } from 'serialport'

/** What is used of serialport's binding for POSIX systems. */
interface Binding {
  /** Does not block; null once the port is closed. */
  readonly fd: number | null
  readonly poller?: { once(event: 'readable', listener: (error: Error | null) => void): unknown }
  read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number; buffer: Buffer }>
}

/** The system has nothing to read after all. */
const isNothing = (error: unknown) => /^(EAGAIN|EINTR)$/.test((error as NodeJS.ErrnoException).code ?? '')

/**
 * Lets an open port read in the event loop, as soon as there is something. serialport's own way has another thread read each
 * piece, and wakes it twice for that: on a small machine it is a good part of the way of a correction.
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
