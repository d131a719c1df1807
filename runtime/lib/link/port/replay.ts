import { type FileHandle, open } from 'node:fs/promises'
import type { BytePort, PortSink } from '../../../../schemas/byte-port.js'
import type { Edges } from '../../../platform/time/edges.js'
import { pause } from '../../../platform/time/edges.js'

export interface ReplayOptions {
  /** Bytes per second; 0: as fast as they can be processed. */
  pace: number
  /** Starts again at the end. */
  loop: boolean
  /** Start delay in seconds, so that subscribers can connect before the first byte. */
  delay: number
}

const step_ms = 100
/** At full speed: larger steps would overflow the sockets of subscribers. */
const fullStep_ms = 1
const fullChunk = 4_096

/** A recording instead of a device: `replay:<file>`. Nothing can be written to it. */
export class ReplayPort implements BytePort {
  readonly name: string
  readonly hasBaud = false
  readonly live = false
  readonly #path: string
  readonly #options: ReplayOptions
  readonly #edges: Edges
  #file: FileHandle | undefined

  constructor(path: string, options: ReplayOptions, edges: Edges) {
    this.name = `replay:${path}`
    this.#path = path
    this.#options = options
    this.#edges = edges
  }

  async open(_baud: number, sink: PortSink): Promise<void> {
    const file = await open(this.#path, 'r')
    // A directory can be opened; it fails only when it is read.
    if ((await file.stat()).isDirectory()) {
      await file.close()
      throw new Error(`EISDIR: ${this.#path} is a directory`)
    }
    this.#file = file
    void this.#play(file, sink)
  }

  write(): boolean {
    return false
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(() => {})
  }

  async #play(file: FileHandle, sink: PortSink): Promise<void> {
    const { pace, loop } = this.#options
    const { timers } = this.#edges
    const chunk = new Uint8Array(pace > 0 ? Math.max(1, Math.round((pace * step_ms) / 1000)) : fullChunk)
    let reason = 'end of the capture'
    try {
      await pause(timers, this.#options.delay * 1000)
      for (let at = 0; this.#file === file; ) {
        await pause(timers, pace > 0 ? step_ms : fullStep_ms)
        // Each read goes through the event loop, so that the processing of frames is not starved.
        const { bytesRead } = await file.read(chunk, 0, chunk.length, at)
        if (this.#file !== file) return
        if (bytesRead > 0) sink.data(chunk.subarray(0, bytesRead))
        else if (!loop || at === 0) break
        at = bytesRead > 0 ? at + bytesRead : 0
      }
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
    }
    if (this.#file !== file) return
    await this.close()
    sink.closed(reason, true)
  }
}
