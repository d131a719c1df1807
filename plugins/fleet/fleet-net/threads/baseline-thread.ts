/** A thread that computes one vector after the other (`BaselineThreads`). */
import { parentPort } from 'node:worker_threads'
import { baseline } from 'rtk-base/baseline'
import { type FromThread, type ToThread, unpacked } from './packed.js'

// biome-ignore lint/plugin: a thread has no ctx, and computing takes the time of the machine
const now_s = () => performance.now() / 1_000

parentPort?.on('message', ({ from, to }: ToThread) => {
  const begun_s = now_s()
  let answer: FromThread
  try {
    answer = { found: baseline(unpacked(from), unpacked(to)), took_s: now_s() - begun_s }
  } catch (error) {
    answer = { failed: (error as Error).message, took_s: now_s() - begun_s }
  }
  parentPort?.postMessage(answer)
})

/** Where it is: its own file, or all of it in a bundle. */
export default import.meta.url
