/**
 * The memory that the service may use. Before the system kills the service without a message, allocation sampling finds
 * the plugin that holds most of the heap. The service then ends in order and is restarted without that plugin.
 */
import { Session } from 'node:inspector'
import { totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** From this share of the limit on it is noted who allocates, and garbage is given back; at the second the service ends. */
export const sampledFrom = 0.6
export const endsFrom = 0.8
/** A plugin that holds less than this share of the samples is not named. */
const mostOf = 0.5
/** Garbage is collected, and the memory is still in use after this many looks. */
const looksBeforeEnd = 3
/** In looks. */
const collectEvery = 10
/** So much more than the least that was ever used for half a minute, and garbage is collected: V8 keeps that of a burst for hours. */
const spare = 1.15
const soonest_looks = 30
/**
 * If ten collections freed less than this share, the memory is needed: the next collections come later, after an hour
 * at most.
 */
const useful = 0.05
const mostInVain = 10
const later = 1.5
const latest_looks = 3_600
const samplingInterval_bytes = 32_768

/** Bytes that the service may use: by its control group, else by the option. 0: no limit. */
export function memoryLimit(option_mb: number, constrained = process.constrainedMemory()): number {
  // No limit is 0 or a number beyond any machine.
  if (constrained > 0 && constrained < totalmem()) return constrained
  return option_mb * 1_000_000
}

export interface MemoryEdges {
  /** Resident bytes, and those of them that are outside of the heap's reach. */
  usage(): { rss: number; heapUsed: number; external: number }
  collect(): void
  /** The plugin of a script; '' for none. */
  ownerOf(file: string): string
  /** The process has to end. @param plugin '' unknown */
  exhausted(end: { plugin: string; used_mb: number; limit_mb: number }): void
}

interface SampledNode {
  callFrame: { url: string }
  selfSize: number
  children: SampledNode[]
}

/** Looked at every second. */
export class MemoryWatch {
  readonly #limit_bytes: number
  readonly #edges: MemoryEdges
  #session: Session | undefined
  #over = 0
  #near = 0
  /** The lowest usage seen since all plugins have started. */
  #least_bytes = Number.POSITIVE_INFINITY
  #much = 0
  #inVain = 0
  /** Before the collection of the last look. */
  #collectedAt_bytes: number | undefined

  /** @param limit_bytes 0: none; garbage is given back all the same */
  constructor(limit_bytes: number, edges: MemoryEdges) {
    this.#limit_bytes = limit_bytes
    this.#edges = edges
  }

  look(): void {
    const { rss } = this.#edges.usage()
    this.#giveBack(rss)
    if (this.#limit_bytes === 0) return
    const share = rss / this.#limit_bytes
    if (share < sampledFrom) {
      this.#stop()
      this.#near = 0
    } else {
      this.#sample()
      if (this.#near++ % collectEvery === 0) this.#edges.collect()
    }
    if (share < endsFrom) {
      this.#over = 0
      return
    }
    this.#over++
    this.#edges.collect()
    if (this.#over !== looksBeforeEnd) return
    const plugin = this.#culprit()
    this.#stop()
    const mb = (bytes: number) => Math.round(bytes / 1_000_000)
    this.#edges.exhausted({ plugin, used_mb: mb(rss), limit_mb: mb(this.#limit_bytes) })
  }

  /** The service has all that it needs: what it used before its plugins were there is no measure of it. */
  settled(): void {
    this.#least_bytes = Number.POSITIVE_INFINITY
    this.#much = 0
    this.#inVain = 0
  }

  close(): void {
    this.#stop()
  }

  #giveBack(rss: number): void {
    this.#least_bytes = Math.min(this.#least_bytes, rss)
    if (this.#collectedAt_bytes !== undefined) {
      const helped = rss < this.#collectedAt_bytes * (1 - useful)
      this.#inVain = helped ? 0 : this.#inVain + 1
      this.#collectedAt_bytes = undefined
    }
    if (rss <= this.#least_bytes * spare) {
      this.#much = 0
      this.#inVain = 0
    } else if (
      ++this.#much >= Math.min(soonest_looks * later ** Math.max(0, this.#inVain - mostInVain), latest_looks)
    ) {
      this.#much = 0
      this.#collectedAt_bytes = rss
      this.#edges.collect()
    }
  }

  #sample(): void {
    if (this.#session) return
    this.#session = new Session()
    this.#session.connect()
    this.#session.post('HeapProfiler.startSampling', { samplingInterval: samplingInterval_bytes })
  }

  #stop(): void {
    this.#session?.disconnect()
    this.#session = undefined
  }

  /**
   * The plugin that holds most of the memory allocated since and still in use. Buffers are outside the heap: no plugin
   * is named for them.
   */
  #culprit(): string {
    const { heapUsed, external } = this.#edges.usage()
    if (external > heapUsed) return ''
    const held = new Map<string, number>()
    let all = 0
    const add = (node: SampledNode, above: string) => {
      const { url } = node.callFrame
      const file = url.startsWith('file:') ? fileURLToPath(url) : url
      const owner = this.#edges.ownerOf(file) || above
      all += node.selfSize
      held.set(owner, (held.get(owner) ?? 0) + node.selfSize)
      for (const child of node.children) add(child, owner)
    }
    this.#session?.post('HeapProfiler.getSamplingProfile', (_error, answer?: { profile?: { head: SampledNode } }) => {
      if (answer?.profile) add(answer.profile.head, '')
    })
    const [plugin, bytes] = [...held].sort(([, one], [, other]) => other - one)[0] ?? ['', 0]
    return bytes >= all * mostOf ? plugin : ''
  }
}

/** The memory of this process. */
export const ownMemory = {
  usage: () => process.memoryUsage(),
  collect(): void {
    setFlagsFromString('--expose-gc')
    ;(runInNewContext('gc') as () => void)()
  },
}
