/** Writes numbered lines into a raw data archive, a second of the archive's time each, with a dot for a hundred, until it is killed: node raw-writer.js FOLDER START_MS FIRST SIZE. */
import { Archive } from '../../../plugins/reference/raw/archive.js'
import { ManualClock } from '../manual-clock.js'

const [path = '', start = '', first = '', size = ''] = process.argv.slice(2)
const clock = new ManualClock()
const bounds = { size_bytes: Number(size), free_bytes: 0, days: 7 }
const archive = new Archive({
  path: async () => path,
  bounds,
  clock,
  onTrouble(text) {
    if (text !== undefined) throw new Error(text)
  },
})
const utc_ms = (number: number) => Number(start) + number * 1_000
await archive.tidy(utc_ms(Number(first)))
for (let number = Number(first); ; number++) {
  archive.append(Buffer.from(`${number}${' observation'.repeat(60)}\n`), utc_ms(number))
  await clock.advance(1_000)
  // Not ahead of the disk, as a receiver is not.
  if (number % 10 === 0) await archive.flush()
  if (number % 100 === 0) process.stdout.write('.')
}
