import { statSync } from 'node:fs'
import type { SerialPort } from 'serialport'
import type { BytePort, PortSink } from '../../../../schemas/byte-port.js'
import { hostPackages } from '../../../platform/host-packages.js'
import { Intake } from '../../../platform/intake.js'
import { receiverRate } from '../../../platform/rates.js'
import type { PluginContext } from '../../../plugin.js'
import { makeExclusive, withRemedy } from './exclusive.js'
import { readAtOnce } from './read-at-once.js'

/** A serial device by its path; `/dev/serial/by-id/…` stays the same in any USB port. */
export class SerialDevice implements BytePort {
  readonly name: string
  readonly hasBaud = true
  readonly live = true
  #port: SerialPort | undefined
  /** The device node that was opened: after a re-plug the same path may lead to another one. */
  #node: string | undefined
  readonly #log: PluginContext['log'] | undefined
  #hasWarned = false

  constructor(path: string, log?: PluginContext['log']) {
    this.name = path
    this.#log = log
  }

  present(): boolean {
    const node = nodeOf(this.name)
    return node !== undefined && (this.#node === undefined || node === this.#node)
  }

  async open(baud: number, sink: PortSink): Promise<void> {
    const node = nodeOf(this.name)
    if (node === undefined) throw new Error(withRemedy(`ENOENT: ${this.name} does not exist`, this.name))
    // Its native part is loaded only where a serial port is used.
    const { SerialPort } = hostPackages.serialport() as typeof import('serialport')
    const port = new SerialPort({ path: this.name, baudRate: baud, autoOpen: false, hupcl: false, lock: true })
    const intake = new Intake(port, { rate: receiverRate })
    port.on('data', (chunk: Buffer) => intake.run(chunk.length, 1, () => sink.data(chunk)))
    port.once('close', () => intake.close())
    // A lost device is reported by `close` with an error; an `error` without a listener would be thrown.
    port.on('error', (error) => this.#lost(port, sink, error.message))
    port.on('close', (error: Error | null) => this.#lost(port, sink, error?.message ?? 'closed'))
    port.on('end', () => this.#lost(port, sink, 'end of input'))
    await new Promise<void>((resolve, reject) => {
      port.open((error) => (error ? reject(new Error(withRemedy(error.message, this.name))) : resolve()))
    })
    readAtOnce(port)
    const { fd } = port.port as unknown as { readonly fd: number | null }
    // Without it the port works as well; a lock keeps those away that ask for it.
    if (fd !== null && (await makeExclusive(fd)) === 'no perl') this.#warnOnce()
    // Lost meanwhile: its successor may have the same numbers, and the silence of this port would go unnoticed.
    if (!port.isOpen) throw new Error('the device vanished while it was opened')
    this.#port = port
    this.#node = node
  }

  write(bytes: Uint8Array): boolean {
    const port = this.#port
    if (!port?.isOpen || port.writableLength > maxQueued) return false
    port.write(Buffer.from(bytes))
    return true
  }

  async close(): Promise<void> {
    const port = this.#port
    this.#port = undefined
    this.#node = undefined
    if (!port?.isOpen) return
    await new Promise<void>((resolve) => port.close(() => resolve()))
  }

  async setBaud(baud: number): Promise<void> {
    const port = this.#port
    if (!port?.isOpen) return
    // Data written at the old rate must be sent first.
    await new Promise<void>((resolve) => port.drain(() => resolve()))
    await new Promise<void>((resolve, reject) => {
      port.update({ baudRate: baud }, (error) => (error ? reject(error) : resolve()))
    })
  }

  #warnOnce(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const remedy = 'that needs perl: `sudo apt install perl-base`, then restart the service'
    this.#log?.warn(`${this.name} is used without exclusive mode, other programs may take bytes from it: ${remedy}`)
  }

  #lost(port: SerialPort, sink: PortSink, reason: string): void {
    if (this.#port !== port) return
    void this.close()
    sink.closed(reason)
  }
}

/** When more than this waits, the device accepts nothing. */
const maxQueued = 32_768

/** The device behind a path, through symlinks; undefined while there is none. */
function nodeOf(path: string): string | undefined {
  try {
    const { dev, ino, rdev } = statSync(path)
    return `${dev}:${ino}:${rdev}`
  } catch {
    return undefined
  }
}
