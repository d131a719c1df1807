/**
 * Writes batches of two entries that belong together, and prints a batch's number once the store answered it. Started by
 * test/kernel/store.test.ts, which kills it, traces it, or finds the folder locked by it.
 *
 * Arguments: folder, number of batches (0: until killed), `leave` to end without closing after the first refusal, namespace.
 */
import { writeSync } from 'node:fs'
import { pino } from 'pino'
import { openStore } from '../../../runtime/platform/store/store.js'

const [folder = '', count = '0', leave = '', namespace = 'loop'] = process.argv.slice(2)
const store = await openStore(folder, pino({ level: 'silent' }))
writeSync(1, 'open\n')
const first = Number((await store.get(namespace, 'a')) ?? 0) + 1
for (let n = first; count === '0' || n < first + Number(count); n++) {
  try {
    await store.batch([
      { namespace, key: 'a', value: n },
      { namespace, key: 'filling', value: 'x'.repeat((n * 37) % 3_000) },
      { namespace, key: 'b', value: n },
    ])
    writeSync(1, `answered ${n}\n`)
  } catch {
    writeSync(1, `refused ${n}\n`)
    if (leave === 'leave') process.kill(process.pid, 'SIGKILL')
  }
}
await store.close()
