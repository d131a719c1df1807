import { type FileHandle, open } from 'node:fs/promises'
import type { Edges, PortSink, ReceiverPort } from './types.js'

export interface ReplayOptions {
  /** Bytes per second; 0: as fast as they are taken. */
  pace: number
  /** Begin again at the end. */
  loop: boolean
  /** Seconds until it begins, so that those who want to hear it from its first byte can come. */
  delay: number
}

const step_ms = 100
/** At full speed: more at once than a subscriber's socket holds would be lost on its way, however fast the station is. */
const fullStep_ms = 1
const fullChunk = 4_096

/** A capture instead of a receiver: `replay:<file>`. Nothing can be written to it. */
export class ReplayPort implements ReceiverPort {
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
    // A directory can be opened, and says so only when it is read.
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
    const chunk = new Uint8Array(pace > 0 ? Math.max(1, Math.round((pace * step_ms) / 1000)) : fullChunk)
    let reason = 'end of the capture'
    try {
      await this.#pause(this.#options.delay * 1000)
      for (let at = 0; this.#file === file; ) {
        await this.#pause(pace > 0 ? step_ms : fullStep_ms)
        // Each read goes through the event loop, so that what the frames set in motion is not starved.
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

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#edges.timers.after(ms, resolve)
    })
  }
}
