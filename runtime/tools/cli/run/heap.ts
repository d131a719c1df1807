import { totalmem } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/** A machine with less memory is small. */
const small_bytes = 2 * 2 ** 30

/**
 * By default V8 lets a heap grow to several times its live size before it collects. With these flags the young generation
 * keeps its first size and the old one is collected when it has grown by half. Unlike `--max-old-space-size` they take effect in a
 * program that runs already.
 */
const smallMachineFlags = ['--semi-space-growth-factor=1', '--heap-growing-percent=50'] as const

/** Bytes that this process may use: of the machine, or of its control group. */
function availableMemory(): number {
  // 0 or a number beyond any machine: no limit.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** Keeps the heap of a small machine small. It costs a fifth of the HTTP throughput there. */
export function boundHeap(memory_bytes = availableMemory()): void {
  if (memory_bytes >= small_bytes) return
  const bound = () => {
    for (const flag of smallMachineFlags) setFlagsFromString(flag)
  }
  bound()
  // When V8 makes the heap of a thread it sets the growth of the young generation back for the whole process (`Heap::ConfigureHeap`).
  process.on('worker', (thread) => void thread.once('online', bound))
}
